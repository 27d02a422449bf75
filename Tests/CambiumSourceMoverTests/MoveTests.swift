import Testing

@testable import CambiumSourceMover

@Suite struct MoveTests {
  @Test func nothing() { #expect(SourceMover.move("", in: Folder([])).text == "") }
}

import Foundation
import Testing

@testable import CambiumMacroSupport

/// Programs and what becomes of them. `CAMBIUM_WRITE_GOLDEN=1` writes the expansions anew: look at the difference.
@Suite struct ModelGoldenTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Golden")

  static let programs: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".txt") && !$0.hasSuffix(".expanded.txt") }.sorted()
  }()

  @Test func programsAreThere() { #expect(Self.programs.count >= 9) }

  @Test(arguments: programs) func expansions(program: String) throws {
    let source = try String(contentsOf: Self.folder.appendingPathComponent(program), encoding: .utf8)
    let file = Self.folder.appendingPathComponent(program.dropLast(4) + ".expanded.txt")
    let expansions = try ModelExpansion.expansions(ofProgram: source)
    if ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"] == "1" {
      try expansions.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == expansions)
  }
}

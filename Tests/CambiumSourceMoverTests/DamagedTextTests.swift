import CambiumTesting
import Foundation
import Testing

@testable import CambiumSourceMover

/// Any text can be moved, and everything that no rule is about stays byte for byte.
@Suite struct DamagedTextTests {
  /// The package's own sources have the words of rules in comments and strings alone.
  @Test(arguments: ["CambiumKernel", "CambiumEngine", "CambiumMacroSupport", "CambiumSourceMover", "CambiumTool"])
  func sourcesOfOthersStay(module: String) throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../Sources/\(module)")
    let walk = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in walk where file.pathExtension == "swift" {
      let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      #expect(moved(text).text == text, "\(file.lastPathComponent)")
      #expect(body(text) == text, "\(file.lastPathComponent)")
      count += 1
    }
    #expect(count > 10)
  }

  /// Bytes of the golden sources are taken out, doubled, moved and changed.
  @Test func damagedSources() throws {
    let seed = testSeed(7)
    print("damaged sources from seed \(seed)")
    var random = SplitMix64(seed: seed)
    let sources = try GoldenTests.sources().map { Array($0.text.utf8) }
    let pieces = [
      "(", ")", "{", "}", "[", "\"", "\"\"\"", "#", "/*", "*/", "//", "\\(", "@objc", "@NSManaged var", "<", ":", "\n",
    ]
    for _ in 0..<testCount("CAMBIUM_DAMAGED_SOURCES", short: 300, full: 5_000) {
      var bytes = sources[random.below(sources.count)]
      for _ in 0..<(1 + random.below(6)) {
        let start = random.below(bytes.count)
        let end = min(start + random.below(40), bytes.count)
        switch random.below(4) {
        case 0: bytes.removeSubrange(start..<end)
        case 1: bytes.insert(contentsOf: bytes[start..<end], at: random.below(bytes.count))
        case 2: bytes.insert(contentsOf: Array(pieces[random.below(pieces.count)].utf8), at: start)
        default: bytes[start] = UInt8(truncatingIfNeeded: random.next())
        }
        if bytes.isEmpty { bytes = [0x7B] }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let result = moved(text)
      if result.changes.isEmpty { #expect(result.text == text) }
      // The report names lines that there are.
      let lines = text.utf8.count { $0 == 0x0A } + 1
      #expect(result.changes.allSatisfy { (1...lines).contains($0.line) })
      #expect(result.findings.allSatisfy { (1...lines).contains($0.line) })
    }
  }

  /// Deep nesting takes neither a stack nor the time of all pairs.
  @Test func deepNesting() {
    for piece in [

      "(", "[", "{", "class A {", "\"\\(", "/*", "<", "A & ", "a.", "@objc ", "catch let e as NSError where ",
    ] {
      let text = "import CoreData\n" + String(repeating: piece, count: 3_000)
      #expect(moved(text).text.utf8.count >= text.utf8.count - 3_000 * 6)
    }
  }
}

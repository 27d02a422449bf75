import Foundation
import Testing

@testable import CambiumSourceMover

/// A folder of sources, compared with files. `CAMBIUM_UPDATE_GOLDEN=1` writes the files anew.
@Suite struct GoldenTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")

  /// The sources of an application, by name.
  static func sources() throws -> [(name: String, text: String)] {
    try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("Library").path).sorted()
      .map { name in
        (name, String(decoding: try Data(contentsOf: folder.appendingPathComponent("Library/\(name)")), as: UTF8.self))
      }
  }

  @Test func theLibraryMoves() throws {
    let sources = try Self.sources()
    #expect(sources.count > 3)
    let library = FolderMove(sources)
    var report = ""
    var results: [String] = []
    for (source, result) in zip(sources, library.sources) {
      results.append(result.text)
      try compare(result.text, with: "Moved/\(source.name)")
      for change in result.changes { report += "\(source.name):\(change.line): \(change.text)\n" }
      for finding in result.findings {
        report +=
          "\(source.name):\(finding.line): left: \(finding.text): \(finding.cause.reason); \(finding.cause.remedy)\n"
      }
    }
    try compare(report, with: "report.txt")
    // Once more, nothing changes.
    let again = FolderMove(results.map { (name: "", text: $0) })
    for (result, second) in zip(results, again.sources) {
      #expect(second.text == result)
      #expect(second.changes.isEmpty)
    }
  }

  private func compare(_ text: String, with name: String) throws {
    let url = Self.folder.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["CAMBIUM_UPDATE_GOLDEN"] != nil {
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    #expect(text == String(decoding: try Data(contentsOf: url), as: UTF8.self))
  }
}

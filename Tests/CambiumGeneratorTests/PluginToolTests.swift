import Foundation
import Testing

@testable import CambiumGenerateTool

/// The tool of the plug-in.
@Suite struct PluginToolTests {
  /// Runs the tool on a model of two versions. Returns its lines.
  private func run(current: String?) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("plugin-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = folder.appendingPathComponent("Trips.xcdatamodeld")
    for version in ["Trips", "Trips 2"] {
      let place = model.appendingPathComponent(version + ".xcdatamodel")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Data(
        #"<model><entity name="Trip"><attribute name="url" attributeType="URI" defaultValueString="a b"/></entity></model>"#
          .utf8
      ).write(to: place.appendingPathComponent("contents"))
    }
    if let current {
      try Data(
        "<plist><dict><key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string></dict></plist>".utf8
      ).write(to: model.appendingPathComponent(".xccurrentversion"))
    }
    let output = folder.appendingPathComponent("Trips.swift")
    let tool: GenerateTool
    do throws(ToolFailure) {
      tool = try GenerateTool([model.path, output.path, "--swiftdata"])
      let lines = try tool.run()
      #expect(FileManager.default.fileExists(atPath: output.path))
      return lines.map { String($0.dropFirst(model.path.count)) }
    } catch { return error.lines.map { String($0.dropFirst(model.path.count)) } }
  }

  @Test func notesAreWarnings() throws {
    #expect(
      try run(current: "Trips 2") == [
        ": warning: version Trips, Trip.url: the default 'a b' is no URI, and is left out",
        ": warning: version Trips 2, Trip.url: the default 'a b' is no URI, and is left out",
      ])
  }

  @Test(arguments: [nil, "Trips 3"]) func theCurrentVersionIsKnown(current: String?) throws {
    #expect(
      try run(current: current) == [
        ": error: nothing says which version is the current one; choose it in the model editor (.xccurrentversion)"
      ])
  }
}

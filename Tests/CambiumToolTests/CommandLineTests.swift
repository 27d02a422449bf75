import CambiumEngine
import CambiumKernel
import CambiumSystem
import Foundation
import Testing

@testable import CambiumTool

/// The command line itself: help, mistakes, and files that are no stores.
@Suite final class CommandLineTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("line-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "nothing thrown"
    } catch let error as ToolError { return "\(error.status): \(error.text)" } catch { return "\(error)" }
  }

  private func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
    let url = folder.appendingPathComponent(name)
    try Data(bytes).write(to: url)
    return url.path
  }

  @Test func helpIsACommand() throws {
    #expect(try helpText(about: nil) == generalHelp)
    #expect(try helpText(about: "help") == generalHelp)
    #expect(try helpText(about: "count") == Command.count.help)
    #expect(runCommandLine(["help"]) == .success)
    #expect(runCommandLine(["help", "model", "lint"]) == .success)
    #expect(runCommandLine(["help", "fly"]) == .usage)
  }

  @Test func commandsThatWereProbablyMeant() {
    #expect(message { _ = try Command(named: "qurey") } == "usage: unknown command 'qurey'; did you mean 'query'?")
    #expect(message { _ = try Command(named: "hlep") } == "usage: unknown command 'hlep'; did you mean 'help'?")
    #expect(message { _ = try Command(named: "fly") } == "usage: unknown command 'fly'")
    #expect(message { _ = try runModel(["lnit", "a"], sync: false) }.hasSuffix("; did you mean 'lint'?"))
    #expect(message { _ = try Arguments(["--jsno"]) } == "usage: unknown option '--jsno'; did you mean '--json'?")
    #expect(
      message { _ = try runMigrate(["plna", "a"], try Arguments([])) }.hasSuffix("; did you mean 'plan'?"))
  }

  @Test func filesThatAreNoStores() throws {
    #expect(
      message { _ = try checkStore(path: folder.path) }
        == "failed: \(folder.path) is a folder, not a store; name the store's file in it")
    let model = folder.path + "/Trips.xcdatamodeld"
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: false)
    #expect(
      message { _ = try showInfo(path: model) }.hasSuffix("is a folder, not a store; 'cambium model' is for models"))
    let header = Array("SQLite format 3\0".utf8)
    for path in [
      try write("small.sqlite", header), try write("a.sqlite", header + [UInt8](repeating: 0, count: 65_536)),
    ] {
      let text = message { _ = try countObjects(path: path, entity: "Trip", predicate: nil) }
      #expect(text.hasPrefix("failed: \(path) is an SQLite database, perhaps a store of Core Data or SwiftData; "))
      #expect(message { _ = try checkStore(path: path) } == text)
      #expect(message { _ = try LoadedModel(path: path) } == text)
      #expect(message { _ = try compactStore(path: path) } == text)
    }
    let json = try write("model.json", Array("{\n  \"entities\": [],\n  \"format\": 1\n}\n".utf8))
    #expect(
      message { _ = try LoadedModel(path: json) }.contains("is a JSON file, neither a store nor a model that the tool"))
    let xml = try write("contents", Array("<?xml version=\"1.0\"?><model></model>".utf8))
    #expect(message { _ = try showInfo(path: xml) }.hasSuffix("'cambium generate' read a model's file"))
    #expect(
      message { _ = try showInfo(path: try write("noise", Array("noise noise noise".utf8))) }.contains(
        "not a Cambium store"))
  }
}

import Foundation
import Testing

@testable import CambiumTool

/// `cambium model` with models that devices synchronise.
@Suite final class SynchronisedModelTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("shared-\(UUID().uuidString)")
  private var model: String { folder.path + "/Trips.xcdatamodeld" }
  private var production: String { folder.path + "/Production.xcdatamodel" }

  private static let name = #"<attribute name="name" attributeType="String" optional="YES"/>"#
  private static let note = #"<attribute name="note" attributeType="String" optional="YES"/>"#

  init() throws {
    try write("Trips", #"<entity name="Trip">\#(Self.name)</entity>"#)
    try write("Trips 2", #"<entity name="Trip">\#(Self.name)\#(Self.note)</entity>"#)
    try write(
      "Trips 10",
      #"<entity name="Trip">\#(Self.note)<attribute name="stays" attributeType="Integer 32" optional="NO"/></entity>"#)
    try select("Trips 2")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func write(_ version: String, _ content: String) throws {
    let place = URL(fileURLWithPath: "\(model)/\(version).xcdatamodel")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try Data("<model>\(content)</model>".utf8).write(to: place.appendingPathComponent("contents"))
  }

  private func select(_ version: String) throws {
    try Data(
      "<plist><dict><key>_XCCurrentVersionName</key><string>\(version).xcdatamodel</string></dict></plist>".utf8
    ).write(to: URL(fileURLWithPath: model + "/.xccurrentversion"))
  }

  private func run(_ arguments: String...) throws -> Answer {
    let parsed = try Arguments(["model"] + arguments)
    return try Command.model.run(Array(parsed.operands.dropFirst()), parsed)
  }

  @Test func lintForSync() throws {
    try write(
      "Trips",
      """
      <entity name="Trip"><attribute name="held" attributeType="Undefined" transient="YES" optional="YES"/>
      <attribute name="object" attributeType="ObjectID" transient="YES" optional="YES"/></entity>
      """)
    #expect(try !run("lint", model, "Trips").text.contains("[sync]"))
    let text = try run("lint", model, "Trips", "--sync").text
    #expect(
      text.contains("Trip.held: Undefined attributes cannot be mirrored, transient or not; give it a type [sync]"))
    #expect(text.contains("Trip.object: ObjectID attributes cannot be mirrored"))
  }

  @Test func differencesForSync() throws {
    let allowed = try run("diff", model, "Trips", "Trips 2", "--sync")
    #expect(allowed.status == .success)
    #expect(allowed.text.hasSuffix("Trips 2 can be promoted to Trips, which adds:\n  Trip.note"))
    let refused = try run("diff", model, "Trips 2", "Trips 10", "--sync")
    #expect(refused.status == .damaged)
    #expect(
      refused.text.contains("\nTrips 10 cannot be promoted to Trips 2, because devices share what is in production:\n"))
    #expect(
      refused.text.contains("\n  Trip.name: production has it, and devices with the former version use it; keep it"))
    #expect(
      refused.text.contains("\n  Trip.stays: make it optional or give it a default: records come in parts [sync]"))
    #expect(refused.json.text().contains(#""isAllowed": false"#))
    // Without --sync nothing is said of it, and a migration that can be inferred is no failure.
    let plain = try run("diff", model, "Trips", "Trips 2")
    #expect(!plain.text.contains("promoted") && plain.json.text().contains(#""promotion": null"#))
  }

  @Test func promotion() throws {
    try select("Trips")
    let first = try run("promote", model, production)
    #expect(first.text == "Trips was promoted to \(production), which adds:\n  Trip")
    #expect(first.status == .success)
    try select("Trips 2")
    #expect(
      try run("promote", model, production).text == "Trips 2 was promoted to \(production), which adds:\n  Trip.note")
    #expect(
      try run("promote", model, production).text == "Trips 2 was promoted to \(production): nothing is added")
    #expect(
      try LoadedModel(path: production).schema.versionChecksum
        == LoadedModel(path: model, version: "Trips 2").schema.versionChecksum)
    // A refusal changes nothing.
    try select("Trips 10")
    let refused = try run("promote", model, production)
    #expect(refused.status == .damaged)
    #expect(refused.text.contains("Trip.name: production has it"))
    #expect(
      try LoadedModel(path: production).schema.versionChecksum
        == LoadedModel(path: model, version: "Trips 2").schema.versionChecksum)
    // The file can be given wherever a model can.
    #expect(try run("diff", production, model, "--sync").status == .damaged)
  }

  /// A model written into a folder of versions would hide these.
  @Test func promotionToAFolderOfVersions() throws {
    let other = folder.path + "/Other.xcdatamodeld"
    try FileManager.default.copyItem(atPath: model, toPath: other)
    #expect(throws: ToolError.self) { try self.run("promote", self.model, other) }
    #expect(!FileManager.default.fileExists(atPath: other + "/contents"))
  }

  /// A constraint that a subentity inherits forbids the same default twice, which is no fault of the versions.
  @Test func pairsWithAnInheritedConstraint() throws {
    let kind = #"<attribute name="kind" attributeType="Boolean" defaultValueString="YES"/>"#
    func content(_ more: String) -> String {
      """
      <entity name="Trip">\(kind)\(more)<uniquenessConstraints><uniquenessConstraint><constraint value="kind"/>
      </uniquenessConstraint></uniquenessConstraints></entity><entity name="Cruise" parentEntity="Trip"/>
      """
    }
    for (version, more) in [("Trips", ""), ("Trips 2", Self.note), ("Trips 10", Self.note + Self.name)] {
      try write(version, content(more))
    }
    let answer = try run("pairs", model)
    #expect(answer.status == .success, "\(answer.text)")
  }

  @Test func pairs() throws {
    try write(
      "Trips 3", #"<entity name="Trip" versionHashModifier="x">\#(Self.name)\#(Self.note)</entity>"#)
    try write("Trips 4", #"<entity name="Trip" versionHashModifier="x">\#(Self.note)\#(Self.name)</entity>"#)
    let answer = try run("pairs", model)
    #expect(
      answer.text.split(separator: "\n").filter { !$0.hasPrefix(" ") } == [
        "Trips -> Trips 2: a store migrates", "Trips -> Trips 3: a store migrates",
        "Trips -> Trips 4: a store migrates", "Trips -> Trips 10: a store cannot be migrated",
        "Trips 2 -> Trips 3: a store migrates", "Trips 2 -> Trips 4: a store migrates",
        "Trips 2 -> Trips 10: a store cannot be migrated", "Trips 3 -> Trips 4: both open one store",
        "Trips 3 -> Trips 10: a store cannot be migrated", "Trips 4 -> Trips 10: a store cannot be migrated",
      ])
    #expect(answer.text.contains("\n  Trip.stays is required and without default, and 1 object"))
    #expect(answer.status == .damaged)
    let shared = try run("pairs", model, "--sync").text
    #expect(shared.contains("Trips -> Trips 2: a store migrates; both can be synchronised\n"))
    #expect(shared.contains("Trips 3 -> Trips 4: both open one store; both can be synchronised\n"))
    #expect(shared.contains("a store cannot be migrated; they cannot be synchronised together\n"))
  }

  @Test func pairsOfFewVersions() throws {
    try FileManager.default.removeItem(atPath: model + "/Trips 10.xcdatamodel")
    let answer = try run("pairs", model, "--sync")
    #expect(answer.text == "Trips -> Trips 2: a store migrates; both can be synchronised")
    #expect(answer.status == .success)
    try FileManager.default.removeItem(atPath: model + "/Trips 2.xcdatamodel")
    #expect(try run("pairs", model).text == "\(model): there is one version, and so no pair")
  }

  @Test func versionsThatWereProbablyMeant() {
    func message(_ version: String) -> String {
      do {
        _ = try LoadedModel(path: model, version: version)
        return "found"
      } catch { return error.text }
    }
    #expect(
      message("Trip 2")
        == "\(model): there is no version 'Trip 2'; did you mean 'Trips 2'? There are Trips, Trips 10, Trips 2")
    #expect(message("Hotels") == "\(model): there is no version 'Hotels', but Trips, Trips 10, Trips 2")
  }

  @Test func whatSyncIsFor() {
    #expect(throws: ToolError.self) { try self.run("checksum", self.model, "--sync") }
    #expect(throws: ToolError.self) { try self.run("promote", self.model) }
    do {
      _ = try run("pairs", model + "/Trips.xcdatamodel/contents")
      Issue.record("a file has pairs")
    } catch { #expect("\(error)".contains("takes a folder with the versions of a model")) }
  }
}

import CambiumEngine
import CambiumKernel
import CambiumSystem
import Foundation
import Testing

@testable import CambiumTool

/// A store whose staged migration was interrupted.
@Suite final class MigrationStageTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stage-\(UUID().uuidString)")
  private var path: String { folder.path + "/a.store" }
  private var model: String { folder.path + "/Trip.xcdatamodel" }
  private let schemas: [Schema]

  init() throws {
    schemas = try [["a"], ["a", "b"], ["a", "b", "c"]].map { names in
      try Schema(SchemaDefinition([EntitySchema("Trip", attributes: names.map { AttributeSchema($0, .string) })]))
    }
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    let attributes = ["a", "b", "c"].map { #"<attribute name="\#($0)" attributeType="String" optional="YES"/>"# }
    try Data(#"<model><entity name="Trip">\#(attributes.joined())</entity></model>"#.utf8)
      .write(to: URL(fileURLWithPath: model + "/contents"))
    let environment = SystemEnvironment()
    try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment, options: StoreOptions())
    }.close()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Makes a store in which a stage has begun, and in the later phases has migrated.
  private func begin(_ phase: StageRecord.Phase) throws {
    let kernel = try Store.open(
      on: FileDevice(path: path), environment: SystemEnvironment(), options: StoreOptions())
    let store = try EntityStore.create(in: kernel, schema: schemas[0])
    func hash(_ schema: Schema) throws -> VersionHash {
      try #require(Data(base64Encoded: schema.versionChecksum).flatMap { VersionHash(bytes: Array($0)[...]) })
    }
    let record = StageRecord(phase: phase, current: try hash(schemas[0]), next: try hash(schemas[1]))
    if phase == .willMigrate {
      try store.write { (t) throws(EngineError) in try t.setStageRecord(record) }
    } else {
      _ = try store.migrate(to: schemas[1].definition, stage: record)
    }
    try kernel.close()
  }

  private func plan(_ action: String = "plan") throws -> Answer {
    let parsed = try Arguments(["migrate", action, path, model])
    return try Command.migrate.run(Array(parsed.operands.dropFirst()), parsed)
  }

  private var place: String {
    "a migration stage is under way, from model \(schemas[0].versionChecksum) to \(schemas[1].versionChecksum): its "
  }

  @Test func beforeTheMigration() throws {
    try begin(.willMigrate)
    let text = place + "willMigrateHandler has not returned. The store has the former model. "
    #expect(try showInfo(path: path).text.contains("\n\n" + text))
    let answer = try plan()
    #expect(answer.status == .success && answer.text.contains("\n  " + text))
  }

  @Test(arguments: [StageRecord.Phase.didMigrate, .migrate])
  func afterTheMigration(phase: StageRecord.Phase) throws {
    try begin(phase)
    let text =
      place + "\(phase == .migrate ? "migrateHandler" : "didMigrateHandler") has not returned. The store has the next"
    #expect(try showInfo(path: path).text.contains("\n" + text))
    #expect(try showInfo(path: path).json.text().contains(#""isMigrated": true"#))
    for action in ["plan", "run"] {
      let answer = try plan(action)
      #expect(answer.status == .damaged)
      #expect(answer.text.hasPrefix("\(path): cannot be migrated to Trip:\n  " + text))
    }
  }

  @Test func noStage() throws {
    let kernel = try Store.open(
      on: FileDevice(path: path), environment: SystemEnvironment(), options: StoreOptions())
    _ = try EntityStore.create(in: kernel, schema: schemas[0])
    try kernel.close()
    #expect(try !showInfo(path: path).text.contains("migration stage"))
    #expect(try showInfo(path: path).json.text().contains(#""migrationStage": null"#))
    #expect(try !plan().text.contains("migration stage"))
  }
}

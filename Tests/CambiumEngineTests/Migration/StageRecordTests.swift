import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// What the catalogue says of a migration stage that is under way.
@Suite struct StageRecordTests {
  private static func definition(_ version: Int) -> SchemaDefinition {
    var entity = EntitySchema("Note", attributes: [AttributeSchema("text", .string)])
    for n in 1..<version { entity.attributes.append(AttributeSchema("added\(n)", .integer64)) }
    if version == 3 { entity.attributes.removeFirst() }
    return SchemaDefinition([entity])
  }

  private func hash(_ version: Int) throws -> VersionHash {
    try #require(VersionHash(base64: try Schema(Self.definition(version)).versionChecksum))
  }

  private func store(_ device: MemoryDevice = MemoryDevice()) throws -> EntityStore {
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: TestEnvironment(seed: 1)), schema: try Schema(Self.definition(1)))
    try store.write { (t) throws(EngineError) in
      let entity = try requireValue(store.schema.entity(named: "Note"))
      var row = RowValues()
      row.set("text", .string("before"))
      try t.insert(try t.reserveReference(entity), row)
    }
    return store
  }

  @Test func recordsAreReadAsWritten() throws {
    for phase in [StageRecord.Phase.willMigrate, .didMigrate, .migrate] {
      var record = StageRecord(phase: phase, current: try hash(1), next: try hash(2))
      #expect(try StageRecord(record.encoded()) == record)
      record.retained = StageRecord.Retained(id: 7, sequence: 1 << 40)
      let bytes = record.encoded()
      #expect(bytes.count == 84 && bytes[0] == 1 && bytes[1] == phase.rawValue)
      #expect(try StageRecord(bytes) == record)
      for count in 0..<84 { #expect(throws: EngineError.self) { try StageRecord(Array(bytes[..<count])) } }
      #expect(throws: EngineError.self) { try StageRecord(bytes + [0]) }
      for (place, value) in [(0, 0), (0, 2), (1, 0), (1, 4)] as [(Int, UInt8)] {
        var wrong = bytes
        wrong[place] = value
        let result = Result { try StageRecord(wrong) }
        guard case .failure(let error as EngineError) = result, case .unsupported = error else {
          Issue.record("expected unsupported, got \(result)")
          continue
        }
      }
    }
  }

  @Test func aStageIsFinishedFirst() throws {
    let device = MemoryDevice()
    let first = try store(device)
    let record = StageRecord(phase: .didMigrate, current: try hash(1), next: try hash(2))
    let second = try first.migrate(to: Self.definition(2), stage: record)
    #expect(try second.view().stageRecord() == record && record.isPending(in: second.schema))
    #expect(throws: EngineError.self) { _ = try second.migrate(to: Self.definition(3)) }
    // The record stays with the file.
    try second.close()
    let again = try EntityStore.open(try Store.open(on: device, environment: TestEnvironment(seed: 2)))
    #expect(try again.view().stageRecord() == record)
    try again.write { (t) throws(EngineError) in try t.setStageRecord(nil) }
    let third = try again.migrate(to: Self.definition(3))
    #expect(try third.view().stageRecord() == nil)
    #expect(try third.check().isSound)
  }

  @Test func aStageThatOnlyPreparesIsForgotten() throws {
    let first = try store()
    let record = StageRecord(phase: .willMigrate, current: try hash(1), next: try hash(2))
    try first.write { (t) throws(EngineError) in try t.setStageRecord(record) }
    #expect(try first.view().stageRecord() == record && !record.isPending(in: first.schema))
    #expect(try first.migrate(to: Self.definition(3)).view().stageRecord() == nil)
  }

  /// A process that was suspended, and overtaken by one that did its work, does not note that it is to be done.
  @Test func onlyWhatWasNotedIsReplaced() throws {
    let store = try store()
    let record = StageRecord(phase: .migrate, current: try hash(1), next: try hash(2))
    let next = StageRecord(phase: .didMigrate, current: try hash(1), next: try hash(2))
    try store.write { (t) throws(EngineError) in try t.setStageRecord(record, replacing: nil) }
    try store.write { (t) throws(EngineError) in try t.setStageRecord(next, replacing: record) }
    for wrong in [nil, record] {
      #expect(throws: EngineError.self) {
        try store.write { (t) throws(EngineError) in try t.setStageRecord(record, replacing: wrong) }
      }
    }
    #expect(try store.view().stageRecord() == next)
  }

  /// Duplicates under a new constraint are found after the state before was retained.
  @Test func aMigrationThatFailsKeepsNoState() throws {
    let store = try store()
    try store.write { (t) throws(EngineError) in
      let entity = try requireValue(store.schema.entity(named: "Note"))
      var row = RowValues()
      row.set("text", .string("before"))
      try t.insert(try t.reserveReference(entity), row)
    }
    var definition = Self.definition(2)
    definition.entities[0].uniquenessConstraints = [UniquenessConstraint(["text"])]
    let record = StageRecord(phase: .migrate, current: try hash(1), next: try hash(2))
    let held = try store.kernel.statistics().publication
    #expect(throws: EngineError.self) {
      _ = try store.migrate(to: definition, keepsPriorState: true, stage: record)
    }
    #expect(try store.kernel.statistics().publication > held, "nothing was retained in between")
    #expect(try store.retainedCommits().isEmpty)
    #expect(try store.check().isSound)
  }

  /// The state before is kept as long as the record names it, and not longer.
  @Test func theStateBeforeIsKept() throws {
    let first = try store()
    let record = StageRecord(phase: .migrate, current: try hash(1), next: try hash(3))
    // One that was cut short left something behind.
    _ = try first.kernel.retain(reason: StageRecord.reason)
    _ = try first.kernel.retain(reason: "a backup")
    let third = try first.migrate(to: Self.definition(3), keepsPriorState: true, stage: record)
    let found = try #require(try third.view().stageRecord())
    #expect(found.retained != nil && found.phase == .migrate && found.isPending(in: third.schema))
    for _ in 0..<2 {
      try third.releaseOwnStates()
      #expect(
        try third.retainedCommits().filter { $0.reason == StageRecord.reason }.map { $0.id } == [found.retained?.id])
      let before = try third.state(before: found)
      #expect(before.schema.versionChecksum == first.schema.versionChecksum)
      let entity = try #require(before.schema.entity(named: "Note"))
      var texts: [Value] = []
      try before.view().rows(entity: entity) { (row) throws(EngineError) in
        texts.append(try row.value(try requireValue(entity.attribute(named: "text"))))
        return true
      }
      #expect(texts == [.string("before")])
    }
    // Notes about stages are no commits of the application's.
    #expect(try third.priorState()?.commitsSince == 0)
    try third.write { (t) throws(EngineError) in try t.setStageRecord(nil) }
    #expect(try third.priorState()?.commitsSince == 0)
    try third.releaseOwnStates()
    #expect(try third.retainedCommits().contains { $0.reason == StageRecord.reason } == false)
    #expect(throws: EngineError.self) { _ = try third.state(before: found) }
    let back = try third.rollBackMigration()
    #expect(back.schema.versionChecksum == first.schema.versionChecksum)
    #expect(try back.view().stageRecord() == nil)
    #expect(try back.retainedCommits().contains { $0.reason == "a backup" })
  }
}

/// In closures that throw the engine's errors only.
private func requireValue<T>(_ value: T?) throws(EngineError) -> T {
  guard let value else { throw .misuse("there is none") }
  return value
}

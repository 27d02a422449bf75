import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Numbers of history name one transaction each, whatever becomes of the history.
@Suite struct HistoryNumberTests {
  private static func store() throws -> EntityStore {
    try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([EntitySchema("Thing", attributes: [AttributeSchema("name", .string)])])))
  }

  private static func append(_ store: EntityStore) throws -> UInt64 {
    try store.write { (t) throws(EngineError) in try t.appendHistory(HistoryTransaction(timestamp: 0)) }
  }

  /// A reader that knows the last transaction before the pause must find that something is missing.
  @Test func historyThatStartsAgainLeavesAGap() throws {
    let store = try Self.store()
    try store.write { (t) throws(EngineError) in try t.startHistory() }
    let last = try Self.append(store)
    try store.write { (t) throws(EngineError) in try t.stopHistory() }
    try store.write { (t) throws(EngineError) in try t.startHistory() }
    #expect(try store.view().historyBounds().deletedTo > last)
    #expect(try Self.append(store) > last + 1)
  }

  /// A transaction that a rollback of a migration discards gives its number to no other one.
  @Test func aRollbackUsesNoNumberAgain() throws {
    var store = try Self.store()
    try store.write { (t) throws(EngineError) in try t.startHistory() }
    _ = try Self.append(store)
    let other = EntitySchema("Thing", attributes: [AttributeSchema("title", .string)])
    store = try store.migrate(to: SchemaDefinition([other]), keepsPriorState: true)
    let discarded = try Self.append(store)
    store = try store.rollBackMigration(discardsCommits: true)
    let bounds = try store.view().historyBounds()
    #expect(bounds.deletedTo > discarded && bounds.isEmpty && bounds.last == bounds.deletedTo)
    #expect(try Self.append(store) > bounds.deletedTo)
  }
}

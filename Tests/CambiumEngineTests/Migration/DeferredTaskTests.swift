import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// What becomes of work that a migration put off when another migration follows.
@Suite struct DeferredTaskTests {
  /// The entity whose rows were to be rewritten goes, and its task with it.
  @Test(arguments: [0, 1]) func theTaskOfARemovedEntityGoes(_ parts: Int) throws {
    let name = AttributeSchema("name", .string)
    let note = EntitySchema("Note", attributes: [name, AttributeSchema("old", .string)])
    let other = EntitySchema("Other", attributes: [name])
    var store = try MigrationRuleTests.store([note, other])
    for i in 0..<20 {
      let values: [String: Value] = ["name": .string("n\(i)"), "old": .string("o\(i)")]
      try MigrationRuleTests.fill(store, [(entity: "Note", values: values, links: [:])])
    }
    let shorter = EntitySchema("Note", attributes: [name])
    store = try store.migrate(to: SchemaDefinition([shorter, other]), defers: true)
    #expect(try store.deferredTasks().map(\.kind) == [.rewriteRows])
    for _ in 0..<parts { _ = try store.runDeferredTask(maximumRows: 7) }
    store = try store.migrate(to: SchemaDefinition([other]), defers: true)
    #expect(try store.deferredTasks().isEmpty)
    #expect(try !store.runDeferredTask())
    #expect(try store.check().isSound)
  }

  /// A conversion keeps the stored values where the new type holds them, and names the objects where it does not.
  @Test func storedValuesOutrankDefaults() throws {
    func model(_ type: AttributeType) -> [EntitySchema] {
      [EntitySchema("Item", attributes: [AttributeSchema("size", type, optional: false, default: 7)])]
    }
    let store = try MigrationRuleTests.store(model(.integer32))
    let sizes: [Int64] = [32_767, -32_768, 0]
    var items: [ObjectReference] = []
    for size in sizes {
      items += try MigrationRuleTests.fill(store, [(entity: "Item", values: ["size": .integer(size)], links: [:])])
    }
    let narrow = try MigrationRuleTests.migrated(store, model(.integer16))
    for (item, size) in zip(items, sizes) {
      let attribute = try #require(narrow.schema.entity(named: "Item")?.attribute(named: "size"))
      #expect(try narrow.view().row(item)?.value(attribute) == .integer(size))
    }
    let wide = try MigrationRuleTests.store(model(.integer32))
    for size in [32_768, -32_769] as [Int64] {
      try MigrationRuleTests.fill(wide, [(entity: "Item", values: ["size": .integer(size)], links: [:])])
    }
    #expect(MigrationRuleTests.blocks(wide, model(.integer16)).map(\.count) == [2])
  }

  /// The rows of a removed entity go from a tree that its relatives keep.
  @Test func rowsOfARemovedSubentityGo() throws {
    let base = EntitySchema("Base", attributes: [AttributeSchema("name", .string)])
    let child = EntitySchema("Child", parent: "Base")
    let store = try MigrationRuleTests.store([base, child])
    let rows = try MigrationRuleTests.fill(
      store,
      [(entity: "Base", values: ["name": "a"], links: [:]), (entity: "Child", values: ["name": "b"], links: [:])])
    let after = try MigrationRuleTests.migrated(store, [base])
    #expect(try after.view().row(rows[0]) != nil)
    let entity = try #require(after.schema.entity(named: "Base"))
    #expect(try after.view().count(EngineFetch(entity)) == 1)
    #expect(try after.kernel.snapshot().trees().map { try after.kernel.snapshot().count($0) }.contains(1))
  }
}

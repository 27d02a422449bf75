import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Links that cannot be written leave no half behind.
@Suite struct LinkErrorTests {
  private struct World {
    let store: EntityStore
    let owners: [ObjectReference]
    let items: [ObjectReference]
    let ownerEntity: EntitySchema
    let itemEntity: EntitySchema

    init() throws {
      let owner = EntitySchema(
        "Owner", attributes: [AttributeSchema("text", .string)],
        relationships: [
          RelationshipSchema("items", toMany: "Item", inverse: "owner"),
          RelationshipSchema("list", toMany: "Item", inverse: "lister", ordered: true),
          RelationshipSchema("tags", toMany: "Item", inverse: "tagged"),
        ])
      let item = EntitySchema(
        "Item", attributes: [AttributeSchema("text", .string)],
        relationships: [
          RelationshipSchema("owner", to: "Owner", inverse: "items"),
          RelationshipSchema("lister", to: "Owner", inverse: "list"),
          RelationshipSchema("tagged", toMany: "Owner", inverse: "tags"),
        ])
      store = try EntityStore.create(
        in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 1)),
        schema: try Schema(SchemaDefinition([owner, item])))
      ownerEntity = try #require(store.schema.entity(named: "Owner"))
      itemEntity = try #require(store.schema.entity(named: "Item"))
      func make(_ entity: EntitySchema, _ store: EntityStore) throws -> [ObjectReference] {
        try store.write { (t) throws(EngineError) in
          var made: [ObjectReference] = []
          while made.count < 3 {
            let reference = try t.reserveReference(entity)
            try t.insert(reference, RowValues())
            made.append(reference)
          }
          return made
        }
      }
      (owners, items) = (try make(ownerEntity, store), try make(itemEntity, store))
    }

    func relationship(_ name: String) throws -> RelationshipSchema {
      try #require(ownerEntity.relationship(named: name) ?? itemEntity.relationship(named: name))
    }

    func isWhole(sourceLocation: SourceLocation = #_sourceLocation) throws {
      let report = try store.check()
      #expect(report.isSound && report.relationships.isEmpty, "\(report.relationships)", sourceLocation: sourceLocation)
    }
  }

  /// Neither end of a link may be an object that does not exist.
  @Test(arguments: ["items", "list", "tags"]) func endsThatDoNotExist(name: String) throws {
    let world = try World()
    let relationship = try world.relationship(name)
    try world.store.write { (t) throws(EngineError) in try t.delete(world.owners[0]) }
    for replaces in [false, true] {
      #expect(throws: EngineError.self) {
        try world.store.write { (t) throws(EngineError) in
          if replaces {
            try t.replace(world.owners[0], relationship, with: [world.items[0]])
          } else {
            try t.link(world.owners[0], relationship, to: world.items[0])
          }
        }
      }
    }
    try world.store.write { (t) throws(EngineError) in try t.delete(world.items[1]) }
    let error = #expect(throws: EngineError.self) {
      try world.store.write { (t) throws(EngineError) in
        try t.link(world.owners[1], relationship, to: world.items[1])
      }
    }
    if case .missingDestinations(let gone)? = error { #expect(gone == [world.items[1]]) } else { #expect(Bool(false)) }
    // An object of another entity, and a relationship of another one.
    #expect(throws: EngineError.self) {
      try world.store.write { (t) throws(EngineError) in
        try t.link(world.owners[1], relationship, to: world.owners[2])
      }
    }
    #expect(throws: EngineError.self) {
      try world.store.write { (t) throws(EngineError) in try t.link(world.items[0], relationship, to: world.items[2]) }
    }
    try world.isWhole()
  }

  /// Links of a row that could not be written do not come with the next one.
  @Test func aRowThatIsTooLong() throws {
    let world = try World()
    let text = try world.store.field("text", of: world.itemEntity)
    let owner = try world.store.field("owner", of: world.itemEntity)
    let lister = try world.store.field("lister", of: world.itemEntity)
    let long = String(repeating: "x", count: 1 << 20)
    try world.store.write { (t) throws(EngineError) in
      let rows = try t.writer(world.itemEntity)
      try rows.begin(changing: world.items[0])
      try rows.set(lister, world.owners[0])
      try rows.set(text, long)
      // Whether it fits depends on the pages.
      do throws(EngineError) { try rows.save() } catch {}
      try rows.begin(changing: world.items[1])
      try rows.set(owner, world.owners[1])
      try rows.save()
    }
    try world.isWhole()
    let listed = try world.store.view().related(world.owners[1], world.relationship("list"))
    #expect(listed == [])
  }
}

import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Rows read and written by keys of properties.
@Suite struct PropertyKeyTests {
  private static func definition(inOrder isInOrder: Bool) -> SchemaDefinition {
    var owner = EntitySchema("Owner", attributes: [AttributeSchema("name", .string)])
    owner.relationships = [RelationshipSchema("books", toMany: "Book", inverse: "owner")]
    var book = EntitySchema("Book")
    book.attributes = [
      AttributeSchema("title", .string), AttributeSchema("volume", .integer32),
      AttributeSchema("size", elements: [AttributeSchema("height", .double), AttributeSchema("width", .double)]),
    ]
    var friends = RelationshipSchema("friends", toMany: "Book", inverse: "friends")
    friends.deleteRule = .nullify
    var sequels = RelationshipSchema("sequels", toMany: "Book", ordered: true)
    sequels.deleteRule = .noAction
    book.relationships = [RelationshipSchema("owner", to: "Owner", inverse: "books"), friends, sequels]
    if !isInOrder {
      book.attributes.reverse()
      book.relationships.reverse()
    }
    return SchemaDefinition(isInOrder ? [owner, book] : [book, owner])
  }

  private static func store() throws -> EntityStore {
    try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 8)),
      schema: try Schema(definition(inOrder: true)))
  }

  /// Whatever order the properties are in by now, a key names the same one.
  @Test func keysOutliveAnotherOrder() throws {
    let store = try Self.store()
    let owner = try #require(store.schema.entity(named: "Owner"))
    let book = try #require(store.schema.entity(named: "Book"))
    let (title, volume, size) = (book.attributeKeys[0], book.attributeKeys[1], book.attributeKeys[2])
    let (owned, friends, sequels) = (book.relationshipKeys[0], book.relationshipKeys[1], book.relationshipKeys[2])
    let other = try Schema(Self.definition(inOrder: false), basedOn: store.schema)
    #expect(other.entity(named: "Book")?.attributeKeys[0].id == size.id)

    let value = Value.composite(["height": .double(20), "width": .double(12)])
    func write(_ t: EntityTransaction, _ second: ObjectReference) throws(EngineError) -> ObjectReference {
      let mine = try t.reserveReference(owner)
      try t.insert(mine) { (row) throws(EngineError) in try row.set(attribute: owner.attributeKeys[0], .string("me")) }
      let reference = try t.reserveReference(entity: book.id)
      try t.insert(reference) { (row) throws(EngineError) in
        try row.set(attribute: title, .string("a"))
        try row.set(attribute: volume, .integer(3))
        try row.set(attribute: size, value)
        try row.set(toOne: owned, mine)
        try row.set(toMany: friends, [second])
        try row.set(toMany: sequels, [second, reference])
      }
      return reference
    }
    func check(_ store: EntityStore, _ reference: ObjectReference, _ second: ObjectReference) throws {
      let view = try store.view()
      let row = try #require(try view.row(reference))
      #expect(try row.value(title) == .string("a"))
      #expect(try row.value(volume) == .integer(3))
      #expect(try row.value(size) == value)
      let mine = try #require(try row.reference(owned))
      #expect(try view.row(mine)?.value(owner.attributeKeys[0]) == .string("me"))
      let now = try #require(store.schema.entity(named: "Book"))
      #expect(try row.references(try #require(now.relationship(named: "sequels"))) == [second, reference])
      #expect(try view.related(reference, try #require(now.relationship(named: "friends"))) == [second])
    }
    let (first, second) = try store.write { (t) throws(EngineError) in
      let second = try t.reserveReference(book)
      try t.insert(second) { (row) throws(EngineError) in try row.set(attribute: title, .string("b")) }
      return (try write(t, second), second)
    }
    try check(store, first, second)

    let later = try store.migrate(to: Self.definition(inOrder: false))
    #expect(later.schema.entity(named: "Book")?.allAttributes.map { $0.name } == ["size", "volume", "title"])
    try check(later, first, second)
    let third = try later.write { (t) throws(EngineError) in try write(t, second) }
    try check(later, third, second)
    try later.write { (t) throws(EngineError) in
      try t.update(third) { (row) throws(EngineError) in
        try row.set(attribute: volume, .integer(4))
        try row.set(toMany: friends, [])
        try row.set(toOne: owned, nil)
      }
    }
    let row = try #require(try later.view().row(third))
    #expect(try row.value(volume) == .integer(4) && row.value(title) == .string("a"))
    #expect(try row.reference(owned) == nil)
    #expect(try later.view().related(third, try #require(row.entity.relationship(named: "friends"))).isEmpty)
    #expect(try later.check().isSound)
  }

  /// What is not the entity's has no value, and cannot be set.
  @Test func keysOfOtherEntities() throws {
    let store = try Self.store()
    let owner = try #require(store.schema.entity(named: "Owner"))
    let book = try #require(store.schema.entity(named: "Book"))
    let reference = try store.write { (t) throws(EngineError) in
      let reference = try t.reserveReference(book)
      try t.insert(reference, RowValues())
      return reference
    }
    let row = try #require(try store.view().row(reference))
    #expect(try row.value(owner.attributeKeys[0]) == .null)
    #expect(try row.reference(owner.relationshipKeys[0]) == nil)
    #expect(try row.reference(book.relationshipKeys[1]) == nil)
    func isRefused(_ misuse: (RowWriter) throws(EngineError) -> Void) -> Bool {
      do throws(EngineError) {
        try store.write { (t) throws(EngineError) in try t.update(reference, by: misuse) }
        return false
      } catch { return true }
    }
    #expect(isRefused { (row) throws(EngineError) in try row.set(attribute: owner.attributeKeys[0], .string("x")) })
    #expect(isRefused { (row) throws(EngineError) in try row.set(toOne: owner.relationshipKeys[0], nil) })
    #expect(isRefused { (row) throws(EngineError) in try row.set(toMany: owner.relationshipKeys[0], []) })
    #expect(isRefused { (row) throws(EngineError) in try row.set(toOne: book.relationshipKeys[1], nil) })
    #expect(isRefused { (row) throws(EngineError) in try row.set(toMany: book.relationshipKeys[0], []) })
    #expect(isRefused { (row) throws(EngineError) in try row.set(toOne: book.relationshipKeys[0], reference) })
    #expect(isRefused { (row) throws(EngineError) in try row.set(attribute: book.attributeKeys[1], .string("x")) })
    #expect(!isRefused { (row) throws(EngineError) in try row.set(attribute: book.attributeKeys[1], .integer(1)) })
  }
}

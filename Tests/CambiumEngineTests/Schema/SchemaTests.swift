import Testing

@testable import CambiumEngine

@Suite struct SchemaTests {
  @Test func effectiveProperties() throws {
    let schema = try Schema(exampleDefinition())
    let vehicle = try #require(schema.entity(named: "Vehicle"))
    let aircraft = try #require(schema.entity(named: "Aircraft"))
    #expect(aircraft.parentID == vehicle.id)
    #expect(aircraft.rootID == vehicle.id)
    #expect(vehicle.childIDs == [aircraft.id])
    #expect(aircraft.allAttributes.map { $0.name }.prefix(4) == ["tailNumber", "photo", "cached", "hours"])
    #expect(aircraft.allRelationships.map { $0.name } == ["owner", "logEntries"])
    #expect(aircraft.attribute(named: "tailNumber")?.id == vehicle.attribute(named: "tailNumber")?.id)
    #expect(vehicle.attribute(named: "hours") == nil)
    #expect(schema.entityAndDescendants(vehicle.id).map { $0.name } == ["Vehicle", "Aircraft"])
    #expect(schema.isEntity(aircraft.id, orDescendantOf: vehicle.id))
    #expect(!schema.isEntity(vehicle.id, orDescendantOf: aircraft.id))
    let owner = try #require(vehicle.relationship(named: "owner"))
    #expect(schema.inverse(of: owner)?.name == "vehicles")
    #expect(schema.fetchTemplate(named: "byName")?.entity == "Pilot")
    let place = try #require(aircraft.attribute(named: "place"))
    #expect(place.element(named: "location")?.elements.map { $0.name } == ["latitude", "longitude"])
  }

  @Test func identifiersAreUnique() throws {
    let schema = try Schema(exampleDefinition())
    let ids = schema.entities.flatMap { $0.attributes.flatMap { allIDs($0) } + $0.relationships.map { $0.id } }
    #expect(Set(ids).count == ids.count)
    #expect(!ids.contains(0))
    #expect(ids.allSatisfy { $0 < schema.nextIdentifiers.property })
  }

  @Test func keyPaths() throws {
    let schema = try Schema(exampleDefinition())
    let aircraft = try #require(schema.entity(named: "Aircraft")).id
    func path(_ text: String) throws -> ResolvedPath { try schema.resolve(keyPath: text, from: aircraft) }
    #expect(try path("place.location.latitude").steps.count == 3)
    #expect(try path("place.location.latitude").type == .double)
    #expect(try path("place").type == .composite)
    #expect(try path("owner").type == .objectID)
    #expect(try path("owner.name").traversesRelationship)
    #expect(try !path("owner").traversesRelationship)
    #expect(try path("logEntries.aircraft.owner.vehicles.owner.name").isToMany)
    #expect(try path("objectID").steps == [.objectID])
    #expect(try path("self.owner.self.name").type == .string)
    for (text, component, place) in [
      ("color", "color", "Aircraft"), ("place.x", "x", "place"), ("owner.hours", "hours", "Pilot"),
      ("", "", "Aircraft"),
      ("hours.x", "x", "hours"), ("objectID.x", "x", "objectID"), ("owner.", "", "Pilot"),
      ("similar", "similar", "Aircraft"),
    ] {
      #expect(throws: SchemaError.unknownKeyPath(text, component: component, entity: place)) { try path(text) }
    }
  }

  // MARK: Versions

  @Test func unchangedPartsKeepIdentifiers() throws {
    let first = try Schema(exampleDefinition())
    let second = try Schema(first.definition, basedOn: first)
    #expect(first == second)
    #expect(try Schema(exampleDefinition(), basedOn: first) == first)
  }

  @Test func renamingKeepsIdentifiers() throws {
    let v1 = try Schema(
      SchemaDefinition([
        EntitySchema("A", attributes: [AttributeSchema("color", .string), AttributeSchema("x", .string)])
      ]))
    var paint = AttributeSchema("paintColor", .string)
    paint.renamingIdentifier = "color"
    var entity = EntitySchema("B", attributes: [paint, AttributeSchema("color", .string)])
    entity.renamingIdentifier = "A"
    let v2 = try Schema(SchemaDefinition([entity]), basedOn: v1)
    #expect(v2.entities[0].id == v1.entities[0].id)
    // The identifier says which is the old one, so the other `color` is new.
    #expect(v2.entities[0].attribute(named: "paintColor")?.id == v1.entities[0].attribute(named: "color")?.id)
    #expect(v2.entities[0].attribute(named: "color")?.id == 3)
    entity.attributes = [paint]
    let v2b = try Schema(SchemaDefinition([entity]), basedOn: v1)
    #expect(v2b.entities[0].attribute(named: "paintColor")?.id == v1.entities[0].attribute(named: "color")?.id)
    var other = AttributeSchema("other", .string)
    other.renamingIdentifier = "color"
    entity.attributes = [other]
    let v3 = try Schema(SchemaDefinition([entity]), basedOn: v2b)
    #expect(v3.entities[0].attribute(named: "other")?.id == v1.entities[0].attribute(named: "color")?.id)
    // Once renamed, the identifier may be left off.
    entity.attributes = [AttributeSchema("paintColor", .string)]
    let v3b = try Schema(SchemaDefinition([entity]), basedOn: v2b)
    #expect(v3b.entities[0].attributes[0].id == v2b.entities[0].attributes[0].id)
  }

  @Test func swappedNamesSwapIdentifiers() throws {
    let v1 = try Schema(
      SchemaDefinition([EntitySchema("A", attributes: [AttributeSchema("a", .string), AttributeSchema("b", .string)])]))
    var a = AttributeSchema("a", .string)
    a.renamingIdentifier = "b"
    var b = AttributeSchema("b", .string)
    b.renamingIdentifier = "a"
    let v2 = try Schema(SchemaDefinition([EntitySchema("A", attributes: [a, b])]), basedOn: v1)
    #expect(v2.entities[0].attributes.map { $0.id } == v1.entities[0].attributes.map { $0.id }.reversed())
  }

  @Test func droppedIdentifiersAreNotReused() throws {
    func definition(_ names: [String]) -> SchemaDefinition {
      SchemaDefinition([
        EntitySchema(
          "A", attributes: names.map { AttributeSchema($0, .string) },
          indexes: names.map { IndexSchema($0, [IndexElement($0)]) })
      ])
    }
    let v1 = try Schema(definition(["a", "b"]))
    let v2 = try Schema(definition(["a"]), basedOn: v1)
    let v3 = try Schema(definition(["a", "b"]), basedOn: v2)
    #expect(v3.entities[0].attributes[0].id == v1.entities[0].attributes[0].id)
    #expect(v3.entities[0].attributes[1].id > v1.entities[0].attributes[1].id)
    #expect(v3.entities[0].indexes[0].id == v1.entities[0].indexes[0].id)
    #expect(v3.entities[0].indexes[1].id > v1.entities[0].indexes[1].id)
    let decoded = try Schema(bytes: v2.encoded())
    #expect(try Schema(definition(["a", "b"]), basedOn: decoded) == v3)
  }

  @Test func changedKindsAreNew() throws {
    let v1 = try Schema(
      SchemaDefinition([
        EntitySchema(
          "A",
          attributes: [AttributeSchema("x", .string), AttributeSchema("y", .string), AttributeSchema("n", .integer16)],
          indexes: [IndexSchema("n", [IndexElement("n")])])
      ]))
    let v2 = try Schema(
      SchemaDefinition([
        EntitySchema(
          "A",
          attributes: [AttributeSchema("y", elements: [AttributeSchema("x", .string)]), AttributeSchema("n", .double)],
          relationships: [RelationshipSchema("x", to: "A")], indexes: [IndexSchema("n", [IndexElement("n")])])
      ]), basedOn: v1)
    #expect(v2.entities[0].relationships[0].id >= v1.nextIdentifiers.property)
    #expect(v2.entities[0].attributes[0].id >= v1.nextIdentifiers.property)
    #expect(v2.entities[0].attributes[1].id == v1.entities[0].attributes[2].id)
    #expect(v2.entities[0].indexes[0].id >= v1.nextIdentifiers.index)
  }

  private func allIDs(_ attribute: AttributeSchema) -> [UInt32] {
    [attribute.id] + attribute.elements.flatMap { allIDs($0) }
  }
}

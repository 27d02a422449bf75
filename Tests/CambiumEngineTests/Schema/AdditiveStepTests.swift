import Testing

@testable import CambiumEngine

/// The rule of models that devices share: add, and change nothing.
@Suite struct AdditiveStepTests {
  private func trips(_ change: (inout SchemaDefinition) -> Void = { _ in }) throws -> Schema {
    var temporary = AttributeSchema("title", .string)
    temporary.isTransient = true
    var definition = SchemaDefinition([
      EntitySchema(
        "Trip",
        attributes: [
          AttributeSchema("name", .string), temporary,
          AttributeSchema("place", elements: [AttributeSchema("city", .string)]),
        ], relationships: [RelationshipSchema("stays", toMany: "Stay", inverse: "trip")]),
      EntitySchema("Stay", relationships: [RelationshipSchema("trip", to: "Trip", inverse: "stays")]),
      EntitySchema("Thing"), EntitySchema("Bag", parent: "Thing", attributes: [AttributeSchema("size", .integer16)]),
    ])
    change(&definition)
    return try Schema(definition)
  }

  private func step(_ change: (inout SchemaDefinition) -> Void) throws -> AdditiveStep {
    AdditiveStep(from: try trips(), to: try trips(change))
  }

  @Test func theFirstPromotionAddsEverything() throws {
    let step = AdditiveStep(from: nil, to: try trips())
    #expect(step.isAllowed)
    #expect(step.additions == ["Trip", "Stay", "Thing", "Bag"])
  }

  @Test func additions() throws {
    let step = try step {
      $0.entities[0].attributes.append(AttributeSchema("note", .string))
      $0.entities[0].attributes[2].elements.append(AttributeSchema("country", .string))
      $0.entities[0].relationships.append(RelationshipSchema("hotels", toMany: "Hotel", inverse: "trip"))
      $0.entities.append(
        EntitySchema("Hotel", relationships: [RelationshipSchema("trip", to: "Trip", inverse: "hotels")]))
      // A transient attribute is no field, until it is stored.
      $0.entities[0].attributes[1].isTransient = false
      $0.entities[1].attributes.append(AttributeSchema("t", .string))
      $0.entities[1].attributes[0].isTransient = true
    }
    #expect(step.obstacles == [])
    #expect(step.additions == ["Trip.place.country", "Trip.title", "Trip.note", "Trip.hotels", "Hotel"])
    #expect(step.isAllowed)
  }

  /// Nothing that a record keeps depends on these.
  @Test func changesThatAreNoFields() throws {
    let step = try step {
      $0.entities[0].attributes[0].isOptional = false
      $0.entities[0].attributes[0].defaultValue = "?"
      $0.entities[0].attributes.remove(at: 1)
      $0.entities[0].relationships[0].deleteRule = .cascade
      $0.entities[0].indexes = [IndexSchema("byName", [IndexElement("name")])]
      // From the parent, under the same name.
      $0.entities[2].attributes = $0.entities[3].attributes
      $0.entities[3].attributes = []
    }
    #expect(step.obstacles == [])
    #expect(step.additions == ["Thing.size"])
  }

  @Test func refusals() throws {
    func refused(_ change: (inout SchemaDefinition) -> Void) throws -> [String] {
      let step = try step(change)
      #expect(!step.isAllowed)
      #expect(step.obstacles.allSatisfy { $0.rule == "not-additive" && $0.text.contains("production") })
      return step.obstacles.map { $0.place }
    }
    #expect(try refused { $0.entities.remove(at: 3) } == ["Bag"])
    #expect(
      try refused {
        $0.entities[3].name = "Sack"
        $0.entities[3].renamingIdentifier = "Bag"
      } == ["Bag"])
    #expect(try refused { $0.entities[3].parent = nil } == ["Bag"])
    #expect(try refused { $0.entities[3].isAbstract = true } == ["Bag"])
    #expect(try refused { $0.entities[0].attributes.remove(at: 0) } == ["Trip.name"])
    #expect(
      try refused {
        $0.entities[0].attributes[0].name = "label"
        $0.entities[0].attributes[0].renamingIdentifier = "name"
      } == ["Trip.name"])
    #expect(try refused { $0.entities[0].attributes[0].isTransient = true } == ["Trip.name"])
    #expect(try refused { $0.entities[0].attributes[0].type = .integer32 } == ["Trip.name"])
    #expect(
      try refused { $0.entities[0].attributes[2].elements = [AttributeSchema("town", .string)] } == ["Trip.place.city"])
    #expect(try refused { $0.entities[0].attributes[2] = AttributeSchema("place", .string) } == ["Trip.place"])
    #expect(
      try refused {
        $0.entities[0].relationships[0] = RelationshipSchema("stays", to: "Stay", inverse: "trip")
      } == ["Trip.stays"])
    #expect(
      try refused {
        $0.entities[0].relationships = []
        $0.entities[1].relationships = []
      } == ["Trip.stays", "Stay.trip"])
    #expect(
      try refused {
        $0.entities[0].relationships[0].inverse = "journey"
        $0.entities[1].relationships[0].name = "journey"
      } == ["Trip.stays", "Stay.trip"])
  }

  @Test func whatCannotBeMirroredCannotBePromoted() throws {
    let step = try step { $0.entities[0].uniquenessConstraints = [UniquenessConstraint(["name"])] }
    #expect(step.obstacles.map { "\($0.rule) \($0.place)" } == ["sync Trip"])
  }
}

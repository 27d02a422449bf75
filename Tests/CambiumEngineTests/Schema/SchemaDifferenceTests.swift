import Testing

@testable import CambiumEngine

@Suite struct SchemaDifferenceTests {
  private func changes(_ change: (inout SchemaDefinition) -> Void) throws -> [String] {
    let old = try Schema(exampleDefinition())
    var definition = exampleDefinition()
    change(&definition)
    let new = try Schema(definition)
    let difference = SchemaDifference(from: old, to: new)
    // What is marked as stored is what the hashes depend on, and nothing else.
    #expect(difference.isStored == !new.differingEntities(from: old).isEmpty)
    return difference.entities.flatMap { entity in
      entity.kind == .changed
        ? entity.changes.map { "\(entity.name)\($0.property.map { "." + $0 } ?? "") \($0.text)" }
        : ["\(entity.name) \(entity.kind.rawValue)"]
    } + difference.others
  }

  @Test func nothing() throws { #expect(try changes { _ in } == []) }

  @Test func attributes() throws {
    let found = try changes {
      $0.entities[0].attributes[0].isOptional = true
      $0.entities[0].attributes[0].maximum = 3
      $0.entities[0].attributes[3].type = .integer64
      $0.entities[0].attributes[4].name = "mass"
      $0.entities[0].attributes[4].renamingIdentifier = "weight"
      $0.entities[0].attributes[1].elements.swapAt(0, 1)
      $0.entities[0].attributes[1].elements.append(AttributeSchema("fourth", .string, optional: false))
      $0.entities[3].attributes.append(AttributeSchema("age", .integer16, optional: false, default: 1))
      $0.entities[3].attributes[0].isTransient = true
      $0.entities[2].attributes.removeLast()
      $0.entities[2].attributes[0].userInfo = [UserInfoEntry(key: "a", value: "b")]
    }
    #expect(
      found == [
        "Aircraft.hours became optional", "Aircraft.hours limits or pattern changed",
        "Aircraft.colorScheme.fourth element added: String, required, without default",
        "Aircraft.colorScheme elements in another order", "Aircraft.engines type Integer 16 became Integer 64",
        "Aircraft.mass renamed from weight", "Aircraft.mass renaming identifier changed",
        "LogEntry.duration user info changed", "LogEntry.remarks attribute removed",
        "Pilot.name became transient", "Pilot.age attribute added: Integer 16, required",
      ])
  }

  @Test func entitiesAndRelationships() throws {
    let found = try changes {
      $0.entities[3].name = "Captain"
      $0.entities[3].renamingIdentifier = "Pilot"
      $0.entities[1].relationships[0].destination = "Captain"
      $0.entities[3].relationships[0].deleteRule = .cascade
      $0.entities[3].relationships[0].maximumCount = 5
      $0.entities[0].relationships[0].isOrdered = false
      $0.entities[0].indexes.removeLast()
      $0.entities[0].uniquenessConstraints = [UniquenessConstraint(["token"])]
      $0.entities[1].isAbstract = false
      $0.entities.append(EntitySchema("Extra"))
      $0.configurations[0].entities = ["Captain"]
      $0.fetchTemplates[0].template.entity = "Captain"
      $0.entities[3].removedProperties = ["notes"]
      $0.removedEntities = ["Hotel"]
    }
    #expect(
      found
        == [
          "Aircraft.logEntries is no longer ordered", "Aircraft constraint added: token",
          "Aircraft constraint removed: tailNumber, colorScheme.primary", "Aircraft index removed: area",
          "Vehicle is no longer abstract", "Vehicle.owner destination Pilot became Captain",
          "Captain renamed from Pilot", "Captain.vehicles count 0 to 0 became 0 to 5",
          "Captain.vehicles delete rule Nullify became Cascade", "Captain renaming identifier changed",
          "Captain removed properties changed", "Extra added",
          "configurations changed", "fetch request templates changed", "removed entities changed",
        ])
  }
}

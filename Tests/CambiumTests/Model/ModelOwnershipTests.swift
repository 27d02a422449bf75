import Foundation
import Testing

@testable import Cambium

/// A part of a model belongs to one place: what is put into a second one stays in the first, and the second model
/// cannot be compiled.
@Suite struct ModelOwnershipTests {
  private static func entity(_ name: String) throws -> EntityDescription {
    let place = try CompositeAttributeDescription("place", elements: [AttributeDescription("zone", .string)])
    let kind = CompositeAttributeDescription("kind", compositeTypeName: "Kind")
    let entity = EntityDescription(name, properties: [AttributeDescription("name", .string), place, kind])
    entity.indexes = [FetchIndexDescription(name: "byName", elements: [FetchIndexElementDescription(keyPath: "name")])]
    return entity
  }

  private static func model() throws -> ManagedObjectModel {
    let (parent, child) = (try entity("Parent"), EntityDescription("Child"))
    parent.subentities = [child]
    let model = ManagedObjectModel(entities: [parent, child])
    model.compositeTypes = [try CompositeAttributeDescription("Kind", elements: [AttributeDescription("k", .string)])]
    model.setEntities([child], forConfigurationName: "Some")
    return model
  }

  /// A second model that was given a part of the first.
  struct Taking: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// What the error has to name.
    let problem: String
    let take: @Sendable (ManagedObjectModel) throws -> ManagedObjectModel

    init(
      _ name: String, _ problem: String, _ take: @escaping @Sendable (ManagedObjectModel) throws -> ManagedObjectModel
    ) {
      (testDescription, self.problem, self.take) = (name, problem, take)
    }
  }

  private static func part<Part>(_ part: Part?) throws -> Part { try #require(part) }

  static let takings: [Taking] = [
    Taking("entities", "'Parent' belongs to another model") { ManagedObjectModel(entities: $0.entities) },
    Taking("a property", "'name' of entity 'Second' belongs to entity 'Parent'") {
      let property = try part($0.entitiesByName["Parent"]?.propertiesByName["name"])
      return ManagedObjectModel(entities: [EntityDescription("Second", properties: [property])])
    },
    Taking("a composite's element as a property", "'zone' of entity 'Second' belongs to the composite 'place'") {
      let place = try part($0.entitiesByName["Parent"]?.attributesByName["place"] as? CompositeAttributeDescription)
      return ManagedObjectModel(entities: [EntityDescription("Second", properties: place.elements)])
    },
    Taking("a composite type as a property", "'Kind' of entity 'Second' belongs to the composite types of a model") {
      ManagedObjectModel(entities: [EntityDescription("Second", properties: $0.compositeTypes)])
    },
    Taking("an index", "'byName' of entity 'Second' belongs to entity 'Parent'") {
      let second = EntityDescription("Second", properties: [AttributeDescription("name", .string)])
      second.indexes = try part($0.entitiesByName["Parent"]).indexes
      return ManagedObjectModel(entities: [second])
    },
    Taking("an element of an index", "'name' of index 'other' belongs to index 'byName'") {
      let second = EntityDescription("Second", properties: [AttributeDescription("name", .string)])
      let elements = try part($0.entitiesByName["Parent"]?.indexes.first).elements
      second.indexes = [FetchIndexDescription(name: "other", elements: elements)]
      return ManagedObjectModel(entities: [second])
    },
    Taking("a subentity", "'Child', which is not in its model") {
      let second = EntityDescription("Second")
      second.subentities = [try part($0.entitiesByName["Child"])]
      return ManagedObjectModel(entities: [second])
    },
    Taking("a root as a subentity", "'Parent', which is not in its model") {
      let second = EntityDescription("Second")
      second.subentities = [try part($0.entitiesByName["Parent"])]
      return ManagedObjectModel(entities: [second])
    },
    Taking("a composite type", "'Kind' belongs to the composite types of a model") {
      let second = ManagedObjectModel(entities: [EntityDescription("Second")])
      second.compositeTypes = $0.compositeTypes
      return second
    },
    Taking("a composite attribute as a type", "'place' belongs to entity 'Parent'") {
      let second = ManagedObjectModel(entities: [EntityDescription("Second")])
      second.compositeTypes = [
        try part($0.entitiesByName["Parent"]?.attributesByName["place"] as? CompositeAttributeDescription)
      ]
      return second
    },
    Taking("a member of a configuration", "'Some' has the entity 'Child'") {
      let second = ManagedObjectModel(entities: [EntityDescription("Child")])
      second.setEntities([try part($0.entitiesByName["Child"])], forConfigurationName: "Some")
      return second
    },
  ]

  /// The first model stays as it is, in use or not, whatever becomes of the second.
  @Test(arguments: takings, [true, false]) func whatBelongsElsewhereStays(_ taking: Taking, isInUse: Bool) throws {
    let first = try Self.model()
    if isInUse { try first.takeIntoUse() }
    let checksum = try first.versionChecksum
    var second: ManagedObjectModel? = try taking.take(first)
    let error = cambiumError { _ = try second?.schema() }
    #expect(error?.code == .invalidModel)
    #expect(error?.message.contains(taking.problem) == true, "\(String(describing: error))")
    #expect(cambiumError { _ = try second?.takeIntoUse() }?.code == .invalidModel)
    // Neither emptying the second nor its end frees what is the first's.
    for entity in second?.entities ?? [] where entity.managedObjectModel === second {
      entity.properties = []
      entity.indexes = []
      entity.subentities = []
    }
    second?.compositeTypes = []
    second?.entities = []
    second = nil

    let parent = try #require(first.entitiesByName["Parent"])
    let child = try #require(first.entitiesByName["Child"])
    let place = try #require(parent.attributesByName["place"] as? CompositeAttributeDescription)
    let index = try #require(parent.indexes.first)
    #expect(parent.managedObjectModel === first && child.managedObjectModel === first)
    #expect(child.superentity === parent && parent.superentity == nil)
    #expect(parent.properties.allSatisfy { $0.entity === parent })
    #expect(index.entity === parent && index.elements.allSatisfy { $0.indexDescription === index })
    #expect(try first.versionChecksum == checksum)
    #expect(try ManagedObjectModel.compile(first.definition()).versionChecksum == checksum)
    guard isInUse else { return }
    let changes: [() -> Void] = [
      { parent.name = "x" }, { parent.properties = [] }, { child.isAbstract = true },
      { parent.attributesByName["name"]?.isOptional = false }, { place.element(named: "zone")?.name = "x" },
      { index.name = "x" }, { index.elements.first?.isAscending = false }, { index.elements = [] },
      { first.compositeTypes.first?.name = "x" }, { first.compositeTypes.first?.elements.first?.name = "x" },
    ]
    for (place, change) in changes.enumerated() {
      change()
      #expect(first.refusedChanges.count == place + 1)
    }
  }

  @Test func elementsOfAComposite() throws {
    let model = try Self.model()
    let parent = try #require(model.entitiesByName["Parent"])
    let name = try #require(parent.propertiesByName["name"])
    let type = try #require(model.compositeTypes.first)
    let other = CompositeAttributeDescription()
    other.name = "other"
    let element = try #require(type.elements.first)
    for taken in [name, type, element] {
      #expect(throws: ManagedObjectModelError.elementInUse(name: taken.name, composite: "other")) {
        try other.setElements([taken])
      }
    }
    #expect(other.elements.isEmpty)
    #expect(name.entity === parent)
    // Its own may be set again, and what it gives up is free.
    try type.setElements([element, AttributeDescription("l", .string)])
    try type.setElements([AttributeDescription("l", .string)])
    try other.setElements([element])
    #expect(other.elements.count == 1)
  }

  @Test func typeOfAComposite() throws {
    let place = try CompositeAttributeDescription("place", elements: [AttributeDescription("zone", .string)])
    let model = ManagedObjectModel(entities: [EntityDescription("Entry", properties: [place])])
    place.attributeType = .string
    #expect(place.attributeType == .composite)
    let error = cambiumError { _ = try model.schema() }
    #expect(error?.code == .invalidModel && error?.entityName == "Entry" && error?.key == "place")
    place.attributeType = .composite
    try model.takeIntoUse()
    place.attributeType = .double
    #expect(model.refusedChanges.count == 1)
    #expect(try ManagedObjectModel.compile(model.definition()).entities.count == 1)
  }

  /// Models are put together in any order: what its owner gives up, the next one has.
  @Test func whatBecomesFreeIsTakenIn() throws {
    let first = try Self.model()
    let parent = try #require(first.entitiesByName["Parent"])
    let name = try #require(parent.propertiesByName["name"])
    let second = ManagedObjectModel(entities: [EntityDescription("Second", properties: [name])])
    #expect(cambiumError { _ = try second.schema() }?.key == "name")
    parent.indexes = []
    parent.properties = parent.properties.filter { $0 !== name }
    #expect(try second.schema().entity(named: "Second")?.attribute(named: "name") != nil)
    #expect(name.entity === second.entities.first)
    // Again among the same entity's, it stays there.
    second.entities[0].properties = second.entities[0].properties
    #expect(name.entity === second.entities.first)

    let third = ManagedObjectModel(entities: first.entities)
    #expect(cambiumError { _ = try third.schema() }?.code == .invalidModel)
    third.compositeTypes = first.compositeTypes
    (first.entities, first.compositeTypes) = ([], [])
    #expect(try third.schema().entities.map { $0.name }.sorted() == ["Child", "Parent"])
    // What the owner took with it is free as well.
    var fourth: ManagedObjectModel? = ManagedObjectModel(entities: [EntityDescription("Fourth")])
    let entity = try #require(fourth?.entities.first)
    fourth = nil
    #expect(try ManagedObjectModel(entities: [entity]).schema().entities.count == 1)
  }

  @Test func copiesAreOfTheirOwn() throws {
    let first = try Self.model()
    try first.takeIntoUse()
    let copy = ManagedObjectModel(schema: try first.schema())
    copy.entitiesByName["Parent"]?.name = "Other"
    #expect(copy.entitiesByName["Other"] != nil)
    #expect(try ManagedObjectModel(merging: [first]).versionChecksum == first.versionChecksum)
    #expect(first.refusedChanges.isEmpty)
  }

  @Test func hierarchiesOutsideOfTheModel() throws {
    let (a, b, c) = (EntityDescription("A"), EntityDescription("B"), EntityDescription("C"))
    a.subentities = [b]
    #expect(cambiumError { _ = try ManagedObjectModel(entities: [a]).schema() }?.entityName == "B")
    let below = ManagedObjectModel(entities: [b])
    #expect(cambiumError { _ = try below.schema() }?.message.contains("the parent 'A'") == true)
    below.entities = []
    c.subentities = [b]
    let both = ManagedObjectModel(entities: [a, b, c])
    #expect(cambiumError { _ = try both.schema() }?.message.contains("one parent") == true)
    a.subentities = []
    #expect(try both.schema().entity(named: "B")?.parent == "C")
  }

  /// Elements of a named type within a composite's own elements.
  @Test func nestedElementsOfNamedTypes() throws {
    let inner = CompositeAttributeDescription("inner", compositeTypeName: "Kind")
    let outer = try CompositeAttributeDescription("outer", elements: [inner])
    let model = ManagedObjectModel(entities: [EntityDescription("A", properties: [outer])])
    model.compositeTypes = [try CompositeAttributeDescription("Kind", elements: [AttributeDescription("k", .string)])]
    try model.takeIntoUse()
    #expect(inner.elements.map { $0.name } == ["k"])
  }
}

import Cambium
import Foundation
import Testing

@Suite struct ModelTests {
  @Test func builderMakesDescriptions() throws {
    let model = try FlightModel.make()
    let airport = try #require(model.entitiesByName["Airport"])
    #expect(airport.attributesByName["faaIdentifier"]?.isOptional == false)
    #expect(airport.uniquenessConstraints == [["faaIdentifier"]])
    #expect(airport.indexes.first?.elements.first?.propertyName == "name")
    let place = try #require(airport.attributesByName["place"] as? CompositeAttributeDescription)
    #expect(place.attributeType == .composite)
    #expect(place.attributeType.rawValue == 2100)
    #expect(place.elements.map(\.name) == ["timeZone", "location"])
    let location = try #require(place.element(named: "location") as? CompositeAttributeDescription)
    #expect(location.elements.map(\.attributeType) == [.double, .double, .integer32])
    let departures = try #require(airport.relationshipsByName["departures"])
    #expect(departures.isToMany)
    #expect(departures.destinationEntity === model.entitiesByName["LogEntry"])
    #expect(departures.inverseRelationship?.name == "origin")
    #expect(model.entitiesByName["LogEntry"]?.relationshipsByName["origin"]?.isToMany == false)
    #expect(airport.relationships(forDestination: try #require(model.entitiesByName["LogEntry"])).count == 2)
  }

  @Test func descriptionsMadeByHandAreTheSame() throws {
    let name = AttributeDescription("name", .string, isOptional: false)
    let books = RelationshipDescription()
    books.name = "books"
    let author = EntityDescription("Author", properties: [name, books])
    let writer = RelationshipDescription()
    writer.name = "author"
    writer.maxCount = 1
    writer.destinationEntity = author
    let book = EntityDescription("Book", properties: [AttributeDescription("title", .string), writer])
    books.destinationEntity = book
    books.inverseRelationship = writer
    writer.inverseRelationship = books
    let byHand = ManagedObjectModel(entities: [author, book])
    let built = try ManagedObjectModel {
      Entity("Author") {
        Attribute("name", .string, optional: false)
        ToMany("books", "Book", inverse: "author")
      }
      Entity("Book") {
        Attribute("title", .string)
        ToOne("author", "Author", inverse: "books")
      }
    }
    #expect(try byHand.schema() == built.schema())
  }

  @Test func inheritance() throws {
    let model = try ManagedObjectModel {
      Entity("Vehicle", abstract: true) { Attribute("name", .string) }
      Entity("Car", parent: "Vehicle") { Attribute("doors", .integer16) }
    }
    let car = try #require(model.entitiesByName["Car"])
    let vehicle = try #require(model.entitiesByName["Vehicle"])
    #expect(car.superentity === vehicle)
    #expect(vehicle.subentitiesByName.keys.sorted() == ["Car"])
    #expect(Set(car.attributesByName.keys) == ["name", "doors"])
    #expect(car.isKindOf(entity: vehicle))
    #expect(!vehicle.isKindOf(entity: car))
  }

  @Test func compositeElementsAreAttributesOnly() throws {
    let composite = CompositeAttributeDescription()
    composite.name = "scheme"
    let relationship = RelationshipDescription("wrong", toMany: false, destination: "Airport")
    #expect(
      throws: ManagedObjectModelError.invalidElement(
        name: "wrong", type: "RelationshipDescription", composite: "scheme")
    ) { try composite.setElements([AttributeDescription("a", .string), relationship]) }
    #expect(composite.elements.isEmpty)
    let inner = try CompositeAttributeDescription("inner", elements: [AttributeDescription("x", .double)])
    try composite.setElements([AttributeDescription("a", .string), inner])
    #expect(composite.elements.count == 2)
    #expect(throws: ManagedObjectModelError.cyclicElement(name: "scheme", composite: "inner")) {
      try inner.setElements([composite])
    }
    #expect(throws: ManagedObjectModelError.cyclicElement(name: "scheme", composite: "scheme")) {
      try composite.setElements([composite])
    }
    composite.attributeType = .string
    #expect(composite.attributeType == .composite)
  }

  @Test func wrongModelsAreRefused() throws {
    #expect(
      cambiumError {
        _ = try ManagedObjectModel { Entity("A") { ToOne("b", "B") } }
      }?.code == .invalidModel)
    #expect(
      cambiumError {
        _ = try ManagedObjectModel { Entity("A") { Attribute("n", .integer16, default: "text") } }
      }?.code == .invalidModel)
    #expect(
      cambiumError {
        _ = try ManagedObjectModel {
          Composite("A") { Attribute("b", composite: "B") }
          Composite("B") { Attribute("a", composite: "A") }
          Entity("E") { Attribute("a", composite: "A") }
        }
      }?.code == .invalidModel)
  }

  @Test func modelIsImmutableInUse() throws {
    let model = try FlightModel.make()
    #expect(!model.isInUse)
    model.entitiesByName["Airport"]?.userInfo = ["a": "b"]
    let container = try memoryContainer(model)
    #expect(model.isInUse)
    let airport = try #require(model.entitiesByName["Airport"])
    airport.name = "Aerodrome"
    #expect(airport.name == "Airport")
    airport.properties = []
    #expect(airport.properties.count == 6)
    airport.attributesByName["name"]?.isOptional = false
    #expect(airport.attributesByName["name"]?.isOptional == true)
    #expect(model.refusedChanges.count == 3)
    #expect(model.refusedChanges.first?.code == .modelInUse)
    let place = try #require(airport.attributesByName["place"] as? CompositeAttributeDescription)
    #expect(cambiumError { try place.setElements([]) }?.code == .modelInUse)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }
}

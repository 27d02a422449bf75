import Foundation
import Testing

@testable import Cambium

@Suite struct ModelVersionTests {
  /// A composite of its own elements, one of which is of a named type that names another.
  private func nested(_ type: AttributeType) throws -> (ManagedObjectModel, CompositeAttributeDescription) {
    let inner = CompositeAttributeDescription("inner", compositeTypeName: "Outer")
    let whole = try CompositeAttributeDescription("whole", elements: [inner])
    let model = ManagedObjectModel(entities: [EntityDescription("Entry", properties: [whole])])
    let deepest = CompositeAttributeDescription("deepest", compositeTypeName: "Inner")
    model.compositeTypes = [
      try CompositeAttributeDescription("Outer", elements: [deepest]),
      try CompositeAttributeDescription("Inner", elements: [AttributeDescription("value", type)]),
    ]
    return (model, inner)
  }

  @Test func hashesOfElementsOfNamedTypes() throws {
    let (model, element) = try nested(.string)
    let (same, alike) = try nested(.string)
    let (other, different) = try nested(.double)
    let hash = try element.versionHash
    #expect(try alike.versionHash == hash)
    #expect(try different.versionHash != hash)
    // The same as of the elements written out, and once the model is in use.
    try same.takeIntoUse()
    #expect(try alike.versionHash == hash)
    let value = AttributeDescription("value", .string)
    let written = try CompositeAttributeDescription(
      "inner", elements: [try CompositeAttributeDescription("deepest", elements: [value])])
    // Parts know their owners weakly: all of them are held to the end.
    let owners: [AnyObject] = [other, try CompositeAttributeDescription("whole", elements: [written])]
    defer { withExtendedLifetime(owners) {} }
    #expect(try written.versionHash == hash)
    // Of elements in the types, and of elements of elements.
    let deepest = try #require(model.compositeTypes.first?.elements.first)
    #expect(try deepest.versionHash == written.elements[0].versionHash)
    #expect(try model.compositeTypes[1].elements[0].versionHash == value.versionHash)
    #expect(try (same.compositeTypes.first?.versionHash).map { $0.count } == 32)
    // A type that there is not.
    model.compositeTypes = [model.compositeTypes[0]]
    #expect(cambiumError { _ = try element.versionHash }?.code == .invalidModel)
  }

  @Test func fetchedPropertiesHaveNoHash() throws {
    let fetched = FetchedPropertyDescription("same", fetchRequest: FetchRequestTemplate(entityName: "Entry"))
    let model = ManagedObjectModel(entities: [EntityDescription("Entry", properties: [fetched])])
    try model.takeIntoUse()
    let error = cambiumError { _ = try fetched.versionHash }
    #expect(error?.code == .invalidModel && error?.entityName == "Entry" && error?.key == "same")
    #expect(error?.message.contains("is not stored") == true)
  }

  @Test func hashesOfTheModelAreTheStores() throws {
    let directory = try TemporaryDirectory()
    let model = try FlightModel.make()
    let checksum = try model.versionChecksum
    #expect(Data(base64Encoded: checksum)?.count == 32)
    let container = try directory.container(model: model)
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let metadata = store.metadata
    #expect(metadata[PersistentStore.modelVersionChecksumKey] as? String == checksum)
    let hashes = try #require(metadata[PersistentStore.modelVersionHashesKey] as? [String: Data])
    #expect(try hashes == model.entityVersionHashesByName)
    #expect(hashes.values.allSatisfy { $0.count == 32 })
    #expect(Set(hashes.values).count == model.entities.count)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(try model.versionChecksum == checksum)

    // The application cannot overwrite them.
    try store.setMetadata(["a": "b", PersistentStore.modelVersionChecksumKey: "x"])
    #expect(store.metadata[PersistentStore.modelVersionChecksumKey] as? String == checksum)
  }

  @Test func compatibility() throws {
    let directory = try TemporaryDirectory()
    let metadata = try #require(
      try directory.container().persistentStoreCoordinator.persistentStores.first?.metadata)
    let renamed = try FlightModel.make()
    renamed.entitiesByName["Pilot"]?.propertiesByName["name"]?.renamingIdentifier = "called"
    renamed.versionIdentifiers = ["2"]
    #expect(renamed.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!renamed.isConfiguration(withName: "Local", compatibleWithStoreMetadata: metadata))
    #expect(!renamed.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    let pilot = try #require(renamed.entitiesByName["Pilot"])
    renamed.setEntities([pilot], forConfigurationName: "Local")
    #expect(renamed.isConfiguration(withName: "Local", compatibleWithStoreMetadata: metadata))
    let only = [PersistentStore.modelVersionHashesKey: ["Pilot": try pilot.versionHash]]
    #expect(renamed.isConfiguration(withName: "Local", compatibleWithStoreMetadata: only))
    #expect(!renamed.isConfiguration(withName: nil, compatibleWithStoreMetadata: only))
    var others = try renamed.entityVersionHashesByName
    others["Aircraft"] = Data(count: 32)
    #expect(
      !renamed.isConfiguration(
        withName: "Local", compatibleWithStoreMetadata: [PersistentStore.modelVersionHashesKey: others]))
    pilot.versionHashModifier = "again"
    #expect(!renamed.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    let broken = ManagedObjectModel(entities: [EntityDescription("")])
    #expect(!broken.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(throws: CambiumError.self) { try broken.versionChecksum }
  }

  @Test func hashesOfParts() throws {
    let model = try FlightModel.make()
    let aircraft = try #require(model.entitiesByName["Aircraft"])
    #expect(try aircraft.versionHash == model.entityVersionHashesByName["Aircraft"])
    let engines = try #require(aircraft.attributesByName["engines"])
    let hash = try engines.versionHash
    engines.defaultValue = 2
    #expect(try engines.versionHash == hash)
    engines.isOptional = false
    #expect(try engines.versionHash != hash)
    let entries = try #require(aircraft.relationshipsByName["logEntries"])
    let other = try entries.versionHash
    entries.isOrdered = true
    #expect(try entries.versionHash != other)
    let element = try #require(model.compositeTypes.first { $0.name == "Place" }?.element(named: "timeZone"))
    #expect(try element.versionHash.count == 32)
    #expect(throws: CambiumError.self) { try AttributeDescription("a", .string).versionHash }
    #expect(throws: CambiumError.self) { try EntityDescription("E").versionHash }
  }
}

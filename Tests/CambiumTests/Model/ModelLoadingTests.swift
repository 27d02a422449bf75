import Foundation
import Testing

@testable import Cambium

@Suite struct ModelLoadingTests {
  static let models = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Models")
  static let flights = models.appendingPathComponent("Flights.xcdatamodeld")

  @Test func theCurrentVersion() throws {
    let model = try ManagedObjectModel(contentsOf: Self.flights)
    #expect(model.fileWarnings == [])
    #expect(model.versionIdentifiers == ["2"])
    #expect(Set(model.entitiesByName.keys) == ["Aircraft", "LogEntry"])
    let aircraft = try #require(model.entitiesByName["Aircraft"])
    #expect(aircraft.userInfo == ["since": "1"])
    #expect(aircraft.uniquenessConstraints == [["registration"]])
    #expect(aircraft.managedObjectClassName == "Aircraft")
    #expect(model.entitiesByName["LogEntry"]?.managedObjectClassName == "LogEntry")
    #expect(aircraft.indexes.map { $0.name } == ["byPrimary"])
    let scheme = try #require(aircraft.attributesByName["colorScheme"] as? CompositeAttributeDescription)
    #expect(scheme.compositeTypeName == "ColorScheme")
    #expect(scheme.elements.map { $0.name } == ["primary", "secondary", "tertiary"])
    #expect(scheme.elements.allSatisfy { $0.isOptional && $0.attributeType == .string })
    let engines = try #require(aircraft.attributesByName["engines"])
    #expect(engines.attributeType == .integer32)
    #expect(engines.defaultValue as? Int == 1)
    #expect(engines.minimumValue as? Int == 0)
    #expect(engines.maximumValue as? Int == 8)
    #expect(aircraft.attributesByName["registration"]?.renamingIdentifier == "tailNumber")
    let count = try #require(aircraft.attributesByName["entryCount"] as? DerivedAttributeDescription)
    #expect(count.derivationExpression == "logEntries.@count")
    let entries = try #require(aircraft.relationshipsByName["logEntries"])
    #expect(entries.isToMany && entries.isOrdered && entries.deleteRule == .cascade)
    #expect(entries.inverseRelationship === model.entitiesByName["LogEntry"]?.relationshipsByName["aircraft"])
    let longer = try #require(
      model.entitiesByName["LogEntry"]?.propertiesByName["longer"] as? FetchedPropertyDescription)
    #expect(longer.fetchRequest?.predicateFormat == "duration > $FETCH_SOURCE.duration")
    #expect(model.fetchRequestTemplate(forName: "Longest")?.fetchLimit == 10)
    #expect(model.configurations == ["Fleet"])
    #expect(model.compositeTypes.map { $0.name } == ["ColorScheme"])
  }

  @Test func versions() throws {
    let old = try ManagedObjectModel(contentsOf: Self.flights, version: "Flights")
    #expect(old.entitiesByName["Aircraft"]?.attributesByName["color"] != nil)
    let versions = try ManagedObjectModel.versions(at: Self.flights)
    #expect(versions.names == ["Flights", "Flights 2"])
    #expect(versions.current == "Flights 2")
    let checksums = try ManagedObjectModel.checksumsForVersionedModel(at: Self.flights)
    #expect(
      try checksums == [
        "Flights": old.versionChecksum,
        "Flights 2": ManagedObjectModel(contentsOf: Self.flights).versionChecksum,
      ])
    // The checksums that `cambium model checksum` prints.
    #expect(checksums["Flights"] == "sARMcnVvJ7ai0bZwghGcDu8WJSsMfWmfot1luT4Mla0=")
    let single = Self.flights.appendingPathComponent("Flights.xcdatamodel")
    #expect(try ManagedObjectModel(contentsOf: single).versionChecksum == checksums["Flights"])
    let bare = single.appendingPathComponent("contents")
    #expect(try ManagedObjectModel(contentsOf: bare).versionChecksum == checksums["Flights"])
    #expect(try ManagedObjectModel(named: "Flights", in: Self.models).versionChecksum == checksums["Flights 2"])
  }

  @Test func refusals() throws {
    for (url, version) in [
      (Self.models.appendingPathComponent("None.xcdatamodeld"), nil), (Self.flights, "Flights 3"), (Self.models, nil),
      (try #require(URL(string: "https://example.org/m.xcdatamodeld")), nil),
    ] as [(URL, String?)] {
      let error = cambiumError { _ = try ManagedObjectModel(contentsOf: url, version: version) }
      #expect(error?.code == .fileReadNoSuchFile)
    }
    let error = cambiumError { _ = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: #filePath)) }
    #expect(error?.code == .invalidModel)
    #expect(error?.message.contains("line ") == true)
    #expect(cambiumError { _ = try ManagedObjectModel(named: "None", in: Self.models) }?.code == .fileReadNoSuchFile)
    // A compiled model of Xcode's has a list of its versions, as ours has.
    let directory = try TemporaryDirectory()
    let compiled = directory.url.appendingPathComponent("Flights.momd")
    try FileManager.default.createDirectory(at: compiled, withIntermediateDirectories: true)
    for name in ["VersionInfo.plist", "Flights.mom"] {
      try Data("bplist00".utf8).write(to: compiled.appendingPathComponent(name))
    }
    let refused = cambiumError { _ = try ManagedObjectModel(contentsOf: compiled) }
    #expect(
      refused?.code == .fileReadNoSuchFile && refused?.message.contains(".xcdatamodeld that it was made of") == true)
  }

  /// The descriptions hold all that the schema does: a model made of a model's schema is the same.
  @Test func nothingIsLost() throws {
    for model in [try ManagedObjectModel(contentsOf: Self.flights), try FlightModel.make()] {
      let schema = try model.schema()
      let again = try ManagedObjectModel(schema: schema).schema()
      #expect(again.entities == schema.entities)
      #expect(again.composites == schema.composites)
      #expect(again.configurations == schema.configurations)
      #expect(again.fetchTemplates == schema.fetchTemplates)
      #expect(again.versionIdentifiers == schema.versionIdentifiers)
    }
  }

  @Test func theLoadedModelWorks() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: ManagedObjectModel(contentsOf: Self.flights)).viewContext
    let aircraft = try context.make("Aircraft", ["registration": "N1", "colorScheme": ["primary": "white"]])
    _ = try context.make("LogEntry", ["aircraft": aircraft, "duration": 2.0])
    try context.save()
    #expect(try context.all("LogEntry", "aircraft.colorScheme.primary == 'white'").count == 1)
  }

  // MARK: Merging

  @Test func merging() throws {
    let fleet = try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        ToMany("entries", "Entry", inverse: "aircraft")
      }
      Entity("Entry") { ToOne("aircraft", "Aircraft", inverse: "entries") }
      Configuration("Cloud", "Aircraft")
    }
    let people = try ManagedObjectModel(versionIdentifiers: ["p"]) {
      Composite("Name") { Attribute("first", .string) }
      Entity("Pilot") { Attribute("name", composite: "Name") }
      Configuration("Cloud", "Pilot")
    }
    let merged = try ManagedObjectModel(merging: [fleet, people, fleet])
    #expect(Set(merged.entitiesByName.keys) == ["Aircraft", "Entry", "Pilot"])
    #expect(Set(merged.entities(forConfigurationName: "Cloud")?.map { $0.name } ?? []) == ["Aircraft", "Pilot"])
    #expect(merged.versionIdentifiers == ["p"])
    #expect(merged.compositeTypes.count == 1)
    #expect(fleet.entities.allSatisfy { $0.managedObjectModel === fleet })
    #expect(try ManagedObjectModel.modelByMerging([]) == nil)

    let other = try ManagedObjectModel { Entity("Pilot") { Attribute("name", .string) } }
    #expect(cambiumError { _ = try ManagedObjectModel(merging: [people, other]) }?.code == .invalidModel)

    let metadata: [String: Any] = [PersistentStore.modelVersionHashesKey: try merged.entityVersionHashesByName]
    let found = try ManagedObjectModel.modelByMerging([other, people, fleet], forStoreMetadata: metadata)
    #expect(try found?.versionChecksum == merged.versionChecksum)
    #expect(try ManagedObjectModel.modelByMerging([other, fleet], forStoreMetadata: metadata) == nil)
    #expect(try ManagedObjectModel.modelByMerging([fleet], forStoreMetadata: [:]) == nil)
  }

  @Test func mergedFromFolders() throws {
    let current = try ManagedObjectModel(contentsOf: Self.flights)
    #expect(try ManagedObjectModel.mergedModel(from: [Self.models])?.versionChecksum == current.versionChecksum)
    let old = try ManagedObjectModel(contentsOf: Self.flights, version: "Flights")
    let metadata: [String: Any] = [PersistentStore.modelVersionHashesKey: try old.entityVersionHashesByName]
    #expect(
      try ManagedObjectModel.mergedModel(from: [Self.flights], forStoreMetadata: metadata)?.versionChecksum
        == old.versionChecksum)
    #expect(try ManagedObjectModel.mergedModel(from: []) == nil)
  }
}

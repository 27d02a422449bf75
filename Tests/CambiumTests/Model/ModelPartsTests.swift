import CambiumEngine
import Foundation
import Testing

@testable import Cambium

@Suite struct ModelPartsTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: ["7"]) {
      Composite("Tag") {
        Attribute("word", .string)
        Attribute("list", .transformable).with { $0.valueTransformerName = "ModelPartsTests.strings" }
      }
      Entity("Entry") {
        Attribute("duration", .double, default: 0)
        Attribute("words", .transformable).with { $0.valueTransformerName = "ModelPartsTests.strings" }
        Attribute("raw", .transformable)
        Attribute("unknown", .transformable).with { $0.valueTransformerName = "ModelPartsTests.nowhere" }
        Attribute("tag", composite: "Tag")
        Attribute("area", .double)
        ToOne("next", "Entry", inverse: "previous").with { $0.versionHashModifier = "m" }
        ToMany("previous", "Entry", inverse: "next").with { $0.userInfo = ["a": "b"] }
        Fetched("longer", "Entry", where: "duration > $FETCH_SOURCE.duration AND SELF != $FETCH_SOURCE", limit: 5)
        Fetched("equal", "Entry", where: "duration == $FETCHED_PROPERTY.userInfo.hours", userInfo: ["hours": "1"])
        Fetched("odd", "Entry", where: "duration == $OTHER")
      }
      .with { $0.userInfo = ["k": "v"] }
      Configuration("All", "Entry")
      RequestTemplate("Longest", "Entry", where: "duration > $LEAST AND next == $NEXT", limit: 2)
      RequestTemplate("Everything", "Entry")
    }
  }

  // MARK: Templates

  /// What a model file says of a request is set in those that are made.
  @Test func templatesOfFilesHaveTheirSettings() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.url.appendingPathComponent("Settings.xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="E"><attribute name="n" optional="YES" attributeType="Integer 64"/></entity>
        <entity name="F" parentEntity="E"/>
        <fetchRequest name="set" entity="E" predicateString="n &gt; $least" fetchLimit="10" fetchBatchSize="20"
          includeSubentities="NO" includePropertyValues="NO" includePendingChanges="NO" returnObjectsAsFaults="NO"
          returnDistinctResults="YES" resultType="2"/>
        <fetchRequest name="unset" entity="E" fetchBatchSize="many" includeSubentities="perhaps"/>
      </model>
      """
    try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
    let model = try ManagedObjectModel(contentsOf: folder)
    let set = try #require(
      try model.fetchRequestFromTemplate(withName: "set", substitutionVariables: ["least": 1], as: ManagedObject.self))
    #expect(set.fetchLimit == 10 && set.fetchBatchSize == 20)
    #expect(!set.includesSubentities && !set.includesPropertyValues && !set.includesPendingChanges)
    #expect(!set.returnsObjectsAsFaults && set.returnsDistinctResults)
    let unset = try #require(
      try model.fetchRequestFromTemplate(withName: "unset", substitutionVariables: [:], as: ManagedObject.self))
    #expect(unset.fetchBatchSize == 0 && unset.includesSubentities && unset.returnsObjectsAsFaults)
    // From the file of a store, too: only objects of the entity itself are counted.
    let context = try directory.container(model: model).viewContext
    for (entity, n) in [("E", 1), ("E", 2), ("F", 3)] { try context.make(entity, ["n": n]) }
    try context.save()
    #expect(try context.fetch(set).map { $0.value(forKey: "n") as? Int } == [2])
    #expect(try context.count(for: unset) == 3)
  }

  @Test func templates() throws {
    let model = try model()
    #expect(Set(model.fetchRequestTemplatesByName.keys) == ["Longest", "Everything"])
    #expect(model.fetchRequestTemplate(forName: "None") == nil)
    let context = try memoryContainer(model).viewContext
    let first = try context.make("Entry", ["duration": 1.0])
    for duration in [2.0, 3, 4] { try context.make("Entry", ["duration": duration, "next": first]) }
    try context.make("Entry", ["duration": 9.0])
    let request = try #require(
      try model.fetchRequestFromTemplate(
        withName: "Longest", substitutionVariables: ["LEAST": 2.5, "NEXT": first, "UNUSED": 1]))
    #expect(request.fetchLimit == 2)
    // Of objects that are not saved, and then of saved ones.
    #expect(
      try context.fetch(request).map { $0.value(forKey: "duration") as? Double }.sorted { $0 ?? 0 < $1 ?? 0 } == [3, 4])
    try context.save()
    let again = try #require(
      try model.fetchRequestFromTemplate(withName: "Longest", substitutionVariables: ["LEAST": 0, "NEXT": nil]))
    #expect(try context.count(for: again) == 2)
    let ids = try #require(
      try model.fetchRequestFromTemplate(
        withName: "Everything", substitutionVariables: [:], as: ManagedObjectID.self))
    #expect(try context.fetch(ids).count == 5)
    #expect(try model.fetchRequestFromTemplate(withName: "None", substitutionVariables: [:]) == nil)

    let missing = cambiumError {
      _ = try model.fetchRequestFromTemplate(withName: "Longest", substitutionVariables: ["LEAST": 1])
    }
    #expect(missing?.code == .invalidPredicate)
    #expect(missing?.message.contains("$NEXT") == true)
    let odd = cambiumError {
      _ = try model.fetchRequestFromTemplate(
        withName: "Longest", substitutionVariables: ["LEAST": NSObject(), "NEXT": nil])
    }
    #expect(odd?.code == .invalidPredicate)
    // In use by now, so that templates stay as they are.
    model.setFetchRequestTemplate(nil, forName: "Longest")
    #expect(model.fetchRequestTemplate(forName: "Longest") != nil)
    #expect(model.refusedChanges.count == 1)
  }

  // MARK: Fetched properties

  @Test func fetchedProperties() throws {
    let context = try memoryContainer(model()).viewContext
    let entries = try [1.0, 2, 3].map { try context.make("Entry", ["duration": $0]) }
    try context.save()
    func longer(_ entry: ManagedObject) throws -> Set<Double> {
      let objects = try #require(try entry.get("longer") as? [ManagedObject])
      return Set(objects.compactMap { $0.value(forKey: "duration") as? Double })
    }
    #expect(try longer(entries[0]) == [2, 3])
    #expect(try longer(entries[2]) == [])
    // Kept until the object is refreshed.
    try context.make("Entry", ["duration": 7.0])
    try context.save()
    #expect(try longer(entries[0]) == [2, 3])
    context.refresh(entries[0], mergeChanges: true)
    #expect(try longer(entries[0]) == [2, 3, 7])
    try context.make("Entry", ["duration": 8.0])
    try context.save()
    context.refresh(entries[0], mergeChanges: false)
    #expect(try longer(entries[0]) == [2, 3, 7, 8])
    #expect((entries[0].value(forKeyPath: "longer.duration") as? [Any])?.count == 4)

    #expect(cambiumError { try entries[0].set([], forKey: "longer") }?.code == .invalidArgument)
    #expect(cambiumError { _ = try entries[0].get("odd") }?.code == .invalidPredicate)
    #expect(cambiumError { _ = try context.all("Entry", "longer == nil") }?.code == .invalidPredicate)
    // A text is no duration.
    #expect(cambiumError { _ = try entries[0].get("equal") }?.code == .invalidPredicate)
  }

  // MARK: Transformers

  /// No attribute holds it, and no archive.
  private struct Unheld {}

  @Test func transformers() throws {
    AttributeTransformers.register(CodableTransformer<[String]>(), forName: "ModelPartsTests.strings")
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container(model: model()).viewContext
      let entry = try context.make(
        "Entry", ["words": ["a", "b"], "raw": Data([1, 2]), "tag": ["word": "w", "list": ["c"]]])
      #expect(entry.value(forKey: "words") as? [String] == ["a", "b"])
      #expect(cambiumError { try entry.set(5, forKey: "words") }?.key == "words")
      // A program with CambiumCoreData archives what can be archived.
      let refusal = cambiumError { try entry.set(Unheld(), forKey: "raw") }
      #expect(refusal?.code == .invalidArgument && refusal?.message.contains("transformer") == true)
      #expect(cambiumError { try entry.set(["x"], forKey: "unknown") }?.message.contains("nowhere") == true)
      #expect(cambiumError { try entry.set(["list": 5], forKey: "tag") }?.key == "tag.list")
      #expect(cambiumError { try entry.set(["lost": 5], forKey: "tag") }?.key == "tag.lost")
      try context.save()
      #expect(entry.committedValues(forKeys: ["words"])["words"] as? [String] == ["a", "b"])
    }
    let context = try directory.container(model: model()).viewContext
    let entry = try #require(try context.all("Entry", "words != nil").first)
    #expect(entry.value(forKey: "words") as? [String] == ["a", "b"])
    #expect(entry.value(forKey: "raw") as? Data == Data([1, 2]))
    #expect((entry.value(forKey: "tag") as? [String: Any])?["list"] as? [String] == ["c"])
    #expect(entry.value(forKeyPath: "tag.list") as? [String] == ["c"])
    try entry.set(["d", "e"], forKeyPath: "tag.list")
    try entry.set([String](), forKey: "words")
    try context.save()
    #expect(entry.value(forKeyPath: "tag.list") as? [String] == ["d", "e"])
    #expect(entry.value(forKeyPath: "tag.word") as? String == "w")
    #expect(entry.value(forKey: "words") as? [String] == [])
    try entry.set(nil, forKey: "words")
    #expect(entry.changedValues().keys.sorted() == ["words"])
    try context.save()
    #expect(try context.all("Entry", "words == nil").count == 1)
  }

  // MARK: Codable

  @Test func json() throws {
    let area = try ManagedObjectModel {
      Entity("Place") {
        Attribute("latitude", .double)
        Attribute("longitude", .double)
        Index("area", "-latitude", "longitude", where: "latitude > 0", kind: .rTree)
      }
    }
    #expect(try area.schema().entity(named: "Place")?.indexes.first?.elements.first?.kind == .rTree)
    let flights = try ManagedObjectModel(contentsOf: ModelLoadingTests.flights)
    for model in [try model(), try FlightModel.make(), flights, area] {
      let data = try JSONEncoder().encode(model)
      let again = try JSONDecoder().decode(ManagedObjectModel.self, from: data)
      #expect(try again.versionChecksum == model.versionChecksum)
      #expect(try again.schema().entities == model.schema().entities)
      #expect(try again.schema().fetchTemplates == model.schema().fetchTemplates)
      #expect(try again.schema().configurations == model.schema().configurations)
      #expect(again.versionIdentifiers == model.versionIdentifiers)
    }
  }

  @Test func everyTypeInJSON() throws {
    let defaults: [(AttributeType, Any)] = [
      (.integer16, -3), (.integer32, 70_000), (.integer64, Int64.min), (.decimal, Decimal(string: "12.345") as Any),
      (.double, 0.1), (.float, Float(2.5)), (.double, Double.infinity), (.double, 3.0), (.string, "ä\"<"),
      (.boolean, true), (.date, Date(timeIntervalSinceReferenceDate: 12.5)),
      (.date, Date(timeIntervalSinceReferenceDate: 12)), (.binary, Data([0, 255])),
      (.uuid, UUID()), (.uri, URL(string: "https://example.org/x") as Any), (.uri, Value.uri("")),
      (.objectID, Value.reference(ObjectReference(entity: 3, row: 1 << 40))),
    ]
    // What attributes of no type may start with: anything.
    let loose: [Any] =
      defaults.map { $0.1 } + [
        [1, "two", 3.0, Date(timeIntervalSinceReferenceDate: 4), Float(5), [Data([6])], nil as Int? as Any] as [Any],
        ["a": 1, "b": ["c": true, "d": UUID()] as [String: Any]] as [String: Any], [String: Any](), [Any](),
        [Value.reference(ObjectReference(entity: 1, row: 2))],
      ]
    let entity = EntityDescription("E")
    var properties = defaults.enumerated().map { AttributeDescription("a\($0)", $1.0, defaultValue: $1.1) }
    for (place, value) in loose.enumerated() {
      let attribute = AttributeDescription("t\(place)", .undefined, defaultValue: value)
      attribute.isTransient = true
      properties.append(attribute)
    }
    // Composites of elements of their own, and of types that the model declares, in each other.
    let home = CompositeAttributeDescription("home", compositeTypeName: "Place")
    home.defaultValue = ["zone": "UTC", "location": ["longitude": 2, "latitude": 1.5]] as [String: Any]
    let own = try CompositeAttributeDescription(
      "own",
      elements: [AttributeDescription("id", .uuid), CompositeAttributeDescription("at", compositeTypeName: "Location")])
    own.defaultValue = ["id": UUID(), "at": ["latitude": Double.infinity]] as [String: Any]
    let empty = CompositeAttributeDescription("empty", compositeTypeName: "Place")
    empty.defaultValue = [String: Any]()
    entity.properties = properties + [home, own, empty]
    let location = try CompositeAttributeDescription(
      "Location", elements: [AttributeDescription("latitude", .double), AttributeDescription("longitude", .double)])
    let inner = CompositeAttributeDescription("location", compositeTypeName: "Location")
    inner.defaultValue = ["longitude": 3.0]
    let model = ManagedObjectModel(entities: [entity])
    model.compositeTypes = [
      try CompositeAttributeDescription("Place", elements: [AttributeDescription("zone", .string), inner]), location,
    ]
    let schema = try model.schema()
    let again = try JSONDecoder().decode(ManagedObjectModel.self, from: try JSONEncoder().encode(model))
    #expect(try again.schema().entities == schema.entities)
    let attributes = try #require(schema.entities.first?.attributes)
    for attribute in attributes { #expect(!attribute.defaultValue.isNull, "\(attribute.name)") }
    #expect(
      schema.entities.first?.attribute(named: "home")?.defaultValue
        == .composite(["zone": "UTC", "location": .composite(["latitude": 1.5, "longitude": 2.0])]))
    // Once more through the form that stores keep.
    #expect(try ManagedObjectModel(schema: Schema(bytes: schema.encoded())).schema().entities == schema.entities)
  }

  @Test(arguments: [
    "{}", "[]", "{\"format\": 2, \"entities\": []}", "{\"format\": 1, \"entities\": [{\"name\": \"\"}]}",
    "{\"format\": 1, \"entities\": [{\"name\": \"E\", \"attributes\": [{\"name\": \"a\", \"type\": \"Odd\"}]}]}",
    "{\"format\": 1, \"entities\": [{\"name\": \"E\", \"attributes\": [{\"name\": \"a\", \"type\": \"Date\", \"default\": true}]}]}",
    "{\"format\": 1, \"entities\": [{\"name\": \"E\", \"attributes\": [{\"name\": \"a\", \"type\": \"Composite\", \"composite\": \"C\", \"default\": {\"x\": 1}}]}]}",
    "{\"format\": 1, \"compositeTypes\": [{\"name\": \"C\", \"elements\": [{\"name\": \"c\", \"type\": \"Composite\", \"composite\": \"C\", \"default\": {\"c\": {\"c\": {}}}}]}], \"entities\": []}",
    "{\"format\": 1, \"entities\": [{\"name\": \"E\", \"attributes\": [{\"name\": \"a\", \"type\": \"Undefined\", \"isTransient\": true, \"default\": {\"Odd\": 1}}]}]}",
    "{\"format\": 1, \"entities\": [{\"name\": \"E\", \"attributes\": [{\"name\": \"a\", \"type\": \"Undefined\", \"isTransient\": true, \"default\": {\"Date\": true}}]}]}",
    "{\"format\": 1, \"entities\": [{\"name\": \"E\", \"relationships\": [{\"name\": \"r\", \"destination\": \"E\", \"deleteRule\": \"x\"}]}]}",
  ])
  func refusedJSON(text: String) {
    #expect(throws: (any Error).self) { try JSONDecoder().decode(ManagedObjectModel.self, from: Data(text.utf8)) }
  }

  // MARK: Changes of a model in use

  @Test func nothingChangesOnceInUse() throws {
    let model = try ManagedObjectModel(contentsOf: ModelLoadingTests.flights)
    let before = try model.takeIntoUse()
    let aircraft = try #require(model.entitiesByName["Aircraft"])
    let entries = try #require(aircraft.relationshipsByName["logEntries"])
    let engines = try #require(aircraft.attributesByName["engines"])
    let scheme = try #require(aircraft.attributesByName["colorScheme"] as? CompositeAttributeDescription)
    let derived = try #require(aircraft.attributesByName["entryCount"] as? DerivedAttributeDescription)
    let fetched = try #require(
      model.entitiesByName["LogEntry"]?.propertiesByName["longer"] as? FetchedPropertyDescription)
    let index = try #require(aircraft.indexes.first)
    let changes: [() -> Void] = [
      { model.entities = [] }, { model.compositeTypes = [] }, { model.versionIdentifiers = [] },
      { model.setEntities([], forConfigurationName: "Fleet") },
      { model.setUserInfo(["a": "b"], forConfigurationName: "Fleet") },
      { model.setFetchRequestTemplate(nil, forName: "Longest") }, { aircraft.name = "x" },
      { aircraft.managedObjectClassName = "x" }, { aircraft.isAbstract = true }, { aircraft.userInfo = [:] },
      { aircraft.versionHashModifier = "x" }, { aircraft.uniquenessConstraints = [] },
      { aircraft.renamingIdentifier = "x" }, { aircraft.properties = [] }, { aircraft.indexes = [] },
      { aircraft.subentities = [EntityDescription("x")] }, { engines.name = "x" }, { engines.isOptional = false },
      { engines.isTransient = true }, { engines.attributeType = .double }, { engines.defaultValue = 2 },
      { engines.minimumValue = 2 }, { engines.maximumValue = 2 }, { engines.regularExpression = "x" },
      { engines.setValidationPredicates([FetchPredicate(value: true)], withValidationWarnings: nil) },
      { engines.valueTransformerName = "x" }, { engines.allowsExternalBinaryDataStorage = true },
      { engines.preservesValueInHistoryOnDeletion = true }, { engines.userInfo = ["a": "b"] },
      { engines.versionHashModifier = "x" }, { engines.renamingIdentifier = "x" }, { entries.deleteRule = .deny },
      { entries.minCount = 1 }, { entries.maxCount = 1 }, { entries.isOrdered = false },
      { entries.destinationEntity = nil }, { entries.inverseRelationship = nil }, { scheme.compositeTypeName = nil },
      { derived.derivationExpression = nil }, { fetched.fetchRequest = nil }, { index.name = "x" },
      { index.elements = [] }, { index.partialIndexPredicate = "x" }, { index.elements.first?.isAscending = false },
      { index.elements.first?.collationType = .rTree },
    ]
    for (place, change) in changes.enumerated() {
      change()
      #expect(model.refusedChanges.count == place + 1)
    }
    #expect(model.refusedChanges.allSatisfy { $0.code == .modelInUse })
    #expect(throws: CambiumError.self) { try scheme.setElements([]) }
    #expect(try ManagedObjectModel.compile(model.definition()).entities == before.entities)
  }
}

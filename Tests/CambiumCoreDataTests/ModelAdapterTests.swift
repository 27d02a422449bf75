import CambiumCoreData
import CambiumEngine
import Testing

/// Models as Core Data's code describes and finds them.
@Suite struct ModelAdapterTests {
  /// A context of a new store that has saved five aircraft, which carry 0 to 4 passengers.
  private func fiveAircraft(in folder: Folder, _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let context = try FlightLog.container(folder.file("store"), model).newBackgroundContext()
    for number in 0..<5 {
      let aircraft = Aircraft(context: context)
      aircraft.tailNumber = "N\(number)"
      aircraft.setValue(number, forKey: "numPassengers")
    }
    try context.save()
    return context
  }

  @Test func modelsOfBundles() throws {
    let folder = try Folder()
    let bundle = try #require(Bundle(path: folder.url.path))
    #expect(NSManagedObjectModel.mergedModel(from: [bundle]) == nil)
    let (v1, v3) = (try FlightLog.model(1), try FlightLog.model(3))
    try FlightLog.write(v1, "modelV1", in: folder)
    #expect(NSManagedObjectModel.mergedModel(from: [bundle])?.versionChecksum == v1.versionChecksum)
    try FlightLog.write(v3, "modelV3", in: folder)
    // Two models of one entity are none.
    #expect(NSManagedObjectModel.mergedModel(from: [bundle]) == nil)
    #expect(NSManagedObjectModel(byMerging: [v1, v3]) == nil && NSManagedObjectModel(byMerging: nil) == nil)
    #expect(NSManagedObjectModel(byMerging: []) == nil)
    #expect(NSManagedObjectModel(byMerging: [v3])?.versionChecksum == v3.versionChecksum)

    let store = try FlightLog.container(folder.file("store"), try FlightLog.model(1))
    let metadata = try #require(store.persistentStoreCoordinator.persistentStores.first).metadata
    let found = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)
    #expect(found?.versionChecksum == v1.versionChecksum)
    #expect(
      NSManagedObjectModel(byMerging: [v3, v1], forStoreMetadata: metadata)?.versionChecksum == v1.versionChecksum)
    #expect(NSManagedObjectModel(byMerging: [v3], forStoreMetadata: metadata) == nil)

    let reference = NSManagedObjectModelReference(
      entityVersionHashes: v3.entityVersionHashesByName, in: bundle, versionChecksum: v3.versionChecksum)
    #expect(try reference.resolvedModel.versionChecksum == v3.versionChecksum)
    #expect(try reference.resolvedModel.entitiesByName["FlightData"] != nil)
  }

  @Test func requestTemplates() throws {
    let model = try FlightLog.model()
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Aircraft")
    request.predicate = NSPredicate(format: "numPassengers >= $LEAST AND tailNumber != %@", "N3")
    request.fetchLimit = 2
    request.fetchBatchSize = 20
    request.includesSubentities = false
    request.includesPropertyValues = false
    request.includesPendingChanges = false
    request.returnsObjectsAsFaults = false
    request.returnsDistinctResults = true
    model.setFetchRequestTemplate(request, forName: "large")
    model.setFetchRequestTemplate(NSFetchRequest<Aircraft>(entityName: "Aircraft"), forName: "all")
    let stored = try #require(model.fetchRequestTemplate(forName: "large"))
    #expect(stored.entityName == "Aircraft" && stored.predicate == request.predicate)
    #expect(stored.fetchLimit == 2 && stored.fetchBatchSize == 20 && stored.returnsDistinctResults)
    #expect(!stored.includesSubentities && !stored.includesPropertyValues)
    #expect(!stored.includesPendingChanges && !stored.returnsObjectsAsFaults)
    // What is done to either is not done to the model.
    (stored.fetchLimit, request.fetchLimit) = (9, 8)
    #expect(model.fetchRequestTemplate(forName: "large")?.fetchLimit == 2)
    #expect(model.fetchRequestTemplatesByName.mapValues(\.fetchLimit) == ["large": 2, "all": 0])
    let plain = try #require(model.fetchRequestTemplate(forName: "all"))
    #expect(plain.predicate == nil && plain.includesSubentities && !plain.returnsDistinctResults)
    model.setFetchRequestTemplate(nil, forName: "all")
    #expect(model.fetchRequestTemplate(forName: "all") == nil)

    let folder = try Folder()
    let context = try fiveAircraft(in: folder, model)
    func found(_ least: Int) throws -> Int? {
      try model.fetchRequestFromTemplate(
        withName: "large", substitutionVariables: ["LEAST": least], as: Aircraft.self
      ).map { try context.fetch($0).count }
    }
    #expect(try found(2) == 2 && found(3) == 1)
  }

  @Test func fetchedProperties() throws {
    let model = try FlightLog.model()
    let aircraft = try #require(model.entitiesByName["Aircraft"])
    let property = NSFetchedPropertyDescription()
    property.name = "longEntries"
    #expect(property.fetchRequest == nil)
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "LogEntry")
    request.predicate = NSPredicate(format: "aircraft == $FETCH_SOURCE AND minutes > %d", 60)
    property.fetchRequest = request
    #expect(property.fetchRequest?.predicate == request.predicate)
    aircraft.properties += [property]
    let folder = try Folder()
    let context = try FlightLog.container(folder.file("store"), model).newBackgroundContext()
    let object = Aircraft(context: context)
    for minutes in [30, 90, 120] {
      let entry = NSEntityDescription.insertNewObject(forEntityName: "LogEntry", into: context)
      entry.setValue(minutes, forKey: "minutes")
      entry.setValue(minutes == 90 ? nil : object, forKey: "aircraft")
    }
    try context.save()
    let found = object.value(forKey: "longEntries") as? [NSManagedObject]
    #expect(found?.map { $0.value(forKey: "minutes") as? Int } == [120])
  }

  @Test func derivationsByExpressions() throws {
    let model = try FlightLog.model()
    let aircraft = try #require(model.entitiesByName["Aircraft"])
    // A name that is also a word of the predicates.
    aircraft.properties += [FlightLog.attribute("last", .stringAttributeType)]
    let cases: [(name: String, type: NSAttributeType, expression: NSExpression)] = [
      ("same", .stringAttributeType, NSExpression(forKeyPath: "tailNumber")),
      ("color", .stringAttributeType, NSExpression(forKeyPath: "colorScheme.primary")),
      (
        "lower", .stringAttributeType,
        NSExpression(forFunction: "lowercase:", arguments: [NSExpression(forKeyPath: "tailNumber")])
      ),
      ("plain", .stringAttributeType, NSExpression(format: "canonical:(tailNumber)")),
      (
        "upper", .stringAttributeType,
        NSExpression(forFunction: "uppercase:", arguments: [NSExpression(forKeyPath: "last")])
      ),
      ("entries", .integer64AttributeType, NSExpression(forKeyPath: "logEntries.@count")),
      ("minutes", .integer64AttributeType, NSExpression(format: "logEntries.@sum.minutes")),
      ("saved", .dateAttributeType, NSExpression(format: "now()")),
      ("savedAsWell", .dateAttributeType, NSExpression(forFunction: "now:", arguments: [])),
    ]
    for (name, type, expression) in cases {
      let attribute = NSDerivedAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      #expect(attribute.derivationExpression == nil)
      attribute.derivationExpression = expression
      // What it gives can be set again.
      let given = try #require(attribute.derivationExpression)
      attribute.derivationExpression = given
      #expect(attribute.derivationExpression == given)
      aircraft.properties += [attribute]
    }
    let folder = try Folder()
    let context = try FlightLog.container(folder.file("store"), model).newBackgroundContext()
    let object = Aircraft(context: context)
    object.tailNumber = "Né1"
    object.colorScheme = ["primary": "red"]
    object.setValue("b", forKey: "last")
    for minutes in [30, 90] {
      let entry = NSEntityDescription.insertNewObject(forEntityName: "LogEntry", into: context)
      entry.setValue(minutes, forKey: "minutes")
      entry.setValue(object, forKey: "aircraft")
    }
    try context.save()
    #expect(
      ["same", "color", "lower", "plain", "upper"].map { object.value(forKey: $0) as? String }
        == ["Né1", "red", "né1", "ne1", "B"])
    #expect(["entries", "minutes"].map { object.value(forKey: $0) as? Int } == [2, 120])
    #expect(["saved", "savedAsWell"].allSatisfy { object.value(forKey: $0) is Date })
  }

  @Test func partialIndexes() throws {
    func model(_ predicate: NSPredicate?) throws -> NSManagedObjectModel {
      let model = try FlightLog.model()
      let aircraft = try #require(model.entitiesByName["Aircraft"])
      let tailNumber = try #require(aircraft.propertiesByName["tailNumber"])
      let index = NSFetchIndexDescription(
        name: "large", elements: [NSFetchIndexElementDescription(property: tailNumber, collationType: .binary)])
      #expect(index.partialIndexPredicate == nil)
      index.partialIndexPredicate = predicate
      #expect(index.partialIndexPredicate == predicate)
      aircraft.indexes = [index]
      return model
    }
    let folder = try Folder()
    let partial = try model(NSPredicate(format: "numPassengers > %d", 2))
    #expect(
      try partial.schema().entity(named: "Aircraft")?.indexes.first?.partialPredicate == "numPassengers > 2")
    let context = try fiveAircraft(in: folder, partial)
    let request = Aircraft.fetchRequest()
    request.predicate = NSPredicate(format: "numPassengers > 2 AND tailNumber BEGINSWITH 'N'")
    #expect(try context.count(for: request) == 2)
    // What cannot be read is told when the model is used.
    let broken = try model(NSPredicate(format: "numPassengers = = 2"))
    #expect(throws: CambiumError.self) { try FlightLog.container(folder.file("other"), broken) }
  }
}

import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Migrations from file to file.
@Suite struct MigrationManagerTests {
  /// Migrates what `PaintModels` fills in, and answers the error.
  private func migrate(
    _ directory: TemporaryDirectory, _ mapping: MappingModel, batchSize: Int = 1000,
    configure: (MigrationManager) -> Void = { _ in }
  ) throws -> CambiumError? {
    try PaintModels.fill(directory)
    let manager = MigrationManager(sourceModel: try PaintModels.v1(), destinationModel: try PaintModels.v2())
    manager.batchSize = batchSize
    configure(manager)
    let source = directory.url.appendingPathComponent("flights.cambium")
    let before = try Data(contentsOf: source)
    let error = cambiumError {
      try manager.migrateStore(from: source, mapping: mapping, to: directory.url.appendingPathComponent("new.cambium"))
    }
    #expect(try Data(contentsOf: source) == before)
    if error != nil {
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["flights.cambium"])
    }
    return error
  }

  private struct Refusal: Error, Equatable { var text: String }

  @Test(arguments: [1, 4, 1000]) func everyTypeOfMapping(batchSize: Int) throws {
    let directory = try TemporaryDirectory()
    #expect(try migrate(directory, PaintModels.mapping(), batchSize: batchSize) == nil)
    try PaintModels.check(try directory.container("new", model: PaintModels.v2()).viewContext)
  }

  @Test func policiesAreCalledInOrder() throws {
    let notes = Notes()
    var mapping = try PaintModels.mapping(policy: RecordingPolicy.self)
    mapping["Aircraft"]?.userInfo["notes"] = notes
    mapping["FlightData"]?.userInfo["notes"] = notes
    mapping["FlightData"]?.entityMigrationPolicy = RecordingPolicy.self
    mapping["Note"]?.userInfo["notes"] = notes
    mapping["Note"]?.entityMigrationPolicy = RecordingPolicy.self
    let directory = try TemporaryDirectory()
    #expect(try migrate(directory, mapping, batchSize: 3) == nil)
    let aircraft = PaintModels.count
    let data = (aircraft + 2) / 3
    func times(_ line: String, _ count: Int) -> [String] { Array(repeating: line, count: count) }
    var expected: [String] = ["Aircraft begin"]
    expected += times("Aircraft create", aircraft) + ["Aircraft endInstanceCreation", "FlightData begin"]
    expected += times("FlightData create", data) + ["FlightData endInstanceCreation"]
    expected += ["IEM_Add_Note begin", "IEM_Add_Note endInstanceCreation"]
    expected += times("Aircraft relate", aircraft) + ["Aircraft endRelationshipCreation"]
    expected += times("FlightData relate", data) + ["FlightData endRelationshipCreation"]
    expected += ["IEM_Add_Note endRelationshipCreation"]
    expected += ["Aircraft validate", "Aircraft end", "FlightData validate", "FlightData end"]
    expected += ["IEM_Add_Note validate", "IEM_Add_Note end"]
    #expect(notes.lines == expected)
  }

  @Test func progressGrowsFromZeroToOne() throws {
    let values = Locked<[Float]>([])
    let mapping = try ActingPolicy.mapping { _, manager, _ in
      let value = manager.migrationProgress
      values.withLock { $0.append(value) }
    }
    let directory = try TemporaryDirectory()
    var known: MigrationManager?
    let error = try migrate(directory, mapping) { known = $0 }
    #expect(error == nil)
    let seen = values.withLock { $0 }
    #expect(seen == seen.sorted() && (seen.first ?? 1) < 0.1 && (seen.last ?? 1) < 1)
    #expect(Set(seen).count > PaintModels.count)
    #expect(known?.migrationProgress == 1)
  }

  @Test(arguments: ["begin", "create", "endInstanceCreation", "relate", "endRelationshipCreation", "validate", "end"])
  func errorsOfPoliciesEndTheMigration(method: String) throws {
    let directory = try TemporaryDirectory()
    let mapping = try ActingPolicy.mapping { called, _, _ in
      if called == method { throw Refusal(text: called) }
    }
    let error = try #require(try migrate(directory, mapping, batchSize: 2))
    #expect(error.code.rawValue == 134170)
    #expect(error.entityName == "Aircraft")
    #expect(error.underlyingErrors.first as? Refusal == Refusal(text: method))
  }

  @Test(arguments: ["begin", "create", "relate", "validate"])
  func aMigrationCanBeCancelled(method: String) throws {
    let directory = try TemporaryDirectory()
    let calls = Notes()
    let mapping = try ActingPolicy.mapping { called, manager, _ in
      calls.add(called)
      if called == method { manager.cancelMigration(with: Refusal(text: "enough")) }
    }
    let error = try #require(try migrate(directory, mapping, batchSize: 2))
    #expect(error.code.rawValue == 134120)
    #expect(error.underlyingErrors.first as? Refusal == Refusal(text: "enough"))
    #expect(calls.lines.last == method && calls.lines.filter { $0 == method }.count == 1)
    // The same manager's next migration is not cancelled.
    let manager = MigrationManager(sourceModel: try PaintModels.v1(), destinationModel: try PaintModels.v2())
    let source = directory.url.appendingPathComponent("flights.cambium")
    let file = directory.url.appendingPathComponent("new.cambium")
    let again = cambiumError { try manager.migrateStore(from: source, mapping: mapping, to: file) }
    #expect(again?.code == .migrationCancelled)
    try manager.migrateStore(from: source, mapping: try PaintModels.mapping(), to: file)
    try PaintModels.check(try directory.container("new", model: PaintModels.v2()).viewContext)
  }

  @Test func valuesThatAreRefusedEndTheMigration() throws {
    // In a call that throws, and in one that notes the error.
    for throwing in [true, false] {
      let directory = try TemporaryDirectory()
      let mapping = try ActingPolicy.mapping { called, manager, object in
        guard called == "relate", let object else { return }
        if throwing { try object.set(4, forKey: "tailNumber") } else { object.setValue(4, forKey: "tailNumber") }
      }
      let error = try #require(try migrate(directory, mapping))
      #expect(error.code.rawValue == 134170)
      #expect((error.underlyingErrors.first as? CambiumError)?.code == .invalidArgument)
    }
  }

  @Test func rulesOfTheModelAreChecked() throws {
    let directory = try TemporaryDirectory()
    // Names are required.
    var mapping = try PaintModels.mapping()
    mapping["Aircraft"]?["tailNumber"] = ValueExpression {
      let tail = $0.source?.value(forKey: "tailNumber") as? String
      return tail == "N3" || tail == "N4" ? nil : tail
    }
    let error = try #require(try migrate(directory, mapping))
    #expect(error.code.rawValue == 134110)
    #expect(error.detailedErrors.map { $0.code.rawValue } == [1570, 1570])
    #expect(error.key == "tailNumber" && error.entityName == "Aircraft")
  }

  @Test func constraintsAreChecked() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let v2 = try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("engines", .integer16)
        Unique("engines")
      }
    }
    let manager = MigrationManager(sourceModel: try MigrationTests.v1(), destinationModel: v2)
    let mapping = MappingModel(entityMappings: [
      EntityMapping(from: "Aircraft", to: "Aircraft", attributes: ["engines": .source("engines")])
    ])
    let file = directory.url.appendingPathComponent("new.cambium")
    let error = cambiumError {
      try manager.migrateStore(
        from: directory.url.appendingPathComponent("flights.cambium"), mapping: mapping, to: file)
    }
    #expect(error?.code.rawValue == 134111 && error?.entityName == "Aircraft")
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func storesThatCannotBeUsedAreTold() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let source = directory.url.appendingPathComponent("flights.cambium")
    let missing = directory.url.appendingPathComponent("missing.cambium")
    let manager = MigrationManager(sourceModel: try PaintModels.v1(), destinationModel: try PaintModels.v2())
    let mapping = try PaintModels.mapping()
    func code(_ body: () throws -> Void) -> Int? { cambiumError(body)?.code.rawValue }
    #expect(code { try manager.migrateStore(from: missing, mapping: mapping, to: missing) } == 134150)
    #expect(code { try manager.migrateStore(from: source, type: .inMemory, mapping: mapping, to: missing) } == 134150)
    #expect(
      code { try manager.migrateStore(from: source, mapping: mapping, to: missing, destinationType: .inMemory) }
        == 134160)
    // Neither itself nor any other file is overwritten.
    #expect(code { try manager.migrateStore(from: source, mapping: mapping, to: source) } == 134160)
    #expect(FileManager.default.createFile(atPath: missing.path, contents: Data([1])))
    #expect(code { try manager.migrateStore(from: source, mapping: mapping, to: missing) } == 134160)
    #expect(try Data(contentsOf: missing) == Data([1]))
    let nowhere = directory.url.appendingPathComponent("no/new.cambium")
    #expect(code { try manager.migrateStore(from: source, mapping: mapping, to: nowhere) } == 134160)
    // A store of another model.
    let file = directory.url.appendingPathComponent("new.cambium")
    try manager.migrateStore(from: source, mapping: mapping, to: file)
    let error = cambiumError {
      try manager.migrateStore(from: file, mapping: mapping, to: directory.url.appendingPathComponent("third.cambium"))
    }
    #expect(error?.code.rawValue == 134150)
    #expect((error?.underlyingErrors.first as? CambiumError)?.code.rawValue == 134100)
  }

  @Test func aManagerDoesOneMigrationAtATime() throws {
    let directory = try TemporaryDirectory()
    let source = directory.url.appendingPathComponent("flights.cambium")
    let other = directory.url.appendingPathComponent("other.cambium")
    let plain = try PaintModels.mapping()
    let codes = Notes()
    let mapping = try ActingPolicy.mapping { _, manager, _ in
      let error = cambiumError { try manager.migrateStore(from: source, mapping: plain, to: other) }
      codes.add("\(error?.code.rawValue ?? 0)")
    }
    let error = try migrate(directory, mapping)
    #expect(error == nil && Set(codes.lines) == ["134110"])
    try PaintModels.check(try directory.container("new", model: PaintModels.v2()).viewContext)
  }

  @Test func policiesDoNotSave() throws {
    let directory = try TemporaryDirectory()
    let codes = Notes()
    let mapping = try ActingPolicy.mapping { _, manager, _ in
      for context in [manager.destinationContext, manager.sourceContext] {
        codes.add("\(cambiumError { try context.save() }?.code.rawValue ?? 0)")
      }
    }
    #expect(try migrate(directory, mapping, batchSize: 5) == nil)
    #expect(Set(codes.lines) == ["134030"])
    try PaintModels.check(try directory.container("new", model: PaintModels.v2()).viewContext)
  }

  // MARK: Associations

  /// Makes one city of all the airports in it, whenever it is met first.
  private final class CityPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard let name = source.value(forKey: "city") as? String else { return }
      let request = FetchRequest<ManagedObject>(entityName: "City")
      request.predicate = try FetchPredicate(format: "name == %@", name)
      let city: ManagedObject
      if let known = try manager.destinationContext.fetch(request).first {
        city = known
      } else {
        city = try manager.destinationContext.insertNewObject(forEntityName: "City")
        try city.set(name, forKey: "name")
      }
      try manager.associate(sourceInstance: source, withDestinationInstance: city, for: mapping)
    }
  }

  @Test(arguments: [1, 2, 100]) func objectsCanBeMergedAndSplit(batchSize: Int) throws {
    let v1 = try ManagedObjectModel {
      Entity("Airport") {
        Attribute("name", .string)
        Attribute("city", .string)
        ToMany("departures", "Flight", inverse: "origin")
      }
      Entity("Flight") {
        Attribute("number", .integer32)
        ToOne("origin", "Airport", inverse: "departures")
      }
    }
    let v2 = try ManagedObjectModel {
      Entity("City") {
        Attribute("name", .string)
        ToMany("airports", "Airport", inverse: "city")
        ToMany("departures", "Flight", inverse: "city", ordered: true)
      }
      Entity("Airport") {
        Attribute("name", .string)
        ToOne("city", "City", inverse: "airports")
      }
      Entity("Flight") {
        Attribute("number", .integer64)
        ToOne("city", "City", inverse: "departures")
      }
    }
    let mapping = try MappingModel(
      from: v1, to: v2,
      entityMappings: [
        EntityMapping(
          from: "Airport", to: "City", name: "Cities",
          relationships: ["departures": .destinations(ofSource: "departures")], policy: CityPolicy.self),
        EntityMapping(
          from: "Airport", to: "Airport", attributes: ["name": .source("name")],
          relationships: ["city": .destinationInstances(forEntityMappingName: "Cities", sourceInstances: "")]),
        EntityMapping(from: "Flight", to: "Flight", attributes: ["number": .source("number")]),
      ])
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: v1).viewContext
    for n in 0..<12 {
      let airport = try context.make("Airport", ["name": "A\(n)", "city": n == 11 ? nil : "C\(n % 3)"])
      for f in 0..<2 { try context.make("Flight", ["number": n * 2 + f, "origin": airport]) }
    }
    try context.save()
    let manager = MigrationManager(sourceModel: v1, destinationModel: v2)
    manager.batchSize = batchSize
    try manager.migrateStore(
      from: directory.url.appendingPathComponent("flights.cambium"), mapping: mapping,
      to: directory.url.appendingPathComponent("new.cambium"))
    let new = try directory.container("new", model: v2).viewContext
    let cities = try new.all("City", sort: [FetchSortDescriptor(key: "name")])
    #expect(cities.map { $0.value(forKey: "name") as? String } == ["C0", "C1", "C2"])
    for (place, city) in cities.enumerated() {
      let members = (0..<11).filter { $0 % 3 == place }
      let airports = try #require(city.value(forKey: "airports") as? Set<ManagedObject>)
      #expect(Set(airports.map { $0.value(forKey: "name") as? String }) == Set(members.map { "A\($0)" }))
      let flights = try #require(city.value(forKey: "departures") as? [ManagedObject])
      #expect(flights.map { $0.value(forKey: "number") as? Int } == members.flatMap { [$0 * 2, $0 * 2 + 1] })
    }
    #expect(try new.all("Airport", "city == nil").count == 1)
    #expect(try new.all("Flight", "city == nil").count == 2)
  }

  @Test func associationsAreAnswered() throws {
    let directory = try TemporaryDirectory()
    let mapping = try ActingPolicy.mapping { method, manager, object in
      guard let entity = manager.currentEntityMapping else { return }
      switch method {
      case "create":
        guard let object else { return }
        let made = try manager.destinationInstances(
          forEntityMappingName: "Aircraft", sourceInstances: [object, object])
        #expect(made.count == 1)
        #expect(try manager.sourceInstances(forEntityMappingName: "Aircraft", destinationInstances: made) == [object])
        #expect(made.first?.value(forKey: "tailNumber") as? String == object.value(forKey: "tailNumber") as? String)
        // Twice is once.
        try manager.associate(sourceInstance: object, withDestinationInstance: made[0], for: entity)
        let wrong = cambiumError {
          try manager.associate(sourceInstance: made[0], withDestinationInstance: object, for: entity)
        }
        #expect(wrong?.code == .invalidArgument)
      case "endInstanceCreation":
        let all = try manager.destinationInstances(forEntityMappingName: "Aircraft", sourceInstances: nil)
        #expect(all.count == PaintModels.count && all.allSatisfy { !$0.objectID.isTemporaryID })
        let sources = try manager.sourceInstances(forEntityMappingName: "Aircraft", destinationInstances: nil)
        #expect(sources.count == PaintModels.count)
        let unknown = cambiumError {
          _ = try manager.destinationInstances(forEntityMappingName: "Airplane", sourceInstances: nil)
        }
        #expect(unknown?.code == .invalidArgument)
        #expect(manager.sourceEntity(for: entity)?.attributesByName["color"] != nil)
        #expect(manager.destinationEntity(for: entity)?.attributesByName["colorScheme"] != nil)
        // One that is deleted is forgotten, and is asked for no relationships.
        if let one = all.first(where: { $0.value(forKey: "tailNumber") as? String == "N1" }) {
          manager.destinationContext.delete(one)
        }
      case "endRelationshipCreation":
        let all = try manager.destinationInstances(forEntityMappingName: "Aircraft", sourceInstances: nil)
        #expect(all.count == PaintModels.count - 1)
        let one = try manager.destinationContext.insertNewObject(forEntityName: "Aircraft")
        one.setValue("late", forKey: "tailNumber")
      default: break
      }
    }
    #expect(try migrate(directory, mapping, batchSize: 4) == nil)
    let new = try directory.container("new", model: PaintModels.v2()).viewContext
    #expect(try new.all("Aircraft").count == PaintModels.count)
    #expect(try new.all("Aircraft", "tailNumber == 'late'").count == 1)
    #expect(try new.all("Flight", "aircraft == nil").map { $0.value(forKey: "number") as? String } == ["X1-0"])
  }

  @Test func objectsOfSubentitiesHaveMappingsOfTheirOwn() throws {
    func model(_ name: String) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Vehicle") {
          Attribute(name, .string)
          ToMany("trips", "Trip", inverse: "vehicle")
        }
        Entity("Plane", parent: "Vehicle") { Attribute("engines", .integer16) }
        Entity("Trip") { ToOne("vehicle", "Vehicle", inverse: "trips") }
      }
    }
    let v1 = try model("name")
    let v2 = try model("title")
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: v1).viewContext
    for n in 0..<5 {
      let plane = try context.make("Plane", ["name": "P\(n)", "engines": n])
      try context.make("Trip", ["vehicle": plane])
      try context.make("Vehicle", ["name": "V\(n)"])
    }
    try context.save()
    var mapping = try MappingModel.byName(from: v1, to: v2)
    mapping["Vehicle"]?["title"] = .source("name")
    mapping["Plane"]?["title"] = ValueExpression { ($0.source?.value(forKey: "name") as? String)?.lowercased() }
    let manager = MigrationManager(sourceModel: v1, destinationModel: v2)
    try manager.migrateStore(
      from: directory.url.appendingPathComponent("flights.cambium"), mapping: mapping,
      to: directory.url.appendingPathComponent("new.cambium"))
    let new = try directory.container("new", model: v2).viewContext
    #expect(try new.all("Vehicle").count == 10)
    #expect(Set(try new.all("Plane").map { $0.value(forKey: "title") as? String }) == Set((0..<5).map { "p\($0)" }))
    #expect(try new.all("Trip", "vehicle.title BEGINSWITH 'p'").count == 5)
  }

  @Test func valuesAreConverted() throws {
    let v1 = try ManagedObjectModel {
      Entity("Thing") {
        Attribute("key", .integer16)
        Attribute("number", .double)
        Attribute("place") {
          Attribute("x", .integer16)
          Attribute("gone", .string)
        }
        Attribute("text", .string)
      }
    }
    let v2 = try ManagedObjectModel {
      Entity("Thing") {
        Attribute("key", .string)
        Attribute("number", .integer16)
        Attribute("place") {
          Attribute("y", .double, renamed: "x")
          Attribute("z", .integer32, default: 3)
        }
        Attribute("flat", .integer64)
        Attribute("site", .uri)
      }
    }
    let expressions: KeyValuePairs<String, ValueExpression> = [
      "key": ValueExpression { ($0.source?.value(forKey: "key") as? Int).map { "K\($0)" } },
      "number": .source("number"), "place": .source("place"), "flat": .source("place.x"), "site": .source("text"),
    ]
    let mapping = MappingModel(entityMappings: [EntityMapping(from: "Thing", to: "Thing", attributes: expressions)])
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: v1).viewContext
    try context.make("Thing", ["key": 1, "number": -2.9, "place": ["x": 7, "gone": "?"], "text": "https://a.b/c"])
    try context.make("Thing", ["key": 2])
    try context.save()
    let source = directory.url.appendingPathComponent("flights.cambium")
    func migrate(_ name: String) throws {
      try MigrationManager(sourceModel: v1, destinationModel: v2)
        .migrateStore(from: source, mapping: mapping, to: directory.url.appendingPathComponent(name + ".cambium"))
    }
    try migrate("new")
    let new = try directory.container("new", model: v2).viewContext
    let things = try new.all("Thing", sort: [FetchSortDescriptor(key: "key")])
    #expect(things.map { $0.value(forKey: "key") as? String } == ["K1", "K2"])
    #expect(things.map { $0.value(forKey: "number") as? Int } == [-2, nil])
    #expect(things.map { $0.value(forKeyPath: "place.y") as? Double } == [7, nil])
    #expect(things.map { $0.value(forKeyPath: "place.z") as? Int } == [3, nil])
    #expect(things.map { $0.value(forKey: "flat") as? Int } == [7, nil])
    #expect(things.map { $0.value(forKey: "site") as? URL } == [URL(string: "https://a.b/c"), nil])
    #expect(new.recordedErrors.isEmpty)
    // What does not fit ends the migration, and says where.
    try context.make("Thing", ["key": 3, "number": 40_000.0])
    try context.save()
    let error = try #require(cambiumError { try migrate("third") })
    #expect(error.code.rawValue == 134170 && error.entityName == "Thing" && error.key == "number")
    #expect(error.objectID?.uriRepresentation().absoluteString.hasSuffix("/Thing/p3") == true)
  }

  @Test func derivedAttributesAreComputed() throws {
    func model(_ name: String) throws -> ManagedObjectModel {
      let model = try ManagedObjectModel {
        Entity("Airport") {
          Attribute(name, .string)
          ToMany("flights", "Flight", inverse: "airport")
        }
        Entity("Flight") { ToOne("airport", "Airport", inverse: "flights") }
      }
      model.entitiesByName["Airport"]?.properties.append(
        DerivedAttributeDescription("count", .integer64, derivationExpression: "flights.@count"))
      return model
    }
    let v1 = try model("name")
    let v2 = try model("title")
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: v1).viewContext
    let airport = try context.make("Airport", ["name": "A"])
    for _ in 0..<3 { try context.make("Flight", ["airport": airport]) }
    try context.save()
    var mapping = try MappingModel.byName(from: v1, to: v2)
    mapping["Airport"]?["title"] = .source("name")
    try MigrationManager(sourceModel: v1, destinationModel: v2).migrateStore(
      from: directory.url.appendingPathComponent("flights.cambium"), mapping: mapping,
      to: directory.url.appendingPathComponent("new.cambium"))
    let new = try directory.container("new", model: v2).viewContext
    #expect(try new.all("Airport", "title == 'A' AND count == 3").count == 1)
  }
}

import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// A flight log with paint as one string, and what it becomes.
enum PaintModels {
  static func v1() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Airport") {
        Attribute("name", .string, optional: false)
        Attribute("city", .string)
        ToMany("aircraft", "Aircraft", inverse: "home")
      }
      Entity("Aircraft") {
        Attribute("tailNumber", .string, optional: false)
        Attribute("color", .string)
        Attribute("engines", .double)
        Attribute("flightData", .binary)
        ToOne("home", "Airport", inverse: "aircraft")
        ToMany("flights", "Flight", inverse: "aircraft")
        ToMany("crew", "Pilot", inverse: "aircraft")
      }
      Entity("Flight") {
        Attribute("number", .string)
        ToOne("aircraft", "Aircraft", inverse: "flights")
      }
      Entity("Pilot") {
        Attribute("name", .string)
        ToMany("aircraft", "Aircraft", inverse: "crew")
      }
      Entity("Draft") { Attribute("text", .string) }
    }
  }

  static func v2() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("ColorScheme") {
        Attribute("primary", .string)
        Attribute("secondary", .string)
        Attribute("tertiary", .string)
      }
      Entity("Airport") {
        Attribute("name", .string, optional: false)
        Attribute("city", .string)
        ToMany("aircraft", "Aircraft", inverse: "home", ordered: true)
      }
      Entity("Aircraft") {
        Attribute("tailNumber", .string, optional: false)
        Attribute("colorScheme", composite: "ColorScheme")
        Attribute("engines", .integer16, optional: false, default: 1)
        Attribute("homeCity", .string)
        Attribute("fleet", .string)
        ToOne("home", "Airport", inverse: "aircraft")
        ToMany("flights", "Flight", inverse: "aircraft")
        ToMany("crew", "Pilot", inverse: "aircraft")
        ToOne("parameters", "FlightData", inverse: "aircraft")
      }
      Entity("FlightData") {
        Attribute("data", .binary)
        ToOne("aircraft", "Aircraft", inverse: "parameters", optional: false)
      }
      Entity("Flight") {
        Attribute("number", .string)
        ToOne("aircraft", "Aircraft", inverse: "flights")
      }
      Entity("Pilot") {
        Attribute("name", .string)
        ToMany("aircraft", "Aircraft", inverse: "crew")
      }
      Entity("Note") { Attribute("text", .string) }
    }
  }

  /// One entity mapping of each type.
  static func mapping(policy: EntityMigrationPolicy.Type = PaintPolicy.self) throws -> MappingModel {
    try MappingModel(
      from: v1(), to: v2(),
      entityMappings: [
        EntityMapping(from: "Airport", to: "Airport", type: .copy),
        EntityMapping(
          from: "Aircraft", to: "Aircraft", name: "Aircraft",
          attributes: [
            "tailNumber": .source("tailNumber"), "engines": .source("engines"), "homeCity": .source("home.city"),
            "fleet": .constant("east"),
          ],
          relationships: [
            "home": .destinations(ofSource: "home"), "flights": .destinations(ofSource: "flights"),
            "crew": .destinations(ofSource: "crew"),
          ], policy: policy),
        EntityMapping(
          from: "Aircraft", to: "FlightData", name: "FlightData", attributes: ["data": .source("flightData")],
          relationships: [
            "aircraft": .destinationInstances(forEntityMappingName: "Aircraft", sourceInstances: "")
          ], where: try FetchPredicate(format: "flightData != nil")),
        EntityMapping(
          from: "Flight", to: "Flight",
          attributes: ["number": ValueExpression { ($0.source?.value(forKey: "number") as? String).map { "X" + $0 } }],
          relationships: [
            "aircraft": .destinationInstances(forEntityMappingName: "Aircraft", sourceInstances: "aircraft")
          ]),
        EntityMapping(from: "Pilot", to: "Pilot", type: .copy),
        EntityMapping(from: "Draft", to: nil),
        EntityMapping(from: nil, to: "Note"),
      ])
  }

  static let count = 25

  static func fill(_ directory: TemporaryDirectory) throws {
    let container = try directory.container(model: v1())
    let context = container.viewContext
    let airports = try (0..<3).map {
      try context.make("Airport", ["name": "A\($0)", "city": $0 == 2 ? nil : "City \($0)"])
    }
    let pilots = try (0..<4).map { try context.make("Pilot", ["name": "P\($0)"]) }
    for n in 0..<count {
      let aircraft = try context.make(
        "Aircraft",
        [
          "tailNumber": "N\(n)", "color": n % 5 == 0 ? nil : "blue/white/red\(n)", "engines": n % 4 == 0 ? nil : 2.7,
          "flightData": n % 3 == 0 ? Data([UInt8(n)]) : nil, "home": n % 7 == 0 ? nil : airports[n % 3],
          "crew": [pilots[n % 4], pilots[(n + 1) % 4]],
        ])
      for f in 0..<n % 3 { try context.make("Flight", ["number": "\(n)-\(f)", "aircraft": aircraft]) }
    }
    try context.make("Draft", ["text": "gone"])
    try context.save()
    try container.persistentStoreCoordinator.persistentStores.first?.setMetadata(["owner": "Ada"])
  }

  /// What has become of ``fill(_:)``.
  static func check(_ context: ManagedObjectContext) throws {
    let all = try context.all("Aircraft")
    #expect(all.count == count)
    for aircraft in all {
      let tail = try #require(aircraft.value(forKey: "tailNumber") as? String)
      let n = try #require(Int(tail.dropFirst()))
      let scheme = aircraft.value(forKey: "colorScheme") as? [String: String]
      #expect(scheme == (n % 5 == 0 ? nil : ["primary": "blue", "secondary": "white", "tertiary": "red\(n)"]))
      #expect(aircraft.value(forKey: "engines") as? Int == (n % 4 == 0 ? 1 : 2))
      #expect(aircraft.value(forKey: "fleet") as? String == "east")
      let home = aircraft.value(forKey: "home") as? ManagedObject
      #expect(home?.value(forKey: "name") as? String == (n % 7 == 0 ? nil : "A\(n % 3)"))
      #expect(aircraft.value(forKey: "homeCity") as? String == home?.value(forKey: "city") as? String)
      let flights = try #require(aircraft.value(forKey: "flights") as? Set<ManagedObject>)
      #expect(
        Set(flights.compactMap { $0.value(forKey: "number") as? String }) == Set((0..<n % 3).map { "X\(n)-\($0)" }))
      let crew = try #require(aircraft.value(forKey: "crew") as? Set<ManagedObject>)
      #expect(Set(crew.compactMap { $0.value(forKey: "name") as? String }) == ["P\(n % 4)", "P\((n + 1) % 4)"])
      let data = aircraft.value(forKey: "parameters") as? ManagedObject
      #expect(data?.value(forKey: "data") as? Data == (n % 3 == 0 ? Data([UInt8(n)]) : nil))
      #expect(data.map { $0.value(forKey: "aircraft") as? ManagedObject == aircraft } != false)
    }
    #expect(try context.all("FlightData").count == (count + 2) / 3)
    #expect(try context.all("Airport").count == 3)
    #expect(try context.all("Pilot").count == 4)
    #expect(try context.all("Note").isEmpty)
    #expect(try context.all("Aircraft", "colorScheme.primary == 'blue'").count == count - (count + 4) / 5)
    let store = try #require(context.persistentStoreCoordinator.persistentStores.first)
    #expect(try store.applicationMetadata()["owner"] as? String == "Ada")
    #expect(try store.engine.check().isSound)
  }
}

/// Splits the paint.
class PaintPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    guard mapping.destinationEntityName == "Aircraft" else { return }
    guard let colors = (source.value(forKey: "color") as? String)?.split(separator: "/").map({ String($0) }) else {
      return
    }
    for aircraft in try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]) {
      try aircraft.set(["primary": colors[0], "secondary": colors[1], "tertiary": colors[2]], forKey: "colorScheme")
    }
  }
}

/// Notes what is asked of a policy.
final class Notes: Sendable {
  private let stored = Locked<[String]>([])
  var lines: [String] { stored.withLock { $0 } }
  func add(_ line: String) { stored.withLock { $0.append(line) } }
}

final class RecordingPolicy: PaintPolicy {
  private func note(_ mapping: EntityMapping, _ what: String, _ manager: MigrationManager) {
    (mapping.userInfo["notes"] as? Notes)?.add("\(manager.currentEntityMapping?.name ?? "?") \(what)")
  }
  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    note(mapping, "begin", manager)
  }
  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    note(mapping, "create", manager)
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
  }
  override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    note(mapping, "endInstanceCreation", manager)
  }
  override func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    note(mapping, "relate", manager)
    try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
  }
  override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    note(mapping, "endRelationshipCreation", manager)
  }
  override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    note(mapping, "validate", manager)
  }
  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws { note(mapping, "end", manager) }
}

/// Does what a test asks for, in `userInfo["action"]`, whenever it is called.
final class ActingPolicy: PaintPolicy {
  typealias Action = @Sendable (_ method: String, MigrationManager, ManagedObject?) throws -> Void

  private func act(_ method: String, _ mapping: EntityMapping, _ manager: MigrationManager, _ object: ManagedObject?)
    throws
  {
    if let action = mapping.userInfo["action"] as? Action { try action(method, manager, object) }
  }
  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    try act("begin", mapping, manager, nil)
  }
  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    try act("create", mapping, manager, source)
  }
  override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try act("endInstanceCreation", mapping, manager, nil)
  }
  override func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    try act("relate", mapping, manager, destination)
  }
  override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try act("endRelationshipCreation", mapping, manager, nil)
  }
  override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try act("validate", mapping, manager, nil)
  }
  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    try act("end", mapping, manager, nil)
  }

  static func mapping(_ action: @escaping Action) throws -> MappingModel {
    var mapping = try PaintModels.mapping(policy: ActingPolicy.self)
    mapping["Aircraft"]?.userInfo["action"] = action
    return mapping
  }
}

/// Mapping models as values.
@Suite struct CustomMappingTests {
  @Test func inferredMappingsCanBeEdited() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let v1 = try MigrationTests.v1()
    let v2 = try MigrationTests.v2()
    var mapping = try MappingModel.inferred(from: v1, to: v2)
    #expect(mapping.entityMappings.map { $0.name } == ["IEM_Transform_Aircraft", "IEM_Copy_Flight"])
    #expect(mapping.entityMappings.map { $0.mappingType.rawValue } == [5, 4])
    #expect(try mapping["Aircraft"]?.sourceEntityVersionHash == v1.entitiesByName["Aircraft"]?.versionHash)
    #expect(try mapping["Aircraft"]?.destinationEntityVersionHash == v2.entitiesByName["Aircraft"]?.versionHash)
    mapping["Aircraft"]?["seats"] = ValueExpression { $0.source?.value(forKey: "engines") }
    let manager = MigrationManager(sourceModel: v1, destinationModel: v2)
    manager.batchSize = 7
    let file = directory.url.appendingPathComponent("new.cambium")
    try manager.migrateStore(from: directory.url.appendingPathComponent("flights.cambium"), mapping: mapping, to: file)
    #expect(manager.migrationProgress == 1 && manager.currentEntityMapping == nil && manager.mappingModel == nil)
    let context = try directory.container("new", model: MigrationTests.v2()).viewContext
    try MigrationTests.check(context, color: "paintColor", seats: false)
    for aircraft in try context.all("Aircraft") {
      #expect(aircraft.value(forKey: "seats") as? Int == aircraft.value(forKey: "engines") as? Int)
    }
    // The source is as it was, and has another identifier than the destination.
    let old = try directory.container(model: MigrationTests.v1())
    try MigrationTests.check(old.viewContext, color: "color", seats: false)
    #expect(
      old.persistentStoreCoordinator.persistentStores.first?.identifier
        != context.persistentStoreCoordinator.persistentStores.first?.identifier)
  }

  @Test func theMappingModelIsFoundByExactHashes() throws {
    let mapping = try PaintModels.mapping()
    let other = try MappingModel.byName(from: MigrationTests.v1(), to: MigrationTests.v2())
    #expect(
      try MappingModel(from: [other, mapping], forSourceModel: PaintModels.v1(), destinationModel: PaintModels.v2())?
        .entityMappings.count == mapping.entityMappings.count)
    #expect(
      try MappingModel(from: [other, mapping], forSourceModel: PaintModels.v2(), destinationModel: PaintModels.v1())
        == nil)
    #expect(
      try MappingModel(from: [other], forSourceModel: PaintModels.v1(), destinationModel: PaintModels.v2()) == nil)
    // An entity that no mapping mentions makes it one for other models.
    var fewer = mapping
    fewer["Note"] = nil
    #expect(
      try MappingModel(from: [fewer], forSourceModel: PaintModels.v1(), destinationModel: PaintModels.v2()) == nil)
    var unhashed = mapping
    unhashed["Note"]?.destinationEntityVersionHash = nil
    #expect(
      try MappingModel(from: [unhashed], forSourceModel: PaintModels.v1(), destinationModel: PaintModels.v2()) == nil)
  }

  @Test func namesAreMatchedWhereNothingCanBeInferred() throws {
    let from = try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("year", .string)
        Attribute("weight", .integer16)
      }
    }
    let to = try ManagedObjectModel {
      Entity("Plane", renamed: "Aircraft") {
        Attribute("registration", .string, renamed: "tailNumber")
        Attribute("year", .integer32)
        Attribute("weight", .double)
      }
    }
    #expect(cambiumError { _ = try MappingModel.inferred(from: from, to: to) }?.code == .migrationMissingMappingModel)
    let mapping = try MappingModel.byName(from: from, to: to)
    let plane = try #require(mapping["Plane"])
    #expect(plane.sourceEntityName == "Aircraft" && plane.mappingType == .transform)
    #expect(plane.attributeMappings.map { $0.name } == ["registration", "weight"])
    try mapping.check(from: from, to: to)
  }

  @Test func mappingsThatDoNotFitAreRefused() throws {
    let v1 = try PaintModels.v1()
    let v2 = try PaintModels.v2()
    func error(_ mappings: EntityMapping...) -> CambiumError? {
      cambiumError { try MappingModel(entityMappings: mappings).check(from: v1, to: v2) }
    }
    let twice = error(EntityMapping(from: "Flight", to: "Flight"), EntityMapping(from: "Pilot", to: "Flight"))
    #expect(twice?.code == .invalidArgument && twice?.message.contains("IEM_Transform_Flight") == true)
    #expect(error(EntityMapping(from: "Flihgt", to: "Flight"))?.entityName == "Flihgt")
    #expect(error(EntityMapping(from: "Flight", to: "Draft"))?.entityName == "Draft")
    #expect(error(EntityMapping(from: "Flight", to: "Flight", type: .add))?.code == .invalidArgument)
    #expect(error(EntityMapping(from: "Flight", to: "Flight", type: .undefined))?.code == .invalidArgument)
    #expect(error(EntityMapping(from: nil, to: nil, type: .custom))?.code == .invalidArgument)
    let attribute = error(
      EntityMapping(from: "Aircraft", to: "Aircraft", attributes: ["colorScheme.first": .source("color")]))
    #expect(attribute?.entityName == "Aircraft" && attribute?.key == "colorScheme.first")
    let relationship = error(
      EntityMapping(from: "Flight", to: "Flight", relationships: ["number": .destinations(ofSource: "aircraft")]))
    #expect(relationship?.key == "number")
    var stale = EntityMapping(from: "Flight", to: "Flight")
    stale.sourceEntityVersionHash = Data(repeating: 1, count: 32)
    #expect(error(stale)?.code == .migration)
    #expect(
      error(EntityMapping(from: "Aircraft", to: "Aircraft", attributes: ["colorScheme.primary": .source("color")]))
        == nil)
  }
}

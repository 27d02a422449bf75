import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// An inferred migration drops only what the application knows of. The tests state the rule of `Specs/05-migration.md`,
/// section 6.3, sentence by sentence, on stores in files.
@Suite struct DropRuleTests {
  /// A part of the model that a version lacks.
  enum Part: CaseIterable, Sendable {
    case entity
    case attribute
    case element
    case relationship
    /// An attribute that becomes a relationship of the same name.
    case kind

    /// What the error names.
    var drops: [String] {
      switch self {
      case .entity: ["Hotel", "Trip.hotel"]
      case .attribute, .kind: ["Trip.notes"]
      case .element: ["Trip.start.altitude"]
      case .relationship: ["Trip.hotel"]
      }
    }

    /// The arguments of `Removed` in the entity `Trip`.
    var removed: [String] {
      switch self {
      case .entity, .relationship: ["hotel"]
      case .attribute, .kind: ["notes"]
      case .element: ["start.altitude"]
      }
    }
  }

  /// The model without a part, and perhaps with the lines that name it.
  static func model(
    without part: Part? = nil, named: Bool = false, number: String? = nil, extra: String? = nil
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: number.map { [$0] } ?? []) {
      Entity("Trip") {
        Attribute("title", .string)
        if part == .kind {
          ToOne("notes", "Hotel")
        } else if part != .attribute {
          Attribute("notes", .string)
        }
        if let extra { Attribute(extra, .string) }
        Attribute("start") {
          for name in part == .element ? ["latitude"] : ["latitude", "altitude"] { Attribute(name, .double) }
        }
        if part != .entity, part != .relationship { ToOne("hotel", "Hotel") }
        if named, let part { for path in part.removed { Removed(path) } }
      }
      if part != .entity {
        Entity("Hotel") { Attribute("name", .string) }
      } else if named {
        RemovedEntity("Hotel")
      }
    }
  }

  /// A directory with a store of the whole model, which has a value of everything, or nothing.
  static func store(number: String? = nil, isEmpty: Bool = false) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: model(number: number)).viewContext
    if isEmpty { return directory }
    let hotel = try context.make("Hotel", ["name": "Ritz"])
    try context.make(
      "Trip",
      ["title": "North", "notes": "cold", "start": ["latitude": 70.5, "altitude": 12.0], "hotel": hotel])
    try context.save()
    return directory
  }

  /// Opens the store with a model; returns the error, after it has looked that the store is as it was.
  @discardableResult
  static func refusal(
    _ directory: TemporaryDirectory, _ model: ManagedObjectModel, number: String? = nil,
    configure: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> CambiumError? {
    let error = cambiumError { _ = try directory.container(model: model, configure: configure) }
    if error == nil { return nil }
    let context = try directory.container(model: Self.model(number: number)) {
      $0.shouldMigrateStoreAutomatically = false
    }.viewContext
    for trip in try context.all("Trip") {
      #expect(trip["notes"] as? String == "cold")
      #expect(trip.value(forKeyPath: "start.altitude") as? Double == 12)
      #expect(trip.value(forKeyPath: "hotel.name") as? String == "Ritz")
    }
    return error
  }

  // MARK: What is refused

  /// The decision never looks at rows: an empty store shows it, too.
  @Test(arguments: Part.allCases, [false, true])
  func dropsAreRefused(part: Part, isEmpty: Bool) throws {
    let directory = try Self.store(isEmpty: isEmpty)
    let error = try #require(try Self.refusal(directory, Self.model(without: part)))
    #expect(error.code == .migrationMissingSourceModel && error.code.rawValue == 134130)
    #expect(error.message.contains(part.drops.joined(separator: ", ")), "\(error.message)")
    for path in part.removed {
      #expect(error.message.contains("in Entity(\"Trip\"): Removed(\"\(path)\")"), "\(error.message)")
    }
    #expect(error.message.contains("in the model: RemovedEntity(\"Hotel\")") == (part == .entity))
    #expect(error.mismatchedEntities.contains("Trip"))
    #expect(error.underlyingErrors.compactMap { ($0 as? ModelDrop)?.name } == part.drops)
    #expect(error.underlyingErrors.allSatisfy { ($0 as? ModelDrop)?.values == nil }, "the error does not count")
  }

  @Test func everyDropIsNamed() throws {
    let directory = try Self.store()
    let model = try ManagedObjectModel { Entity("Trip") { Attribute("title", .string) } }
    let error = try #require(try Self.refusal(directory, model))
    #expect(error.message.contains("would drop: Hotel, Trip.notes, Trip.start, Trip.hotel."), "\(error.message)")
    let lines =
      "in the model: RemovedEntity(\"Hotel\"); in Entity(\"Trip\"): Removed(\"notes\"); Removed(\"start\"); Removed(\"hotel\")"
    #expect(error.message.contains(lines), "\(error.message)")
  }

  @Test func deferredMigrationFollowsTheSameRule() throws {
    let directory = try Self.store()
    let model = try Self.model(without: .attribute)
    let error = try Self.refusal(directory, model) { $0.shouldDeferLightweightMigration = true }
    #expect(error?.code == .migrationMissingSourceModel)
    _ = try directory.container(model: model) {
      $0.shouldDeferLightweightMigration = true
      $0.allowsDroppingUnknownData = true
    }
  }

  /// What has a counterpart, or can be computed again, is no drop; and without a drop the model may be edited in place.
  @Test func otherChangesNeedNothing() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(
      model: ManagedObjectModel {
        Entity("Trip") {
          Attribute("title", .string)
          Attribute("upperTitle", .string, derived: "uppercase:(title)")
          Attribute("latitude", .double)
        }
      }
    ).viewContext
    try context.make("Trip", ["title": "North", "latitude": 70.5])
    try context.save()
    let model = try ManagedObjectModel {
      Entity("Voyage", renamed: "Trip") {
        Attribute("name", .string, renamed: "title")
        Attribute("start") { Attribute("latitude", .double, renamed: "latitude") }
        Attribute("notes", .string)
      }
      Entity("Hotel") { Attribute("name", .string) }
    }
    let container = try directory.container(model: model)
    let voyage = try #require(try container.viewContext.all("Voyage").first)
    #expect(voyage["name"] as? String == "North")
    #expect(voyage.value(forKeyPath: "start.latitude") as? Double == 70.5)
  }

  // MARK: (a) Known models

  @Test(arguments: [false, true]) func sourceModelsAreKnown(byOption: Bool) throws {
    let directory = try Self.store()
    let model = try Self.model(without: .attribute)
    let other = try Self.model(without: .element)
    let error = try Self.refusal(directory, model) { $0.sourceModels = [other] }
    #expect(error?.code == .migrationMissingSourceModel)
    guard byOption else {
      let known = try Self.model()
      _ = try directory.container(model: model) { $0.sourceModels = [other, known] }
      return
    }
    try PersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
      type: .file, at: directory.url.appendingPathComponent("flights.cambium"),
      options: [
        PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption: true,
        PersistentStoreCoordinator.inferMappingModelAutomaticallyOption: true,
        PersistentStoreCoordinator.sourceModelsOption: [try Self.model()],
      ])
  }

  @Test func stagesAreKnown() throws {
    let directory = try Self.store()
    let (one, between, two) = (
      try Self.model(), try Self.model(without: .attribute), try Self.model(without: .entity)
    )
    let manager = try StagedMigrationManager([
      LightweightMigrationStage([try one.versionChecksum, try between.versionChecksum, try two.versionChecksum])
    ])
    let context = try directory.container(model: two) { $0.stagedMigrationManager = manager }.viewContext
    #expect(try context.all("Trip").map { $0["title"] as? String } == ["North"])
  }

  /// The versions of an `.xcdatamodeld`, also if the current one is read alone. A copy of it without the others knows
  /// nothing.
  @Test func versionsOfTheModelFileAreKnown() throws {
    for path in ["Trips.xcdatamodeld", "Trips.xcdatamodeld/Trips 2.xcdatamodel", "Alone.xcdatamodel"] {
      let directory = try TemporaryDirectory()
      let folder = directory.url.appendingPathComponent("Trips.xcdatamodeld")
      try Self.write(["title", "notes"], to: folder.appendingPathComponent("Trips.xcdatamodel"))
      try Self.write(["title"], to: folder.appendingPathComponent("Trips 2.xcdatamodel"))
      try Self.write(["title"], to: directory.url.appendingPathComponent("Alone.xcdatamodel"))
      let current =
        "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>Trips 2.xcdatamodel</string></dict></plist>"
      try Data(current.utf8).write(to: folder.appendingPathComponent(".xccurrentversion"))
      _ = try directory.container(model: ManagedObjectModel(contentsOf: folder, version: "Trips"))
      let model = try ManagedObjectModel(contentsOf: directory.url.appendingPathComponent(path))
      let error = cambiumError { _ = try directory.container(model: model) }
      #expect(error?.code == (path == "Alone.xcdatamodel" ? .migrationMissingSourceModel : nil), "\(path)")
      // A merged model of one is the same model.
      if path == "Trips.xcdatamodeld" {
        _ = try directory.container(model: ManagedObjectModel(contentsOf: folder, version: "Trips"))
        _ = try directory.container(model: ManagedObjectModel(merging: [model]))
      }
    }
  }

  private static func write(_ attributes: [String], to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let lines = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
        <entity name="Trip">\(lines.joined())</entity>
      </model>
      """
    try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
  }

  // MARK: (b) Numbers

  @Test(
    arguments: [
      ("1", "2", true), ("2.99", "2.100", true), ("2.99.0", "2.100.0", true), ("1.9", "2", true),
      ("2", "2", false), ("2.0", "2", false), ("3", "2", false), (nil, "2", false), ("1", nil, false),
      ("first", "2", false), ("1", "second", false),
    ] as [(String?, String?, Bool)])
  func theHigherNumberMayDrop(store: String?, application: String?, isAllowed: Bool) throws {
    let directory = try Self.store(number: store)
    let error = try Self.refusal(directory, Self.model(without: .attribute, number: application), number: store)
    #expect(error?.code == (isAllowed ? nil : .migrationMissingSourceModel))
  }

  @Test func modelsAreNumbered() throws {
    func model(_ version: Int, _ names: [String]) throws -> ManagedObjectModel {
      try ManagedObjectModel(version: version) { Entity("Trip") { for name in names { Attribute(name, .string) } } }
    }
    let directory = try TemporaryDirectory()
    _ = try directory.container(model: model(9, ["title", "notes"]))
    _ = try directory.container(model: model(10, ["title"]))
    let container = try directory.container(model: model(11, ["title"]))
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(store.engine.schema.versionIdentifiers == ["11"])
    // The number is no part of the version.
    #expect(try model(1, ["title"]).versionChecksum == model(2, ["title"]).versionChecksum)
    #expect(cambiumError { _ = try model(-1, ["title"]) }?.code == .invalidModel)
  }

  /// Whoever has the lower number is the older one, whatever it knows; what it names, or allows, it may drop.
  @Test func theLowerNumberMayNot() throws {
    let directory = try Self.store(number: "3")
    let known = try Self.model(number: "3")
    let error = try Self.refusal(directory, Self.model(without: .attribute, number: "2"), number: "3") {
      $0.sourceModels = [known]
    }
    #expect(error?.code == .migrationMissingSourceModel)
    #expect(error?.message.contains("the store has version 3 of the model, and the application has version 2") == true)
    _ = try directory.container(model: Self.model(without: .attribute, named: true, number: "2"))
    let other = try Self.store(number: "3")
    _ = try other.container(model: Self.model(without: .attribute, number: "2")) { $0.allowsDroppingUnknownData = true }
  }

  /// A version that takes back its predecessor has the checksum of the one before that. The numbers tell which of them
  /// is newer.
  @Test func oneChecksumTwiceInAHistory() throws {
    let directory = try Self.store(number: "2.98")
    let second = try Self.model(without: .attribute, number: "2.99", extra: "remarks")
    let third = try Self.model(number: "2.100")
    #expect(try third.versionChecksum == Self.model(number: "2.98").versionChecksum)
    _ = try directory.container(model: second)
    // Without numbers this looks like an older application.
    #expect(
      cambiumError { _ = try directory.container(model: Self.model()) }?.code == .persistentStoreIncompatibleVersionHash
    )
    _ = try directory.container(model: third)
    // The oldest version opens the store of the newest, since they are the same, and does not take its number back.
    for model in [third, try Self.model(number: "2.98"), try Self.model()] {
      _ = try directory.container(model: model)
      #expect(cambiumError { _ = try directory.container(model: second) }?.code == .migrationMissingSourceModel)
    }
    _ = try directory.container(model: Self.model(without: .attribute, number: "2.101"))
  }

  // MARK: (c) Drops that the model names

  @Test(arguments: Part.allCases) func theModelNamesTheDrop(part: Part) throws {
    let directory = try Self.store()
    let model = try Self.model(without: part, named: true)
    let context = try directory.container(model: model).viewContext
    #expect(try context.all("Trip").map { $0["title"] as? String } == ["North"])
    // The lines are no part of the version, and are left out without a migration.
    #expect(try model.versionChecksum == Self.model(without: part).versionChecksum)
    _ = try directory.container(model: Self.model(without: part)) { $0.shouldMigrateStoreAutomatically = false }
  }

  @Test func everyDropHasToBeNamed() throws {
    let directory = try Self.store()
    let model = try ManagedObjectModel {
      Entity("Trip") {
        Attribute("title", .string)
        ToOne("hotel", "Hotel")
        Removed("notes")
      }
      Entity("Hotel") { Attribute("name", .string) }
    }
    let error = try #require(try Self.refusal(directory, model))
    #expect(error.message.contains("in Entity(\"Trip\"): Removed(\"start\")"), "\(error.message)")
    #expect(!error.message.contains("Removed(\"notes\")"), "what is named needs no line")
  }

  /// A property that subentities inherit is named once, in the entity that had it. Renaming identifiers name properties
  /// as well.
  @Test func inheritedPropertiesAreNamedOnce() throws {
    func model(_ attributes: [String], _ removed: [String]) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Vehicle", abstract: true) {
          for name in attributes { Attribute(name, .string, renamed: name == "remarks" ? "notes" : nil) }
          for name in removed { Removed(name) }
        }
        Entity("Car", parent: "Vehicle") { Attribute("seats", .integer16) }
        Entity("Bus", parent: "Vehicle") { Attribute("seats", .integer16) }
      }
    }
    for name in ["remarks", "notes"] {
      let directory = try TemporaryDirectory()
      _ = try directory.container(model: model(["title", "remarks"], []))
      let error = try #require(cambiumError { _ = try directory.container(model: model(["title"], [])) })
      #expect(error.underlyingErrors.compactMap { ($0 as? ModelDrop)?.name } == ["Vehicle.remarks"])
      _ = try directory.container(model: model(["title"], [name]))
    }
  }

  @Test func modelsKeepTheirRemovedParts() throws {
    let model = try Self.model(without: .entity, named: true)
    #expect(model.removedEntities == ["Hotel"])
    #expect(model.entitiesByName["Trip"]?.removedProperties == ["hotel"])
    let copies = [
      try JSONDecoder().decode(ManagedObjectModel.self, from: try JSONEncoder().encode(model)),
      try ManagedObjectModel(merging: [model]), ManagedObjectModel(definition: try model.definition()),
    ]
    for copy in copies {
      #expect(copy.removedEntities == ["Hotel"])
      #expect(copy.entitiesByName["Trip"]?.removedProperties == ["hotel"])
    }
  }

  // MARK: (d) The option

  @Test(arguments: Part.allCases) func theOptionAllowsDrops(part: Part) throws {
    let directory = try Self.store()
    let container = try directory.container(model: Self.model(without: part)) { $0.allowsDroppingUnknownData = true }
    #expect(try container.viewContext.all("Trip").count == 1)
  }

  // MARK: Former models

  /// Neither what the application knows nor what it names makes it newer than the store.
  @Test func formerModelsAreRefused() throws {
    for way in ["known", "named", "number", "option", "leave"] {
      let directory = try TemporaryDirectory()
      _ = try directory.container(model: Self.model(without: .attribute, number: "1"))
      _ = try directory.container(model: Self.model(number: "2"))
      let known = try Self.model(number: "2")
      let error = cambiumError {
        _ = try directory.container(
          model: Self.model(without: .attribute, named: way == "named", number: way == "number" ? "3" : nil)
        ) {
          if way == "known" { $0.sourceModels = [known] }
          $0.allowsDroppingUnknownData = way == "option"
          $0.allowsReturningToFormerModels = way == "leave"
        }
      }
      #expect(
        error?.code == (way == "known" || way == "named" ? .persistentStoreIncompatibleVersionHash : nil), "\(way)")
    }
  }
}

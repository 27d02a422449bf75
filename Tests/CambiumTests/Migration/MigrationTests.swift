import Foundation
import Testing

@testable import Cambium

/// Stores that are opened with another model than they were made with.
@Suite(.serialized) struct MigrationTests {
  static func v1(isIndexed: Bool = false, isExtended: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("color", .string)
        Attribute("engines", .integer16)
        ToMany("flights", "Flight", inverse: "aircraft")
        if isExtended { Attribute("owner", .string) }
        if isIndexed { Index("byTailNumber", "tailNumber") }
      }
      Entity("Flight") {
        Attribute("number", .string)
        ToOne("aircraft", "Aircraft", inverse: "flights")
      }
    }
  }

  /// `color` has become `paintColor`.
  static func v2() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("paintColor", .string, renamed: "color")
        Attribute("engines", .integer32)
        Attribute("seats", .integer16, optional: false, default: 4)
        ToMany("flights", "Flight", inverse: "aircraft")
      }
      Entity("Flight") {
        Attribute("number", .string)
        ToOne("aircraft", "Aircraft", inverse: "flights")
      }
    }
  }

  /// And then `finish`: its canonical name is still that of the first model.
  static func v3() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("finish", .string, renamed: "color")
        Attribute("engines", .double)
        Attribute("seats", .integer16, optional: false, default: 4)
        ToMany("flights", "Flight", inverse: "aircraft")
        Index("byTailNumber", "tailNumber")
      }
      Entity("Flight") {
        Attribute("number", .string)
        ToOne("aircraft", "Aircraft", inverse: "flights")
      }
    }
  }

  static func fill(_ directory: TemporaryDirectory) throws {
    let context = try directory.container(model: v1()).viewContext
    for n in 0..<20 {
      let aircraft = try context.make(
        "Aircraft", ["tailNumber": "N\(n)", "color": n % 3 == 0 ? nil : "blue \(n)", "engines": n % 4])
      try context.make("Flight", ["number": "F\(n)", "aircraft": aircraft])
    }
    try context.save()
  }

  static func check(_ context: ManagedObjectContext, color: String, seats: Bool) throws {
    let all = try context.all("Aircraft", sort: [FetchSortDescriptor(key: "tailNumber")])
    #expect(all.count == 20)
    for aircraft in all {
      let tail = try #require(aircraft.value(forKey: "tailNumber") as? String)
      let n = try #require(Int(tail.dropFirst()))
      #expect(aircraft.value(forKey: color) as? String == (n % 3 == 0 ? nil : "blue \(n)"))
      let engines = aircraft.value(forKey: "engines")
      #expect((engines as? Int).map(Double.init) ?? engines as? Double == Double(n % 4))
      if seats { #expect(aircraft.value(forKey: "seats") as? Int == 4) }
      let flights = try #require(aircraft.value(forKey: "flights") as? Set<ManagedObject>)
      #expect(flights.compactMap { $0.value(forKey: "number") as? String } == ["F\(n)"])
    }
  }

  @Test func renamedValuesStayFromVersionToVersion() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    try Self.check(try directory.container(model: Self.v2()).viewContext, color: "paintColor", seats: true)
    let last = try directory.container(model: Self.v3())
    try Self.check(last.viewContext, color: "finish", seats: true)
    #expect(
      try last.viewContext.all("Aircraft", "tailNumber == 'N7' AND finish == 'blue 7' AND engines == 3").count == 1)
  }

  @Test func renamedValuesStayAcrossAVersion() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    try Self.check(try directory.container(model: Self.v3()).viewContext, color: "finish", seats: true)
  }

  /// The error of the talk on migration, and its three remedies.
  @Test func aStoreIsMigratedWhenOneAllowsIt() throws {
    let url = URL(fileURLWithPath: "flights.cambium")
    for remedy in 0..<3 {
      let directory = try TemporaryDirectory()
      try Self.fill(directory)
      let file = directory.url.appendingPathComponent(url.lastPathComponent)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: try Self.v2())
      for options: [String: any Sendable]? in [
        nil, [PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption: false],
      ] {
        let error = cambiumError { try coordinator.addPersistentStore(type: .file, at: file, options: options) }
        #expect(error?.code.rawValue == 134100)
        #expect(error?.mismatchedEntities == ["Aircraft"])
      }
      let unmapped = cambiumError {
        try coordinator.addPersistentStore(
          type: .file, at: file, options: [PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption: true])
      }
      #expect(unmapped?.code.rawValue == 134140)
      let context: ManagedObjectContext
      switch remedy {
      case 0: context = try directory.container(model: Self.v2()).viewContext
      case 1:
        try coordinator.addPersistentStore(PersistentStoreDescription(url: file))
        context = ManagedObjectContext(concurrencyType: .mainQueue, persistentStoreCoordinator: coordinator)
      default:
        try coordinator.addPersistentStore(
          type: .file, at: file,
          options: [
            PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption: true,
            PersistentStoreCoordinator.inferMappingModelAutomaticallyOption: true,
          ])
        context = ManagedObjectContext(concurrencyType: .mainQueue, persistentStoreCoordinator: coordinator)
      }
      try Self.check(context, color: "paintColor", seats: true)
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try Self.v2())
    let error = cambiumError {
      try coordinator.addPersistentStore(
        type: .file, at: url, options: [PersistentStoreCoordinator.inferMappingModelAutomaticallyOption: "yes"])
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test func aReadOnlyStoreIsNotMigrated() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    let error = cambiumError { _ = try directory.container(model: Self.v2()) { $0.isReadOnly = true } }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    try Self.check(
      try directory.container(model: Self.v1()) { $0.isReadOnly = true }.viewContext, color: "color", seats: false)
  }

  @Test func whatCannotBeInferredIsTold() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    let wrong = try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("color", .date)
        Attribute("engines", .string)
        ToMany("flights", "Flight", inverse: "aircraft")
      }
      Entity("Flight") {
        Attribute("number", .string)
        ToOne("aircraft", "Aircraft", inverse: "flights")
      }
    }
    let error = try #require(cambiumError { _ = try directory.container(model: wrong) })
    #expect(error.code.rawValue == 134100)
    let missing = try #require(error.underlyingErrors.first as? CambiumError)
    #expect(missing.code.rawValue == 134140)
    #expect(missing.message == "Can't find or automatically infer mapping model for migration")
    let causes = missing.underlyingErrors.compactMap { $0 as? CambiumError }
    #expect(causes.map { $0.code.rawValue } == [134190, 134190])
    #expect(causes.map { $0.entityName } == ["Aircraft", "Aircraft"])
    #expect(causes.map { $0.key } == ["color", "engines"])
    #expect(causes[0].message.contains("source and destination attribute types are incompatible (String and Date)"))
    // The same without a store.
    let inferred = cambiumError { _ = try MappingModel.inferred(from: Self.v1(), to: wrong) }
    #expect(inferred?.code.rawValue == 134140)
    #expect(inferred?.underlyingErrors.count == 2)
    // Nothing was touched.
    try Self.check(try directory.container(model: Self.v1()).viewContext, color: "color", seats: false)
  }

  @Test func objectsInTheWayAreNamed() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    func model(_ unique: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Aircraft") {
          Attribute("tailNumber", .string)
          Attribute("color", .string, optional: unique)
          Attribute("engines", .integer16)
          if unique { Unique("engines") }
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Flight") {
          Attribute("number", .string)
          ToOne("aircraft", "Aircraft", inverse: "flights")
        }
      }
    }
    let missing = try #require(cambiumError { _ = try directory.container(model: model(false)) })
    #expect(missing.code.rawValue == 134110)
    #expect(missing.message.contains("Aircraft.color is required and without default"))
    let block = try #require(missing.underlyingErrors.first as? MigrationBlock)
    #expect(block.count == 7 && block.objects.count == 7)
    let duplicate = try #require(cambiumError { _ = try directory.container(model: model(true)) })
    #expect(duplicate.code.rawValue == 134111)
    // A plan says the same before it is tried.
    let file = directory.url.appendingPathComponent("flights.cambium")
    let plan = try Migration.plan(storeAt: file, to: model(true))
    #expect(plan.blocks.map { $0.reason } == [.duplicate(["engines"])])
    #expect(plan.steps.map { $0.kind } == [.writeModel, .buildConstraint])
    #expect(plan.steps.last?.entries == 20)
    #expect(try Migration.plan(storeAt: file, to: model(false)).blocks == [block])
    let harmless = try Migration.plan(storeAt: file, to: Self.v2())
    #expect(harmless.isMetadataOnly && harmless.blocks.isEmpty)
    // The objects can be had, from the store as it is.
    do {
      let container = try directory.container(model: Self.v1())
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      let objects = try store.objectIDs(of: block).map { try container.viewContext.existingObject(with: $0) }
      #expect(objects.count == 7 && objects.allSatisfy { $0.value(forKey: "color") == nil })
      #expect(
        missing.message.contains("Aircraft/p\(objects[0].objectID.uriRepresentation().lastPathComponent.dropFirst())"))
    }
    let defers = try Migration.plan(storeAt: file, to: Self.v3(), defers: true)
    #expect(defers.steps.last?.kind == .buildIndex && defers.steps.last?.isPutOff == true)
    try Self.check(try directory.container(model: Self.v1()).viewContext, color: "color", seats: false)
  }

  /// A to-one inverse that would have to choose, and an element that is missing: both are told, by a plan too, and once
  /// they are mended the store is migrated with all that there is.
  @Test func linksAndElementsThatWouldBeLostAreInTheWay() throws {
    let directory = try TemporaryDirectory()
    func model(_ isNew: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Pilot") {
          Attribute("name", .string)
          Attribute("licence") {
            Attribute("number", .integer64, optional: !isNew)
            Attribute("country", .string)
          }
          if isNew { ToMany("flights", "Flight", inverse: "pilot") } else { ToMany("flights", "Flight") }
        }
        Entity("Flight") {
          Attribute("number", .string)
          if isNew { ToOne("pilot", "Pilot", inverse: "flights") }
        }
      }
    }
    do {
      let context = try directory.container(model: model(false)).viewContext
      let flights = try (1...3).map { try context.make("Flight", ["number": "F\($0)"]) }
      try context.make("Pilot", ["name": "A", "flights": Set(flights[0...1]), "licence": ["country": "NO"]])
      try context.make("Pilot", ["name": "B", "flights": Set(flights[1...2])])
      try context.save()
    }
    let file = directory.url.appendingPathComponent("flights.cambium")
    let error = try #require(cambiumError { _ = try directory.container(model: model(true)) })
    #expect(error.code.rawValue == 134110)
    let blocks = error.underlyingErrors.compactMap { $0 as? MigrationBlock }
    #expect(blocks.map { $0.entity } == ["Pilot", "Flight"])
    #expect(blocks.map { $0.property } == ["licence.number", "pilot"])
    #expect(blocks.map { $0.reason } == [.missingValue, .ambiguousInverse])
    #expect(blocks.map { $0.count } == [1, 1])
    #expect(try Migration.plan(storeAt: file, to: model(true)).blocks == blocks)
    #expect(error.message.contains("Flight.pilot leads to one object"))
    do {
      let context = try directory.container(model: model(false)).viewContext
      let pilots = try context.all("Pilot", "name == 'A'")
      try pilots[0].set(7, forKeyPath: "licence.number")
      pilots[0].setValue(Set(try context.all("Flight", "number == 'F1'")), forKey: "flights")
      try context.save()
    }
    let context = try directory.container(model: model(true)).viewContext
    for (number, pilot) in [("F1", "A"), ("F2", "B"), ("F3", "B")] {
      let flight = try #require(try context.all("Flight", "number == '\(number)'").first)
      let owner = try #require(flight.value(forKey: "pilot") as? ManagedObject)
      #expect(owner.value(forKey: "name") as? String == pilot)
    }
    #expect(try context.all("Pilot", "licence.number == 7 AND flights.@count == 1").count == 1)
  }

  /// The error of a new to-one inverse that would have to choose names the mapping to write, and that mapping migrates
  /// the store.
  @Test func ambiguousInversesAreMigratedByTheMappingThatTheErrorNames() throws {
    let directory = try TemporaryDirectory()
    func model(_ isNew: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Pilot") {
          Attribute("name", .string)
          ToOne("aircraft", "Aircraft", inverse: isNew ? "pilot" : nil)
        }
        Entity("Aircraft") {
          Attribute("tailNumber", .string)
          if isNew { ToOne("pilot", "Pilot", inverse: "aircraft") }
        }
      }
    }
    do {
      let context = try directory.container(model: model(false)).viewContext
      let shared = try context.make("Aircraft", ["tailNumber": "N1"])
      for name in ["A", "B"] { try context.make("Pilot", ["name": name, "aircraft": shared]) }
      try context.make("Pilot", ["name": "C", "aircraft": context.make("Aircraft", ["tailNumber": "N2"])])
      try context.save()
    }
    let error = try #require(cambiumError { _ = try directory.container(model: model(true)) })
    #expect(error.code.rawValue == 134190 && error.entityName == "Aircraft" && error.key == "pilot")
    #expect(error.message.contains("MappingModel.byName(from:to:)"))
    let mapping = try MappingModel.byName(from: model(false), to: model(true))
    let container = try directory.container(model: model(true)) { $0.mappingModels = [mapping] }
    let context = container.viewContext
    #expect(try context.all("Aircraft", "tailNumber == 'N1' AND pilot.name IN {'A', 'B'}").count == 1)
    #expect(try context.all("Pilot", "aircraft.tailNumber == 'N1'").count == 1)
    #expect(try context.all("Pilot", "name == 'C' AND aircraft.tailNumber == 'N2'").count == 1)
  }

  /// Indexes, defaults and delete rules are no part of a model's version.
  @Test func indexesAreTakenOverWithoutAMigration() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    let changed = try ManagedObjectModel {
      Entity("Flight") {
        ToOne("aircraft", "Aircraft", inverse: "flights", deleteRule: .cascade)
        Attribute("number", .string)
        Index("byNumber", "number")
      }
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("color", .string, default: "white")
        Attribute("engines", .integer16)
        ToMany("flights", "Flight", inverse: "aircraft")
      }
    }
    #expect(try changed.versionChecksum == Self.v1().versionChecksum)
    let container = try directory.container(model: changed) { $0.shouldMigrateStoreAutomatically = false }
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let flight = try #require(store.engine.schema.entity(named: "Flight"))
    #expect(flight.indexes.map { $0.name } == ["byNumber"])
    let number = store.engine.modelNumber
    #expect(try store.engine.view().lookup(flight, by: ["number"]).first(.string("F3")) != nil)
    #expect(try container.viewContext.all("Flight", "number == 'F3'").count == 1)
    #expect(try container.viewContext.make("Aircraft", [:]).value(forKey: "color") as? String == "white")
    // What is as it was is not written again, in whatever order it is declared.
    let again = try directory.container(
      model: ManagedObjectModel {
        Entity("Aircraft") {
          ToMany("flights", "Flight", inverse: "aircraft")
          Attribute("engines", .integer16)
          Attribute("color", .string, default: "white")
          Attribute("tailNumber", .string)
        }
        Entity("Flight") {
          Attribute("number", .string)
          ToOne("aircraft", "Aircraft", inverse: "flights", deleteRule: .cascade)
          Index("byNumber", "number")
        }
      })
    #expect(again.persistentStoreCoordinator.persistentStores.first?.engine.modelNumber == number)
  }

  /// A coordinator of the old model reads on in what it has open, and is told to open the store again.
  @Test func otherCoordinatorsAreTold() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    let old = try directory.container(model: Self.v1())
    let known = try old.viewContext.all("Aircraft", "tailNumber == 'N1'")
    let new = try directory.container(model: Self.v2())
    try Self.check(new.viewContext, color: "paintColor", seats: true)
    #expect(known.first?.value(forKey: "color") as? String == "blue 1")
    let stale = cambiumError { _ = try old.newBackgroundContext().all("Aircraft") }
    #expect(stale?.code == .persistentStoreIncompatibleSchema)
    try known.first?.set("red", forKey: "color")
    #expect(cambiumError { try old.viewContext.save() } != nil)
    try Self.check(new.viewContext, color: "paintColor", seats: true)
    let third = try directory.container(model: Self.v2())
    try Self.check(third.viewContext, color: "paintColor", seats: true)
  }

  /// Coordinators whose models differ in indexes, defaults, class names and the like alone share a store, in whatever
  /// order they open it.
  @Test func coordinatorsOfOneVersionShareAStore() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    let first = try directory.container(model: Self.v1())
    let known = try #require(try first.viewContext.all("Aircraft", "tailNumber == 'N1'").first)
    let other = try ManagedObjectModel {
      Entity("Flight") {
        ToOne("aircraft", "Aircraft", inverse: "flights", deleteRule: .cascade)
        Attribute("number", .string)
        Index("byNumber", "number")
      }
      Entity("Aircraft") {
        Attribute("engines", .integer16)
        Attribute("tailNumber", .string)
        Attribute("color", .string, default: "white")
        ToMany("flights", "Flight", inverse: "aircraft")
      }
    }
    let second = try directory.container(model: other)
    #expect(try second.viewContext.all("Flight", "number == 'F3'").count == 1)
    // The first one reads and writes on, and its changes are in the second one's index.
    try known.set("red", forKey: "color")
    try first.viewContext.make("Flight", ["number": "F99", "aircraft": known])
    try first.viewContext.save()
    #expect(try first.newBackgroundContext().all("Flight", "number == 'F99'").count == 1)
    let reader = second.newBackgroundContext()
    let found = try #require(try reader.all("Flight", "number == 'F99'").first)
    #expect((found.value(forKey: "aircraft") as? ManagedObject)?.value(forKey: "color") as? String == "red")
    let renewed: [String?] = [known[managed: "tailNumber"], known[managed: "color"]]
    #expect(renewed == ["N1", "red"])
    // The first model again.
    let third = try directory.container(model: Self.v1())
    let context = second.newBackgroundContext()
    try #require(try context.all("Flight", "number == 'F99'").first).set("F100", forKey: "number")
    try context.save()
    #expect(try third.viewContext.all("Flight", "number == 'F100'").count == 1)
    #expect(try first.persistentStoreCoordinator.finishDeferredLightweightMigration { _ in true })
    let store = try #require(third.persistentStoreCoordinator.persistentStores.first)
    let report = try store.engine.check()
    #expect(report.isSound, "\(report.problems)")
  }

  @Test func stepsAreLogged() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    let file = "logged.cambium"
    try FileManager.default.moveItem(
      at: directory.url.appendingPathComponent("flights.cambium"), to: directory.url.appendingPathComponent(file))
    let lines = try LoggedLines.collect(.migration) { lines in
      _ = try directory.container("logged", model: Self.v3())
      return lines.all
    }
    let old = try Self.v1().versionChecksum
    let new = try Self.v3().versionChecksum
    #expect(
      lines.filter { $0.hasPrefix(file) } == [
        "\(file): model \(old) is not \(new); these entities differ: Aircraft",
        "\(file): step 1: write the model",
        "\(file): step 2: rewrite the rows of Aircraft (20 entries, 1 pages)",
        "\(file): step 3: build index Aircraft.byTailNumber (20 entries, 1 pages)",
        "\(file): migrated, model \(new)",
      ])
  }

  @Test func droppedAttributesMayWait() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(directory)
    func model() throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Aircraft") {
          Attribute("tailNumber", .string)
          ToMany("flights", "Flight", inverse: "aircraft")
          Removed("color")
          Removed("engines")
        }
        Entity("Flight") {
          ToOne("aircraft", "Aircraft", inverse: "flights")
          Removed("number")
        }
      }
    }
    let key = PersistentStoreCoordinator.deferredLightweightMigrationOption
    let file = directory.url.appendingPathComponent("flights.cambium")
    #expect(try !Migration.plan(storeAt: file, to: model()).isMetadataOnly)
    let container = try directory.container(model: model()) { $0.setOption(true, forKey: key) }
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(store.metadata[key] as? Bool == true)
    #expect(try coordinator.deferredLightweightMigrationTasks().map { $0.entity } == ["Aircraft", "Flight"])
    #expect(try container.viewContext.all("Aircraft", "tailNumber == 'N3'").count == 1)
    // Opened without the option, and with the tasks still there: they stay, and the key still says so.
    let again = try directory.container(model: model())
    #expect(again.persistentStoreCoordinator.persistentStores.first?.metadata[key] as? Bool == true)
    // Some of it, then a task, then all.
    var parts = 0
    let isDone = try coordinator.finishDeferredLightweightMigration(rowsAtATime: 4) { tasks in
      parts += 1
      return parts < 3
    }
    #expect(!isDone && parts == 3)
    #expect(try coordinator.deferredLightweightMigrationTasks().first?.nextRow ?? 0 > 0)
    try coordinator.finishDeferredLightweightMigrationTask()
    #expect(try coordinator.deferredLightweightMigrationTasks().map { $0.entity } == ["Flight"])
    try again.persistentStoreCoordinator.finishDeferredLightweightMigration()
    #expect(try coordinator.deferredLightweightMigrationTasks().isEmpty)
    #expect(store.metadata[key] == nil)
    try coordinator.finishDeferredLightweightMigrationTask()
    let end = try directory.container(model: model()).viewContext
    let aircraft = try end.all("Aircraft")
    #expect(aircraft.count == 20)
    for one in aircraft { #expect((one.value(forKey: "flights") as? Set<ManagedObject>)?.count == 1) }
  }

  @Test func newStoresAreLogged() throws {
    let directory = try TemporaryDirectory()
    let model = try Self.v3()
    model.versionIdentifiers = ["3"]
    let checksum = try model.versionChecksum
    let lines = try LoggedLines.collect(.store) { lines in
      _ = try directory.container("fresh", model: model)
      return lines.all
    }
    #expect(
      lines.filter { $0.hasPrefix("fresh.cambium") } == [
        "fresh.cambium: created",
        "fresh.cambium: metadata, model \(checksum), versions 3",
        "fresh.cambium: entity Aircraft, 4 attributes, 1 relationships, 1 indexes, 0 constraints",
        "fresh.cambium: entity Flight, 1 attributes, 1 relationships, 0 indexes, 0 constraints",
        "fresh.cambium: opened, model \(checksum)",
      ])
  }
}

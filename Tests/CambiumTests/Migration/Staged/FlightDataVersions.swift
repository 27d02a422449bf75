import CambiumEngine
import CambiumKernel
import Foundation
import Testing

@testable import Cambium

/// The example of the talk: the flight data of an aircraft, so far an attribute, become an entity of their own.
enum FlightDataVersions {
  /// 1: `flightData` is an attribute. 2: `FlightData` beside it. 3: the attribute is gone.
  static func model(_ version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: ["modelV\(version)"]) {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("aircraftType", .string)
        if version < 3 { Attribute("flightData", .binary) }
        if version > 1 { ToMany("flightParameters", "FlightData", inverse: "aircraft", deleteRule: .cascade) }
        if version == 3 { Attribute("flightCount", .integer32) }
        Index("byTailNumber", "tailNumber")
      }
      if version > 1 {
        Entity("FlightData") {
          Attribute("data", .binary)
          ToOne("aircraft", "Aircraft", inverse: "flightParameters")
        }
      }
    }
  }

  static func reference(_ version: Int) throws -> ManagedObjectModelReference {
    let model = try model(version)
    return ManagedObjectModelReference(model: model, versionChecksum: try model.versionChecksum)
  }

  /// The stages of the talk. `pass` is told each place at which the process may end.
  static func manager(_ pass: @escaping (String) throws -> Void = { _ in }) throws -> StagedMigrationManager {
    let v1ModelChecksum = try model(1).versionChecksum
    let v2ModelReference = try reference(2)
    let v3ModelReference = try reference(3)

    let lightweightStage = LightweightMigrationStage([v1ModelChecksum])
    lightweightStage.label = "V1 to V2: Add flightData attribute"
    let customStage = CustomMigrationStage(migratingFrom: v2ModelReference, to: v3ModelReference)
    customStage.label = "V2 to V3: Denormalize model with FlightData entity"

    customStage.willMigrateHandler = { migrationManager, currentStage in
      guard let container = migrationManager.container else { return }
      let context = container.newBackgroundContext()
      try context.performAndWait {
        try pass("will: begun")
        let fetchRequest = FetchRequest<ManagedObject>(entityName: "Aircraft")
        fetchRequest.predicate = try FetchPredicate(format: "flightData != nil")
        let fetchedResults = try context.fetch(fetchRequest)
        for (n, airplane) in fetchedResults.enumerated() {
          let fdEntity = try context.insertNewObject(forEntityName: "FlightData")
          let flightData = airplane.value(forKey: "flightData")
          try fdEntity.set(flightData, forKey: "data")
          try fdEntity.set(airplane, forKey: "aircraft")
          try airplane.set(nil, forKey: "flightData")
          // Not all at once, so that some of it may be done when the process ends.
          if n % 4 == 3 {
            try context.save()
            try pass("will: saved")
          }
        }
        try pass("will: not saved")
        try context.save()
        try pass("will: all saved")
      }
    }
    customStage.didMigrateHandler = { migrationManager, currentStage in
      guard let container = migrationManager.container else { return }
      let context = container.newBackgroundContext()
      try context.performAndWait {
        try pass("did: begun")
        let fetchRequest = FetchRequest<ManagedObject>(entityName: "Aircraft")
        fetchRequest.predicate = try FetchPredicate(format: "flightCount == nil")
        for (n, airplane) in try context.fetch(fetchRequest).enumerated() {
          let flights = airplane.value(forKey: "flightParameters") as? Set<ManagedObject>
          try airplane.set(flights?.count ?? 0, forKey: "flightCount")
          if n % 5 == 4 {
            try context.save()
            try pass("did: saved")
          }
        }
        try context.save()
        try pass("did: all saved")
      }
    }
    return try StagedMigrationManager([lightweightStage, customStage])
  }

  static let count = 11

  /// Of some aircraft nothing was recorded, and of some more than fits a page.
  static func data(_ n: Int) -> Data? {
    if n % 3 == 2 { return nil }
    return Data(repeating: UInt8(n), count: n % 4 == 1 ? 9000 : 10 + n)
  }

  static func fill(_ context: ManagedObjectContext) throws {
    for n in 0..<count {
      try context.make("Aircraft", ["tailNumber": "N\(n)", "aircraftType": "C\(n % 2)", "flightData": data(n)])
    }
    try context.save()
  }

  /// Every value of a store of the last version.
  static func check(_ context: ManagedObjectContext, _ text: String = "") throws {
    let all = try context.all("Aircraft", sort: [FetchSortDescriptor(key: "tailNumber")])
    #expect(all.count == count, "\(text)")
    var found = 0
    for aircraft in all {
      let tail = aircraft.value(forKey: "tailNumber") as? String ?? ""
      let n = try #require(Int(tail.dropFirst()), "\(text)")
      #expect(aircraft.value(forKey: "aircraftType") as? String == "C\(n % 2)", "\(text)")
      let parameters = try #require(aircraft.value(forKey: "flightParameters") as? Set<ManagedObject>, "\(text)")
      let expected: [Data?] = data(n).map { [$0] } ?? []
      #expect(parameters.map { $0.value(forKey: "data") as? Data } == expected, "\(text), N\(n)")
      #expect(parameters.allSatisfy { $0.value(forKey: "aircraft") as? ManagedObject === aircraft }, "\(text)")
      #expect(aircraft.value(forKey: "flightCount") as? Int == expected.count, "\(text), N\(n)")
      found += expected.count
    }
    #expect(try context.all("FlightData").count == found, "\(text)")
    #expect(
      try context.all("Aircraft", "tailNumber == 'N4' AND ANY flightParameters.data != nil").count == 1, "\(text)")
  }
}

/// Runs what is left of a staged migration of a store on any device, as opening it would.
func migrateByStages(
  _ shared: SharedStore, to model: ManagedObjectModel, _ manager: StagedMigrationManager, defers: Bool = false
) throws -> EntityStore {
  let description = PersistentStoreDescription(url: URL(fileURLWithPath: "simulated"))
  description.stagedMigrationManager = manager
  description.shouldDeferLightweightMigration = defers
  return try StoreMigration(description, model, try model.definition()).prepare(shared)
}

/// A context on a store on any device.
func borrowedContext(_ store: EntityStore, _ model: ManagedObjectModel) throws -> ManagedObjectContext {
  let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
  _ = try coordinator.borrow(store, as: PersistentStoreDescription(url: URL(fileURLWithPath: "simulated")))
  return ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
}

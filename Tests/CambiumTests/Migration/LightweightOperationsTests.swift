import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// Each kind of change that can be inferred, on a store in a file with objects, as applications meet it: every value and every
/// link afterwards.
@Suite struct LightweightOperationsTests {
  @Test(arguments: LightweightOperation.all) func operation(_ operation: LightweightOperation) throws {
    for defers in [false, true] {
      let directory = try TemporaryDirectory()
      try operation.fill(try directory.container(model: operation.source()).viewContext)
      #expect(try operation.source().versionChecksum != operation.destination().versionChecksum)
      _ = try MappingModel.inferred(from: operation.source(), to: operation.destination())
      let refused = cambiumError {
        _ = try directory.container(model: operation.destination()) { $0.shouldMigrateStoreAutomatically = false }
      }
      #expect(refused?.code == .persistentStoreIncompatibleVersionHash)
      let file = directory.url.appendingPathComponent("flights.cambium")
      #expect(try Migration.plan(storeAt: file, to: operation.destination()).blocks.isEmpty)

      let container = try directory.container(model: operation.destination()) {
        $0.shouldDeferLightweightMigration = defers
      }
      let model = try operation.destination()
      #expect(try ObjectListing.lines(container.viewContext, model) == operation.lines, "defers \(defers)")
      #expect(try Self.reopened(directory, operation) == operation.lines, "defers \(defers), opened again")
      try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
      #expect(try Self.reopened(directory, operation) == operation.lines, "defers \(defers), nothing left to be done")

      // Every object is written with the new model.
      try Self.rename(directory, operation) { $0 + "'" }
      try Self.rename(directory, operation) { String($0.dropLast()) }
      #expect(try Self.reopened(directory, operation) == operation.lines, "defers \(defers), written again")
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      let report = try store.engine.check()
      #expect(report.isSound, "defers \(defers): \(report.problems)")
    }
  }

  /// What a store that needs no migration any more holds.
  private static func reopened(_ directory: TemporaryDirectory, _ operation: LightweightOperation) throws -> [String] {
    let model = try operation.destination()
    let container = try directory.container(model: model) { $0.shouldMigrateStoreAutomatically = false }
    return try ObjectListing.lines(container.newBackgroundContext(), model)
  }

  private static func rename(
    _ directory: TemporaryDirectory, _ operation: LightweightOperation, _ change: (String) -> String
  ) throws {
    let model = try operation.destination()
    let context = try directory.container(model: model).viewContext
    for entity in model.entities where entity.superentity == nil {
      for object in try context.all(entity.name) {
        let name = try #require(object.value(forKey: "name") as? String)
        try object.set(change(name), forKey: "name")
      }
    }
    try context.save()
  }

  /// What is made with the new model obeys it.
  @Test func newObjectsObeyTheNewModel() throws {
    let names = ["attribute made optional", "attribute made required, with a default"]
    for name in names {
      let operation = try #require(LightweightOperation.attributes.first { $0.testDescription == name })
      let directory = try TemporaryDirectory()
      try operation.fill(try directory.container(model: operation.source()).viewContext)
      let context = try directory.container(model: operation.destination()).viewContext
      for aircraft in try context.all("Aircraft") { try aircraft.set(nil, forKey: "color") }
      if name == names[0] {
        try context.save()
        #expect(try context.all("Aircraft", "color == nil").count == LightweightOperation.count)
      } else {
        #expect(cambiumError { try context.save() }?.code == .validationMultipleErrors)
      }
    }
  }
}

import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// Each kind of change that can be inferred, on a store in a file with objects, as applications meet it: every value
/// and every link afterwards.
@Suite struct LightweightOperationsTests {
  /// At once and put off, with indexes of everything and without.
  @Test(arguments: LightweightOperation.all) func operation(_ operation: LightweightOperation) throws {
    for (defers, indexed) in [(false, false), (false, true), (true, false), (true, true)] {
      try run(operation, defers: defers, indexed: indexed)
    }
  }

  private func run(_ operation: LightweightOperation, defers: Bool, indexed: Bool) throws {
    let text = "defers \(defers), indexed \(indexed)"
    let directory = try TemporaryDirectory()
    try operation.fill(try directory.container(model: operation.source(indexed: indexed)).viewContext)
    let model = try operation.destination(indexed: indexed)
    #expect(try operation.source().versionChecksum != model.versionChecksum)
    _ = try MappingModel.inferred(from: operation.source(), to: operation.destination())
    let refused = cambiumError {
      _ = try directory.container(model: operation.destination()) { $0.shouldMigrateStoreAutomatically = false }
    }
    #expect(refused?.code == .persistentStoreIncompatibleVersionHash)
    let file = directory.url.appendingPathComponent("flights.cambium")
    #expect(try Migration.plan(storeAt: file, to: operation.destination()).blocks.isEmpty)

    let source = try operation.source()
    let container = try directory.container(model: model) {
      $0.sourceModels = [source]
      $0.shouldDeferLightweightMigration = defers
    }
    try compare(container.viewContext, model, operation, text)
    // The store as it is in the file, which needs no migration any more.
    func compareAgain(_ when: String) throws {
      let model = try operation.destination(indexed: indexed)
      let container = try directory.container(model: model) { $0.shouldMigrateStoreAutomatically = false }
      try compare(container.viewContext, model, operation, "\(text), \(when)")
    }
    try compareAgain("opened again")
    // Half of the objects are written with the new model, before and after what was put off is done.
    try rename(container.newBackgroundContext(), model, even: true)
    try compareAgain("half written")
    try compareFetches(container.newBackgroundContext(), model, "\(text), half written")
    try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
    try compareAgain("nothing left to be done")
    try rename(container.newBackgroundContext(), model, even: false)
    try compareAgain("all written")
    if indexed { try compareFetches(container.newBackgroundContext(), model, "\(text), all written") }
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.engine.check()
    #expect(report.isSound, "\(text): \(report.problems)")
  }

  /// Every value and link.
  private func compare(
    _ context: ManagedObjectContext, _ model: ManagedObjectModel, _ operation: LightweightOperation, _ text: String
  ) throws {
    #expect(try ObjectListing.lines(context, model) == operation.lines, "\(text)")
  }

  /// What has a value is found by it, whatever layout its row has.
  private func compareFetches(_ context: ManagedObjectContext, _ model: ManagedObjectModel, _ text: String) throws {
    try context.performAndWait {
      let agreement = try FetchAgreement(context, model)
      #expect(agreement.disagreements.isEmpty, "\(text)")
      #expect(agreement.count >= 4, "\(text)")
    }
  }

  /// Writes every other object, with another name and then with its own again.
  private func rename(_ context: ManagedObjectContext, _ model: ManagedObjectModel, even: Bool) throws {
    try context.performAndWait {
      for change in [{ $0 + "'" }, { (name: String) in String(name.dropLast()) }] {
        for entity in model.entities where entity.superentity == nil {
          let objects = try context.all(entity.name, sort: [FetchSortDescriptor(key: "name")])
          for (n, object) in objects.enumerated() where (n % 2 == 0) == even {
            let name = try #require(object.value(forKey: "name") as? String)
            try object.set(change(name), forKey: "name")
          }
        }
        try context.save()
      }
    }
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

import CambiumEngine
import CambiumKernel
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Migration {
  /// A step of ``tryOut(storeAt:through:_:)``.
  package struct TrialStep {
    /// The place of the model that the step departs from.
    package let place: Int
    /// The plan of the step, and the objects that prevent it.
    package let plan: MigrationPlan
    /// The store as it is before the step, with the model that the step departs from.
    package let container: PersistentContainer
  }

  /// Looks at the migrations from each of several models to the next, with the objects of the store in a file. A
  /// renaming identifier is a name in the model before, as in stages with hooks. The store is not changed: the second
  /// step and those after it are looked at in a copy, which is removed.
  ///
  /// - Parameters:
  ///   - models: The store's model, and those that follow it. The objects have the classes that these name.
  ///   - visit: Is told of a step. Answers whether to go on, which is not possible if objects are in the way.
  /// - Throws: what ``plan(storeAt:to:defers:sourceModels:)`` and copying throw.
  package static func tryOut(
    storeAt url: URL, through models: [ManagedObjectModel], _ visit: (TrialStep) throws -> Bool
  ) throws {
    guard models.count > 1 else { return }
    let shared = try open(url)
    defer { try? OpenStores.close(shared) }
    let store = try mapping(.migration) { () throws(EngineError) in try shared.current() }
    guard try look(at: store, 0, models, visit), models.count > 2 else { return }
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-trial-\(UUID())").path
    var result: Swift.Result<Void, any Error>?
    do throws(StoreError) {
      try FileDevice.create(at: path) { (device) throws(StoreError) in
        result = Swift.Result {
          _ = try store.copy(to: device)
          try walk(device, models, visit)
        }
        throw .misuse("nothing is kept")
      }.close()
    } catch { if result == nil { throw CambiumError(error, during: .migration) } }
    do { try result?.get() } catch let error as EngineError { throw CambiumError(error, during: .migration) }
  }

  private static func walk(
    _ device: FileDevice, _ models: [ManagedObjectModel], _ visit: (TrialStep) throws -> Bool
  ) throws {
    var options = StoreOptions()
    options.durability = .normal
    let kernel = try Store.open(on: device, environment: SystemEnvironment(), options: options)
    defer { try? kernel.detach() }
    var store = try EntityStore.open(kernel)
    for place in 1..<models.count - 1 {
      store = try store.migrate(to: try models[place].definition(), matchesNames: true)
      guard try look(at: store, place, models, visit) else { return }
    }
  }

  /// Answers whether to go on.
  private static func look(
    at store: EntityStore, _ place: Int, _ models: [ManagedObjectModel], _ visit: (TrialStep) throws -> Bool
  ) throws -> Bool {
    let definition = try models[place + 1].definition()
    let plan = try mapping(.migration) { () throws(EngineError) in
      try store.migrationPlan(to: definition, matchesNames: true)
    }
    let container = PersistentContainer(name: "trial", managedObjectModel: models[place])
    container.persistentStoreDescriptions = []
    let description = PersistentStoreDescription(type: .file)
    description.isReadOnly = true
    let coordinator = container.persistentStoreCoordinator
    let borrowed = try coordinator.borrow(store, as: description)
    defer { try? coordinator.remove(borrowed) }
    return try visit(TrialStep(place: place, plan: plan, container: container)) && plan.blocks.isEmpty
  }
}

import CambiumEngine
import CambiumKernel
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a migration would do to a store, and what stands in its way.
public typealias MigrationPlan = CambiumEngine.MigrationPlan
/// A step of a migration.
public typealias MigrationStep = CambiumEngine.MigrationStep
/// Objects that stand in the way of a migration; ``PersistentStore/objectIDs(of:)`` names them in a store.
public typealias MigrationBlock = CambiumEngine.MigrationBlock

/// A part of a store's model whose values an inferred migration drops.
public typealias ModelDrop = CambiumEngine.ModelDrop

/// Looks at migrations before they are made.
public enum Migration {
  /// Returns what a migration of the store in a file to a model would do: the drops with their numbers of values; the
  /// steps with the rows and pages that each touches, and which of them could be put off; and the objects in the way.
  /// Nothing is changed.
  ///
  ///     let plan = try Migration.plan(storeAt: url, to: model)
  ///     if !plan.isNeeded { print("nothing to be done") }
  ///     for drop in plan.drops { print(drop) }
  ///     for step in plan.steps { print(step) }
  ///     for block in plan.blocks { print(block) }
  ///
  /// - Parameters:
  ///   - defers: Whether the migration would be a deferred one
  ///     (``PersistentStoreCoordinator/deferredLightweightMigrationOption``): what it puts off is told last.
  ///   - sourceModels: Other versions of the model, as in ``PersistentStoreDescription/sourceModels``. A renaming
  ///     identifier may name a property of one of them that the store's model does not have.
  /// - Throws: ``CambiumError/Code/persistentStoreIncompatibleVersionHash`` if no mapping can be inferred, with every
  ///   change in the way underneath; ``CambiumError/Code/migrationMissingSourceModel`` for a renaming identifier that
  ///   names nothing, if its entity has a drop, because opening the store throws it as well;
  ///   ``CambiumError/Code/persistentStoreOpen`` if the file cannot be opened for writing (it is opened so, though not
  ///   changed, since constraints are tried out in a transaction that is rolled back). O(rows that are looked at), all
  ///   rows of entities with drops among them.
  public static func plan(
    storeAt url: URL, to model: ManagedObjectModel, defers: Bool = false, sourceModels: [ManagedObjectModel] = []
  ) throws -> MigrationPlan {
    let definition = try model.definition()
    let shared = try open(url)
    defer { try? OpenStores.close(shared) }
    let store = try mapping(.migration) { () throws(EngineError) in try shared.current() }
    let plan = try mapping(.migration) { () throws(EngineError) in
      try store.migrationPlan(to: definition, defers: defers)
    }
    let known = try model.knownModels(with: sourceModels)
    let step = ModelStep(
      from: store.schema, to: try ManagedObjectModel.compile(definition, basedOn: store.schema), known: known)
    if !step.strayIdentifiers.isEmpty { throw CambiumError(strays: step.strayIdentifiers) }
    return plan
  }

  /// Opens the store in a file for writing.
  static func open(_ url: URL) throws -> SharedStore {
    do {
      return try OpenStores.open(PersistentStoreDescription(url: url), path: url.path) {
        throw CambiumError(.persistentStoreOpen, "there is no store at \(url.path)")
      }
    } catch let error as StoreError { throw CambiumError(error, during: .persistentStoreOpen) } catch let error
      as EngineError
    {
      throw CambiumError(error, during: .persistentStoreOpen)
    }
  }
}

extension PersistentStore {
  /// The objects that a migration's plan or error names, as the store has them, opened with the model that it had: the
  /// first ones, at most `MigrationBlock.sampleLimit`.
  ///
  ///     let plan = try Migration.plan(storeAt: url, to: model)
  ///     for block in plan.blocks {
  ///       for id in store.objectIDs(of: block) { print(try context.existingObject(with: id)) }
  ///     }
  ///
  /// - Complexity: O(1).
  public func objectIDs(of block: MigrationBlock) -> [ManagedObjectID] {
    block.objects.map { ManagedObjectID(space: space, reference: $0) }
  }
}

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

/// Looks at migrations before they are made.
public enum Migration {
  /// What migrating the store in a file to a model would do, step by step, with the rows and pages that each touches, which of
  /// them could be put off, and the objects in the way. Nothing is changed.
  ///
  ///     let plan = try Migration.plan(storeAt: url, to: model)
  ///     if !plan.isNeeded { print("nothing to be done") }
  ///     for step in plan.steps { print(step) }
  ///     for block in plan.blocks { print(block) }
  ///
  /// - Parameter defers: Whether the migration would be a deferred one
  ///   (``PersistentStoreCoordinator/deferredLightweightMigrationOption``): what it puts off is told last.
  /// - Throws: ``CambiumError/Code/persistentStoreIncompatibleVersionHash`` if no mapping can be inferred, with every change
  ///   in the way underneath; ``CambiumError/Code/persistentStoreOpen`` if the file cannot be opened for writing (it is
  ///   opened so, though not changed, since constraints are tried out in a transaction that is rolled back). O(rows that
  ///   are looked at).
  public static func plan(
    storeAt url: URL, to model: ManagedObjectModel, defers: Bool = false
  ) throws -> MigrationPlan {
    let definition = try model.definition()
    let shared = try open(url)
    defer { try? OpenStores.close(shared) }
    return try mapping(.migration) { () throws(EngineError) in
      try shared.current().migrationPlan(to: definition, defers: defers)
    }
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
  /// The objects that a migration's plan or error names, as the store has them, opened with the model that it had: the first
  /// ones, at most `MigrationBlock.sampleLimit`.
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

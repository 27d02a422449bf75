import CambiumKernel
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How durable an acknowledged save is.
public typealias Durability = CambiumKernel.Durability

/// Where a store is.
public enum PersistentStoreType: String, Sendable, Hashable {
  /// In a file.
  case file
  /// In memory only: gone with the coordinator.
  case inMemory
}

/// What a coordinator needs to know to open a store. Core Data: `NSPersistentStoreDescription`.
///
/// Set it up on one thread, before the store is loaded.
public final class PersistentStoreDescription: @unchecked Sendable {
  // `@unchecked`: set up on one thread, as its documentation asks; a coordinator only reads it.
  /// The file; its directory must exist. Not used in memory; `/dev/null`, as Xcode's templates have it for tests and
  /// previews, stands for a store in memory.
  public var url: URL?
  /// Where the store is.
  public var type: PersistentStoreType = .file
  /// The name of a type that is none of ``PersistentStoreType``, which code for Core Data has set by its name: opening
  /// throws.
  package var unknownTypeName: String?
  /// Where the store comes to be.
  var usedType: PersistentStoreType { url?.path == "/dev/null" ? .inMemory : type }
  /// The configuration whose entities the store holds; `nil` for all.
  public var configuration: String?
  /// Whether the store may only be read.
  public var isReadOnly = false
  /// Whether other processes may have the file open as well: one writes at a time, and all see what is saved. Without,
  /// and where the platform has no locks for it (`FileDevice.canShare`), the file is this process's alone, and is
  /// refused to others.
  public var isSharedBetweenProcesses = FileDevice.canShare
  /// How many seconds a save waits for another process that writes, and opening for one that is being opened; 0, the
  /// default, for as long as it takes. When they are over, the save ends with
  /// ``CambiumError/Code/persistentStoreTimeout``, and may be tried again: a process that was stopped while it wrote
  /// would keep others waiting otherwise. Core Data: `NSPersistentStoreTimeoutOption`, SQLite's busy timeout.
  public var timeout: Double = 0
  /// How durable saves are.
  public var durability = Durability.full
  /// Memory for pages, in bytes.
  public var cacheBytes = 64 << 20
  /// How many threads one call may use at a time, the caller's included: going through many rows, building an index,
  /// writing all rows anew in a migration. 0, the default, for as many as the machine has processors; 1 for the
  /// caller's alone. Unless it is 1, the pages of a large transaction are written by one thread more.
  public var maximumThreads = 0
  /// The size of new stores' pages in bytes, a power of two from 4,096 to 65,536.
  public var pageSize = 4096
  /// Whether a store of another model is migrated when it is opened; otherwise it is refused with
  /// ``CambiumError/Code/persistentStoreIncompatibleVersionHash``.
  public var shouldMigrateStoreAutomatically = true
  /// Whether the mapping for that may be inferred.
  public var shouldInferMappingModelAutomatically = true
  /// Models that the application knows besides its own, such as earlier versions that were built in code. Empty by
  /// default.
  ///
  /// If the store has one of them, by its version checksum, an inferred migration may drop parts of it; see
  /// ``allowsDroppingUnknownData``. If the coordinator's model was read from an `.xcdatamodeld` or a compiled model,
  /// the other versions there are known anyway. A merged model of several files has no such versions. Core Data needs
  /// the source model of every migration.
  public var sourceModels: [ManagedObjectModel] = []
  /// Whether an inferred migration may drop any part of the store's model. Off by default.
  ///
  /// A *drop* is an entity, stored attribute, element of a composite or relationship of the store's model without a
  /// counterpart in the application's. If a migration has drops, the store opens only if one of these holds:
  ///
  /// - The application knows the store's model: from the model's own file, from its stages, or from ``sourceModels``.
  /// - Both models carry a number (``ManagedObjectModel/init(version:_:)``), and the application's is higher.
  /// - The application's model names every drop (``Removed``, ``RemovedEntity``).
  /// - This option is set.
  ///
  /// If the application's number is lower than the store's, the first two do not count. Otherwise opening throws
  /// ``CambiumError/Code/migrationMissingSourceModel`` (134130). The error names every drop and the line to add, and
  /// the store stays as it is. The decision does not depend on the rows, so a test with an empty store shows it.
  /// Derived and transient attributes are no drops, because nothing is lost with them. Core Data refuses a store of any
  /// model that the application lacks.
  public var allowsDroppingUnknownData = false
  /// Whether an inferred migration may go back to a model that the store had before, if that drops attributes,
  /// relationships or entities. Off by default: an older version of an application, which opens a store that a newer
  /// one has migrated, would drop what the newer one has added. The store is refused then with
  /// ``CambiumError/Code/persistentStoreIncompatibleVersionHash``, which names what would be lost, and is not changed.
  /// Core Data refuses such a store as well.
  ///
  /// A store remembers the last 64 models that it had, by their version checksums. These need no leave: migrations by
  /// stages, by mapping models, or to a model with a higher number than the store's, and
  /// ``PersistentStoreCoordinator/rollBackMigration(discardsCommits:)``. ``allowsDroppingUnknownData`` allows a return
  /// as well.
  public var allowsReturningToFormerModels = false
  /// Whether a migration may put off what the application can do without: the room of dropped attributes is then freed,
  /// indexes are built, and links and gathered or spread values brought to where they belong by
  /// ``PersistentStoreCoordinator/finishDeferredLightweightMigration()``. Off by default.
  public var shouldDeferLightweightMigration = false
  /// Whether the state before a migration is kept until ``PersistentStoreCoordinator/confirmMigration()``, so that
  /// ``PersistentStoreCoordinator/rollBackMigration(discardsCommits:)`` can go back to it; otherwise it is kept only as
  /// long as something that the migration put off is not done. It holds room in the file. Off by default.
  ///
  /// Migrations by mapping models of the application's own make another file; of the one before nothing is kept.
  public var keepsStateBeforeMigration = false
  /// Whether the store keeps a history of what is saved, which ``PersistentHistoryChangeRequest`` asks for. Off by
  /// default. Core Data: the option `NSPersistentHistoryTrackingKey`.
  ///
  /// A store that has history and is opened without this is read-only (``PersistentStore/readOnlyReason``), as with
  /// Core Data, until its history is deleted.
  public var tracksHistory = false
  /// Whether the store keeps its model as long as it is open: another coordinator of this process that opens it with
  /// another model gets an error instead of a migration, and so does this one if another has it open. For faces that
  /// share a store with other stacks.
  package var keepsModel = false
  /// Whether those who listen for ``CoordinatorNotification/Kind/remoteChange`` are told of what is saved in the store,
  /// by whom ever, in this process or another. Off by default, and without effect on
  /// ``PersistentStoreCoordinator/remoteChanges(interval:)``, which tells of every store. Core Data: the option
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
  public var postsRemoteChanges = false
  /// Whether ``PersistentContainer/loadPersistentStores(completionHandler:)`` returns before the store is open.
  public var shouldAddStoreAsynchronously = false
  /// What a store in memory lies on, if not on memory of its own: for tests whose device fills up, fails, or loses its
  /// power. What is there already is opened.
  var device: (any StorageDevice)?

  /// Options by key, as ``setOption(_:forKey:)`` set them.
  public internal(set) var options: [String: any Sendable] = [:]
  /// The values of the properties ``mappingModels`` and ``stagedMigrationManager``, by their names. Their types are in
  /// `Migration`.
  var ownMigration: [String: any Sendable] = [:]

  /// A store in a file.
  public init(url: URL) { self.url = url }

  /// A store of a type without a file yet.
  public init(type: PersistentStoreType) { self.type = type }

  var storeOptions: StoreOptions {
    var options = StoreOptions()
    options.durability = durability
    options.cacheBytes = cacheBytes
    options.maximumThreads = maximumThreads
    options.pageSize = pageSize
    if timeout > 0 {
      options.turnTimeoutMilliseconds = max(1, Int(exactly: (timeout * 1000).rounded()) ?? Int(Int32.max))
    }
    options.isReadOnly = isReadOnly
    return options
  }
}

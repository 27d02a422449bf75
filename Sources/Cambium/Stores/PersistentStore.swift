import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store that a coordinator has open. Core Data: `NSPersistentStore`. Thread-safe.
public final class PersistentStore: @unchecked Sendable {
  // `@unchecked`: `newest`, `hadOtherModels`, `isMoving`, `isGivenUp` and `coordinator` are touched with `lock` held
  // only; nothing else changes.
  /// The file; `nil` in memory.
  public let url: URL?
  /// Where the store is.
  public let type: PersistentStoreType
  /// The configuration whose entities the store holds; `nil` for all.
  public let configurationName: String?
  /// Whether saves to the store fail; ``readOnlyReason`` says why.
  public let isReadOnly: Bool
  /// Why the store is read-only; `nil` if it is not.
  public let readOnlyReason: ReadOnlyReason?
  /// Whether the store's history tells of what is saved (``PersistentStoreDescription/tracksHistory``).
  public let tracksHistory: Bool
  /// Whether those who listen are told of what is saved in the store
  /// (``PersistentStoreDescription/postsRemoteChanges``).
  public let postsRemoteChanges: Bool
  /// The options that the store was opened with, by key; properties of the description that were set as such are not
  /// among them.
  @_disfavoredOverload public let options: [String: any Sendable]
  /// The coordinator that has the store; `nil` once it is removed, or the coordinator is gone.
  public var persistentStoreCoordinator: PersistentStoreCoordinator? { lock.locked { coordinator } }
  private weak var coordinator: PersistentStoreCoordinator?
  /// The store's UUID as text; never changes.
  public var identifier: String { space.identifier }
  let space: StoreSpace
  /// What the store was opened by.
  let description: PersistentStoreDescription
  private let lock = StateLock()
  private var newest: EntityStore
  private var hadOtherModels = false
  /// What has to be given up; nil in memory.
  private let shared: SharedStore?
  /// Whether whoever opened the engine closes it.
  private let isBorrowed: Bool
  /// The store of which this is an earlier state, which stays open as long.
  private let origin: PersistentStore?
  /// Which state it is then.
  private let state: RetainedCommit?
  /// The newest commit when the store was opened; nil if it could not be read.
  let openingSequence: UInt64?
  /// The transactions that this coordinator made.
  let ownTransactions = OwnTransactions()
  private var isMoving = false
  private var isGivenUp = false
  /// What uses the store now.
  let uses: StoreUses

  init(
    _ description: PersistentStoreDescription, engine: EntityStore, shared: SharedStore?, space: StoreSpace,
    isBorrowed: Bool = false, origin: PersistentStore? = nil, state: RetainedCommit? = nil, tracksHistory: Bool = false,
    readOnlyReason: ReadOnlyReason? = nil
  ) {
    let reason = description.isReadOnly ? .requested : readOnlyReason
    self.description = description
    self.readOnlyReason = reason
    self.tracksHistory = tracksHistory
    postsRemoteChanges = description.postsRemoteChanges
    self.isBorrowed = isBorrowed
    self.origin = origin
    uses = StoreUses(origin: origin?.uses)
    self.state = state
    openingSequence = try? engine.view().sequence
    url = description.usedType == .file ? description.url : nil
    type = description.usedType
    configurationName = description.configuration
    isReadOnly = reason != nil
    newest = engine
    options = description.options
    self.space = space
    self.shared = shared
    space.store.set(self)
    shared?.enter(keepsModel: description.keepsModel)
  }

  /// Notes whose store this is.
  func note(_ coordinator: PersistentStoreCoordinator?) { lock.locked { self.coordinator = coordinator } }

  /// Why a store is read-only.
  public enum ReadOnlyReason: String, Sendable {
    /// It was opened so.
    case requested
    /// It keeps history, and was opened without ``PersistentStoreDescription/tracksHistory``: what would be saved would
    /// be missing from it. Open it with history; or delete its history, all of it, and open it again.
    case historyNotTracked
  }

  /// What saving is refused with.
  var readOnlyError: CambiumError {
    var error = CambiumError(
      .fileWriteNoPermission,
      readOnlyReason == .historyNotTracked
        ? "the store keeps history, and was opened without it, which makes it read-only: open it with tracksHistory, or "
          + "delete its history (PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture)) and open it again"
        : "the store was opened for reading only")
    error.storeURL = url
    return error
  }

  deinit {
    // Nobody can be told of an error here; the next opening recovers the store.
    try? giveUp()
  }

  /// Closes the store when the requests and saves that run have ended. If it is the last one on its file in this
  /// process, the file is closed.
  ///
  /// - Throws: What closing throws. The store is closed in any case.
  func close() throws {
    uses.close()
    try giveUp()
  }

  private func giveUp() throws {
    let isFirst = lock.locked {
      defer { isGivenUp = true }
      return !isGivenUp
    }
    guard isFirst else { return }
    shared?.leave(keepsModel: description.keepsModel)
    if let shared { try OpenStores.close(shared) } else if !isBorrowed { try engine.close() }
  }

  // MARK: The engine

  /// The engine as it was last used.
  var engine: EntityStore { lock.locked { newest } }

  /// Whether the store was given other models since it was opened: by a migration, or by undoing one, after which
  /// versions of rows go on from where they were before it.
  var hasChangedModel: Bool { lock.locked { hadOtherModels } }

  /// The engine with the model that the store has now.
  func currentEngine() throws(EngineError) -> EntityStore {
    _ = try view()
    return engine
  }

  /// A view of the newest commit.
  func view() throws(EngineError) -> EntityView {
    if uses.isClosed { throw .store(.closed) }
    do throws(EngineError) { return try engine.view() } catch {
      guard case .modelChanged = error, let changed = try changedEngine() else { throw error }
      return try changed.view()
    }
  }

  /// Runs `body` in a transaction; see `EntityStore.write(_:)`. Unless `isOfHistory`, it is the application's: then
  /// another coordinator or process may have begun to keep history, or have ended it, since the store was opened.
  func write<R>(
    isOfHistory: Bool = false, _ body: (EntityTransaction) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    func checked(_ t: EntityTransaction) throws(EngineError) -> R {
      // With the turn to write: what is saved before the copy is begun is in it.
      if lock.locked({ isMoving }) {
        throw .misuse(Self.movedText)
      }
      if !isOfHistory, try t.isKeepingHistory() != tracksHistory {
        guard tracksHistory else { throw .historyNotTracked }
        try t.startHistory()
      }
      return try body(t)
    }
    // Closing waits for a save, because its commit may be published already while it waits for its sync.
    guard uses.begin() else { throw .store(.closed) }
    defer { uses.end() }
    do throws(EngineError) {
      return try engine.write { (t) throws(EngineError) in try checked(t) }
    } catch {
      // Told before `body` runs.
      guard case .modelChanged = error, let changed = try changedEngine() else {
        // A transaction builds on commits that wait for their sync, which no view shows yet. If it is refused because
        // of one, whoever looks what it was and tries again would meet it over and over.
        try? engine.kernel.makeVisible()
        throw error
      }
      return try changed.write { (t) throws(EngineError) in try checked(t) }
    }
  }

  /// The engine with the model that the store has now, if another coordinator or process has given it one by which
  /// objects are what they are by the known one: indexes, defaults, class names and rules may differ.
  private func changedEngine() throws(EngineError) -> EntityStore? {
    guard let shared else { return nil }
    let known = engine
    let changed = try shared.current()
    guard known.schema.describesSameRows(as: changed.schema) else { return nil }
    lock.locked { (newest, hadOtherModels) = (changed, true) }
    return changed
  }

  /// Runs what takes long, and is not to be cut short by closing.
  func using<R>(_ body: () throws -> R) throws -> R {
    guard uses.begin() else { throw CambiumError(StoreError.closed) }
    defer { uses.end() }
    return try body()
  }

  /// Refuses to be written to, while the store is copied into another file that takes its place, and after that.
  func refuseWrites(_ refuses: Bool) { lock.locked { isMoving = refuses } }

  /// Refuses what goes on for long, and does not go by ``write(isOfHistory:_:)``.
  func requireUnmoved() throws {
    if lock.locked({ isMoving }) { throw CambiumError(.persistentStoreOperation, Self.movedText) }
  }

  private static let movedText =
    "the store is being moved into another file, or was: use the one that migratePersistentStore(_:to:type:options:) returns"

  /// Makes a device a copy of the earlier state of a store that this is; answers whether it is whole, and nil if this
  /// is none.
  func copyState(
    to device: any StorageDevice, _ progress: (Store.CopyProgress) -> Bool
  ) throws(EngineError) -> Bool? {
    guard let state, let origin else { return nil }
    let kernel = engine.kernel
    let isWhole: Bool
    do throws(StoreError) { isWhole = try kernel.copy(retained: state.id, to: device, progress: progress) } catch {
      throw .store(error)
    }
    // It was the same all the while, but may have been another one that has got the identifier.
    let isKept = try origin.engine.retainedCommits().contains { $0.id == state.id && $0.sequence == state.sequence }
    guard isKept || !isWhole else { throw .store(.snapshotExpired) }
    return isWhole
  }

  /// Undoes the newest migration; the store refuses from then on, since its coordinator has another model.
  func rollBackMigration(discardsCommits: Bool) throws(EngineError) {
    if let shared {
      _ = try shared.rolledBack(discardsCommits: discardsCommits)
    } else {
      _ = try currentEngine().rollBackMigration(discardsCommits: discardsCommits)
    }
  }

  // MARK: Metadata

  /// What the application keeps with the store (``setMetadata(_:)``), and what is known of it: ``storeUUIDKey``,
  /// ``storeTypeKey``, and of the model that it was made with ``modelVersionIdentifiersKey``,
  /// ``modelVersionHashesKey`` and ``modelVersionChecksumKey``. The application's part is missing if it cannot be read;
  /// see ``applicationMetadata()``.
  public var metadata: [String: Any] {
    var result = (try? applicationMetadata()) ?? [:]
    result[Self.storeUUIDKey] = identifier
    result[Self.storeTypeKey] = type.rawValue
    result[Self.modelVersionIdentifiersKey] = engine.schema.versionIdentifiers
    result[Self.modelVersionHashesKey] = engine.schema.entityVersionHashesByName.mapValues { Data($0.bytes) }
    result[Self.modelVersionChecksumKey] = engine.schema.versionChecksum
    if let tasks = try? engine.deferredTasks(), !tasks.isEmpty { result[Self.deferredLightweightMigrationKey] = true }
    return result
  }

  /// What the application keeps with the store.
  ///
  /// - Throws: ``CambiumError/Code/fileReadCorruptFile``; what reading throws.
  public func applicationMetadata() throws -> [String: Any] {
    let bytes = try mapping { () throws(EngineError) in try view().metadata(Self.applicationKey) }
    return try bytes.map { try MetadataCodec.decode($0) } ?? [:]
  }

  /// Replaces what the application keeps with the store: strings, booleans, `Int`, `Double`, `Date`, `Data` and `UUID`,
  /// by key. Written at once, in a transaction of its own; Core Data writes with the next save. Keys of the store's own
  /// (``metadata``) are left out.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for values of other types;
  ///   ``CambiumError/Code/fileWriteNoPermission`` if the store is read-only; what writing throws.
  public func setMetadata(_ entries: [String: Any]) throws {
    if isReadOnly { throw readOnlyError }
    let own = [
      Self.storeUUIDKey, Self.storeTypeKey, Self.modelVersionIdentifiersKey, Self.modelVersionHashesKey,
      Self.modelVersionChecksumKey, Self.deferredLightweightMigrationKey,
    ]
    let bytes = try MetadataCodec.encode(entries.filter { !own.contains($0.key) })
    try mapping(.persistentStoreSave) { () throws(EngineError) in
      try write { (t) throws(EngineError) in try t.setMetadata(Self.applicationKey, bytes) }
    }
  }

  // MARK: Suspending

  /// Gives up everything by which the store keeps other processes from anything, until ``resume()``: for systems that
  /// end a process which is suspended with locks on a shared file. Waits for a save that is under way; reading and
  /// saving fail meanwhile.
  ///
  /// - Throws: ``CambiumError`` if the store was closed or the file cannot be synced.
  public func suspend() throws {
    do { try engine.kernel.suspend() } catch { throw CambiumError(error) }
  }

  /// Takes a suspended store up again. What a context read before may have been overtaken by other processes: then
  /// reading more of it fails until it is refreshed or fetches anew.
  ///
  /// - Throws: ``CambiumError`` if another process has taken the file for itself meanwhile.
  public func resume() throws {
    do { try engine.kernel.resume() } catch { throw CambiumError(error) }
  }

  private static let applicationKey = "application"

  /// The key of the store's UUID in ``metadata``.
  public static let storeUUIDKey = "CambiumStoreUUID"
  /// The key of the store's type in ``metadata``.
  public static let storeTypeKey = "CambiumStoreType"
  /// The key of the model's version identifiers in ``metadata``.
  public static let modelVersionIdentifiersKey = "CambiumStoreModelVersionIdentifiers"
  /// The key of the version hashes by entity name (`[String: Data]`, 32 bytes each) in ``metadata``; what
  /// ``ManagedObjectModel/isConfiguration(withName:compatibleWithStoreMetadata:)`` compares.
  public static let modelVersionHashesKey = ManagedObjectModel.versionHashesKey
  /// The key under which ``metadata`` has `true` as long as a migration has put something off that is not done yet.
  public static let deferredLightweightMigrationKey = "CambiumDeferredLightweightMigration"
  /// The key of the model's ``ManagedObjectModel/versionChecksum`` in ``metadata``.
  public static let modelVersionChecksumKey = "CambiumStoreModelVersionChecksum"
}

extension Schema {
  /// Whether objects read and written by one schema of a store are so by the other: version hashes are the same, and so
  /// are the identifiers of what has the same name. O(size of the schemas).
  fileprivate func describesSameRows(as other: Schema) -> Bool {
    guard differingEntities(from: other).isEmpty else { return false }
    return entities.allSatisfy { mine in
      guard let theirs = other.entity(id: mine.id), theirs.name == mine.name else { return false }
      return mine.allAttributes.allSatisfy { attribute in
        theirs.attribute(named: attribute.name).map { attribute.isReadLike($0) } ?? false
      } && mine.allRelationships.allSatisfy { theirs.relationship(named: $0.name)?.id == $0.id }
    }
  }
}

extension AttributeSchema {
  /// Whether values are read alike; elements by their places.
  fileprivate func isReadLike(_ other: AttributeSchema) -> Bool {
    // The depth is bounded by the schema.
    id == other.id && type == other.type && name == other.name && elements.count == other.elements.count
      && zip(elements, other.elements).allSatisfy { $0.isReadLike($1) }
  }
}

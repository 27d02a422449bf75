import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store that a coordinator has open. Core Data: `NSPersistentStore`. Thread-safe.
public final class PersistentStore: Sendable {
  /// The file; `nil` in memory.
  public let url: URL?
  /// Where the store is.
  public let type: PersistentStoreType
  /// The configuration whose entities the store holds; `nil` for all.
  public let configurationName: String?
  /// Whether saves to the store fail.
  public let isReadOnly: Bool
  /// The store's UUID as text; never changes.
  public var identifier: String { space.identifier }
  let space: StoreSpace
  let engine: EntityStore
  /// What has to be given up; nil in memory.
  private let shared: SharedStore?
  /// Whether whoever opened the engine closes it.
  private let isBorrowed: Bool

  init(
    _ description: PersistentStoreDescription, engine: EntityStore, shared: SharedStore?, space: StoreSpace,
    isBorrowed: Bool = false
  ) {
    self.isBorrowed = isBorrowed
    url = description.type == .file ? description.url : nil
    type = description.type
    configurationName = description.configuration
    isReadOnly = description.isReadOnly
    self.engine = engine
    self.space = space
    self.shared = shared
  }

  deinit {
    // Nobody can be told of an error here; the next opening recovers the store.
    if let shared { try? OpenStores.close(shared) } else if !isBorrowed { try? engine.close() }
  }

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
    let bytes = try mapping { () throws(EngineError) in try engine.view().metadata(Self.applicationKey) }
    return try bytes.map { try MetadataCodec.decode($0) } ?? [:]
  }

  /// Replaces what the application keeps with the store: strings, booleans, `Int`, `Double`, `Date`, `Data` and `UUID`, by
  /// key. Written at once, in a transaction of its own; Core Data writes with the next save. Keys of the store's own
  /// (``metadata``) are left out.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for values of other types;
  ///   ``CambiumError/Code/fileWriteNoPermission`` if the store is read-only; what writing throws.
  public func setMetadata(_ entries: [String: Any]) throws {
    if isReadOnly { throw CambiumError(.fileWriteNoPermission, "the store was opened for reading only") }
    let own = [
      Self.storeUUIDKey, Self.storeTypeKey, Self.modelVersionIdentifiersKey, Self.modelVersionHashesKey,
      Self.modelVersionChecksumKey, Self.deferredLightweightMigrationKey,
    ]
    let bytes = try MetadataCodec.encode(entries.filter { !own.contains($0.key) })
    try mapping(.persistentStoreSave) { () throws(EngineError) in
      try engine.write { (t) throws(EngineError) in try t.setMetadata(Self.applicationKey, bytes) }
    }
  }

  /// Gives up everything by which the store keeps other processes from anything, until ``resume()``: for systems that end
  /// a process which is suspended with locks on a shared file. Waits for a save that is under way; reading and saving fail
  /// meanwhile.
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
  public static let modelVersionHashesKey = "CambiumStoreModelVersionHashes"
  /// The key under which ``metadata`` has `true` as long as a migration has put something off that is not done yet.
  public static let deferredLightweightMigrationKey = "CambiumDeferredLightweightMigration"
  /// The key of the model's ``ManagedObjectModel/versionChecksum`` in ``metadata``.
  public static let modelVersionChecksumKey = "CambiumStoreModelVersionChecksum"
}

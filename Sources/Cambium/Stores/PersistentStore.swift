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
  private let isShared: Bool

  init(_ description: PersistentStoreDescription, engine: EntityStore, space: StoreSpace) {
    url = description.type == .file ? description.url : nil
    type = description.type
    configurationName = description.configuration
    isReadOnly = description.isReadOnly
    self.engine = engine
    self.space = space
    isShared = description.type == .file
  }

  deinit {
    // Nobody can be told of an error here; the next opening recovers the store.
    if isShared { try? OpenStores.close(engine) } else { try? engine.close() }
  }

  /// What is known of the store: ``storeUUIDKey`` and ``storeTypeKey``, and the version identifiers of the model that it
  /// was made with under ``modelVersionIdentifiersKey``.
  public var metadata: [String: Any] {
    [
      Self.storeUUIDKey: identifier, Self.storeTypeKey: type.rawValue,
      Self.modelVersionIdentifiersKey: engine.schema.versionIdentifiers,
    ]
  }

  /// The key of the store's UUID in ``metadata``.
  public static let storeUUIDKey = "CambiumStoreUUID"
  /// The key of the store's type in ``metadata``.
  public static let storeTypeKey = "CambiumStoreType"
  /// The key of the model's version identifiers in ``metadata``.
  public static let modelVersionIdentifiersKey = "CambiumStoreModelVersionIdentifiers"
}

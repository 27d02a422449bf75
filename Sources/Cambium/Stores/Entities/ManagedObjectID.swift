import CambiumEngine
import CambiumKernel
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Names an object, in any context and process. Core Data: `NSManagedObjectID`.
///
/// The identifier of an inserted object is temporary until the object is saved, and has another one then.
public struct ManagedObjectID: Hashable, Sendable {
  let space: StoreSpace
  let reference: ObjectReference

  private static let temporaryRows = Atomic<UInt64>(0)

  init(space: StoreSpace, reference: ObjectReference) {
    self.space = space
    self.reference = reference
  }

  static func temporary(_ entity: UInt32, in space: StoreSpace) -> ManagedObjectID {
    ManagedObjectID(space: space, reference: ObjectReference(entity: entity, row: nextTemporaryRow()))
  }

  /// The row that an object has until it is saved: one that no other has had.
  static func nextTemporaryRow() -> UInt64 {
    ObjectReference.firstTemporaryRow | temporaryRows.add(1, ordering: .relaxed).newValue
  }

  /// Whether the object has not been saved yet.
  public var isTemporaryID: Bool { reference.isTemporary }

  /// The entity of the object.
  public var entity: EntityDescription? { space.info(reference.entity)?.description }

  /// The name of the object's entity.
  public var entityName: String { space.info(reference.entity)?.name ?? "\(reference.entity)" }

  /// The identifier of the store that the object is in, or was inserted for.
  public var storeIdentifier: String { space.identifier }

  /// The store that the object is in; `nil` for a temporary identifier, and once the coordinator that the identifier
  /// came from has the store no more or has moved it. Core Data: `persistentStore`.
  public var persistentStore: PersistentStore? {
    guard !isTemporaryID, let store = space.store.value, store.persistentStoreCoordinator != nil else { return nil }
    return store
  }

  /// `x-cambium://<store>/<entity>/p<row>`; for a temporary identifier `x-cambium:///<entity>/t<number>`.
  ///
  /// ``PersistentStoreCoordinator/managedObjectID(forURIRepresentation:)`` reads it, in any process that has the store
  /// open.
  public func uriRepresentation() -> URL {
    let text =
      isTemporaryID
      ? "x-cambium:///\(entityName)/t\(reference.row - ObjectReference.firstTemporaryRow)"
      : "x-cambium://\(space.identifier)/\(entityName)/p\(reference.row)"
    return URL(string: text) ?? URL(fileURLWithPath: text)
  }

  /// Whether both name the same object.
  public static func == (a: ManagedObjectID, b: ManagedObjectID) -> Bool {
    a.reference == b.reference && (a.space === b.space || a.space.identifier == b.space.identifier)
  }

  /// Hashes what `==` compares, less the store.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(reference.row)
    hasher.combine(reference.entity)
  }
}

extension ManagedObjectID: CustomStringConvertible {
  /// The URI.
  public var description: String { uriRepresentation().absoluteString }
}

extension ManagedObjectID: ObjectIdentifying {}

extension StoreSpace: ReferenceSpace {
  func identifier(of reference: ObjectReference) -> any Sendable { ManagedObjectID(space: self, reference: reference) }
}

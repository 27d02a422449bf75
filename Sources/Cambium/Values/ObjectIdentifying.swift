import CambiumEngine

/// A value that stands for an object: ``ManagedObject`` and ``ManagedObjectID``. Values and predicates hold only its
/// entity and row.
protocol ObjectIdentifying {
  var reference: ObjectReference { get }
  /// The identifier of the object's store.
  var storeIdentifier: String { get }
}

/// The store that references among values belong to. It makes the identifiers that callers see.
protocol ReferenceSpace: AnyObject, Sendable {
  /// Returns the ``ManagedObjectID`` of an object of the store.
  func identifier(of reference: ObjectReference) -> any Sendable
}

extension ObjectReference {
  /// The row from which temporary identifiers are counted. No store ever comes to it.
  static var firstTemporaryRow: UInt64 { 1 << 63 }

  /// Whether the object has not been saved yet.
  var isTemporary: Bool { row >= Self.firstTemporaryRow }
}

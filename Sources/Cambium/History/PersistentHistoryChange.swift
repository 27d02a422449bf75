import CambiumEngine

/// What happened to an object, with Core Data's raw values.
public enum PersistentHistoryChangeType: Int, Sendable, Hashable, CaseIterable {
  /// It was inserted.
  case insert = 0
  /// Some of its properties were changed.
  case update = 1
  /// It was deleted.
  case delete = 2
}

/// A change of one object in a transaction. Core Data: `NSPersistentHistoryChange`.
///
/// In the predicate of a fetch of changes it has `changeID`, `changeType` (0 to 2), `changedEntity` (the entity's name)
/// and `changedObjectID`.
public struct PersistentHistoryChange: Sendable, Hashable, FetchRequestResult {
  /// Its place in the transaction, from 1.
  public let changeID: Int64
  /// What happened.
  public let changeType: PersistentHistoryChangeType
  /// The object. Of a deleted one only the name is left.
  public let changedObjectID: ManagedObjectID
  /// The names of the properties that an update changed, as the store's model calls them now; those that it has no more
  /// are left out. `nil` for inserts and deletions.
  public let updatedProperties: Set<String>?
  /// What a deleted object had in attributes with ``AttributeDescription/preservesValueInHistoryOnDeletion``, by name;
  /// `nil` if it had nothing there.
  public var tombstone: [String: Any]? {
    if kept.isEmpty { return nil }
    return kept.reduce(into: [:]) { result, entry in
      let (name, kept) = entry
      guard let value = kept.value.foundation(type: kept.type, objects: changedObjectID.space) else { return }
      guard let rules = kept.rules else { return result[name] = value }
      // What its transformer does not take any more is given as it was stored.
      result[name] = (try? rules.transformed(value, path: name, entity: changedObjectID.entityName)) ?? value
    }
  }
  /// The values of ``tombstone`` as the engine stores them, for faces with values of their own.
  package var keptValues: [String: Value] { kept.mapValues { $0.value } }
  /// The number of its transaction.
  public let transactionNumber: Int64

  let kept: [String: KeptValue]

  struct KeptValue: Hashable, Sendable {
    let value: Value
    let type: AttributeType
    /// The model's rules for the attribute, if a transformer makes its values.
    let rules: AttributeSchema?

    static func == (a: KeptValue, b: KeptValue) -> Bool { a.value == b.value && a.type == b.type }
    func hash(into hasher: inout Hasher) {
      hasher.combine(value)
      hasher.combine(type)
    }
  }
}

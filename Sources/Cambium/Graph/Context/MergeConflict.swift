import CambiumEngine

/// An object that others changed or deleted in the store since the context read it. Core Data: `NSMergeConflict`.
///
/// Snapshots hold attributes as ``ManagedObject/value(forKey:)`` gives them, transformable ones as stored, and to-one
/// relationships as ``ManagedObjectID``, by name; what has no value is not in them. Cambium has no cache between
/// context and store, so that there is one kind of conflict, with all three snapshots.
public struct MergeConflict: Sendable, Hashable {
  // `nonisolated(unsafe)`: nothing of it changes. Snapshots hold values alone, that any thread may read; objects are
  // for use where their context is used.

  /// The object, for use where its context is used; in an error that crossed to another thread, use ``objectID``.
  public nonisolated(unsafe) let sourceObject: ManagedObject
  /// The object's identifier.
  public let objectID: ManagedObjectID
  /// The version of the row that the context's changes are based on.
  public let oldVersionNumber: UInt32
  /// The version of the row in the store; 0 if the object was deleted.
  public let newVersionNumber: UInt32
  /// The properties that the context changed, in order.
  public let changedKeys: [String]
  /// The object as it is in memory.
  public nonisolated(unsafe) let objectSnapshot: [String: Any]
  /// The row that the context's changes are based on.
  let cached: Row?
  /// The row in the store.
  let persisted: Row?
  /// What the parent has, if the conflict is a child's. Never changed, and looked at where its context is used.
  private nonisolated(unsafe) let parentSnapshot: [String: Any]?

  init(_ object: ManagedObject, persisted: Row?) {
    sourceObject = object
    objectID = object.objectID
    cached = object.row
    self.persisted = persisted
    parentSnapshot = nil
    oldVersionNumber = object.row?.version ?? 0
    newVersionNumber = persisted?.version ?? 0
    changedKeys = object.isDeleted ? [] : object.changedKeys
    objectSnapshot = object.snapshot()
  }

  /// A conflict of a child with what its parent has; `nil` if it is deleted there.
  init(_ object: ManagedObject, parent: ManagedObject?) {
    sourceObject = object
    objectID = object.objectID
    cached = object.row
    persisted = parent?.row
    parentSnapshot = parent?.snapshot()
    oldVersionNumber = object.row?.version ?? 0
    newVersionNumber = parent?.row?.version ?? 0
    changedKeys = object.isDeleted ? [] : object.changedKeys
    objectSnapshot = object.snapshot()
  }

  /// The object as the context read it; `nil` if it did not.
  public var cachedSnapshot: [String: Any]? { cached.map { $0.snapshot(in: objectID.space) } }
  /// The object as it is in the store, or, for a child context, in its parent; `nil` if it was deleted.
  public var persistedSnapshot: [String: Any]? { parentSnapshot ?? persisted.map { $0.snapshot(in: objectID.space) } }

  /// Whether both are of the same object, and of the same rows of it.
  public static func == (a: MergeConflict, b: MergeConflict) -> Bool {
    a.objectID == b.objectID && a.oldVersionNumber == b.oldVersionNumber && a.newVersionNumber == b.newVersionNumber
      && a.changedKeys == b.changedKeys && a.cached.isSame(as: b.cached) && a.persisted.isSame(as: b.persisted)
  }

  /// Hashes the object and the versions.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(objectID)
    hasher.combine(oldVersionNumber)
    hasher.combine(newVersionNumber)
  }
}

extension MergeConflict: CustomStringConvertible {
  /// The object, the versions, and of each property that the context changed what it was, is in the context, and is in
  /// the store.
  @_optimize(none)
  public var description: String {
    let (was, found) = (cachedSnapshot, persistedSnapshot)
    func text(_ values: [String: Any]?, _ key: String) -> String { values?[key].map { "\($0)" } ?? "nil" }
    // To-many relationships are in no snapshot.
    let known = changedKeys.filter { was?[$0] != nil || found?[$0] != nil || objectSnapshot[$0] != nil }
    let changes = known.map { key in
      "\(key): \(text(was, key)) -> \(text(objectSnapshot, key)) here, \(text(found, key)) there"
    }
    let what = found == nil ? "deleted by others" : "version \(oldVersionNumber) here, \(newVersionNumber) there"
    return (["\(objectID): \(what)"] + changes).joined(separator: "; ")
  }
}

/// Objects that cannot be saved together, since they have the same values under a uniqueness constraint. Core Data:
/// `NSConstraintConflict`. Snapshots are as in ``MergeConflict``.
public struct ConstraintConflict: Sendable {
  // `nonisolated(unsafe)`: nothing of it changes. Snapshots hold values alone, that any thread may read; objects are
  // for use where their context is used.

  /// The key paths that must be unique together.
  public let constraint: [String]
  /// The values that the objects have there, by key path.
  public nonisolated(unsafe) let constraintValues: [String: Any]
  /// The object of the store that has the values, for use where its context is used; `nil` if only objects of the save
  /// have them.
  public nonisolated(unsafe) let databaseObject: ManagedObject?
  /// That object as it is in the store.
  public nonisolated(unsafe) let databaseSnapshot: [String: Any]?
  /// The objects of the save, in the order in which they were inserted or changed, for use where their context is used.
  public nonisolated(unsafe) let conflictingObjects: [ManagedObject]
  /// These objects as they are in memory.
  public nonisolated(unsafe) let conflictingSnapshots: [[String: Any]]
  /// Whether the context had no object of the stored row before the conflict was found.
  let hasNewDatabaseObject: Bool

  init(
    _ constraint: [String], _ values: [String: Any], database: (object: ManagedObject, isNew: Bool)?,
    objects: [ManagedObject]
  ) {
    self.constraint = constraint
    constraintValues = values
    databaseObject = database?.object
    hasNewDatabaseObject = database?.isNew ?? false
    databaseSnapshot = database?.object.committedSnapshot()
    conflictingObjects = objects
    conflictingSnapshots = objects.map { $0.snapshot() }
  }
}

extension Row? {
  /// Whether both are the same row, or none.
  func isSame(as other: Row?) -> Bool {
    guard let row = self, let other else { return self == nil && other == nil }
    return row.isSame(as: other)
  }
}

extension Row {
  /// Attributes and to-one relationships that have a value. What cannot be decoded is left out.
  @_optimize(none)
  func snapshot(in space: StoreSpace) -> [String: Any] {
    var result: [String: Any] = [:]
    for attribute in entity.allAttributes {
      if let value = try? value(attribute) {
        result[attribute.name] = value.foundation(type: attribute.type, objects: space)
      }
    }
    for relationship in entity.allRelationships where !relationship.isToMany {
      if let reference = try? reference(relationship) {
        result[relationship.name] = ManagedObjectID(space: space, reference: reference)
      }
    }
    return result
  }
}

extension ManagedObject {
  /// The object as it is in memory; see ``MergeConflict``.
  @_optimize(none)
  func snapshot() -> [String: Any] {
    var result: [String: Any] = [:]
    for property in info.ordered where !property.isTransient {
      if let attribute = property.attribute {
        guard let value = try? currentValue(attribute) else { continue }
        result[property.name] = value.foundation(type: attribute.type, objects: objectID.space)
      } else if let r = property.relationship, !r.isToMany {
        if let id = try? currentToOne(r) { result[property.name] = id }
      }
    }
    return result
  }

  /// The object as it was read.
  fileprivate func committedSnapshot() -> [String: Any] {
    try? load()
    return row?.snapshot(in: objectID.space) ?? [:]
  }
}

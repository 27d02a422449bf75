import CambiumEngine

extension RelationshipInfo {
  /// Why a batch request cannot set the relationship; nil if it can.
  var batchRefusal: String? {
    if isToMany { return "it leads to several objects; set the other side, or change objects in a context" }
    guard let inverse, !inverse.isToMany || inverse.isOrdered else { return nil }
    return "'\(inverse.name)' of '\(schema.destination)' would have to be changed with it; change objects in a context"
  }
}

extension CambiumError {
  static func notSaved(_ given: Any, _ name: String, of entity: String) -> CambiumError {
    CambiumError(
      .invalidArgument,
      "'\(name)' of '\(entity)' can lead only to a saved object of the same store, not to '\(given)'; save that object "
        + "before the batch request, and give it or its identifier",
      entityName: entity, key: name)
  }

  static func unsettableInBatch(_ name: String, of entity: String, _ why: String) -> CambiumError {
    CambiumError(
      .invalidArgument, "a batch request cannot set '\(name)' of '\(entity)': \(why)", entityName: entity, key: name)
  }
}

// Relationships of an object that a batch insert request has a handler fill in.
extension ManagedObject {
  /// Whether a batch insert request made the object, to have its values set by a handler.
  var isOfBatch: Bool { state == .detached && withHome { $0.isOfBatch } == true }

  /// Throws if a batch request cannot set a relationship.
  func requireSettableInBatch(_ r: RelationshipInfo) throws {
    if let why = r.batchRefusal { throw CambiumError.unsettableInBatch(r.schema.name, of: entity.name, why) }
  }

  /// Sets a to-one relationship to a saved object of the same store. The other side is derived from this one.
  func assignInBatch(_ new: ManagedObject?, _ r: RelationshipInfo) throws {
    if new == nil, overlay?.toOneChanges.contains(r.place) != true { return }
    try requireSettableInBatch(r)
    guard let new else { return ownOverlay.toOneChanges.updateValue(nil, forKey: r.place) }
    guard !new.reference.isTemporary, new.space === space || new.space.identifier == space.identifier else {
      throw CambiumError.notSaved(new, r.schema.name, of: entity.name)
    }
    guard new.info.entityID == r.destination || new.info.isKind(of: r.destination) else {
      throw wrongDestination(new, r)
    }
    ownOverlay.toOneChanges.updateValue(new.objectID, forKey: r.place)
  }
}

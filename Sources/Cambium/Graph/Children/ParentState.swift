import CambiumEngine

/// What an object of a parent context had over its row when an object of a child read it: to the child's object, as
/// good as stored.
final class ParentState {
  private(set) var attributes: PropertyMap<Value> = [:]
  private(set) var toOne: PropertyMap<ManagedObjectID?> = [:]

  /// `nil` if the row is all there is.
  init?(_ object: ManagedObject) {
    let below = object.parentState
    if below == nil, !object.changesAttributes, object.toOneChanges.isEmpty, object.state != .inserted {
      return nil
    }
    if let below { (attributes, toOne) = (below.attributes, below.toOne) }
    for (place, value) in object.attributeChanges { attributes.updateValue(value, forKey: place) }
    for (place, id) in object.toOneChanges { toOne.updateValue(id, forKey: place) }
  }

  func rename(_ identifiers: [ManagedObjectID: ManagedObjectID]) {
    for (place, id) in toOne {
      if let id, let new = identifiers[id] { toOne.updateValue(new, forKey: place) }
    }
  }
}

extension ManagedObject {
  /// Whether there is anything that a child can take over: the object is there, and was read, or is new.
  var hasState: Bool { isPresent && (row != nil || state == .inserted) }

  /// Takes over what an object of the parent has at the moment. The parent's lock is held.
  func takeState(of object: ManagedObject) {
    row = object.row
    parentState = ParentState(object)
  }

  /// Reads the object from the parent.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectReferentialIntegrity`` if the parent does not have it any more.
  func load(from parent: ManagedObjectContext, _ context: ManagedObjectContext) throws {
    try parent.lock.run {
      context.takeInMail()
      let object = parent.object(with: objectID)
      guard object.isPresent else { throw goneError }
      try object.load()
      // What was read may have had this one's context be reset.
      guard isOfContext(context) else { throw goneError }
      takeState(of: object)
    }
  }

  var goneError: CambiumError {
    CambiumError(
      .managedObjectReferentialIntegrity, "there is no \(objectID) any more; it was deleted", entityName: entity.name,
      objectID: objectID)
  }

  /// Gives up what was read of the object.
  func forgetRow() {
    row = nil
    guard parentState != nil else { return }
    parentState = nil
    if withOverlay({ $0.isIdle }) == true { overlay = nil }
  }
}

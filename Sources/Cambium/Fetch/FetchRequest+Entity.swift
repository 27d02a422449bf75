// Which entity a request means, and whether its objects are what the request is to give.
extension FetchRequest {
  /// The name of the entity that is meant: the one that was given, or else the one that the class of the results stands for in the
  /// coordinator's model; nil if there is neither.
  func entityName(in coordinator: PersistentStoreCoordinator) -> String? {
    if let entityName { return entityName }
    guard let objectClass = meantClass ?? Result.self as? ManagedObject.Type, objectClass != ManagedObject.self
    else { return nil }
    return coordinator.entity(for: objectClass).name
  }

  /// Makes sure that objects of the entities can be of the class that the request is to give, before any is read: also where
  /// there are none. An entity that has no class gets that one.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` if the model, or the application before, gives an entity another class, of
  ///   which the wanted one is no subclass either (objects of a subentity may be of that); if the class is that of another entity.
  func settleClass(of name: String, _ entities: [EntityInfo], in coordinator: PersistentStoreCoordinator) throws {
    guard resultType == .managedObject, let wanted = Result.self as? ManagedObject.Type else { return }
    // As a rule it is settled.
    if wanted == ManagedObject.self || entities.allSatisfy({ coordinator.objectClass(for: $0) == wanted }) { return }
    let own = coordinator.managedObjectModel.entity(for: wanted)
    func refusal(_ info: EntityInfo, _ given: ManagedObject.Type) -> CambiumError {
      let advice =
        if let own, own.name != info.name {
          "did you mean entityName '\(own.name)'?"
        } else {
          "fetch \(given), or ManagedObject"
        }
      return CambiumError(
        .invalidArgument, "objects of '\(info.name)' are of class \(given), not \(wanted); \(advice)",
        entityName: info.name)
    }
    // Who asks first decides the class of an entity that has none, but not by mistake.
    for info in entities where coordinator.objectClass(for: info) == ManagedObject.self {
      if let own, !own.descends(from: info.name), !info.description.descends(from: own.name) {
        throw refusal(info, ManagedObject.self)
      }
    }
    coordinator.note(wanted, for: name)
    for info in entities {
      let given = coordinator.objectClass(for: info)
      guard given == wanted || given is Result.Type || given.includes(wanted) else { throw refusal(info, given) }
    }
  }
}

extension EntityDescription {
  /// Whether this is the entity of a name, or inherits from it.
  fileprivate func descends(from name: String) -> Bool {
    var next: EntityDescription? = self
    // A hierarchy that goes in a circle cannot be in use; it would not matter here.
    for _ in 0..<1_000 {
      guard let entity = next else { return false }
      if entity.name == name { return true }
      next = entity.superentity
    }
    return false
  }
}

extension ManagedObject {
  /// Whether a class is this one or a subclass of it.
  fileprivate static func includes(_ other: ManagedObject.Type) -> Bool { other is Self.Type }
}

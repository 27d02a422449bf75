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
  /// there are none.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` if the model, or the application before, gives an entity another class, of
  ///   which the wanted one is no subclass either (objects of a subentity may be of that).
  func requireClass(of entities: [EntityInfo], in coordinator: PersistentStoreCoordinator) throws {
    guard resultType == .managedObject, let wanted = Result.self as? ManagedObject.Type else { return }
    for info in entities {
      let given = coordinator.objectClass(for: info)
      if given == wanted || given == ManagedObject.self || given is Result.Type || given.includes(wanted) { continue }
      let own = coordinator.managedObjectModel.entity(for: wanted).map { $0.name }
      let advice =
        if let own, own != info.name { "did you mean entityName '\(own)'?" } else { "fetch \(given), or ManagedObject" }
      throw CambiumError(
        .invalidArgument, "objects of '\(info.name)' are of class \(given), not \(wanted); \(advice)",
        entityName: info.name)
    }
  }
}

extension ManagedObject {
  /// Whether a class is this one or a subclass of it.
  fileprivate static func includes(_ other: ManagedObject.Type) -> Bool { other is Self.Type }
}

// Which entity a request means, and whether its objects are what the request is to give.
extension FetchRequest {
  /// The name of the entity that is meant: the one that was given, or else the one that the class of the results stands
  /// for in the coordinator's model; nil if there is neither.
  func entityName(in coordinator: PersistentStoreCoordinator) -> String? {
    if let entityName { return entityName }
    guard let objectClass = (meantClass ?? Result.self as? AnyClass) as? ManagedObject.Type,
      objectClass != ManagedObject.self
    else { return nil }
    return coordinator.entity(for: objectClass).name
  }

  /// Makes sure that objects of an entity can be of the class that the request gives, before any is read: also where
  /// there are none. An entity without a class gets that one if none of its objects was made before.
  ///
  /// - Parameter entities: The entity in each store.
  /// - Throws: ``CambiumError/Code/invalidArgument`` if the entity has another class, of which the wanted one is no
  ///   subclass either (objects of a subentity may be of that); if the class is that of another entity.
  func settleClass(of entities: [EntityInfo], in coordinator: PersistentStoreCoordinator) throws {
    guard resultType == .managedObject, let wanted = Result.self as? ManagedObject.Type, wanted != ManagedObject.self
    else { return }
    for info in entities {
      let given = try coordinator.use(wanted, for: info)
      if given == wanted || given is Result.Type { continue }
      let own = coordinator.managedObjectModel.entity(for: wanted)
      let isOfSubentity = own.map { $0.name != info.name && $0.descends(from: info.name) } ?? false
      guard given == ManagedObject.self ? isOfSubentity : given.includes(wanted) else {
        throw coordinator.mismatch(wanted, info, given, instead: "fetch \(given), or ManagedObject")
      }
    }
  }
}

extension ManagedObject {
  /// Whether a class is this one or a subclass of it.
  fileprivate static func includes(_ other: ManagedObject.Type) -> Bool { other is Self.Type }
}

extension PersistentStoreCoordinator {
  /// Returns the class of an entity's objects: the class that the model names. If it names none, the class is fixed
  /// now, unless it was before.
  ///
  /// - Parameter first: The class to fix.
  func objectClass(
    for entity: EntityInfo, first: ManagedObject.Type = ManagedObject.self
  ) -> ManagedObject.Type {
    if makesPlainObjects { return ManagedObject.self }
    let found: AnyClass
    if let named = entity.objectClass {
      found = named
    } else {
      let fixed = fixedClass(forEntity: entity.name, first: first)
      if fixed.isNew, first == ManagedObject.self { noteMissingClass(of: entity.description) }
      found = fixed.found
    }
    // The class is ``ManagedObject`` or a subclass, because only ``EntityDescription/managedObjectClass`` and this
    // function set it. A checked cast would take time for each object.
    return unsafeBitCast(found, to: ManagedObject.Type.self)
  }

  /// Returns the class of an entity's objects, for an application that uses a class for it. See
  /// ``objectClass(for:first:)``.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` if the class would be fixed, and stands for an unrelated entity.
  func use(_ objectClass: ManagedObject.Type, for entity: EntityInfo) throws -> ManagedObject.Type {
    let isSettled = makesPlainObjects || entity.objectClass != nil || hasFixedClass(forEntity: entity.name)
    if !isSettled, objectClass != ManagedObject.self, let own = managedObjectModel.entity(for: objectClass),
      !entity.description.descends(from: own.name)
    {
      // A class of a subentity is used to find its objects among those of this entity.
      if own.descends(from: entity.name) { return ManagedObject.self }
      throw mismatch(objectClass, entity, ManagedObject.self)
    }
    return self.objectClass(for: entity, first: objectClass)
  }

  /// Returns the error that an entity's objects are of a class, and not of the wanted one.
  func mismatch(
    _ wanted: ManagedObject.Type, _ entity: EntityInfo, _ given: ManagedObject.Type, instead: String = ""
  ) -> CambiumError {
    var advice = instead
    if let own = managedObjectModel.entity(for: wanted), own.name != entity.name {
      advice = "did you mean entityName '\(own.name)'?"
    } else if given == ManagedObject.self {
      advice = "name the class in the model, or use it before the first object is made"
    }
    return CambiumError(
      .invalidArgument, "objects of '\(entity.name)' are of class \(given), not \(wanted); \(advice)",
      entityName: entity.name)
  }
}

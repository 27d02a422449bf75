extension PersistentStoreCoordinator {
  /// Finds the classes that the model names by text, and fixes them for their entities.
  ///
  /// A name with a module is looked up as it is. One without is looked up in
  /// ``ManagedObjectModel/classModules``, and if it is in none of these, in the modules of the classes that are named
  /// to the model as types or with their module. An entity whose class is not found is left alone: the first use of a
  /// class fixes it, or, if an object is made before, it is ``ManagedObject``.
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` if a name is found in several modules.
  func findNamedClasses() throws {
    if makesPlainObjects { return }
    let entities = managedObjectModel.entities
    var known: [String] = []
    for entity in entities {
      let named: AnyClass? = entity.objectClass ?? entity.qualifiedClassName.flatMap { Self.objectClass(named: $0) }
      guard let named, let module = _typeName(named).split(separator: ".").first else { continue }
      if !known.contains(String(module)) { known.append(String(module)) }
    }
    for entity in entities where entity.objectClass == nil {
      guard let name = entity.classNameToFind else { continue }
      if let qualified = entity.qualifiedClassName {
        if let found = Self.objectClass(named: qualified) { fixedClass(forEntity: entity.name, first: found) }
        continue
      }
      for modules in [managedObjectModel.classModules, known] {
        let hits = modules.compactMap { Self.objectClass(named: $0 + "." + name) }
        guard let found = hits.first else { continue }
        guard hits.allSatisfy({ $0 == found }) else {
          let names = hits.map { "'\(_typeName($0))'" }.joined(separator: " and ")
          throw CambiumError(
            .invalidModel,
            "the class '\(name)' of the entity '\(entity.name)' is in several modules: write \(names) into the model, whichever "
              + "is meant", entityName: entity.name)
        }
        fixedClass(forEntity: entity.name, first: found)
        break
      }
    }
  }

  /// Says in the log that an entity has plain objects, though the model names a class. Call it when the class is fixed.
  func noteMissingClass(of entity: EntityDescription) {
    guard let name = entity.classNameToFind else { return }
    DebugLog.write(
      .store,
      "no class '\(name)' was found for '\(entity.name)', whose objects are of ManagedObject: add the class's module to the "
        + "model's classModules, or set the entity's managedObjectClass, before the store is loaded")
  }

  /// The class of a name with a module, if it is a class of objects. Private and generic classes are not found.
  private static func objectClass(named name: String) -> ManagedObject.Type? {
    _typeByName(name) as? ManagedObject.Type
  }
}

extension EntityDescription {
  /// The name that the model gives to the class; `nil` if that is Core Data's or Cambium's own class. Xcode writes a
  /// point before the name of a class of the application's module.
  fileprivate var classNameToFind: String? {
    guard var name = explicitClassName, !["", "NSManagedObject", "ManagedObject"].contains(name) else { return nil }
    if name.hasPrefix(".") { name.removeFirst() }
    return name
  }

  /// The name of the class, if it has a module.
  fileprivate var qualifiedClassName: String? { classNameToFind.flatMap { $0.contains(".") ? $0 : nil } }
}

import CambiumEngine

extension ManagedObjectContext {
  /// Where objects of an entity are inserted, as it was when the coordinator had its stores the `version`th time.
  final class Insertable {
    let entity: EntityDescription
    /// The entity's; see ``EntityDescription/init(twinOf:)``.
    let twin: EntityDescription
    let version: Int
    let home: ObjectHome

    init(_ entity: EntityDescription, _ home: ObjectHome, version: Int) {
      (self.entity, self.home, self.version) = (entity, home, version)
      twin = home.twin
    }
  }

  /// Inserts an object that has never been in a context.
  ///
  /// - Parameter entity: The object's, or a twin of that.
  func insertNew(_ object: ManagedObject, _ entity: EntityDescription) {
    // To run a block counts references to the context, slowly.
    if lock.isHeldHere { return insertHere(object, entity) }
    lock.run { insertHere(object, entity) }
  }

  private func insertHere(_ object: ManagedObject, _ entity: EntityDescription) {
    guard let home = birthHome(entity) else {
      let name = entity.name
      return record(
        CambiumError(
          .invalidArgument,
          "'\(name)' is not an entity that objects can be inserted of: it is abstract, unknown to the model, or in no "
            + "store that is loaded", entityName: name), losesChange: true)
    }
    adoptInserted(object, home)
  }

  /// Takes an object that is new into the unsaved changes; it is told by ``ManagedObject/awakeFromInsert()``.
  private func adoptInserted(_ object: ManagedObject, _ home: ObjectHome) {
    let info = home.info
    let reference = ObjectReference(entity: home.entityID, row: ManagedObjectID.nextTemporaryRow())
    object.become(reference.row, .passUnretained(home), nil)
    object.state = .inserted
    let overlay = object.ownOverlay
    // As a rule, most attributes are set.
    overlay.attributeChanges.reserveCapacity(min(info.attributeKeys.count, 32))
    overlay.changeOrder = nextChangeOrder()
    inserted.insert(object)
    registry.add(object, home.space, reference)
    if isNotingEvents {
      overlay.eventState = .absent
      eventObjects.append(object)
    }
    if !info.withDefaults.isEmpty { setDefaults(of: object, info) }
    object.awakeFromInsert()
  }

  private func setDefaults(of object: ManagedObject, _ info: EntityInfo) {
    for property in info.withDefaults {
      guard case .attribute(let attribute, let rules) = property.kind else { continue }
      if rules.isTransient {
        object.transients[attribute.name] = rules.defaultValue.foundation(
          type: attribute.type, objects: object.space)
      } else {
        object.attributeChanges[property.place] = rules.defaultValue
      }
    }
  }

  /// The home of new objects of an entity, or of its twin; nil if there cannot be any.
  private func birthHome(_ entity: EntityDescription) -> ObjectHome? {
    if let lastInsertable, lastInsertable.twin === entity || lastInsertable.entity === entity,
      lastInsertable.version == persistentStoreCoordinator.storesVersion
    {
      return lastInsertable.home
    }
    return insertable(entity.itself)?.home
  }

  private func insertable(_ entity: EntityDescription) -> Insertable? {
    let version = persistentStoreCoordinator.storesVersion
    if let lastInsertable, lastInsertable.entity === entity, lastInsertable.version == version { return lastInsertable }
    guard let store = persistentStoreCoordinator.store(forEntity: entity.name),
      let info = store.space.info(named: entity.name), !info.schema.isAbstract
    else { return nil }
    let id = ManagedObjectID(space: store.space, reference: ObjectReference(entity: info.schema.id, row: 0))
    let made = Insertable(entity, home(of: id, info, entity), version: version)
    lastInsertable = made
    return made
  }

  /// What an initializer makes a new object of a class with: the twin of the entity that it stands for, by which references are counted
  /// faster; or the entity itself, if objects of it cannot be inserted.
  func birthEntity(for objectClass: ManagedObject.Type) -> EntityDescription {
    if lock.isHeldHere { return birthEntityHere(objectClass) }
    return lock.run { birthEntityHere(objectClass) }
  }

  private func birthEntityHere(_ objectClass: ManagedObject.Type) -> EntityDescription {
    if lastClass == objectClass, let lastOfClass, lastOfClass.version == persistentStoreCoordinator.storesVersion {
      return lastOfClass.twin
    }
    let entity = persistentStoreCoordinator.entity(for: objectClass)
    guard let made = insertable(entity) else { return entity }
    (lastClass, lastOfClass) = (objectClass, made)
    return made.twin
  }
}

import CambiumEngine

// How an object holds its values: the row as it came, with the changes over it.
extension ManagedObject {
  /// The context, or an error that says that there is none.
  func requireContext() throws -> ManagedObjectContext {
    guard let managedObjectContext else {
      throw CambiumError(
        .invalidArgument, "the object of '\(entity.name)' belongs to no context, or to one that is gone or was reset",
        entityName: entity.name)
    }
    return managedObjectContext
  }

  func property(_ key: String) throws -> PropertyInfo {
    if QueueCheck.isOn { QueueCheck.check(self, key) }
    guard let property = info.properties[key] ?? primitiveKey(key).flatMap({ info.properties[$0] }) else {
      throw CambiumError(
        .unknownKey, "entity '\(entity.name)' has no property '\(key)'" + info.schema.alternatives(to: key),
        entityName: entity.name, key: key)
    }
    return property
  }

  /// Reads the row if that has not been done: fires the fault.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectReferentialIntegrity`` if the row is gone.
  func load() throws {
    if state == .fault, heldRow != nil, parentState == nil, !isDeleted, hasContext {
      // It came with a fetch.
      state = .loaded
      return awakeFromFetch()
    }
    switch state {
    case .loaded, .inserted, .detached: return
    case .fault, .stale:
      let context = try requireContext()
      let wasFault = state == .fault
      if let parent = context.parent {
        if row == nil, parentState == nil { try load(from: parent, context) }
      } else if row == nil {
        var found = try readRow(try context.view(of: space))
        if found == nil, let newest = try context.newestView(of: space) {
          // Others may have saved it since the context last looked. If nobody has, other objects show what they showed.
          found = try readRow(newest)
          if found != nil { context.advance() }
        }
        guard let found else { throw goneError }
        row = found
      }
      state = .loaded
      if isDeleted, context.isMissing(self) { isDeleted = false }
      if wasFault { awakeFromFetch() }
    }
  }

  private func readRow(_ view: EntityView) throws -> Row? {
    do throws(EngineError) { return try view.row(reference) } catch { throw CambiumError(error) }
  }

  // MARK: Attributes

  /// The value as saved; null for an object that is not.
  func committedValue(_ attribute: AttributeSchema) throws -> Value {
    try committedValue(try property(attribute.name))
  }

  func currentValue(_ attribute: AttributeSchema) throws -> Value {
    try currentValue(try property(attribute.name))
  }

  /// The value of a property that is an attribute kept in the store.
  func currentValue(_ property: PropertyInfo) throws -> Value { try currentValue(at: property.place) }

  /// The value as saved of a property that is an attribute kept in the store.
  func committedValue(_ property: PropertyInfo) throws -> Value { try committedValue(at: property.place) }

  /// The value of the attribute at a place.
  func currentValue(at place: Int) throws -> Value {
    if let changed = changedAttribute(at: place) { return changed }
    return try committedValue(at: place)
  }

  /// The value as saved of the attribute at a place.
  func committedValue(at place: Int) throws -> Value {
    if state != .loaded { try load() }
    if let parentState, let value = parentState.attributes[place] { return value }
    guard let row else { return .null }
    do throws(EngineError) { return try row.value(info.attributeKeys[place]) } catch { throw CambiumError(error) }
  }

  func assign(_ value: Value, to attribute: AttributeSchema) throws {
    try assign(value, to: try property(attribute.name))
  }

  /// Sets an attribute that is kept in the store.
  func assign(_ value: Value, to property: PropertyInfo) throws { try assign(value, at: property.place) }

  /// Sets the attribute at a place.
  func assign(_ value: Value, at place: Int) throws {
    if try isAssigned(value, at: place) { return }
    // Nobody hears of changes of an object that belongs to no context.
    if state == .detached { return overlay(value, at: place) }
    willChange()
    overlay(value, at: place)
    noteChange()
  }

  /// The same without a word of it to the event, unless it was said that a change comes.
  func assignQuietly(_ value: Value, at place: Int) throws {
    if try isAssigned(value, at: place) { return }
    if overlay?.fields.pointee.isChangeNoticed ?? false { willChange() }
    overlay(value, at: place)
    noteChange()
  }

  @inline(__always)
  private func isAssigned(_ value: Value, at place: Int) throws -> Bool {
    if let isSame = withOverlay({ $0.lookAtAttribute(place) { $0 == value } }) { return isSame }
    if state == .inserted { return false }
    // Of an object that was never saved, nothing is to be read.
    if state == .detached, heldRow == nil, parentState == nil { return value.isNull }
    return try committedValue(at: place) == value
  }

  func noteChange() {
    if state == .inserted || pending == .updated { return }
    managedObjectContext?.noteChange(of: self)
  }

  // MARK: Relationships

  func committedToOne(_ r: RelationshipInfo) throws -> ManagedObjectID? {
    if state != .loaded { try load() }
    if let parentState, let id = parentState.toOne[r.place] { return id }
    guard let heldRow else { return nil }
    // Nothing that is called from here on calls the application, or changes the object, which keeps the row.
    defer { withExtendedLifetime(self) {} }
    do throws(EngineError) {
      return try heldRow.reference(r.key).map { ManagedObjectID(space: space, reference: $0) }
    } catch { throw CambiumError(error) }
  }

  func currentToOne(_ r: RelationshipInfo) throws -> ManagedObjectID? {
    if let changed = withOverlay({ $0.toOneChanges[r.place] }) { return changed }
    return try committedToOne(r)
  }

  /// Is called before a relationship of the object changes.
  func willChangeRelationship(_ r: RelationshipInfo) {
    noteInValidation(isRelationship: true)
    if let observer = withHome({ $0.link?.objectObserver }) {
      observer.relationshipWillChange(r.schema.name, of: self)
    }
    willChange()
  }

  /// Tells a save that calls methods that validate of a change.
  @inline(__always)
  func noteInValidation(isRelationship: Bool) {
    guard withHome({ $0.link?.isValidating.load(ordering: .relaxed) }) == true else { return }
    managedObjectContext?.session?.validation?.note(self, isRelationship: isRelationship)
  }

  func recordToOne(_ r: RelationshipInfo, _ id: ManagedObjectID?) throws {
    guard try currentToOne(r) != id else { return }
    willChangeRelationship(r)
    let overlay = ownOverlay
    overlay.toOneChanges.updateValue(id, forKey: r.place)
    noteChange()
  }

  func committedToMany(_ r: RelationshipInfo) throws -> [ManagedObjectID] {
    if state == .inserted || state == .detached { return [] }
    let context = try requireContext()
    if let parent = context.parent {
      return try parent.lock.run {
        context.takeInMail()
        return try parent.object(with: objectID).currentToMany(r)
      }
    }
    let space = space
    if r.isOrdered, context.snapshots.generation.isPinned, let list = try listNewerThanGeneration(r, context) {
      return list
    }
    let reader = try context.snapshots.destinations(of: r, in: space)
    var ids: [ManagedObjectID] = []
    do throws(EngineError) {
      try reader.forEach(from: reference) { (found) in
        ids.append(ManagedObjectID(space: space, reference: found))
        return true
      }
    } catch { throw CambiumError(error) }
    return ids
  }

  /// The destinations, less the objects that the context will delete.
  func currentToMany(_ r: RelationshipInfo) throws -> [ManagedObjectID] {
    var ids = try knownToMany(r)
    if let context = managedObjectContext, !context.deleted.isEmpty {
      ids.removeAll { context.pending($0) == .deleted }
    }
    return ids
  }

  /// The destinations with those that the context will delete, unless they were taken out: others may have put this
  /// object under one of them since, and then it goes along.
  func knownToMany(_ r: RelationshipInfo) throws -> [ManagedObjectID] {
    let change = toManyChanges[r.place]
    if let list = change?.list { return list }
    let ids = try committedToMany(r)
    return change?.applied(to: ids) ?? ids
  }

  func contains(_ id: ManagedObjectID, _ r: RelationshipInfo) throws -> Bool {
    if let state = toManyChanges[r.place]?.state(of: id) { return state }
    return try currentToMany(r).contains(id)
  }

  /// A change of an ordered relationship to a list, over the one that there is.
  func listChange(_ list: [ManagedObjectID], _ r: RelationshipInfo) throws -> ToManyChange {
    var change = ToManyChange(list: list)
    if let known = toManyChanges[r.place] {
      change.base = known.base
    } else if let own = try listOfRow(r) {
      let committed = try committedToMany(r)
      if committed != own { change.base = committed }
    }
    return change
  }

  /// What an ordered relationship has by the object's row, which may be older than what the context has seen; nil where
  /// there is none.
  private func listOfRow(_ r: RelationshipInfo) throws -> [ManagedObjectID]? {
    guard state == .loaded, let row, managedObjectContext?.parent == nil else { return nil }
    let list = try mapping { () throws(EngineError) in try row.references(r.schema) }
    return list.map { ManagedObjectID(space: space, reference: $0) }
  }

  /// What an ordered relationship has by the object's row, if that is of a later commit than the generation that the
  /// context reads.
  private func listNewerThanGeneration(
    _ r: RelationshipInfo, _ context: ManagedObjectContext
  ) throws -> [ManagedObjectID]? {
    guard state == .loaded, let row else { return nil }
    let view = try context.view(of: space)
    let version = try mapping { () throws(EngineError) in try view.rowVersion(reference) } ?? 0
    return version < row.version ? try listOfRow(r) : nil
  }

  /// What an ordered relationship with unsaved changes had before these.
  func listBeforeChanges(_ r: RelationshipInfo) throws -> [ManagedObjectID] {
    try toManyChanges[r.place]?.base ?? listOfRow(r) ?? committedToMany(r)
  }

  func recordAdd(_ id: ManagedObjectID, _ r: RelationshipInfo) throws {
    if r.isOrdered {
      // A list is written whole: it is based on the row as it is now, and what others do to it meanwhile is a conflict.
      try load()
      let ids = try knownToMany(r)
      guard !ids.contains(id) else { return }
      willChangeRelationship(r)
      toManyChanges[r.place] = try listChange(ids + [id], r)
    } else {
      willChangeRelationship(r)
      // What was taken out here and is put back may have been taken out by others as well.
      let isAgain = try isCancelled(id, r, by: true)
      ownOverlay.toManyChanges.change(r.place, from: ToManyChange()) {
        $0.add(id)
        if isAgain { $0.add(id) }
        return !$0.isEmpty
      }
    }
    noteChange()
  }

  func recordRemove(_ id: ManagedObjectID, _ r: RelationshipInfo) throws {
    if r.isOrdered {
      try load()
      let ids = try knownToMany(r)
      guard ids.contains(id) else { return }
      willChangeRelationship(r)
      toManyChanges[r.place] = try listChange(ids.filter { $0 != id }, r)
    } else {
      willChangeRelationship(r)
      let isAgain = try isCancelled(id, r, by: false)
      ownOverlay.toManyChanges.change(r.place, from: ToManyChange()) {
        $0.remove(id)
        if isAgain { $0.remove(id) }
        return !$0.isEmpty
      }
    }
    noteChange()
  }

  /// Whether to add an object to an unordered relationship, or to take it out, does no more than to cancel an unsaved
  /// change, though what is stored by now is otherwise than wanted.
  private func isCancelled(_ id: ManagedObjectID, _ r: RelationshipInfo, by isAdded: Bool) throws -> Bool {
    guard state != .inserted, !r.isDerived, toManyChanges[r.place]?.state(of: id) == !isAdded else { return false }
    return try committedToMany(r).contains(id) != isAdded
  }

  /// Whether a property has an unsaved change.
  func isChanged(_ property: PropertyInfo) -> Bool {
    withOverlay { overlay in
      guard let r = property.relationship else { return overlay.changesAttribute(at: property.place) }
      return r.isToMany ? overlay.toManyChanges.contains(r.place) : overlay.toOneChanges.contains(r.place)
    } ?? false
  }

  // MARK: Forgetting

  /// Makes the object a fault again.
  func turnIntoFault() {
    let isFired = state != .fault
    if isFired { willTurnIntoFault() }
    dropChanges()
    transients = [:]
    fetchedValues = [:]
    forgetRow()
    state = .fault
    if isFired { didTurnIntoFault() }
  }

  /// Takes the object out of its context.
  func detach() {
    leaveContext()
    state = .detached
    transients = [:]
    fetchedValues = [:]
    forgetRow()
  }
}

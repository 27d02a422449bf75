import CambiumEngine

extension ManagedObject {
  /// Checks the rules of the model: of all properties, or of those that changed. Of transient attributes those that
  /// have a value: an object that was fetched, or that a child context handed over, has none.
  func validate(all: Bool) throws {
    var check = ValueCheck(self)
    for property in info.checked {
      let name = property.name
      if property.isTransient {
        guard transients[name] != nil, let rules = property.rules, rules.type != .undefined,
          rules.type != .transformable
        else { continue }
        do { check.value(try transientEngineValue(property), rules, property.readRules, path: name) } catch {
          check.errors.append(
            error as? CambiumError ?? CambiumError(.managedObjectValidation, "\(error)", underlying: [error]))
        }
        continue
      }
      if property.isCheckedForNullOnly {
        if all || isChanged(property), try currentValue(at: property.place).isNull { check.missing(name) }
        continue
      }
      switch property.kind {
      case .attribute(_, let rules):
        guard all || isChanged(property) else { continue }
        check.value(try currentValue(property), rules, property.readRules, path: name)
      case .relationship(let r) where r.isToMany:
        guard all || isChanged(property) else { continue }
        guard r.rules.minimumCount > 0 || r.rules.maximumCount > 0 else { continue }
        check.count(try currentToMany(r).count, r.rules)
      case .relationship(let r):
        guard all || isChanged(property), !r.rules.isOptional else { continue }
        if try currentToOne(r) == nil { check.missing(name) }
      }
    }
    try check.throwing()
  }

  /// Checks whether a property may be set to a value: whether it can hold it, and the model's rules. For forms; the
  /// object stays as it is. Core Data: `validateValue:forKey:error:`, which saves call as well: here they call
  /// ``validateForInsert()`` and ``validateForUpdate()`` alone, which may be overridden.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; ``CambiumError/Code/invalidArgument`` for a value that the property
  ///   cannot hold; the validation errors that a save would throw.
  public func validateValue(_ value: Any?, forKey key: String) throws {
    let property = try settableProperty(key)
    var check = ValueCheck(self)
    if let rules = property.rules {
      if rules.type == .undefined || property.isTransient && rules.type == .transformable { return }
      var value = value
      if property.isTransformed { value = try rules.untransformed(value, path: key, entity: entity.name) }
      check.value(try rules.accept(value, path: key, entity: entity.name), rules, property.readRules, path: key)
    } else if let r = property.relationship {
      let value = unwrapped(value).flatMap { isFoundationNull($0) ? nil : $0 }
      if r.isToMany {
        guard let objects = value.map({ managedObjects(in: $0).map { Set($0) } }) ?? [] else {
          throw misfit(value ?? "nil", key, "a set or array of objects")
        }
        for object in objects { try checkDestination(object, r) }
        check.count(objects.count, r.rules)
      } else if let value {
        guard let object = value as? ManagedObject else { throw misfit(value, key, "an object") }
        try checkDestination(object, r)
      } else if !r.rules.isOptional {
        check.missing(key)
      }
    }
    try check.throwing()
  }

  /// Checks that no relationship denies the deletion, as far as the context knows where it leads. When a context saves
  /// into a store, the transaction checks that instead, by what others have saved as well.
  func validateDeletion() throws {
    if !info.deniesDeletion { return }
    if let context = managedObjectContext, context.parent == nil, context.session?.validation != nil { return }
    var check = ValueCheck(self)
    for property in info.relationships {
      guard let r = property.relationship, r.rules.deleteRule == .deny, !r.rules.isTransient else { continue }
      let context = try requireContext()
      var ids: [ManagedObjectID] = []
      // Of one that others have deleted as well nothing is left that could deny it.
      try unlessGone { ids = r.isToMany ? try currentToMany(r) : try currentToOne(r).map { [$0] } ?? [] }
      guard try ids.contains(where: { try $0 != objectID && context.isThere($0) && isLedTo(from: $0, r) }) else {
        continue
      }
      check.denied(property.name)
    }
    try check.throwing()
  }

  /// Whether the other side of a relationship knows of this one, which is deleted. What this one has may be old:
  /// redoing a deletion leaves it as it was.
  private func isLedTo(from id: ManagedObjectID, _ r: RelationshipInfo) throws -> Bool {
    let other = try requireContext().object(with: id)
    guard let back = r.inverse(in: other.info) else { return true }
    guard back.isToMany else { return try other.currentToOne(back) == objectID }
    guard let change = other.toManyChanges[back.place] else { return true }
    return change.list.map { $0.contains(objectID) } ?? change.state(of: objectID) ?? true
  }
}

extension ManagedObjectContext {
  /// Whether a destination is one still. An object that was never saved and was deleted is not among what is to be
  /// deleted, and may be gone already.
  fileprivate func isThere(_ id: ManagedObjectID) -> Bool {
    if let object = registered(id) { return !object.isDeleted }
    guard id.isTemporaryID else { return true }
    guard let parent else { return false }
    return parent.lock.run { parent.isThere(id) }
  }
}

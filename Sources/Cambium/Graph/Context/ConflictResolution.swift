import CambiumEngine
import CambiumKernel

// What the kinds of merge policy do to objects in memory, before their save is tried again.

extension MergeConflict {
  /// Decides by a kind of policy other than `error`. Objects that are to be deleted are, and those that others have
  /// deleted stay so.
  func apply(_ kind: MergePolicy.MergePolicyType) throws {
    let object = sourceObject
    if let context = object.managedObjectContext, let parent = context.parent {
      return try parent.lock.run { try apply(kind, object, context, parent) }
    }
    guard !object.isDeleted, let cached, let persisted, kind != .error else { return }
    if object.row?.isSame(as: persisted) != true {
      object.managedObjectContext?.advance()
      object.row = persisted
    }
    if kind == .rollback { return try object.takeBackChanges() }
    for property in object.info.ordered where !property.isTransient {
      if let attribute = property.attribute {
        if property.isDerived { continue }
        let (base, theirs) = (try cached.value(attribute), try persisted.value(attribute))
        if theirs != base { object.merge(attributeAt: property.place, kind, theirs, base: base) }
      } else if let r = property.relationship {
        if r.isOrdered {
          // What only the decision about another object has changed is based on what is stored: nothing of that is
          // missing.
          let isDecided = object.toManyChanges[r.place] != nil && !changedKeys.contains(property.name)
          if isDecided, kind != .overwrite { continue }
          try object.merge(ordered: r, kind, cached)
        } else if !r.isToMany {
          try object.merge(toOne: r, kind, cached)
        }
      }
    }
  }
}

extension MergeConflict {
  /// Bases a child's object on what its parent has, as the objects of a root are based on their newest rows before a
  /// policy decides: where a relationship leads that is not changed here is asked of each of them, whichever is decided
  /// about first.
  func takeParentState() {
    guard let parent = sourceObject.managedObjectContext?.parent, !sourceObject.isDeleted else { return }
    parent.lock.run {
      let target = parent.object(with: objectID)
      if target.hasState { sourceObject.takeState(of: target) }
    }
  }

  /// The same for a child's object, by what its parent has.
  private func apply(
    _ kind: MergePolicy.MergePolicyType, _ object: ManagedObject, _ context: ManagedObjectContext,
    _ parent: ManagedObjectContext
  ) throws {
    let target = parent.object(with: objectID)
    guard !object.isDeleted, target.isPresent else { return }
    if kind == .rollback { return try object.takeBackChanges() }
    for name in try object.namesChanged(in: target).ordered() {
      guard let property = object.info.properties[name] else { continue }
      switch property.kind {
      case .attribute:
        let (base, theirs) = (try object.committedValue(property), try target.currentValue(property))
        object.merge(attributeAt: property.place, kind, theirs, base: base)
      case .relationship(let r):
        guard kind == .mergeByPropertyStoreTrump, object.toOneChanges.contains(r.place) else { continue }
        let other = try target.currentToOne(r).map { context.object(with: $0) }
        try object.assignToOne(try other.flatMap { try $0.isThere() ? $0 : nil }, r)
      }
    }
  }
}

extension ManagedObject {
  /// Decides about an attribute that others have changed since this object read it.
  ///
  /// - Parameters:
  ///   - theirs: The value that others gave the attribute.
  ///   - base: The value that this object read.
  fileprivate func merge(
    attributeAt place: Int, _ kind: MergePolicy.MergePolicyType, _ theirs: Value, base: Value
  ) {
    guard let mine = changedAttribute(at: place) else {
      if kind == .overwrite { overlay(base, at: place) }
      return
    }
    let merged = mine.merged(with: theirs, base: base, by: kind)
    if kind == .mergeByPropertyStoreTrump, merged == theirs { return takeBackOverlay(at: place) }
    overlay(merged, at: place)
  }

  /// Returns the values that the changed composites had before they were changed, by place.
  func basesOfChangedComposites() throws -> [(place: Int, base: Value)] {
    guard changesAttributes else { return [] }
    return try attributeChanges.compactMap { place, value in
      guard case .composite = value else { return nil }
      return (place, try committedValue(at: place))
    }
  }

  /// Applies the changed elements of composites to the newest values, which the object has read since.
  func rebaseComposites(_ bases: [(place: Int, base: Value)]) throws {
    for (place, base) in bases {
      merge(attributeAt: place, .mergeByPropertyObjectTrump, try committedValue(at: place), base: base)
    }
  }
}

extension Value {
  /// Returns the value of an attribute that a context changed to this value, and others to `theirs`.
  ///
  /// Elements of composites are decided about one by one. A composite that is null in one of the three versions is one
  /// value.
  func merged(with theirs: Value, base: Value, by kind: MergePolicy.MergePolicyType) -> Value {
    switch kind {
    case .error, .overwrite: return self
    case .rollback: return theirs
    case .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump:
      guard case .composite(var result) = self, case .composite(let others) = theirs, case .composite(let before) = base
      else { return kind == .mergeByPropertyObjectTrump ? self : theirs }
      for name in result.names {
        let (mine, other, old) = (result[name] ?? .null, others[name] ?? .null, before[name] ?? .null)
        if other == old { continue }
        result[name] = mine == old ? other : mine.merged(with: other, base: old, by: kind)
      }
      return .composite(result)
    }
  }
}

extension MergePolicy.MergePolicyType {
  /// Throws if one of the conflicts cannot be decided, before anything is done about any.
  func check(_ conflicts: [ConstraintConflict]) throws {
    // Objects that are in one conflict, or in several that have one in common, become one object.
    var joined: [Int] = []
    var number: [ObjectIdentifier: Int] = [:]
    var stored: Set<Int> = []
    func root(_ place: Int) -> Int {
      var place = place
      while joined[place] != place { place = joined[place] }
      return place
    }
    for conflict in conflicts {
      let (new, old) = conflict.present
      if old.count < 2, let first = old.first ?? new.first, !new.allSatisfy({ $0.info === first.info }) {
        throw CambiumError(constraintConflicts: [conflict], policy: self)
      }
      guard self == .mergeByPropertyObjectTrump || self == .overwrite else { continue }
      var together: Int?
      for object in new + old {
        var place = number[ObjectIdentifier(object)].map { root($0) } ?? joined.count
        if place == joined.count {
          joined.append(place)
          number[ObjectIdentifier(object)] = place
          if !object.isInserted { stored.insert(place) }
        }
        if let together, together != place {
          // Two rows cannot be one.
          if stored.contains(together), stored.contains(place) {
            throw CambiumError(constraintConflicts: [conflict], policy: self)
          }
          if stored.contains(place) { stored.insert(together) }
          joined[place] = together
          place = together
        }
        together = place
      }
    }
  }
}

extension ConstraintConflict {
  /// Of the objects those that are new, and those that are stored. Another conflict may have been resolved before,
  /// which concerned some of these as well.
  var present: (new: [ManagedObject], stored: [ManagedObject]) {
    let present = conflictingObjects.filter { $0.managedObjectContext != nil && !$0.isDeleted }
    let known = databaseObject.flatMap { $0.managedObjectContext == nil ? nil : $0 }
    return (present.filter { $0.isInserted }, present.filter { !$0.isInserted } + (known.map { [$0] } ?? []))
  }

  /// Decides by a kind of policy other than `error`; see ``MergePolicy/MergePolicyType``.
  ///
  /// - Parameter mayReplaceDatabaseObject: Whether nobody has seen the database object, if it was made for the
  ///   conflict.
  func apply(_ kind: MergePolicy.MergePolicyType, mayReplaceDatabaseObject: Bool) throws {
    let (new, stored) = present
    guard new.count + stored.count > 1 else { return }
    guard stored.count < 2 else { return try separate(stored, kind) }
    guard let survivor = stored.first ?? new.first, let context = survivor.managedObjectContext else { return }
    let others = new.filter { $0 !== survivor }
    guard others.allSatisfy({ $0.info === survivor.info }) else {
      throw CambiumError(constraintConflicts: [self], policy: kind)
    }
    for other in others { try survivor.absorb(other, kind) }
    // An insertion that came to be a change of a stored object must not be undone by deleting that.
    context.undoManager?.removeAllActions()
    defer {
      for object in [survivor] + others where object.isPresent { object.awake(fromSnapshotEvents: .mergePolicy) }
    }
    if survivor === databaseObject, hasNewDatabaseObject, mayReplaceDatabaseObject, let first = others.first {
      context.replace(survivor, by: first)
    }
  }

  /// Takes back what makes stored objects alike.
  private func separate(_ stored: [ManagedObject], _ kind: MergePolicy.MergePolicyType) throws {
    for object in stored where object.isUpdated {
      object.managedObjectContext?.noteChangeBySaving(object)
      switch kind {
      case .rollback: try object.takeBackChanges()
      case .mergeByPropertyStoreTrump:
        for path in constraint {
          let name = path.split(separator: ".").first.map { String($0) } ?? path
          guard let property = object.info.properties[name] else { continue }
          if property.isAttribute { object.takeBackOverlay(at: property.place) }
          if let r = property.relationship, object.toOneChanges.contains(r.place) {
            try object.takeBack(toOne: r)
          }
        }
      case .mergeByPropertyObjectTrump, .overwrite, .error:
        throw CambiumError(constraintConflicts: [self], policy: kind)
      }
    }
  }
}

extension ManagedObject {
  /// Takes over what a policy wants of a new object with the same unique values, and drops that.
  fileprivate func absorb(_ other: ManagedObject, _ kind: MergePolicy.MergePolicyType) throws {
    let context = try requireContext()
    let takesValues = kind == .mergeByPropertyObjectTrump || kind == .overwrite
    if takesValues {
      for property in info.ordered where !property.isTransient && !property.isDerived {
        guard let attribute = property.attribute else { continue }
        let value = other.changedAttribute(at: property.place) ?? .null
        if value.isNull, kind != .overwrite { continue }
        try assign(value, to: attribute)
      }
      transients.merge(other.transients) { $1 }
    }
    for r in info.storedRelationships {
      let ids = r.isToMany ? try other.currentToMany(r) : try other.currentToOne(r).map { [$0] } ?? []
      let destinations = ids.map { $0 == other.objectID ? self : context.object(with: $0) }
      // Both sides of what the other one had are undone before, so that none is left with an object that is dropped.
      if r.isToMany { try other.assignToMany([], r) } else { try other.assignToOne(nil, r) }
      if r.isToMany {
        let areChildren = r.inverse.map { !$0.isToMany } ?? false
        if kind == .overwrite {
          try assignToMany(destinations, r)
        } else if takesValues || areChildren {
          for destination in destinations { try addDestination(destination, r) }
        }
      } else if kind == .overwrite || (takesValues && !destinations.isEmpty) {
        try assignToOne(destinations.first, r)
      }
    }
    try context.redirect(other, to: self)
    let dropped = other.objectID
    context.drop(other)
    context.link.objectObserver?.object(other, became: self)
    context.tellChildren(permanent: [dropped: objectID], areJoined: true)
  }
}

extension ManagedObjectContext {
  /// Makes what unsaved changes have led to an object without an inverse lead to another.
  fileprivate func redirect(_ old: ManagedObject, to new: ManagedObject) throws {
    for object in inserted.values + updated.values {
      for r in object.info.storedRelationships {
        if r.isToMany {
          guard object.toManyChanges[r.place] != nil else { continue }
          let ids = try object.currentToMany(r)
          guard let place = ids.firstIndex(of: old.objectID) else { continue }
          if r.isOrdered {
            var list = ids.filter { $0 != old.objectID && $0 != new.objectID }
            list.insert(new.objectID, at: min(place, list.count))
            object.toManyChanges[r.place] = ToManyChange(list: list)
          } else {
            try object.recordRemove(old.objectID, r)
            if !ids.contains(new.objectID) { try object.recordAdd(new.objectID, r) }
          }
        } else if let changed = object.toOneChanges[r.place], changed == old.objectID {
          try object.recordToOne(r, new.objectID)
        }
      }
    }
  }

  /// Takes a new object out of the context for good.
  func drop(_ object: ManagedObject) {
    inserted.remove(object)
    unregister(object.objectID)
    object.dropChanges()
    object.isDeleted = true
    object.detach()
  }

  /// Makes an object that was dropped the one of a row, in the place of one that nobody has seen.
  fileprivate func replace(_ stored: ManagedObject, by object: ManagedObject) {
    let id = stored.objectID
    object.become(id, stored.info, in: self)
    object.isDeleted = false
    object.row = stored.row
    object.state = stored.state
    object.attributeChanges = stored.attributeChanges
    object.toOneChanges = stored.toOneChanges
    object.toManyChanges = stored.toManyChanges
    object.transients = stored.transients
    object.changeOrder = stored.changeOrder
    unregister(id)
    register(object)
    updated.replace(stored, by: object)
    stored.dropChanges()
    stored.detach()
    link.objectObserver?.object(stored, became: object)
  }
}

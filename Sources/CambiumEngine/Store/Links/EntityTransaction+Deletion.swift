import CambiumKernel

extension EntityTransaction {
  /// Removes objects, their index entries, and the links at both ends: what leads to them by a relationship with an
  /// inverse leads to nothing afterwards. References stay, and lead nowhere, where there is no inverse, or where the
  /// rule of the removed object's relationship is to do nothing. No further object is removed: see
  /// ``deletion(of:areThere:rule:)``.
  ///
  /// - Parameter rule: The delete rule of a relationship, if the model in use has another one than the stored model.
  /// - Throws: ``EngineError/noSuchObject(_:)``; ``EngineError/misuse(_:)`` if an object is named twice; kernel errors.
  /// - Complexity: O(links of the objects).
  public func delete(
    _ objects: [ObjectReference], rule: (RelationshipSchema) -> DeleteRule = { $0.deleteRule }
  ) throws(EngineError) {
    var plans: [EntityPlan] = []
    plans.reserveCapacity(objects.count)
    for object in objects {
      // Where nothing else has to be read of a row, its removal finds out whether there is one.
      let plan = try store.plan(object.entity)
      if plan.sharesRows || plan.isLedTo {
        guard let own = try planOfRow(object) else { throw .noSuchObject(object) }
        plans.append(own)
      } else {
        plans.append(plan)
      }
    }
    var rows = RowSet()
    for object in objects where objects.count > 1 && !rows.insert(object.row) {
      throw .misuse("an object is to be deleted twice by one call: name each once")
    }
    try remove(objects, plans, rows, rule)
  }

  /// Removes objects, and what goes along with them by the delete rules.
  ///
  /// - Parameters:
  ///   - areThere: Whether the caller knows that the objects exist, so that they need not be looked up.
  ///   - rule: The delete rule of a relationship, if the model in use has another one than the stored model.
  ///   - approve: Is called when everything is gathered, and must not write. If it returns false, nothing is removed.
  /// - Returns: What was gathered.
  /// - Throws: What `approve` throws; kernel errors.
  /// - Complexity: O(links of the objects that are removed).
  @discardableResult
  public func delete(
    _ objects: [ObjectReference], areThere: Bool = false,
    rule: @escaping (RelationshipSchema) -> DeleteRule = { $0.deleteRule },
    approve: (Deletion<ObjectReference, RelationshipReader>) throws(EngineError) -> Bool
  ) throws(EngineError) -> Deletion<ObjectReference, RelationshipReader> {
    let deletion = try deletion(of: objects, areThere: areThere, rule: rule)
    guard try approve(deletion) else { return deletion }
    var plans: [EntityPlan] = []
    plans.reserveCapacity(deletion.objects.count)
    var rows = RowSet()
    for object in deletion.objects {
      plans.append(try store.plan(object.entity))
      rows.insert(object.row)
    }
    // The destinations of a relationship that cascades are all among the objects.
    try remove(deletion.objects, plans, rows) { relationship in
      let own = rule(relationship)
      return own == .cascade ? .noAction : own
    }
    return deletion
  }

  /// - Parameters:
  ///   - rows: The rows of the objects, if there are several.
  ///   - rule: The delete rule of a relationship. By `noAction` nothing has to be emptied.
  private func remove(
    _ objects: [ObjectReference], _ plans: [EntityPlan], _ rows: RowSet, _ rule: (RelationshipSchema) -> DeleteRule
  ) throws(EngineError) {
    var left: [LinkEnd: (side: LinkSide, objects: [ObjectReference])] = [:]
    if notesChangedEnds { for (object, plan) in zip(objects, plans) { try noteDerivedEnds(of: object, plan) } }
    var followed: [UInt32: [(side: LinkSide, reader: RelationshipReader)]] = [:]
    var (last, sides): (UInt32?, [(side: LinkSide, reader: RelationshipReader)]) = (nil, [])
    for (object, plan) in zip(objects, plans) where plan.isLedTo {
      try adoptPendingLinks(object)
      if plan.entityID != last {
        let known = followed[plan.entityID]
        sides = if let known { known } else { try sidesToEmpty(plan, rule) }
        followed[plan.entityID] = sides
        last = plan.entityID
      }
      for (side, reader) in sides {
        try reader.forEach(from: object) { (target) in
          if !rows.contains(target.row), target.row != object.row {
            left[LinkEnd(side.inverse, target), default: (side, [])].objects.append(plan.reference(to: object))
          }
          return true
        }
      }
    }
    do throws(EngineError) {
      for (end, (side, objects)) in left.ordered(by: { $0.key < $1.key }) {
        try detach(objects, from: end.object, by: side)
      }
    } catch {
      breakOff(error)
      throw error
    }
    for (object, plan) in zip(objects, plans) {
      try writer(plan).removeRow(plan.reference(to: object))
      ledger.forget(object)
    }
  }

  /// The sides of an entity whose destinations lead back to an object until it is deleted, with what follows them.
  private func sidesToEmpty(
    _ plan: EntityPlan, _ rule: (RelationshipSchema) -> DeleteRule
  ) throws(EngineError) -> [(side: LinkSide, reader: RelationshipReader)] {
    var result: [(side: LinkSide, reader: RelationshipReader)] = []
    for side in plan.sides where !side.isInverseDerived {
      guard let relationship = plan.entity.allRelationships.first(where: { $0.id == side.id }),
        rule(relationship) != .noAction
      else { continue }
      result.append((side, try destinations(of: relationship)))
    }
    return result
  }

  /// Notes the ends that follow from the row of an object that goes.
  private func noteDerivedEnds(of object: ObjectReference, _ plan: EntityPlan) throws(EngineError) {
    guard plan.sides.contains(where: { $0.isInverseDerived }), let row = try row(object) else { return }
    for side in plan.sides where side.isInverseDerived {
      guard let relationship = plan.entity.allRelationships.first(where: { $0.id == side.id }),
        let target = try row.reference(relationship)
      else { continue }
      noteChanged(side.inverse, target)
    }
  }

  /// Removes an object: see ``delete(_:rule:)``.
  ///
  /// - Throws: ``EngineError/noSuchObject(_:)``; kernel errors.
  public func delete(_ object: ObjectReference) throws(EngineError) { try delete([object]) }
}

import CambiumEngine
import CambiumKernel

/// Deletes rows by the delete rules of their relationships.
struct BatchDeletion {
  let space: StoreSpace
  let history: HistoryRecorder?
  /// Whether rows that are deleted may be old: who deletes has led what they lead to elsewhere, and has not written it there,
  /// since they go. What the other sides have counts then.
  let asksOtherSides: Bool

  /// A relationship of an object that is deleted, and a destination of it.
  struct Lead: Hashable {
    let object: ObjectReference
    let relationship: UInt32
    let destination: ObjectReference
  }

  /// Where to-one relationships led until they were changed, before their objects were deleted. The rows still say so; where the other
  /// side is derived from them, it says so as well.
  var departures: Set<Lead> = []
  /// What other sides that were written say no longer, for no other reason than that the object is deleted.
  var omissions: Set<Lead> = []
  private var doomed: Set<ObjectReference> = []
  private var order: [ObjectReference] = []
  private var consequences: RelationshipConsequences
  /// What denies a deletion unless it is deleted as well.
  private var denials: [(object: ObjectReference, by: ObjectReference, RelationshipInfo)] = []

  /// Ends that lead to what is deleted, each once: with the relationship there, and whether its inverse is a to-many.
  private var left: [RelationshipEnd: (RelationshipSchema, Bool)] = [:]
  /// Rows have numbers that no other entity's rows have.
  private var doomedRows: Set<UInt64> = []

  /// The objects that were changed so that they do not lead to what is deleted.
  var changed: [ManagedObjectID] { consequences.changed }
  /// The objects that are deleted, with those that go with them.
  var deleted: [ManagedObjectID] { order.map { ManagedObjectID(space: space, reference: $0) } }

  /// - Parameter inserted: The rows that the transaction inserts.
  init(
    _ space: StoreSpace, _ history: HistoryRecorder?, asksOtherSides: Bool = false, inserted: Set<UInt64> = []
  ) {
    self.asksOtherSides = asksOtherSides
    self.space = space
    self.history = history
    consequences = RelationshipConsequences(space, history)
    consequences.inserted = inserted
  }

  /// Deletes objects; answers those of them that there were.
  mutating func delete(
    _ asked: [ObjectReference], _ t: EntityTransaction
  ) throws(BatchError) -> [ObjectReference] {
    var found: [ObjectReference] = []
    do throws(EngineError) {
      for reference in asked {
        // The object's own entity, whatever the identifier says.
        guard let row = try t.row(reference) else { continue }
        if doomed.insert(row.reference).inserted {
          order.append(row.reference)
          found.append(row.reference)
        }
      }
      var next = 0
      while next < order.count {
        try look(order[next], t)
        next += 1
      }
    } catch { throw .engine(error) }
    for denial in denials where !doomed.contains(denial.by) {
      let id = ManagedObjectID(space: space, reference: denial.object)
      throw .refused(
        CambiumError(
          .validationRelationshipDeniedDelete,
          "\(id.entityName) \(id) cannot be deleted while its '\(denial.2.schema.name)' has destinations; delete or move them "
            + "first", entityName: id.entityName, key: denial.2.schema.name, objectID: id))
    }
    do throws(EngineError) {
      for reference in order { try note(reference, t) }
      doomedRows = Set(order.map { $0.row })
      for (end, (inverse, isToMany)) in left.ordered(by: { $0.key < $1.key }) { try unlink(end, inverse, isToMany, t) }
      for reference in order {
        if let info = space.info(reference.entity) { try history?.deleted(reference, info, t) }
        try t.delete(reference)
      }
      try consequences.derive(t)
    } catch { throw .engine(error) }
    return found
  }

  private mutating func look(_ object: ObjectReference, _ t: EntityTransaction) throws(EngineError) {
    for property in space.info(object.entity)?.relationships ?? [] where !property.isTransient {
      guard let r = property.relationship else { continue }
      switch r.rules.deleteRule {
      case .cascade:
        for other in try t.related(object, r.schema) {
          guard let row = try t.row(other), try leadsBack(row, to: object, r, t) else { continue }
          if doomed.insert(row.reference).inserted { order.append(row.reference) }
        }
      case .deny:
        for other in try t.related(object, r.schema) {
          guard let row = try t.row(other), try leadsBack(row, to: object, r, t) else { continue }
          denials.append((object, row.reference, r))
        }
      case .nullify, .noAction: break
      }
    }
  }

  private func leadsBack(_ row: Row, to object: ObjectReference, _ r: RelationshipInfo, _ t: EntityTransaction)
    throws(EngineError) -> Bool
  {
    if !asksOtherSides { return true }
    if !departures.isEmpty || !omissions.isEmpty {
      let lead = Lead(object: object, relationship: r.schema.id, destination: row.reference)
      if departures.contains(lead) { return false }
      if omissions.contains(lead) { return true }
    }
    guard let inverse = r.inverse else { return false }
    if !inverse.isToMany { return try row.reference(inverse)?.row == object.row }
    return try t.related(row.reference, inverse).contains { $0.row == object.row }
  }

  /// Notes the objects at the other ends of an object's relationships that stay.
  private mutating func note(_ object: ObjectReference, _ t: EntityTransaction) throws(EngineError) {
    for property in space.info(object.entity)?.relationships ?? [] where !property.isTransient {
      guard let r = property.relationship, let inverse = r.inverse else { continue }
      let isLeft = r.rules.deleteRule != .noAction
      let mayDerive = !space.derivedRules.isEmpty
      if !isLeft, !mayDerive { continue }
      for other in try t.related(object, r.schema) where !doomed.contains(other) {
        guard let row = try t.row(other), !doomed.contains(row.reference) else { continue }
        let end = RelationshipEnd(relationship: inverse.id, object: row.reference)
        if isLeft { left[end] = (inverse, r.isToMany) }
        if mayDerive { consequences.note(end) }
      }
    }
  }

  /// Takes what is deleted out of a relationship, where that is kept for itself.
  private mutating func unlink(
    _ end: RelationshipEnd, _ inverse: RelationshipSchema, _ isToMany: Bool, _ t: EntityTransaction
  ) throws(EngineError) {
    guard let row = try t.row(end.object) else { return }
    var values = RowValues()
    if !inverse.isToMany {
      guard let target = try row.reference(inverse), doomedRows.contains(target.row) else { return }
      values.set(toOne: inverse.name, nil)
    } else if isToMany || inverse.isOrdered {
      let present = try t.related(end.object, inverse)
      let kept = present.filter { !doomedRows.contains($0.row) }
      // Who deletes may have seen to it.
      if kept.count == present.count { return }
      values.set(toMany: inverse.name, kept)
    }
    consequences.record(row.reference, inverse.name)
    // The other end of a to-one relationship is derived from the row that goes.
    if !values.isEmpty {
      try t.update(row.reference, values)
      consequences.changed.append(ManagedObjectID(space: space, reference: row.reference))
    }
  }
}

/// What ends a batch: an error of the engine's, or one that says more.
enum BatchError: Error {
  case engine(EngineError)
  case refused(CambiumError)
}

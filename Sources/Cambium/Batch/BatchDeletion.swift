import CambiumEngine

/// Deletes rows by the delete rules of their relationships.
struct BatchDeletion {
  let space: StoreSpace
  let history: HistoryRecorder?
  private var doomed: Set<ObjectReference> = []
  private var order: [ObjectReference] = []
  /// What denies a deletion unless it is deleted as well.
  private var denials: [(object: ObjectReference, by: ObjectReference, RelationshipInfo)] = []

  /// An end of a relationship of an object that stays.
  private struct End: Hashable, Comparable {
    let relationship: UInt32
    let object: ObjectReference

    static func < (a: End, b: End) -> Bool {
      (a.object.row, a.relationship) < (b.object.row, b.relationship)
    }
  }

  /// Ends that lead to what is deleted, each once: with the relationship there, and whether its inverse is a to-many.
  private var left: [End: (RelationshipSchema, Bool)] = [:]
  /// Rows have numbers that no other entity's rows have.
  private var doomedRows: Set<UInt64> = []

  init(_ space: StoreSpace, _ history: HistoryRecorder?) {
    self.space = space
    self.history = history
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
      for (end, (inverse, isToMany)) in left.sorted(by: { $0.key < $1.key }) { try unlink(end, inverse, isToMany, t) }
      for reference in order {
        if let info = space.info(reference.entity) { try history?.deleted(reference, info, t) }
        try t.delete(reference)
      }
    } catch { throw .engine(error) }
    return found
  }

  private mutating func look(_ object: ObjectReference, _ t: EntityTransaction) throws(EngineError) {
    for property in space.info(object.entity)?.relationships ?? [] where !property.isTransient {
      guard let r = property.relationship else { continue }
      switch r.rules.deleteRule {
      case .cascade:
        for other in try t.related(object, r.schema) {
          guard let row = try t.row(other) else { continue }
          if doomed.insert(row.reference).inserted { order.append(row.reference) }
        }
      case .deny:
        for other in try t.related(object, r.schema) {
          if let row = try t.row(other) { denials.append((object, row.reference, r)) }
        }
      case .nullify, .noAction: break
      }
    }
  }

  /// Notes the objects at the other ends of an object's relationships that stay.
  private mutating func note(_ object: ObjectReference, _ t: EntityTransaction) throws(EngineError) {
    for property in space.info(object.entity)?.relationships ?? [] where !property.isTransient {
      guard let r = property.relationship, r.rules.deleteRule != .noAction, let inverse = r.inverse else { continue }
      for other in try t.related(object, r.schema) where !doomed.contains(other) {
        guard let row = try t.row(other), !doomed.contains(row.reference) else { continue }
        left[End(relationship: inverse.id, object: row.reference)] = (inverse, r.isToMany)
      }
    }
  }

  /// Takes what is deleted out of a relationship, where that is kept for itself.
  private func unlink(_ end: End, _ inverse: RelationshipSchema, _ isToMany: Bool, _ t: EntityTransaction)
    throws(EngineError)
  {
    guard let row = try t.row(end.object) else { return }
    var values = RowValues()
    if !inverse.isToMany {
      guard let target = try row.reference(inverse), doomedRows.contains(target.row) else { return }
      values.set(toOne: inverse.name, nil)
    } else if isToMany || inverse.isOrdered {
      values.set(toMany: inverse.name, try t.related(end.object, inverse).filter { !doomedRows.contains($0.row) })
    }
    if let info = space.info(row.reference.entity) { history?.updated(row.reference, info, [inverse.name]) }
    // The other end of a to-one relationship is derived from the row that goes.
    if !values.isEmpty { try t.update(row.reference, values) }
  }
}

/// What ends a batch: an error of the engine's, or one that says more.
enum BatchError: Error {
  case engine(EngineError)
  case refused(CambiumError)
}

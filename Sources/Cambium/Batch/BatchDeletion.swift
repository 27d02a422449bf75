import CambiumEngine

/// Deletes rows by the delete rules of their relationships.
struct BatchDeletion {
  let space: StoreSpace
  let history: HistoryRecorder?
  private var doomed: Set<ObjectReference> = []
  private var order: [ObjectReference] = []
  /// What denies a deletion unless it is deleted as well.
  private var denials: [(object: ObjectReference, by: ObjectReference, RelationshipInfo)] = []

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
      for reference in order { try unlink(reference, t) }
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

  /// Takes an object out of the other sides of its relationships, where these are kept for themselves.
  private func unlink(_ object: ObjectReference, _ t: EntityTransaction) throws(EngineError) {
    for property in space.info(object.entity)?.relationships ?? [] where !property.isTransient {
      guard let r = property.relationship, r.rules.deleteRule != .noAction, let inverse = r.inverse else { continue }
      for other in try t.related(object, r.schema) where !doomed.contains(other) {
        guard let row = try t.row(other), !doomed.contains(row.reference) else { continue }
        var values = RowValues()
        if !inverse.isToMany {
          guard try row.reference(inverse)?.row == object.row else { continue }
          values.set(toOne: inverse.name, nil)
        } else if r.isToMany || inverse.isOrdered {
          let rest = try t.related(row.reference, inverse).filter { $0.row != object.row }
          values.set(toMany: inverse.name, rest)
        }
        if let info = space.info(row.reference.entity) { history?.updated(row.reference, info, [inverse.name]) }
        // The other end of a to-one relationship is derived from the row that goes.
        if !values.isEmpty { try t.update(row.reference, values) }
      }
    }
  }
}

/// What ends a batch: an error of the engine's, or one that says more.
enum BatchError: Error {
  case engine(EngineError)
  case refused(CambiumError)
}

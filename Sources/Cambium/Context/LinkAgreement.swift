import CambiumEngine
import CambiumKernel

/// Has both sides of the relationships that a save changes agree in the store, whatever the context knew when it changed them.
///
/// The rules that keep both sides in step are applied in memory, by what a context has read until then. Others may have saved since, and what is
/// written by that may say so on one side only. Before the save both sides agreed; so where they do not by now, one of them was changed by the
/// save, and the other one has to follow. Nothing is looked at if the context knew all that there was to know.
///
/// Only relationships that are kept on both sides can disagree: of a to-one whose inverse is an unordered to-many one, that is derived.
struct LinkAgreement {
  /// A relationship of a row. Rows have numbers that no other entity's rows have.
  private struct End: Hashable, Comparable {
    let relationship: UInt32
    let row: UInt64

    static func < (a: End, b: End) -> Bool { (a.row, a.relationship) < (b.row, b.relationship) }
  }

  /// What is to be so at an end, since the other side says so by now.
  private struct Demand {
    let object: ObjectReference
    let relationship: RelationshipSchema
    /// The relationship that leads here.
    let inverse: RelationshipSchema
    var gained: [ObjectReference] = []
    var lost = Set<UInt64>()
  }

  private let batch: SaveBatch
  private var space: StoreSpace { batch.space }
  private var consequences: RelationshipConsequences
  /// Where the relationships led that are written of objects that are changed.
  private var before: [End: [ObjectReference]] = [:]
  private var written: [(object: ObjectReference, relationship: RelationshipSchema, inverse: RelationshipSchema)] = []
  /// Of these, those that lead elsewhere by now.
  private var moved = Set<End>()
  private var demands: [End: Demand] = [:]
  /// What the save deletes, and is there: its delete rules are applied behind this.
  private var doomed = Set<UInt64>()
  /// What the save writes itself.
  private var own = Set<UInt64>()
  private var readers: [UInt32: RelationshipReader] = [:]

  /// - Parameter inserted: The rows that the save inserts.
  init(_ batch: SaveBatch, _ history: HistoryRecorder?, _ inserted: Set<UInt64>) {
    self.batch = batch
    consequences = RelationshipConsequences(batch.space, history)
    consequences.inserted = inserted
  }

  /// Notes where relationships lead that are about to be written.
  mutating func noteBefore(_ updates: [PendingUpdate], _ t: EntityTransaction) throws(EngineError) {
    for update in updates where update.version != nil {
      let object = update.object
      own.insert(object.reference.row)
      guard object.changesRelationships else { continue }
      for (r, inverse) in keptTwice(object) {
        written.append((object.reference, r, inverse))
        before[End(relationship: r.id, row: object.reference.row)] = try destinations(object.reference, r, t)
      }
    }
  }

  /// Brings the other sides of what is written in step.
  ///
  /// - Parameters:
  ///   - permanent: The references of the inserted objects.
  ///   - isThere: Which of the deleted objects are there.
  mutating func restore(
    insertions permanent: [ObjectReference], _ isThere: [Bool], _ t: EntityTransaction
  ) throws(EngineError) {
    for (object, isThere) in zip(batch.deletions, isThere) where isThere { doomed.insert(object.reference.row) }
    for (object, reference) in zip(batch.insertions, permanent) {
      own.insert(reference.row)
      guard object.changesRelationships else { continue }
      for (r, inverse) in keptTwice(object) { written.append((reference, r, inverse)) }
    }
    for (object, r, inverse) in written {
      let end = End(relationship: r.id, row: object.row)
      let (old, new) = (before[end] ?? [], try destinations(object, r, t))
      let (oldRows, newRows) = (Set(old.lazy.map { $0.row }), Set(new.lazy.map { $0.row }))
      if oldRows != newRows { moved.insert(end) }
      for other in new where !oldRows.contains(other.row) { demand(other, inverse, r) { $0.gained.append(object) } }
      for other in old where !newRows.contains(other.row) {
        demand(other, inverse, r) { $0.lost.insert(object.row) }
      }
    }
    // Where a to-one relationship comes to lead is decided first: others let go by that.
    for end in demands.keys.ordered() { try gain(end, t) }
    for end in demands.keys.ordered() { try lose(end, t) }
    for end in demands.keys.ordered() { try settle(end, t) }
  }

  /// Whether the save writes an object itself.
  func isOwn(_ id: ManagedObjectID) -> Bool { own.contains(id.reference.row) }

  /// Computes what is derived from what was changed; to be called when all is written. Answers the objects that were changed, and that the
  /// save does not write itself.
  mutating func finish(_ t: EntityTransaction) throws(EngineError) -> [ManagedObjectID] {
    try consequences.derive(t)
    var result: [ManagedObjectID] = []
    var seen = Set<UInt64>()
    for id in consequences.changed where !isOwn(id) && seen.insert(id.reference.row).inserted {
      if try t.contains(id.reference) { result.append(id) }
    }
    return result
  }

  /// The changed relationships of an object that are kept on both sides.
  private func keptTwice(_ object: ManagedObject) -> [(RelationshipSchema, RelationshipSchema)] {
    var result: [(RelationshipSchema, RelationshipSchema)] = []
    for property in object.info.relationships where !property.isTransient && object.isChanged(property) {
      guard let r = property.relationship, let inverse = r.inverse, !inverse.isTransient else { continue }
      let (isDerived, derives) = (r.isDerived, !r.isToMany && inverse.isToMany && !inverse.isOrdered)
      // An inverse that is inherited may lead here from objects that it does not lead to.
      if isDerived || derives || !isOf(object.info, inverse.destination) { continue }
      result.append((r.schema, inverse))
    }
    return result
  }

  private func isOf(_ info: EntityInfo, _ name: String) -> Bool {
    guard let schema = info.storeSchema, let entity = schema.entity(named: name) else { return false }
    return schema.isEntity(info.schema.id, orDescendantOf: entity.id)
  }

  private mutating func destinations(
    _ object: ObjectReference, _ r: RelationshipSchema, _ t: EntityTransaction
  ) throws(EngineError) -> [ObjectReference] {
    let reader: RelationshipReader
    if let known = readers[r.id] {
      reader = known
    } else {
      reader = try t.destinations(of: r)
      readers[r.id] = reader
    }
    var result: [ObjectReference] = []
    try reader.forEach(from: object) { (found) in
      result.append(found)
      return true
    }
    return result
  }

  private mutating func demand(
    _ object: ObjectReference, _ relationship: RelationshipSchema, _ inverse: RelationshipSchema,
    _ change: (inout Demand) -> Void
  ) {
    let end = End(relationship: relationship.id, row: object.row)
    change(&demands[end, default: Demand(object: object, relationship: relationship, inverse: inverse)])
  }

  /// Has a to-one relationship lead to what leads to it by now; what it led to, and what else leads to it, lets go.
  private mutating func gain(_ end: End, _ t: EntityTransaction) throws(EngineError) {
    guard let demand = demands[end], !demand.relationship.isToMany, let last = demand.gained.last else { return }
    guard let row = try t.row(demand.object) else { return }
    let current = try row.reference(demand.relationship)
    var chosen = last
    if let current, demand.gained.contains(where: { $0.row == current.row }) || moved.contains(end) {
      chosen = current
    } else {
      var values = RowValues()
      values.set(toOne: demand.relationship.name, last)
      try write(row, demand.relationship, values, t)
    }
    var others = demand.gained
    if let current { others.append(current) }
    for other in others where other.row != chosen.row {
      self.demand(other, demand.inverse, demand.relationship) { $0.lost.insert(end.row) }
    }
  }

  /// Has a to-one relationship lead no longer to what does not lead to it.
  private mutating func lose(_ end: End, _ t: EntityTransaction) throws(EngineError) {
    guard let demand = demands[end], !demand.relationship.isToMany, !doomed.contains(end.row) else { return }
    guard let row = try t.row(demand.object), let current = try row.reference(demand.relationship),
      demand.lost.contains(current.row), !demand.gained.contains(where: { $0.row == current.row })
    else { return }
    var values = RowValues()
    values.set(toOne: demand.relationship.name, nil)
    try write(row, demand.relationship, values, t)
  }

  /// The same of a to-many relationship.
  private mutating func settle(_ end: End, _ t: EntityTransaction) throws(EngineError) {
    guard let demand = demands[end], demand.relationship.isToMany, let row = try t.row(demand.object) else { return }
    let current = try destinations(row.reference, demand.relationship, t)
    var result = current
    if !doomed.contains(end.row) { result.removeAll { demand.lost.contains($0.row) } }
    var present = Set(result.lazy.map { $0.row })
    for other in demand.gained where !demand.lost.contains(other.row) && present.insert(other.row).inserted {
      result.append(other)
    }
    if result == current { return }
    var values = RowValues()
    values.set(toMany: demand.relationship.name, result)
    try write(row, demand.relationship, values, t)
  }

  private mutating func write(
    _ row: Row, _ relationship: RelationshipSchema, _ values: RowValues, _ t: EntityTransaction
  ) throws(EngineError) {
    let reference = row.reference
    try t.update(reference, values)
    if doomed.contains(reference.row) { return }
    consequences.record(reference, relationship.name)
    consequences.changed.append(ManagedObjectID(space: space, reference: reference))
    consequences.note(RelationshipEnd(relationship: relationship.id, object: reference))
  }
}

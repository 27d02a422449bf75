import CambiumEngine

/// Writes what a save puts into a store, within its transaction.
final class SaveWriter {
  let context: ManagedObjectContext
  let batch: SaveBatch
  /// The references of the inserted objects, in their order: permanent ones, once those are reserved.
  private(set) var permanent: [ObjectReference] = []
  /// The to-many relationships that are written of inserted objects, by the objects' places.
  private(set) var links: [Int: PendingLinks] = [:]
  /// What writes the rows of each entity, the last one first.
  private var writers: [(entity: UInt32, rows: RowWriter)] = []

  /// Objects that others have changed, with their rows as they are now.
  private(set) var conflicts: [(object: ManagedObject, row: Row?)] = []
  /// What says more than the engine's error.
  var refusal: CambiumError?

  init(_ context: ManagedObjectContext, _ batch: SaveBatch) {
    self.context = context
    self.batch = batch
  }

  /// Goes through the inserted objects once and notes what later steps need of them, because to look at many objects
  /// takes longer than to write them.
  func prepare() throws {
    var present: [ObjectReference] = []
    present.reserveCapacity(batch.insertions.count)
    try batch.insertions.lend { place, object in
      try object.requirePermanentIdentifiers()
      object.noteSavePlace(place)
      present.append(object.reference)
      if let links = object.pendingLinks() { self.links[place] = links }
    }
    permanent = present
  }

  /// Reserves the permanent references of the inserted objects, and answers them.
  func reserve(_ t: EntityTransaction) throws(EngineError) -> [ObjectReference] {
    var references = permanent
    for place in references.indices where references[place].isTemporary {
      references[place] = try t.reserveReference(entity: references[place].entity)
    }
    permanent = references
    return references
  }

  /// Finds what others have changed, and throws if that is anything. Conflicts are resolved outside of the transaction.
  ///
  /// Answers which of the deleted objects are there.
  ///
  /// - Parameter hasChangedModel: Whether the store has (``PersistentStore/hasChangedModel``).
  func findConflicts(
    _ updates: [PendingUpdate], _ t: EntityTransaction, hasChangedModel: Bool
  ) throws(EngineError) -> [Bool] {
    // Whether others have written what an object is based on.
    func isOther(_ current: UInt32?, _ base: UInt32, _ row: @autoclosure () -> Row?) throws(EngineError) -> Bool {
      if current != base { return true }
      guard hasChangedModel, let row = row() else { return false }
      return try t.row(row.reference).map { !$0.isSame(as: row) } ?? true
    }
    // A deletion is one only for who wants to know.
    let asksBeforeDeleting = !batch.policy.isPlain || batch.policy.mergeType == .error
    var isThere: [Bool] = []
    isThere.reserveCapacity(batch.deletions.count)
    try batch.deletions.lend { (_, object) throws(EngineError) in
      let current = try t.rowVersion(object.reference)
      isThere.append(current != nil)
      guard asksBeforeDeleting, current != nil, let base = object.rowVersion else { return }
      if try isOther(current, base, object.row) { try note(object, t) }
    }
    for update in updates {
      guard let base = update.version else { continue }
      let object = update.object
      if try isOther(t.rowVersion(object.reference), base, object.row) { try note(object, t) }
    }
    for one in batch.watched {
      guard let base = one.version else { continue }
      if try isOther(t.rowVersion(one.object.reference), base, one.row) { try note(one.object, t) }
    }
    guard conflicts.isEmpty else { throw .misuse("conflicts") }
    return isThere
  }

  private func note(_ object: ManagedObject, _ t: EntityTransaction) throws(EngineError) {
    conflicts.append((object, try t.row(object.reference)))
  }

  /// Inserts the row of a new object.
  func insert(_ object: ManagedObject, at place: Int, _ t: EntityTransaction) throws(EngineError) {
    let reference = permanent[place]
    let rows = try writer(reference.entity, of: object, t)
    rows.begin(reference)
    try write(object, links.isEmpty ? nil : links[place], isNew: true, rows)
    try rows.save()
  }

  /// Writes the row of a changed object.
  func update(_ update: PendingUpdate, _ t: EntityTransaction) throws(EngineError) {
    if update.version == nil { return }
    try t.update(update.object.reference) { (row) throws(EngineError) in
      try write(update.object, update.links, isNew: false, row)
    }
  }

  /// Writes what came and went of unordered relationships: when all rows are there.
  func writeEdits(_ updates: [PendingUpdate], _ t: EntityTransaction) throws(EngineError) {
    // Writers that are held when the transaction ends are of no use to the next one.
    writers = []
    for (place, links) in links.ordered(by: { $0.key < $1.key }) { try write(links, of: permanent[place], t) }
    for update in updates {
      if let links = update.links { try write(links, of: update.object.reference, t) }
    }
  }

  private func write(
    _ links: PendingLinks, of reference: ObjectReference, _ t: EntityTransaction
  ) throws(EngineError) {
    for (r, added, removed) in links.edits {
      for id in removed where !id.isTemporaryID { try t.unlink(reference, r.schema, from: id.reference) }
      for id in added { try t.link(reference, r.schema, to: try resolve(id)) }
    }
  }

  /// What writes the rows of an entity, which is that of an object.
  func writer(
    _ entity: UInt32, of object: @autoclosure () -> ManagedObject, _ t: EntityTransaction
  ) throws(EngineError) -> RowWriter {
    if let last = writers.first, last.entity == entity { return last.rows }
    if let known = writers.firstIndex(where: { $0.entity == entity }) {
      writers.swapAt(0, known)
      return writers[0].rows
    }
    let made = try t.writer(object().info.schema)
    writers.insert((entity, made), at: 0)
    return made
  }

  /// Writes an object's changes into the row that a writer has begun.
  func write(
    _ object: ManagedObject, _ links: PendingLinks?, isNew: Bool, _ row: RowWriter
  ) throws(EngineError) {
    let info = object.info
    // Nothing here changes the object.
    try object.withOverlay { (overlay) throws(EngineError) in
      try overlay.forEachAttribute { (place, value) throws(EngineError) in
        // All is null in a new row.
        if isNew, value.isNull { return }
        try row.set(attribute: info.attributeKeys[place], value)
      }
      if overlay.toOneChanges.isEmpty { return }
      try overlay.toOneChanges.forEach { (place, id) throws(EngineError) in
        guard let r = info.relationships[place].relationship, !r.isTransient else { return }
        if let id { try row.set(toOne: r.key, try resolve(id)) } else { try row.set(toOne: r.key, nil) }
      }
    }
    guard let links else { return }
    for (r, ids) in links.lists {
      var references: [ObjectReference] = []
      references.reserveCapacity(ids.count)
      for id in ids { references.append(try resolve(id)) }
      try row.set(toMany: r.key, references)
    }
  }

  /// Writes where relationships of deleted objects were led before they were deleted, as far as no other object says
  /// so: the delete rules are to follow these links, and not those of the rows. What others have led elsewhere since
  /// stays as they have left it.
  func writeDepartures(_ deletions: [ManagedObject], _ t: EntityTransaction) throws(EngineError) {
    for object in deletions where object.changesRelationships {
      guard let overlay = object.overlay else { continue }
      let info = object.info
      guard let stored = try t.row(object.reference) else { continue }
      var led: [(r: RelationshipInfo, to: ObjectReference?)] = []
      try overlay.toOneChanges.forEach { (place, id) throws(EngineError) in
        guard let r = info.relationships[place].relationship, !r.isTransient else { return }
        // A to-one inverse, or a list, is written by the object that has it.
        guard r.inverse.map({ $0.isToMany && !$0.isOrdered }) ?? true,
          try stored.reference(r.schema)?.row == object.row?.reference(r.schema)?.row
        else { return }
        guard let id, !id.isTemporaryID || context.pending(id) == .inserted else { return led.append((r, nil)) }
        let destination = try resolve(id)
        // Others may have deleted it.
        led.append((r, try t.contains(destination) ? destination : nil))
      }
      if !led.isEmpty {
        try t.update(object.reference) { (row) throws(EngineError) in
          for (r, destination) in led { try row.set(toOne: r.key, destination) }
        }
      }
      for place in overlay.toManyChanges.keys {
        guard let r = info.relationships[place].relationship, r.inverse == nil, !r.isTransient,
          let change = overlay.toManyChanges[place]
        else { continue }
        for other in try t.related(object.reference, r.schema) {
          let id = ManagedObjectID(space: batch.space, reference: other)
          let isKept = change.list.map { $0.contains(id) } ?? (change.state(of: id) != false)
          if !isKept { try t.unlink(object.reference, r.schema, from: other) }
        }
      }
    }
  }

  /// What a relationship leads to, once the save is done.
  func resolve(_ id: ManagedObjectID) throws(EngineError) -> ObjectReference {
    // Not as others look it up: an object that is let go of may run code of the application's, which must not come
    // here. Nothing of what follows changes the registry, which holds the object.
    let inserted = context.registry.glance(id) { object -> ObjectReference? in
      guard object.pending == .inserted, let place = object.withOverlay({ $0.fields.pointee.savePlace }),
        batch.insertions.indices.contains(place), batch.insertions.lend(place, { $0 === object })
      else { return nil }
      return permanent[place]
    }
    if let inserted { return inserted }
    guard !id.isTemporaryID else {
      refusal = batch.unsavedDestination(id)
      throw .misuse("a relationship leads to an object that is not saved")
    }
    return id.reference
  }
}

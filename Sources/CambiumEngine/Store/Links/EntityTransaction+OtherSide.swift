import CambiumKernel

// The other side of links: what is written there because one side was.
extension EntityTransaction {
  /// The plan of the entity that a row is of; nil if there is no row.
  func planOfRow(_ reference: ObjectReference) throws(EngineError) -> EntityPlan? {
    let plan = try store.plan(reference.entity)
    if !plan.sharesRows {
      let isThere = try storing { () throws(StoreError) in try trees.contains(plan.rows, reference.row) }
      return isThere ? plan : nil
    }
    guard let entity = try entity(ofRow: reference.row, plan) else { return nil }
    return try store.plan(entity)
  }

  /// Notes that an end was changed, unless its object is one that this transaction has made.
  func noteChanged(_ relationship: UInt32, _ object: ObjectReference) {
    if notesChangedEnds, !isNew(object.row) { ledger.noteChanged(LinkEnd(relationship, object)) }
  }

  /// Notes that a row was written because the other end of a link was.
  private func noteWritten(_ relationship: UInt32, _ object: ObjectReference) {
    ledger.noteChanged(object, isNew: isNew(object.row))
    noteChanged(relationship, object)
  }

  /// Writes the other sides of what a row changed of a relationship.
  func follow(_ edit: LinkEdit, of object: ObjectReference) throws(EngineError) {
    noteChanged(edit.side.id, object)
    do throws(EngineError) {
      for target in edit.removed { try detach([object], from: target, by: edit.side) }
      // Many may come from one list, which is written once.
      var left: [ObjectReference: [ObjectReference]] = [:]
      var back: LinkSide?
      for target in edit.added {
        guard let displaced = try attach(object, to: target, by: edit.side) else { continue }
        left[displaced.former, default: []].append(displaced.target)
        back = displaced.side
      }
      guard let back else { return }
      for (former, targets) in left.ordered(by: { $0.key < $1.key }) { try detach(targets, from: former, by: back) }
    } catch {
      // One side is written, and the other is not.
      breakOff(error)
      throw error
    }
  }

  /// Makes a target lead back to the object that leads to it. Answers the object that the target led to before, which
  /// the caller has to detach from it.
  private func attach(
    _ object: ObjectReference, to target: ObjectReference, by side: LinkSide
  ) throws(EngineError) -> (former: ObjectReference, target: ObjectReference, side: LinkSide)? {
    if side.isInverseDerived {
      noteChanged(side.inverse, target)
      return nil
    }
    if let tree = side.inverseTree {
      try adoptPendingLinks(target)
      try put([linkKey(target.row, object.row)], tree)
      noteChanged(side.inverse, target)
      return nil
    }
    guard let writer = try writer(changing: target) else {
      try claim(object, of: target, by: side)
      return nil
    }
    guard let back = writer.plan.side(side.inverse) else { return nil }
    let own = writer.plan.reference(to: target)
    switch back.storage {
    case .toOne(let field):
      let former = try writer.oldReference(at: field)
      if former?.row == object.row { return nil }
      try writer.saveAlone(field, reference: object)
      noteWritten(back.id, own)
      return former.map { ($0, own, back) }
    case .list(let field):
      var list = try writer.oldReferences(at: field)
      if list.contains(where: { $0.row == object.row }) { return nil }
      list.append(object)
      try writer.saveAlone(field, references: list)
      noteWritten(back.id, own)
    case .tree, .derived: break
    }
    return nil
  }

  /// Notes that a row which is not inserted yet is to lead back.
  private func claim(_ object: ObjectReference, of target: ObjectReference, by side: LinkSide) throws(EngineError) {
    guard let back = try store.plan(target.entity).side(side.inverse) else { return }
    if case .toOne = back.storage {
      for source in ledger.claims(side.inverse, of: target.row)?.sources ?? [] where source.row != object.row {
        ledger.withdraw(side.inverse, of: target.row, source)
        try detach([target], from: source, by: back)
      }
    }
    ledger.claim(side.inverse, of: target.row, object)
  }

  /// Takes objects out of a target that their relationship no longer leads to.
  func detach(
    _ objects: [ObjectReference], from target: ObjectReference, by side: LinkSide
  ) throws(EngineError) {
    if side.isInverseDerived { return noteChanged(side.inverse, target) }
    if let tree = side.inverseTree {
      try adoptPendingLinks(target)
      try removeLinks(objects.map { linkKey(target.row, $0.row) }, tree)
      return noteChanged(side.inverse, target)
    }
    guard let writer = try writer(changing: target) else {
      for object in objects { ledger.withdraw(side.inverse, of: target.row, object) }
      return
    }
    guard let back = writer.plan.side(side.inverse) else { return }
    let rows = Set(objects.lazy.map { $0.row })
    switch back.storage {
    case .toOne(let field):
      guard let current = try writer.oldReference(at: field), rows.contains(current.row) else { return }
      try writer.saveAlone(field, reference: nil)
    case .list(let field):
      let list = try writer.oldReferences(at: field)
      let left = list.filter { !rows.contains($0.row) }
      if left.count == list.count { return }
      try writer.saveAlone(field, references: left)
    case .tree, .derived: return
    }
    noteWritten(back.id, writer.plan.reference(to: target))
  }

  /// Takes over the links that lead to a row since before it was inserted. What the row itself says of a relationship
  /// counts; a relationship that it leaves empty takes what leads to it.
  func takeClaims(_ object: ObjectReference, _ plan: EntityPlan, _ edits: inout [LinkEdit]) throws(EngineError) {
    for side in plan.sides where side.mask != 0 {
      guard let claims = ledger.takeClaims(side.id, of: object.row) else { continue }
      let sources = claims.sources
      guard let place = edits.firstIndex(where: { $0.side.id == side.id }) else {
        try adopt(sources, of: object, by: side)
        continue
      }
      // Those that lead here and are led to agree already.
      let said = Set(edits[place].added.lazy.map { $0.row })
      edits[place].added.removeAll { claims.contains($0) }
      for source in sources where !said.contains(source.row) { try detach([object], from: source, by: side) }
    }
  }

  private func adopt(
    _ sources: [ObjectReference], of object: ObjectReference, by side: LinkSide
  ) throws(EngineError) {
    guard let last = sources.last, let writer = try writer(changing: object) else { return }
    switch side.storage {
    case .toOne(let field):
      // Where the inverse is derived, nothing else tells what the row says itself.
      if try writer.oldReference(at: field) != nil { return }
      try writer.saveAlone(field, reference: last)
    case .list(let field): try writer.saveAlone(field, references: sources)
    case .tree, .derived: return
    }
    noteWritten(side.id, object)
  }

  /// Prepares changing the row of an object; nil if there is none.
  private func writer(changing object: ObjectReference) throws(EngineError) -> RowWriter? {
    guard let plan = try planOfRow(object) else { return nil }
    let writer = try writer(plan)
    try writer.begin(changing: plan.reference(to: object))
    return writer
  }

  // MARK: Trees

  func removeLinks(_ links: [[UInt8]], _ tree: TreeID) throws(EngineError) {
    if links.isEmpty { return }
    noteWrite()
    try storing { () throws(StoreError) in for link in links { _ = try transaction.delete(tree, link) } }
  }

  /// Writes a row in the current layout, and the links in trees that a deferred migration has left in it: as long as
  /// they are in the row, the trees are not looked at.
  func adoptPendingLinks(_ object: ObjectReference) throws(EngineError) {
    if store.pendingLinks.isEmpty { return }
    let rows = try store.rows(of: object.entity)
    var bytes: [UInt8] = []
    try storing { () throws(StoreError) in
      _ = try trees.withValue(rows, object.row) { (b) throws(StoreError) in bytes.append(contentsOf: b) }
    }
    if bytes.isEmpty { return }
    let projected = try bytes.withUnsafeBytesEngine { (b) throws(EngineError) -> [UInt8]? in
      let layout = try storing { () throws(StoreError) in try RecordView.layoutID(of: b) }
      guard let pending = store.pendingLinks[layout], !pending.isEmpty else { return nil }
      for links in pending { try put(try links.keys(b, object.row), links.tree) }
      return try store.staleLayout(layout).project(b)
    }
    guard let projected else { return }
    noteWrite()
    try projected.withUnsafeBytesEngine { (p) throws(EngineError) in
      try storing { () throws(StoreError) in try transaction.put(rows, object.row, p) }
    }
  }

  // MARK: At the end

  /// Makes sure that the rows exist that links were led to. They are looked for in the order of their numbers.
  func checkDestinations() throws(EngineError) {
    var missing: [ObjectReference] = []
    for (entity, rows) in ledger.takeDestinations() {
      let plan = try store.plan(entity)
      for row in rows.ascending where try !hasRow(row, plan) {
        missing.append(ObjectReference(entity: entity, row: row))
      }
    }
    if !missing.isEmpty, !isPlanted(.missingDestinationsAccepted) { throw .missingDestinations(missing) }
  }
}

extension EntityPlan {
  /// One side of a relationship of the entity, by the relationship's identifier.
  func side(_ relationship: UInt32) -> LinkSide? { sides.first { $0.id == relationship } }

  /// The reference of an object of the entity, whatever entity of the hierarchy another reference names.
  func reference(to object: ObjectReference) -> ObjectReference { ObjectReference(entity: entityID, row: object.row) }
}

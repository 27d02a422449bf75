import CambiumKernel

extension RowWriter {
  /// Notes the destinations that a row has gained, and what it changes of relationships whose other sides are to be
  /// written.
  ///
  /// Destinations that the row had before are not looked for when the transaction ends: they may be gone where a
  /// relationship is allowed to lead nowhere.
  func noteReferences(_ bytes: UnsafeRawBufferPointer, isNew: Bool) throws(EngineError) {
    if isAlone { return }
    let record: RecordView
    do throws(StoreError) { record = try RecordView(bytes, layout: plan.layout.columns.record) } catch {
      throw .store(error)
    }
    for field in plan.referenceFields where isNew || touched & field.mask != 0 {
      if field.isList {
        let known = isNew ? [] : Set(try oldReferences(at: field.field).lazy.map { $0.row })
        for destination in try Self.references(at: field.field, of: record) where !known.contains(destination.row) {
          transaction.ledger.noteDestination(destination)
        }
      } else if let destination = try Self.reference(at: field.field, of: record) {
        let known = isNew ? nil : try oldReference(at: field.field)
        if known?.row == destination.row { continue }
        transaction.ledger.noteDestination(destination)
      }
    }
    edits = []
    // What follows from the row itself is of interest to who asks for the ends of links.
    let notesEnds = transaction.notesChangedEnds
    if plan.followedSides.isEmpty, !notesEnds { return }
    for side in notesEnds ? plan.sides : plan.followedSides where side.mask != 0 && (isNew || touched & side.mask != 0)
    {
      let now = try destinations(side, record)
      let before = isNew ? [] : try oldDestinations(side)
      if now.isEmpty, before.isEmpty { continue }
      let (nowRows, beforeRows) = (Set(now.lazy.map { $0.row }), Set(before.lazy.map { $0.row }))
      let edit = LinkEdit(
        side: side, removed: before.filter { !nowRows.contains($0.row) },
        added: now.filter { !beforeRows.contains($0.row) })
      if !edit.removed.isEmpty || !edit.added.isEmpty { edits.append(edit) }
    }
  }

  private static func reference(at field: Int, of record: RecordView) throws(EngineError) -> ObjectReference? {
    do throws(StoreError) { return try record.reference(at: field).map(PackedReference.unpack) } catch {
      throw .store(error)
    }
  }

  private static func references(at field: Int, of record: RecordView) throws(EngineError) -> [ObjectReference] {
    do throws(StoreError) { return try record.references(at: field)?.array.map(PackedReference.unpack) ?? [] } catch {
      throw .store(error)
    }
  }

  private func destinations(_ side: LinkSide, _ record: RecordView) throws(EngineError) -> [ObjectReference] {
    switch side.storage {
    case .toOne(let field): return try Self.reference(at: field, of: record).map { [$0] } ?? []
    case .list(let field): return try Self.references(at: field, of: record)
    case .tree, .derived: return []
    }
  }

  private func oldDestinations(_ side: LinkSide) throws(EngineError) -> [ObjectReference] {
    var found: [ObjectReference] = []
    try withOld { (record) throws(EngineError) in found = try destinations(side, record) }
    return found
  }

  // MARK: One side alone

  /// Where a field led when the row was begun.
  func oldReference(at field: Int) throws(EngineError) -> ObjectReference? {
    var found: ObjectReference?
    try withOld { (record) throws(EngineError) in found = try Self.reference(at: field, of: record) }
    return found
  }

  /// The list that a field held when the row was begun.
  func oldReferences(at field: Int) throws(EngineError) -> [ObjectReference] {
    var found: [ObjectReference] = []
    try withOld { (record) throws(EngineError) in found = try Self.references(at: field, of: record) }
    return found
  }

  /// Sets a field of the row that was begun, and writes it without its other side, which the caller has written or will
  /// write.
  func saveAlone(_ field: Int, reference: ObjectReference?) throws(EngineError) {
    touch(field)
    do throws(StoreError) { try builder.set(reference: reference.map(PackedReference.pack), at: field) } catch {
      throw .store(error)
    }
    try saveAlone()
  }

  /// The same of a list.
  func saveAlone(_ field: Int, references: [ObjectReference]) throws(EngineError) {
    touch(field)
    let packed = references.isEmpty ? nil : references.map(PackedReference.pack)
    do throws(StoreError) { try builder.set(references: packed, at: field) } catch { throw .store(error) }
    try saveAlone()
  }

  private func saveAlone() throws(EngineError) {
    isAlone = true
    defer { isAlone = false }
    try save()
  }
}

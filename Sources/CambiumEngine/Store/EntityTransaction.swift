import CambiumKernel

/// Changes to objects, within one transaction. Keeps indexes, constraints and both ends of links in step with the rows.
/// It validates nothing, which is the object layer's task.
///
/// Rows are written at once; changes of indexes are gathered, and made in the order of their keys when something reads
/// an index, when they take much memory, and at the commit.
public final class EntityTransaction: EntityView {
  let transaction: WriteTransaction
  /// What it writes with; nil once the transaction has ended, and another may have it.
  @exclusivity(unchecked) private var kit: TransactionKit?
  /// Memory that the gathered changes of indexes take, in bytes.
  @exclusivity(unchecked) private(set) var batchedBytes = 0
  /// How much of it there may be.
  let mostBatchedBytes: Int
  /// For changes that are given as a whole: the writer of each entity.
  private var writers: [UInt32: RowWriter] = [:]
  private var knownPathReader: PathReader?
  /// No more is gathered than this, in bytes, however much memory there is: places in batches have 32 bits.
  private static let batchLimit = 1 << 30
  /// What went wrong when a row was written and its indexes were not: nothing can be committed after it.
  @exclusivity(unchecked) private var failure: EngineError?
  /// Rows given out, once there were any.
  @exclusivity(unchecked) private var counter: RowCounter?
  /// What may hurt a uniqueness constraint: looked at together at the end, so that objects may swap values.
  @exclusivity(unchecked) private(set) var suspects: [IndexBatch.Suspect] = []
  /// How many changes there were.
  @exclusivity(unchecked) private(set) var changes: UInt64 = 0
  /// Whether copies of rows that are written are kept in ``keptRows``. May be switched on and off.
  @exclusivity(unchecked) public var keepsRows = false
  /// Copies of the rows that writers have written while ``keepsRows`` was set, in the order of the writing. Rows of
  /// more than 64 KiB are left out, and rows that were written because of the other end of a link.
  @exclusivity(unchecked) public internal(set) var keptRows = FoundRows()
  /// So many bytes a row may have that is kept.
  static let mostKept = 1 << 16
  /// What is noted of the links that are written.
  @exclusivity(unchecked) var ledger = LinkLedger()
  /// Whether ``changedEnds`` are noted. To be set before anything is written.
  @exclusivity(unchecked) public var notesChangedEnds = false
  /// What other threads gather for the indexes, once a row was written that may be gathered.
  @exclusivity(unchecked) private var newRowEntries: NewRowEntries?
  /// The memory that it takes, in bytes.
  var gatheredElsewhere: Int { newRowEntries?.bytes ?? 0 }

  private struct RowCounter {
    /// The last one given out, and how many by this transaction.
    var last: UInt64
    var given: Int64 = 0
    /// The last one that was given out before this transaction.
    let first: UInt64
    /// Rows after this one, up to the last one given out, are known not to be there.
    var highestWritten: UInt64
  }

  init(store: EntityStore, transaction: WriteTransaction, kit: TransactionKit) {
    self.transaction = transaction
    self.kit = kit
    mostBatchedBytes = min(store.kernel.gatheredBytes, Self.batchLimit)
    // Rows are copied before they are lent: what reads meanwhile may make gathered changes of indexes.
    super.init(store: store, trees: transaction, lendsInPlace: false)
  }

  deinit { newRowEntries?.end() }

  /// Keeps something for the layer above; nil removes it.
  public func setMetadata(_ key: String, _ value: [UInt8]?) throws(EngineError) {
    try storing { () throws(StoreError) in
      if let value {
        try transaction.put(Catalogue.tree, Catalogue.key("meta/" + key), value)
      } else {
        _ = try transaction.delete(Catalogue.tree, Catalogue.key("meta/" + key))
      }
    }
  }

  /// A reference for a new object of `entity`: never given out before or after.
  public func reserveReference(_ entity: EntitySchema) throws(EngineError) -> ObjectReference {
    if entity.isAbstract { throw .misuse("\(entity.name) is abstract: make an object of one of its subentities") }
    return try reserveReference(try store.plan(entity.id))
  }

  /// The same by the entity's identifier.
  public func reserveReference(entity: UInt32) throws(EngineError) -> ObjectReference {
    let plan = try store.plan(entity)
    if plan.entity.isAbstract { return try reserveReference(plan.entity) }
    return try reserveReference(plan)
  }

  func reserveReference(_ plan: EntityPlan) throws(EngineError) -> ObjectReference {
    ObjectReference(entity: plan.entityID, row: try reserveRow(isWritten: false))
  }

  /// Reserves a reference for a row that is written at once.
  func referenceToWrite(_ plan: EntityPlan) throws(EngineError) -> ObjectReference {
    ObjectReference(entity: plan.entityID, row: try reserveRow(isWritten: true))
  }

  /// Makes sure that there is no row of a reference yet: what its index entries are would be lost.
  func requireNew(_ plan: EntityPlan, _ reference: ObjectReference) throws(EngineError) {
    if let counter, reference.row > counter.highestWritten, reference.row <= counter.last {
      self.counter?.highestWritten = reference.row
      return
    }
    // One that was not given out yet would be given out later, to another object.
    var last = counter?.last ?? 0
    if counter == nil { last = try lastRow() }
    if reference.row > last {
      throw .misuse("\(reference.description) was not reserved: use reserveReference(_:)")
    }
    let isThere = try storing { () throws(StoreError) in
      try trees.withValue(plan.rows, reference.row) { (_) throws(StoreError) in true } ?? false
    }
    if isThere, !isPlanted(.insertOverRow) {
      throw .misuse("\(reference.description) is there already: change it, or reserve another reference")
    }
  }

  private func reserveRow(isWritten: Bool) throws(EngineError) -> UInt64 {
    var counter: RowCounter
    if let known = self.counter {
      counter = known
    } else {
      let last = try storing { () throws(StoreError) in
        try transaction.counter(Catalogue.tree, Catalogue.rowCounter)
      }
      counter = RowCounter(
        last: UInt64(clamping: last), first: UInt64(clamping: last), highestWritten: UInt64(clamping: last))
    }
    guard counter.last &+ 1 < 1 << PackedReference.rowBits else { throw .misuse("no object identifiers are left") }
    counter.last &+= 1
    counter.given &+= 1
    if isWritten { counter.highestWritten = counter.last }
    self.counter = counter
    return counter.last
  }

  /// Whether a row's number was given out by this transaction.
  func isNew(_ row: UInt64) -> Bool { counter.map { row > $0.first } ?? false }

  /// Notes that trees are written, so that nobody goes on with a cursor.
  func noteWrite() { changes &+= 1 }

  func makeWriter(_ plan: EntityPlan) throws(EngineError) -> RowWriter {
    guard let kit else { throw .store(.misuse("the transaction has ended")) }
    return kit.makeWriter(plan, self)
  }

  /// The transaction's own writer of an entity's rows.
  func writer(_ plan: EntityPlan) throws(EngineError) -> RowWriter {
    if let known = writers[plan.entityID] { return known }
    let made = try makeWriter(plan)
    writers[plan.entityID] = made
    return made
  }

  /// What conditions of indexes are asked with.
  func pathReader() -> PathReader {
    if let knownPathReader { return knownPathReader }
    let made = PathReader(view: self, keepsValues: false)
    knownPathReader = made
    return made
  }

  // MARK: Objects

  /// Adds an object under a reserved reference. Properties without a value are null.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if there is an object of the reference.
  public func insert(_ reference: ObjectReference, _ values: RowValues) throws(EngineError) {
    try insert(reference) { (writer) throws(EngineError) in try set(values, writer) }
  }

  /// Adds an object under a reserved reference, whose properties `set` sets; those that it leaves out are null. Within
  /// `set` the writer's setters may be called, and nothing else of the transaction that writes.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if there is an object of the reference; what `set` throws.
  public func insert(
    _ reference: ObjectReference, by set: (RowWriter) throws(EngineError) -> Void
  ) throws(EngineError) {
    let writer = try writer(try store.plan(reference.entity))
    writer.begin(reference)
    try set(writer)
    try writer.save()
  }

  /// Changes an object: `set` sets what is to change, as in ``insert(_:by:)``. The row's version grows by one.
  ///
  /// - Throws: ``EngineError/noSuchObject(_:)``; what `set` throws.
  public func update(
    _ reference: ObjectReference, by set: (RowWriter) throws(EngineError) -> Void
  ) throws(EngineError) {
    let writer = try writer(ownPlan(reference))
    try writer.begin(changing: reference)
    try set(writer)
    try writer.save()
  }

  /// Changes some properties of an object. The row's version grows by one.
  ///
  /// - Throws: ``EngineError/noSuchObject(_:)``.
  public func update(_ reference: ObjectReference, _ values: RowValues) throws(EngineError) {
    try update(reference) { (writer) throws(EngineError) in try set(values, writer) }
  }

  /// The plan of the object's own entity.
  private func ownPlan(_ reference: ObjectReference) throws(EngineError) -> EntityPlan {
    let plan = try store.plan(reference.entity)
    if !plan.sharesRows { return plan }
    guard let own = try planOfRow(reference) else { throw .noSuchObject(reference) }
    return own
  }

  // MARK: What writers write

  /// Writes a row.
  ///
  /// - Parameter mayGather: Whether it is new, and what indexes are to have of it may be gathered by another thread.
  ///   Answers whether that is done.
  func putRow(
    _ plan: EntityPlan, _ row: UInt64, _ bytes: UnsafeRawBufferPointer, mayGather: Bool
  ) throws(StoreError) -> Bool {
    changes &+= 1
    do throws(StoreError) {
      // Few rows are not worth what it takes.
      if mayGather, changes > Self.leastToGather {
        if newRowEntries == nil { newRowEntries = NewRowEntries(self) }
        return try transaction.put(plan.rows, behind: row, bytes)
      }
      try transaction.put(plan.rows, row, bytes)
      return false
    } catch {
      // The row may be noted all the same, when making room for more failed; its index entries are not.
      if case .valueTooLong = error {} else { breakOff(.store(error)) }
      throw error
    }
  }

  func removeRow(_ plan: EntityPlan, _ row: UInt64) throws(EngineError) {
    changes &+= 1
    try storing { () throws(StoreError) in _ = try transaction.delete(plan.rows, row) }
    try settleIfLarge()
  }

  /// Copies a row, as one of the current layout; answers its entity, or nil if there is no row.
  func copyRow(_ rows: TreeID, _ row: UInt64, to copy: RowCopy) throws(EngineError) -> UInt32? {
    let layout: UInt16?
    do throws(StoreError) {
      layout = try trees.withValue(rows, row) { (bytes) throws(StoreError) in
        copy.set(bytes)
        return try RecordView.layoutID(of: bytes)
      }
    } catch { throw .store(error) }
    guard let layout else { return nil }
    if let current = store.borrowedLayout(layout) { return current.entityID }
    let stale = try store.staleLayout(layout)
    try stale.project(copy.bytes).withUnsafeBytes { copy.set($0) }
    return stale.current.entityID
  }

  override func lendCopy(
    _ rows: TreeID, _ id: UInt64, _ body: (borrowing RowReader) throws(EngineError) -> Void
  ) throws(EngineError) -> Bool {
    let copy = RowCopy()
    if try copyRow(rows, id, to: copy) == nil { return false }
    defer { withExtendedLifetime(copy) {} }
    try lend(copy.bytes, id, body)
    return true
  }

  @inline(__always)
  func noteBatched(_ bytes: Int?) throws(EngineError) {
    guard let bytes else { throw .store(.misuse("an index key is longer than any page can take")) }
    batchedBytes &+= bytes
  }

  /// Makes the gathered changes of indexes when they take as much memory as the kernel's own changes may.
  @inline(__always)
  func settleIfLarge() throws(EngineError) {
    if batchedBytes &+ gatheredElsewhere >= mostBatchedBytes { _ = try settle() }
  }

  override func settle() throws(EngineError) -> UInt64 {
    if let newRowEntries {
      do throws(StoreError) { try transaction.takeTail() } catch {
        breakOff(.store(error))
        throw .store(error)
      }
      // Who gathered may have failed.
      if let failure { throw failure }
      if newRowEntries.bytes > 0 {
        // What was gathered here may be about the same rows, and is newer. Nobody is told of rows meanwhile: the tail
        // is taken.
        try apply(newRowEntries.takeAll() + [self])
        return changes
      }
    }
    guard let kit, batchedBytes != 0 else { return changes }
    if batchedBytes >= Self.leastToDivide { sortConcurrently(kit.batches) }
    batchedBytes = 0
    do throws(StoreError) {
      for batch in kit.batches { try batch.apply(to: transaction, &suspects) }
    } catch {
      // What was not made of them is not to be made by anyone.
      for batch in kit.batches { batch.reset() }
      breakOff(.store(error))
      throw .store(error)
    }
    return changes
  }

  /// So many changes, and more are expected.
  private static let leastToGather: UInt64 = 256

  /// To sort less takes about as long as to make threads.
  private static let leastToDivide = 1 << 20

  private func sortConcurrently(_ batches: [IndexBatch]) {
    // Each is sorted by one thread.
    nonisolated(unsafe) let batches = batches.filter { !$0.isEmpty }
    store.kernel.concurrently(batches.count) { (n, _) in batches[n].sort() }
  }

  /// Puts what was gathered in order, without making it.
  func sortBatches() {
    guard let kit else { return }
    for batch in kit.batches { batch.sort() }
  }

  /// Makes what others have gathered, which then have nothing, after what was gathered here. After an error nothing can
  /// be committed.
  func make(_ others: [EntityTransaction]) throws(EngineError) {
    _ = try settle()
    try apply(others)
  }

  /// Makes what was gathered by several, in turn. After an error nothing can be committed.
  func apply(_ parts: [EntityTransaction]) throws(EngineError) {
    var batches: [TreeID: [IndexBatch]] = [:]
    var bytes = 0
    for part in parts {
      bytes &+= part.batchedBytes
      part.batchedBytes = 0
      for batch in part.kit?.batches ?? [] where !batch.isEmpty { batches[batch.tree, default: []].append(batch) }
    }
    if bytes >= Self.leastToDivide { sortConcurrently(batches.values.flatMap { $0 }) }
    do throws(StoreError) {
      for (_, parts) in batches.ordered(by: { $0.key < $1.key }) {
        try IndexBatch.apply(parts, to: transaction, &suspects)
      }
    } catch {
      // What was not made of them is not to be made by anyone.
      for (_, parts) in batches { for batch in parts { batch.reset() } }
      breakOff(.store(error))
      throw .store(error)
    }
  }

  /// Makes and checks whatever was put off. When the transaction ends behind this, nothing but the device may refuse
  /// it.
  ///
  /// - Throws: ``EngineError/uniqueViolation(constraint:entity:existing:offending:)``; kernel errors.
  public func prepareToCommit() throws(EngineError) { try finish() }

  /// Makes whatever was put off; then the kernel may commit.
  ///
  /// - Throws: ``EngineError/uniqueViolation(constraint:entity:existing:offending:)``; kernel errors.
  func finish() throws(EngineError) {
    if let failure, !isPlanted(.brokenTransactionCommits) { throw failure }
    _ = try settle()
    try checkDestinations()
    try checkConstraints()
    if let counter, counter.given > 0, !isPlanted(.rowNumbersReused) {
      try storing { () throws(StoreError) in
        try transaction.addToCounter(Catalogue.tree, Catalogue.rowCounter, counter.given)
      }
      self.counter?.given = 0
    }
  }

  /// Notes an error that leaves rows and indexes out of step. Only the first counts.
  func breakOff(_ error: EngineError) { failure = failure ?? error }

  /// Lets go of what refers back to the transaction, and answers what the next one may write with. To be called with
  /// the turn: the transaction writes nothing after it.
  @discardableResult
  func end() -> TransactionKit? {
    if !writers.isEmpty { writers = [:] }
    knownPathReader = nil
    newRowEntries?.end()
    newRowEntries = nil
    guard let kit else { return nil }
    self.kit = nil
    kit.finish()
    return kit
  }

  // MARK: Values

  private func set(_ values: RowValues, _ writer: RowWriter) throws(EngineError) {
    let entity = writer.plan.entity
    for (name, value) in values.attributes {
      guard case .attribute(let place)? = entity.propertyTable[name] else {
        throw .unknownProperty(entity: entity.name, name: name)
      }
      try writer.set(attribute: PropertyKey(id: entity.allAttributes[place].id, place: place), value)
    }
    for (name, reference) in values.toOne {
      try writer.set(toOne: try relationship(name, of: entity, isToMany: false), reference)
    }
    for (name, references) in values.toMany {
      try writer.set(toMany: try relationship(name, of: entity, isToMany: true), references)
    }
  }

  private func relationship(
    _ name: String, of entity: EntitySchema, isToMany: Bool
  ) throws(EngineError) -> PropertyKey {
    guard case .relationship(let place)? = entity.propertyTable[name],
      entity.allRelationships[place].isToMany == isToMany, isToMany || !entity.allRelationships[place].isTransient
    else { throw .unknownProperty(entity: entity.name, name: name) }
    return PropertyKey(id: entity.allRelationships[place].id, place: place)
  }

  /// Removes the links that begin at a row and are in trees.
  func removeLinks(_ plan: EntityPlan, _ row: UInt64) throws(EngineError) {
    for (_, tree) in plan.linkTrees {
      var links: [[UInt8]] = []
      try eachLink(tree, row) { links.append(linkKey(row, $0)) }
      try removeLinks(links, tree)
    }
  }

  /// Puts links by their keys.
  func put(_ links: [[UInt8]], _ tree: TreeID) throws(EngineError) {
    if links.isEmpty { return }
    changes &+= 1
    try storing { () throws(StoreError) in for link in links { try transaction.put(tree, link, []) } }
  }

  // MARK: Constraints

  /// Looks at what may hurt a uniqueness constraint, now that everything is written.
  private func checkConstraints() throws(EngineError) {
    if suspects.isEmpty { return }
    // Nothing is written meanwhile, so that one cursor a constraint will do.
    var cursors: [TreeID: Cursor] = [:]
    for suspect in suspects {
      let maker = suspect.maker
      var rows: [UInt64] = []
      var isThere = false
      try storing { () throws(StoreError) in
        let cursor: Cursor
        if let known = cursors[maker.tree] { cursor = known } else { cursor = try trees.cursor(maker.tree) }
        cursors[maker.tree] = cursor
        var more = try cursor.seek(suspect.prefix)
        while more, suspect.prefix.withUnsafeBytes({ hasPrefix(cursor.key, $0) }) {
          let (row, start) = try KeyDecoder.rowID(atEndOf: cursor.key)
          if start == suspect.prefix.count {
            if row == suspect.row { isThere = true } else { rows.append(row) }
          }
          more = try cursor.next()
        }
      }
      // It may have been changed again, or deleted.
      guard isThere || isPlanted(.swappedValuesRefused),
        let mine = try row(ObjectReference(entity: maker.owner.id, row: suspect.row))
      else { continue }
      for other in rows {
        guard let theirs = try row(ObjectReference(entity: maker.owner.id, row: other)) else { continue }
        if !suspect.isExact, !isPlanted(.cutKeysTakenForEqual), try !hasEqualValues(maker, mine, theirs) { continue }
        throw .uniqueViolation(
          constraint: maker.paths, entity: maker.owner.name, existing: theirs.reference, offending: mine.reference)
      }
    }
  }

  /// Whether two rows agree in every part of a key; asked where keys were cut.
  func hasEqualValues(_ maker: KeyMaker, _ a: Row, _ b: Row) throws(EngineError) -> Bool {
    for path in maker.paths {
      let field = try store.field(path, of: maker.owner)
      let mine = try a.withReader { (row) throws(EngineError) in try row.value(field) }
      let theirs = try b.withReader { (row) throws(EngineError) in try row.value(field) }
      if !mine.isEqual(to: theirs) { return false }
    }
    return true
  }
}

import CambiumKernel

/// Changes to objects, within one transaction. Keeps indexes, constraints and relationship trees in step with the rows;
/// knows no delete rules, inverses or validation, which are the object layer's.
public final class EntityTransaction: EntityView {
  let transaction: WriteTransaction
  private var builders: [UInt32: RecordBuilder] = [:]
  /// Keys under uniqueness constraints that were added: checked together at the end, so that objects may swap values.
  private var addedUnique: [(maker: KeyMaker, prefix: [UInt8], reference: ObjectReference, isExact: Bool)] = []
  private var encoder: KeyEncoder
  /// How many changes there were.
  private var changes: UInt64 = 0

  init(store: EntityStore, transaction: WriteTransaction) {
    self.transaction = transaction
    encoder = KeyEncoder(limit: store.kernel.maxKeyLength)
    super.init(store: store, trees: transaction)
  }

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
    let plan = try store.plan(entity.id)
    return try storing { () throws(StoreError) in
      try transaction.addToCounter(plan.rows, 0, 1)
      let row = try transaction.counter(plan.rows, 0)
      guard row > 0, UInt64(row) < 1 << PackedReference.rowBits else { throw .misuse("no object identifiers are left") }
      return ObjectReference(entity: entity.id, row: UInt64(row))
    }
  }

  override func settle() throws(EngineError) -> UInt64 { changes }

  private func builder(_ plan: EntityPlan) -> RecordBuilder {
    if let builder = builders[plan.entity.id] { return builder }
    let made = RecordBuilder(plan.layout.record)
    builders[plan.entity.id] = made
    return made
  }

  /// Adds an object under a reserved reference. Properties without a value are null.
  public func insert(_ reference: ObjectReference, _ values: RowValues) throws(EngineError) {
    let plan = try store.plan(reference.entity)
    let builder = builder(plan)
    builder.begin(entity: UInt16(truncatingIfNeeded: plan.entity.id), version: 1)
    try set(values, plan, builder)
    let bytes = try storing { () throws(StoreError) in try builder.bytes() }
    changes += 1
    try storing { () throws(StoreError) in try transaction.put(plan.rows, reference.row, bytes) }
    try index(plan, reference, old: nil, new: bytes)
    try setLinks(values, plan, reference)
  }

  /// Changes some properties of an object. The row's version grows by one.
  ///
  /// - Throws: ``EngineError/noSuchObject(_:)``.
  public func update(_ reference: ObjectReference, _ values: RowValues) throws(EngineError) {
    guard let old = try row(reference) else { throw .noSuchObject(reference) }
    let plan = try store.plan(old.reference.entity)
    let builder = builder(plan)
    try old.withView { (view) throws(StoreError) in try builder.begin(copying: view, version: view.rowVersion &+ 1) }
    try set(values, plan, builder)
    let bytes = try storing { () throws(StoreError) in try builder.bytes() }
    changes += 1
    try storing { () throws(StoreError) in try transaction.put(plan.rows, reference.row, bytes) }
    try index(plan, old.reference, old: old.bytes, new: bytes)
    try setLinks(values, plan, old.reference)
  }

  /// Removes an object, its index entries, and the links that begin at it.
  ///
  /// - Throws: ``EngineError/noSuchObject(_:)``.
  public func delete(_ reference: ObjectReference) throws(EngineError) {
    guard let old = try row(reference) else { throw .noSuchObject(reference) }
    let plan = try store.plan(old.reference.entity)
    changes += 1
    try index(plan, old.reference, old: old.bytes, new: nil)
    for (_, tree) in plan.linkTrees { try setLinks(tree, reference.row, []) }
    try storing { () throws(StoreError) in _ = try transaction.delete(plan.rows, reference.row) }
  }

  // MARK: Values

  private func set(_ values: RowValues, _ plan: EntityPlan, _ builder: RecordBuilder) throws(EngineError) {
    for (name, value) in values.attributes {
      guard let attribute = plan.entity.attribute(named: name) else {
        throw .unknownProperty(entity: plan.entity.name, name: name)
      }
      guard let field = plan.layout.fieldByName[name] else { continue }
      guard let coerced = attribute.coerce(value) else {
        throw .typeMismatch(
          entity: plan.entity.name, property: name, expected: attribute.type, found: value.kindName)
      }
      try storing { () throws(StoreError) in try builder.set(coerced, attribute, at: field) }
    }
    for (name, reference) in values.toOne {
      guard let r = plan.entity.relationship(named: name), !r.isToMany, let field = plan.layout.fieldByName[name] else {
        throw .unknownProperty(entity: plan.entity.name, name: name)
      }
      if let reference { try requireDestination(reference, r, plan) }
      try storing { () throws(StoreError) in
        try builder.set(reference: reference.map(PackedReference.pack), at: field)
      }
    }
    for (name, references) in values.toMany {
      guard let r = plan.entity.relationship(named: name), r.isToMany else {
        throw .unknownProperty(entity: plan.entity.name, name: name)
      }
      for reference in references { try requireDestination(reference, r, plan) }
      guard r.isOrdered, let field = plan.layout.fieldByName[name] else { continue }
      try storing { () throws(StoreError) in
        try builder.set(references: references.isEmpty ? nil : references.map(PackedReference.pack), at: field)
      }
    }
  }

  private func requireDestination(
    _ reference: ObjectReference, _ r: RelationshipSchema, _ plan: EntityPlan
  ) throws(EngineError) {
    guard let destination = store.schema.entity(named: r.destination),
      store.schema.isEntity(reference.entity, orDescendantOf: destination.id)
    else {
      let found = store.schema.entity(id: reference.entity)?.name ?? "an object of another model"
      throw .typeMismatch(entity: plan.entity.name, property: r.name, expected: .objectID, found: found)
    }
  }

  private func setLinks(_ values: RowValues, _ plan: EntityPlan, _ reference: ObjectReference) throws(EngineError) {
    for (name, references) in values.toMany {
      for (r, tree) in plan.linkTrees where r.name == name {
        try setLinks(tree, reference.row, references.map { $0.row })
      }
    }
  }

  private func setLinks(_ tree: TreeID, _ from: UInt64, _ rows: [UInt64]) throws(EngineError) {
    var old = Set<UInt64>()
    try eachLink(tree, from) { old.insert($0) }
    let new = Set(rows)
    try storing { () throws(StoreError) in
      for row in old.subtracting(new).sorted() { _ = try transaction.delete(tree, link(from, row)) }
      for row in new.subtracting(old).sorted() { try transaction.put(tree, link(from, row), []) }
    }
  }

  private func link(_ from: UInt64, _ to: UInt64) -> [UInt8] {
    var encoder = KeyEncoder()
    encoder.append(rowID: from)
    encoder.append(rowID: to)
    return encoder.bytes
  }

  // MARK: Indexes

  private func index(
    _ plan: EntityPlan, _ reference: ObjectReference, old: [UInt8]?, new: [UInt8]?
  ) throws(EngineError) {
    for maker in plan.indexes { try index(maker, reference, old: old, new: new) }
    for maker in plan.constraints { try index(maker, reference, old: old, new: new) }
    for (_, field, tree) in plan.backTrees {
      let before = try old.map { (b) throws(EngineError) in try target(b, field) } ?? nil
      let after = try new.map { (b) throws(EngineError) in try target(b, field) } ?? nil
      if before == after { continue }
      try storing { () throws(StoreError) in
        if let before { _ = try transaction.delete(tree, link(before.row, reference.row)) }
        if let after { try transaction.put(tree, link(after.row, reference.row), []) }
      }
    }
  }

  private func target(_ bytes: [UInt8], _ field: Int) throws(EngineError) -> ObjectReference? {
    try row(bytes, 0).withView { (view) throws(StoreError) in
      try view.reference(at: field).map(PackedReference.unpack)
    }
  }

  private func index(
    _ maker: KeyMaker, _ reference: ObjectReference, old: [UInt8]?, new: [UInt8]?
  ) throws(EngineError) {
    let before = try old.map { (b) throws(EngineError) in try key(maker, b, reference) } ?? nil
    let after = try new.map { (b) throws(EngineError) in try key(maker, b, reference) } ?? nil
    if before?.key == after?.key { return }
    try storing { () throws(StoreError) in
      if let before { _ = try transaction.delete(maker.tree, before.key) }
      if let after { try transaction.put(maker.tree, after.key, []) }
    }
    if maker.isUnique, let after, !after.anyNull {
      addedUnique.append((maker, Array(after.key[..<after.parts]), reference, after.isExact))
    }
  }

  /// The key of a row in an index; nil if the index leaves the row out.
  private func key(
    _ maker: KeyMaker, _ bytes: [UInt8], _ reference: ObjectReference
  ) throws(EngineError) -> (key: [UInt8], parts: Int, anyNull: Bool, isExact: Bool)? {
    let row = try row(bytes, reference.row)
    if let partial = maker.partial {
      let reader = PathReader(view: self)
      if try !reader.matches(partial, row) { return nil }
    }
    encoder.removeAll()
    let anyNull = try row.withView { (view) throws(StoreError) in try maker.appendParts(view, to: &encoder) }
    let parts = encoder.bytes.count
    let isExact = !encoder.isInexact
    encoder.append(rowID: reference.row)
    return (encoder.bytes, parts, anyNull, isExact)
  }

  /// Checks the uniqueness constraints of what was added.
  func checkConstraints() throws(EngineError) {
    // Nothing is written meanwhile, so that one cursor a constraint will do.
    var cursors: [TreeID: Cursor] = [:]
    for (maker, prefix, reference, isExact) in addedUnique {
      var rows: [UInt64] = []
      try storing { () throws(StoreError) in
        let cursor: Cursor
        if let known = cursors[maker.tree] { cursor = known } else { cursor = try trees.cursor(maker.tree) }
        cursors[maker.tree] = cursor
        var more = try cursor.seek(prefix)
        while more, prefix.withUnsafeBytes({ hasPrefix(cursor.key, $0) }) {
          let (row, start) = try KeyDecoder.rowID(atEndOf: cursor.key)
          if start == prefix.count, row != reference.row { rows.append(row) }
          more = try cursor.next()
        }
      }
      for other in rows {
        guard let theirs = try row(ObjectReference(entity: maker.owner.id, row: other)) else { continue }
        if !isExact, let mine = try row(reference), try !hasEqualValues(maker, mine, theirs) { continue }
        throw .uniqueViolation(
          constraint: maker.paths, entity: maker.owner.name, existing: theirs.reference, offending: reference)
      }
    }
  }

  /// Whether two rows agree in every part of a key; asked where keys were cut.
  private func hasEqualValues(_ maker: KeyMaker, _ a: Row, _ b: Row) throws(EngineError) -> Bool {
    for path in maker.paths where try a.value(keyPath: path) != b.value(keyPath: path) { return false }
    return true
  }
}

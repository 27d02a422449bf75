import CambiumKernel
import Synchronization

/// What the engine has to do for the rows of one entity: which tree they are in, and which indexes, constraints and
/// relationship trees have to be kept in step. Looked up once, when the store is opened.
final class EntityPlan: Sendable {
  let entity: EntitySchema
  /// The entity's identifier, where it is read without the rest.
  let entityID: UInt32
  let layout: EntityLayout
  let rows: TreeID
  /// The entity and its descendants.
  let family: Set<UInt32>
  /// Whether other entities share the tree of rows.
  let sharesRows: Bool
  /// All entities of the hierarchy, if another hierarchy has its rows in the same tree; else nil. A migration that
  /// defers work leaves the rows of an entity that becomes a root where they are.
  let hierarchy: Set<UInt32>?
  /// Whether the tree of rows has those of the entity and its descendants, and no others.
  let hasTreeAlone: Bool
  let indexes: [KeyMaker]
  /// Indexes of places, which have no order that a condition on one path could use.
  let spatialIndexes: [KeyMaker]
  let constraints: [KeyMaker]
  /// All that have to be kept in step.
  var makers: [KeyMaker] { indexes + spatialIndexes + constraints }
  /// Indexes that were not whole when the store was opened; see ``EntityView/unfinishedIndexes(_:)``.
  let building: [(tree: TreeID, index: UInt32)]
  /// To-one relationships that have a tree for the way back: field and tree.
  let backTrees: [(relationship: RelationshipSchema, field: Int, tree: TreeID)]
  /// Relationships kept in a tree of their own.
  let linkTrees: [(relationship: RelationshipSchema, tree: TreeID)]
  /// The sides of relationships that have an inverse.
  let sides: [LinkSide]
  /// Those kept in rows whose other side is kept as well.
  let followedSides: [LinkSide]
  /// Whether links of another side lead to the entity's objects: what is to be taken back when one is deleted.
  let isLedTo: Bool
  /// The fields that lead to other objects.
  let referenceFields: [ReferenceField]
  /// The entity that a relationship leads to, by its place among all of them.
  let destinations: [UInt32]
  /// A reference to ``fields``, or 0 until they are asked for. (`AtomicLazyReference` takes longer than a look-up.)
  private let fieldsWord = Atomic<UInt>(0)

  /// The fields of the entity that were looked up.
  var fields: FieldTable {
    if let known = UnsafeRawPointer(bitPattern: fieldsWord.load(ordering: .acquiring)) {
      return Unmanaged<FieldTable>.fromOpaque(known).takeUnretainedValue()
    }
    let made = FieldTable(layout)
    let reference = Unmanaged.passRetained(made)
    let outcome = fieldsWord.compareExchange(
      expected: 0, desired: UInt(bitPattern: reference.toOpaque()), ordering: .acquiringAndReleasing)
    // Another thread may have been faster; its table is as good.
    if !outcome.exchanged { reference.release() }
    return made
  }

  deinit {
    if let known = UnsafeRawPointer(bitPattern: fieldsWord.load(ordering: .acquiring)) {
      Unmanaged<FieldTable>.fromOpaque(known).release()
    }
  }

  /// - Parameter sharedTrees: The trees that have the rows of several hierarchies (``Catalogue/sharedRows``).
  init(
    entity: EntitySchema, layout: EntityLayout, schema: Schema, catalogue: Catalogue, sharedTrees: Set<TreeID>
  ) throws(EngineError) {
    self.entity = entity
    entityID = entity.id
    self.layout = layout
    guard let rows = catalogue.rows[entity.rootID] else { throw .corrupt("entity \(entity.name) has no rows") }
    self.rows = rows
    family = Set(schema.entityAndDescendants(entity.id).map { $0.id })
    let isShared = sharedTrees.contains(rows)
    sharesRows = isShared || entity.parentID != nil || !entity.childIDs.isEmpty
    hierarchy = isShared ? Set(schema.entityAndDescendants(entity.rootID).map { $0.id }) : nil
    hasTreeAlone = !isShared && entity.parentID == nil
    var indexes: [KeyMaker] = []
    var spatial: [KeyMaker] = []
    var constraints: [KeyMaker] = []
    var building: [(tree: TreeID, index: UInt32)] = []
    // Those of the ancestors apply as well.
    var owner: EntitySchema? = entity
    while let e = owner {
      for index in e.indexes {
        guard let tree = catalogue.indexes[index.id] else { throw .corrupt("index '\(index.name)' has no tree") }
        let maker = try KeyMaker(index, tree, layout, schema, owner: e)
        if maker.isSpatial { spatial.append(maker) } else { indexes.append(maker) }
        if catalogue.building[index.id] != nil { building.append((tree, index.id)) }
      }
      for constraint in e.uniquenessConstraints {
        guard let tree = catalogue.constraints[constraint.id] else { throw .corrupt("a constraint has no tree") }
        constraints.append(try KeyMaker(constraint, tree, layout, schema, owner: e))
      }
      owner = e.parentID.flatMap { schema.entity(id: $0) }
    }
    self.indexes = indexes
    spatialIndexes = spatial
    self.constraints = constraints
    self.building = building
    var back: [(relationship: RelationshipSchema, field: Int, tree: TreeID)] = []
    var links: [(relationship: RelationshipSchema, tree: TreeID)] = []
    for r in entity.allRelationships where !r.isTransient {
      switch RelationshipStorage(r, in: schema) {
      case .rowAndTree:
        if let field = layout.fieldByName[r.name], let tree = catalogue.relationships[r.id] {
          back.append((r, field, tree))
        }
      case .tree:
        if let tree = catalogue.relationships[r.id] { links.append((r, tree)) }
      default: break
      }
    }
    destinations = entity.allRelationships.map { schema.entity(named: $0.destination)?.id ?? 0 }
    backTrees = back
    linkTrees = links
    let sides = entity.allRelationships.compactMap { LinkSide($0, of: entity, layout, schema, catalogue) }
    self.sides = sides
    followedSides = sides.filter { $0.isFollowed }
    isLedTo = sides.contains { !$0.isInverseDerived }
    referenceFields = entity.allRelationships.compactMap { r in
      guard !r.isTransient, let field = layout.fieldByName[r.name] else { return nil }
      return ReferenceField(field: field, mask: PropertyMask.mask(field), isList: r.isToMany)
    }
  }
}

extension EntityPlan {
  /// Whether a row in the entity's tree of rows that is of some entity is one of the hierarchy.
  @inline(__always)
  func isInHierarchy(_ entity: UInt32) -> Bool { hierarchy?.contains(entity) ?? true }

  /// The tree of the relationship at a place among all of them, if it has one of its own.
  func linkTree(_ place: Int) -> TreeID? {
    for (r, tree) in linkTrees where r.id == entity.allRelationships[place].id { return tree }
    return nil
  }
}

/// Makes the keys of an index or a uniqueness constraint from rows.
final class KeyMaker: @unchecked Sendable {
  // Unchecked, since `parts` and `compiled` are plain memory, where nothing is counted for every row; nothing changes
  // it between `init` and `deinit`.

  let name: String
  let paths: [String]
  let fields: [[Int]]
  /// The field of each part in the row; -1 for an element of a composite, whose path is in ``compiled``.
  private let parts: UnsafeMutableBufferPointer<(field: Int, isDescending: Bool)>
  /// The paths of all parts, in as many places.
  private let compiled: UnsafeMutablePointer<FieldPath>
  let ascending: [Bool]
  /// The type of each part; nil for a relationship.
  let types: [AttributeType?]
  let tree: TreeID
  let owner: EntitySchema
  let partial: Predicate?
  let isUnique: Bool
  /// Whether the two parts make one place (`KeyPlace`). Rows that have no place are left out.
  #if CAMBIUM_NO_SPATIAL
    var isSpatial: Bool { false }
  #else
    let isSpatial: Bool
  #endif
  /// The fields that the keys depend on.
  let mask: UInt64

  private init(
    name: String, elements: [IndexElement], partial: Predicate?, isUnique: Bool, _ tree: TreeID, _ layout: EntityLayout,
    _ schema: Schema, owner: EntitySchema
  ) throws(EngineError) {
    self.name = name
    self.tree = tree
    self.owner = owner
    self.partial = partial
    self.isUnique = isUnique
    let isOfPlaces = elements.count == 2 && elements[0].kind == .rTree
    #if CAMBIUM_NO_SPATIAL
      if isOfPlaces {
        throw .unsupported(
          "the index '\(name)' of \(owner.name) is an R-tree, and the program was compiled with CAMBIUM_NO_SPATIAL: "
            + "compile it without this condition")
      }
    #else
      isSpatial = isOfPlaces
    #endif
    paths = elements.map { $0.path }
    ascending = elements.map { $0.isAscending }
    var fields: [[Int]] = []
    var compiled: [FieldPath] = []
    var types: [AttributeType?] = []
    for element in elements {
      // What a descendant inherits is what its ancestor has.
      if let (attribute, field) = layout.attribute(element.path), attribute.type != .composite {
        fields.append([field])
        types.append(attribute.type)
        compiled.append(try storing { () throws(StoreError) in try FieldPath([field], in: layout.record) })
        continue
      }
      let path = try resolving { () throws(SchemaError) in try schema.resolve(keyPath: element.path, from: owner.id) }
      guard let indexes = layout.fieldPath(path.steps), path.type != .composite else {
        throw .unsupported("'\(element.path)' of \(owner.name) cannot be part of an index: name an element of it")
      }
      fields.append(indexes)
      types.append(path.attribute?.type)
      compiled.append(try storing { () throws(StoreError) in try FieldPath(indexes, in: layout.record) })
    }
    self.fields = fields
    self.compiled = .allocate(capacity: max(1, compiled.count))
    for (i, path) in compiled.enumerated() { (self.compiled + i).initialize(to: path) }
    parts = .allocate(capacity: elements.count)
    for (i, element) in elements.enumerated() {
      parts.initializeElement(at: i, to: (fields[i].count == 1 ? fields[i][0] : -1, !element.isAscending))
    }
    self.types = types
    mask = partial == nil ? fields.reduce(0) { $0 | PropertyMask.mask($1.first ?? 63) } : PropertyMask.all
  }

  deinit {
    compiled.deinitialize(count: parts.count)
    compiled.deallocate()
    parts.deallocate()
  }

  convenience init(
    _ index: IndexSchema, _ tree: TreeID, _ layout: EntityLayout, _ schema: Schema, owner: EntitySchema
  ) throws(EngineError) {
    var partial: Predicate?
    if let text = index.partialPredicate {
      do throws(PredicateError) {
        partial = try Predicate(format: text, arguments: []).check(against: schema, entity: owner.id)
      } catch { throw .predicate(error) }
    }
    try self.init(
      name: index.name, elements: index.elements, partial: partial, isUnique: false, tree, layout, schema, owner: owner)
  }

  convenience init(
    _ constraint: UniquenessConstraint, _ tree: TreeID, _ layout: EntityLayout, _ schema: Schema, owner: EntitySchema
  ) throws(EngineError) {
    try self.init(
      name: "", elements: constraint.paths.map { IndexElement($0) }, partial: nil, isUnique: true, tree, layout, schema,
      owner: owner)
  }

  /// Appends the parts of the key of a record. Answers whether any part is null; if the index is one of places, there
  /// is no key then.
  func appendParts(_ record: RecordView, to encoder: inout KeyEncoder) throws(StoreError) -> Bool {
    if isSpatial { return try !appendPlace(record, to: &encoder) }
    var anyNull = false
    for i in 0..<parts.count {
      let part = parts[i]
      let isNull =
        part.field >= 0
        ? try encoder.append(field: part.field, of: record, descending: part.isDescending)
        : try encoder.append(path: compiled[i], of: record, descending: part.isDescending)
      if isNull { anyNull = true }
    }
    return anyNull
  }

  private func appendPlace(_ record: RecordView, to encoder: inout KeyEncoder) throws(StoreError) -> Bool {
    guard parts.count == 2, let x = try record.coordinate(at: compiled[0]),
      let y = try record.coordinate(at: compiled[1])
    else { return false }
    encoder.append(KeyPlace(x: x, y: y))
    return true
  }
}

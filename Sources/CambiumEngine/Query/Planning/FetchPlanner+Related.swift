import CambiumKernel

/// Narrowing by what is related: the condition is taken to the other end of the relationship, rows are found there, and the
/// relationship is followed back. This is done where the way back is kept with the relationship itself: to-one relationships
/// with an unordered to-many inverse, from either end. Other inverses are kept apart, and might say something else.
extension FetchPlanner {
  func related(_ conjuncts: [Conjunct], depth: Int) throws(EngineError) -> [Narrowing] {
    var found: [Narrowing] = []
    // What is asked of the one object at the end of a to-one relationship is asked together.
    let conditions = RelatedConditions(entity: entity, schema: view.store.schema)
    var together: [(relationship: RelationshipSchema, predicates: [Predicate], places: [Int])] = []
    for (place, conjunct) in conjuncts.enumerated() {
      if let narrowing = try destinations(conjunct, place) {
        found.append(narrowing)
      } else if let (relationship, predicate) = conditions.toOne(conjunct) {
        if let known = together.firstIndex(where: { $0.relationship.id == relationship.id }) {
          together[known].predicates.append(predicate)
          together[known].places.append(place)
        } else {
          together.append((relationship, [predicate], [place]))
        }
      } else if let (relationship, predicate) = conditions.toMany(conjunct.predicate),
        let narrowing = try narrowing(relationship, predicate, covered: [place], depth: depth)
      {
        found.append(narrowing)
      } else if let (relationship, predicate, least) = conditions.toManyAtLeast(conjunct.predicate),
        let narrowing = try narrowing(relationship, predicate, covered: [place], depth: depth, least: least)
      {
        found.append(narrowing)
      }
    }
    for (relationship, predicates, places) in together {
      let predicate = predicates.count == 1 ? predicates[0] : Predicate.and(predicates)
      if let narrowing = try narrowing(relationship, predicate, covered: places, depth: depth) {
        found.append(narrowing)
      }
    }
    return found
  }

  /// What leads to given objects by a to-one relationship, whether there are such objects or not.
  private func destinations(_ conjunct: Conjunct, _ place: Int) throws(EngineError) -> Narrowing? {
    guard conjunct.isPlain, let about = conjunct.about, let relationship = entity.relationship(named: about.path),
      let tree = backTree(of: relationship), let destination = view.store.schema.entity(named: relationship.destination)
    else { return nil }
    var references: [ObjectReference] = []
    switch (about.comparator, about.value) {
    case (.equal, .reference(let reference)): references = [reference]
    case (.in, .list(let list)):
      for value in list {
        guard case .reference(let reference) = value else { return nil }
        references.append(reference)
      }
    default: return nil
    }
    // Links tell rows, not entities: an object that is named with its ancestor's entity equals none.
    let isAlone = destination.parentID == nil && destination.childIDs.isEmpty
    var rows: Set<UInt64> = []
    var isExact = isAlone
    for reference in references {
      guard view.store.schema.entity(id: reference.entity)?.rootID == destination.rootID else { continue }
      if PackedReference.unpack(PackedReference.pack(reference)) != reference { isExact = false }
      rows.insert(reference.row)
    }
    let links = Double(try storing { () throws(StoreError) in try view.trees.count(tree) })
    let destinationRows = try view.store.plan(destination.id).rows
    let ends = Double(try storing { () throws(StoreError) in try view.trees.count(destinationRows) })
    let estimate = min(rowCount, Double(rows.count) * (ends > 0 ? max(1, links / ends) : 1))
    let related = RelatedRows(relationship: relationship, way: .toOne(tree: tree), ends: .rows(rows.sorted()))
    return Narrowing(
      path: .related(related), rows: estimate, cost: Double(rows.count) * costs.related + estimate * costs.key,
      covered: isExact ? [place] : [])
  }

  /// How many rows lead to the few objects that an index tells; nil if it does not tell, or they are many. To find
  /// them costs less than to be wrong about an object to which very many rows lead.
  private func links(_ tree: TreeID, of plan: FetchPlan, _ inner: FetchPlanner) throws(EngineError) -> Double? {
    guard case .ranges = plan.path, plan.rows <= Self.fewEnds, let ends = try view.rows(of: plan.path),
      Double(ends.count) <= Self.fewEnds
    else { return nil }
    var links = 0.0
    for end in ends {
      var prefix: [UInt8] = []
      RowIDKey(end).withBytes { prefix.append(contentsOf: $0) }
      let range = KeyRange(prefix: prefix)
      links += Double(try storing { () throws(StoreError) in try view.trees.estimatedCount(tree, in: range) })
    }
    return links
  }

  private static let fewEnds = 8.0

  /// The tree of the way back of a to-one relationship.
  private func backTree(of relationship: RelationshipSchema) -> TreeID? {
    guard case .rowAndTree = RelationshipStorage(relationship, in: view.store.schema) else { return nil }
    return view.store.catalogue.relationships[relationship.id]
  }

  private func narrowing(
    _ relationship: RelationshipSchema, _ predicate: Predicate, covered: [Int], depth: Int, least: Int = 1
  ) throws(EngineError) -> Narrowing? {
    let schema = view.store.schema
    guard let destination = schema.entity(named: relationship.destination) else { return nil }
    let way: RelatedRows.Way
    let perRow: Double
    let inner = try FetchPlanner(view, destination, costs: costs, depth: depth + 1)
    switch RelationshipStorage(relationship, in: schema) {
    case .rowAndTree:
      guard let tree = backTree(of: relationship) else { return nil }
      way = .toOne(tree: tree)
      let links = Double(try storing { () throws(StoreError) in try view.trees.count(tree) })
      perRow = inner.rowCount > 0 ? links / inner.rowCount : 0
    case .derived:
      guard let inverse = schema.inverse(of: relationship) else { return nil }
      way = .toMany(inverse: inverse)
      perRow = 1
    default: return nil
    }
    let plan = try inner.choose(predicate)
    // How many rows of the destination the condition holds for, as far as that can be told.
    var ends = plan.rows
    if case .scan = plan.path { ends = inner.rowCount / 4 }
    var rows = min(ends * perRow / Double(least), rowCount)
    if case .toOne(let tree) = way, let links = try links(tree, of: plan, inner) { rows = min(links, rowCount) }
    let following: Double
    switch way {
    case .toOne: following = ends * costs.related + rows * costs.key
    case .toMany: following = ends
    }
    let path = AccessPath.related(
      RelatedRows(relationship: relationship, way: way, ends: .found(destination, plan), least: least))
    return Narrowing(path: path, rows: rows, cost: plan.cost + following, covered: covered)
  }
}

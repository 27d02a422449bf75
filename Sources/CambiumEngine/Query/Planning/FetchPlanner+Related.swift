import CambiumKernel

/// Narrowing by related objects: the planner takes the condition to the other end of the relationship, finds rows
/// there, and follows the relationship back. It can do so for every relationship with an inverse, because transactions
/// write both ends of every link.
extension FetchPlanner {
  /// Conditions of the objects that one relationship leads to, and the plan by which these are found.
  private struct Candidate {
    let relationship: RelationshipSchema
    var predicates: [Predicate]
    var places: [Int]
    var least = 1
  }

  /// - Parameter usual: What the best other way costs. If it is little, no other one is looked for.
  /// - Parameter shares: See ``narrowings(_:isCount:wantsAll:_:)``.
  func related(
    _ conjuncts: [Conjunct], depth: Int, usual: Double, _ shares: inout [Int: Double]
  ) throws(EngineError) -> [Narrowing] {
    if usual < costs.planned { return [] }
    var found: [Narrowing] = []
    var usual = usual
    func take(_ narrowing: Narrowing) {
      found.append(narrowing)
      usual = min(usual, narrowing.cost + narrowing.rows * costs.soughtRow)
    }
    let conditions = RelatedConditions(entity: entity, schema: view.store.schema)
    var candidates: [Candidate] = []
    var excluded: Set<String> = []
    for conjunct in conjuncts where conjunct.excludesNull {
      if let about = conjunct.about { excluded.insert(about.path) }
    }
    for (place, conjunct) in conjuncts.enumerated() {
      if let about = conjunct.about, entity.relationship(named: about.path) == nil,
        !about.path.utf8.contains(UInt8(ascii: "."))
      {
        continue
      }
      if let narrowing = try destinations(conjunct, place) {
        take(narrowing)
      } else if let (relationship, predicate) = try toOne(conjunct, conditions, excluded: excluded, usual: usual) {
        // What is asked of the one object at the end of a to-one relationship is asked together.
        if let known = candidates.firstIndex(where: { $0.relationship.id == relationship.id }) {
          candidates[known].predicates.append(predicate)
          candidates[known].places.append(place)
        } else {
          candidates.append(Candidate(relationship: relationship, predicates: [predicate], places: [place]))
        }
      } else if let (relationship, predicate) = conditions.toMany(conjunct.predicate) {
        candidates.append(Candidate(relationship: relationship, predicates: [predicate], places: [place]))
      } else if let (relationship, predicate, least) = conditions.toManyAtLeast(conjunct.predicate) {
        candidates.append(
          Candidate(relationship: relationship, predicates: [predicate], places: [place], least: least))
      }
    }
    // Rows that a relationship was followed back to do not lead nowhere.
    for (place, conjunct) in conjuncts.enumerated() {
      guard let about = conjunct.about, about.comparator == .notEqual, about.value.isNull else { continue }
      for i in candidates.indices where candidates[i].relationship.name == about.path {
        candidates[i].places.append(place)
      }
    }
    // The cheapest first: what is known of them tells whether the others are worth looking at more closely.
    var planned: [(candidate: Candidate, destination: EntitySchema, inner: FetchPlanner, plan: FetchPlan)] = []
    for candidate in candidates {
      guard let destination = view.store.schema.entity(named: candidate.relationship.destination) else { continue }
      let inner = try FetchPlanner(view, destination, costs: costs, depth: depth + 1, share: share, isCancelled)
      let predicates = candidate.predicates
      let plan = try inner.choose(predicates.count == 1 ? predicates[0] : .and(predicates))
      planned.append((candidate, destination, inner, plan))
      if candidate.places.count == 1, candidate.least == 1, let matches = plan.matches, inner.rowCount > 0 {
        shares[candidate.places[0]] = min(1, matches / inner.rowCount)
      }
    }
    planned.order { $0.plan.cost < $1.plan.cost }
    for (candidate, destination, inner, plan) in planned where usual >= costs.planned {
      if let narrowing = try narrowing(candidate, destination, inner, plan, usual: usual) { take(narrowing) }
    }
    return found
  }

  /// A condition of the object that a to-one relationship leads to, as one of that object. `excluded` are the
  /// relationships that must not be null by another condition.
  private func toOne(
    _ conjunct: Conjunct, _ conditions: RelatedConditions, excluded: Set<String>, usual: Double
  ) throws(EngineError) -> (RelationshipSchema, Predicate)? {
    if let found = conditions.toOne(conjunct) { return found }
    guard let condition = DestinationCondition(conjunct.predicate, of: entity) else { return nil }
    // A condition that null meets holds for the rows that lead nowhere as well, unless another condition excludes
    // them, and for those that lead to an object that is gone.
    if condition.whenNull {
      let isFound =
        excluded.contains(condition.relationship.name)
        ? try leadsToRows(condition.relationship, usual: usual) : try leadsAlways(condition.relationship, usual: usual)
      if !isFound { return nil }
    }
    return (condition.relationship, condition.predicate)
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
    let objects = Double(try storing { () throws(StoreError) in try view.trees.count(destinationRows) })
    let estimate = min(rowCount, Double(rows.count) * (objects > 0 ? max(1, links / objects) : 1))
    let ends = rows.sorted()
    let related = RelatedRows(
      relationship: relationship, way: .toOne(tree: tree), ends: .rows(ends), known: ends)
    return Narrowing(
      path: .related(related), rows: estimate, cost: Double(rows.count) * costs.related + estimate * costs.key,
      covered: isExact ? [place] : [])
  }

  /// The objects that a plan of the destination finds, if that costs little; then they need not be estimated.
  private func ends(
    _ destination: EntitySchema, of plan: FetchPlan, usual: Double
  ) throws(EngineError) -> [UInt64]? {
    guard plan.cost < Self.cheap * share || plan.cost * Self.worthFinding < usual * share else { return nil }
    if plan.residual == nil, case .ranges = plan.path, plan.rows > Self.mostKnown { return nil }
    var ends: [UInt64] = []
    try view.find(plan, in: destination, isCancelled) { (row) throws(EngineError) in
      ends.append(row.reference.row)
      return Double(ends.count) <= Self.mostKnown
    }
    return Double(ends.count) <= Self.mostKnown ? ends : nil
  }

  /// A plan is carried out at once if it costs less than looking at so many rows, or less than this part of what the
  /// best other way costs.
  private static let cheap = 64.0
  private static let worthFinding = 8.0
  /// So many objects are kept at most.
  private static let mostKnown = 4096.0
  /// So many are asked for the number of rows that lead there, or as many as cost a part of the best other way. More
  /// of them have as many as all have on the average.
  private static let mostCounted = 64.0

  /// About how many rows lead to some objects of `count`.
  private func links(
    _ tree: TreeID, to ends: [UInt64], of count: Double, usual: Double
  ) throws(EngineError) -> Double {
    if Double(ends.count) > max(Self.mostCounted, usual * share / Self.worthFinding / costs.range) {
      let all = Double(try storing { () throws(StoreError) in try view.trees.count(tree) })
      return all * min(1, Double(ends.count) / max(1, count))
    }
    var links = 0.0
    for end in ends {
      let range = KeyRange(rowsOf: end)
      links += Double(try storing { () throws(StoreError) in try view.trees.estimatedCount(tree, in: range) })
    }
    return links
  }

  /// Whether a to-one relationship leads to no object that is gone. What it leads to is looked up, each object once,
  /// unless that costs too much.
  private func leadsToRows(_ relationship: RelationshipSchema, usual: Double) throws(EngineError) -> Bool {
    guard let tree = backTree(of: relationship),
      let destination = view.store.schema.entity(named: relationship.destination)
    else { return false }
    let rows = try view.store.plan(destination.id).rows
    let count = Double(try storing { () throws(StoreError) in try view.trees.count(rows) })
    guard count * (costs.range + costs.strayRow) < usual / 3 else { return false }
    return try storing { () throws(StoreError) in
      let cursor = try view.trees.cursor(tree)
      var isAtEntry = try cursor.seekFirst()
      while isAtEntry {
        let key = cursor.key
        let source = try KeyDecoder.rowID(atEndOf: key)
        let end = try KeyDecoder.rowID(atEndOf: UnsafeRawBufferPointer(rebasing: key[..<source.start])).id
        if try view.trees.withValue(rows, end, { (_) in true }) == nil, !isPlanted(.goneTakenForThere) { return false }
        guard let next = KeyRange(rowsOf: end).upper else { return true }
        isAtEntry = try next.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(b) }
      }
      return true
    }
  }

  /// Whether the to-one relationship of every row leads to an object that is there. The tree of the way back has an
  /// entry for each row that leads anywhere.
  private func leadsAlways(_ relationship: RelationshipSchema, usual: Double) throws(EngineError) -> Bool {
    guard let tree = backTree(of: relationship), !plan.sharesRows,
      Double(try storing { () throws(StoreError) in try view.trees.count(tree) }) == rowCount
    else { return false }
    return try leadsToRows(relationship, usual: usual)
  }

  /// The tree of the way back of a to-one relationship.
  private func backTree(of relationship: RelationshipSchema) -> TreeID? {
    guard case .rowAndTree = RelationshipStorage(relationship, in: view.store.schema) else { return nil }
    return view.store.catalogue.relationships[relationship.id]
  }

  /// The inverse of a relationship if it is kept and leads back to all rows of the entity.
  private func keptInverse(of relationship: RelationshipSchema) -> RelationshipSchema? {
    let schema = view.store.schema
    guard let inverse = schema.inverse(of: relationship), !inverse.isTransient,
      let back = schema.entity(named: inverse.destination), schema.isEntity(entity.id, orDescendantOf: back.id)
    else { return nil }
    return inverse
  }

  /// About how many objects a relationship leads to from each of `count` objects.
  private func linksPerObject(_ relationship: RelationshipSchema, _ count: Double) throws(EngineError) -> Double {
    guard relationship.isToMany, count > 0 else { return 1 }
    // Of lists nobody counts the entries.
    guard case .tree = RelationshipStorage(relationship, in: view.store.schema),
      let tree = view.store.catalogue.relationships[relationship.id]
    else { return Self.usualList }
    return Double(try storing { () throws(StoreError) in try view.trees.count(tree) }) / count
  }

  private static let usualList = 8.0

  private func narrowing(
    _ candidate: Candidate, _ destination: EntitySchema, _ inner: FetchPlanner, _ plan: FetchPlan, usual: Double
  ) throws(EngineError) -> Narrowing? {
    let schema = view.store.schema
    let relationship = candidate.relationship
    // How many rows of the destination the condition holds for, as far as that can be told.
    var ends = plan.rows
    if case .scan = plan.path { ends = inner.rowCount / 4 }
    let way: RelatedRows.Way
    var known: [UInt64]?
    var rows: Double
    var cost: Double
    switch RelationshipStorage(relationship, in: schema) {
    case .rowAndTree:
      guard let tree = backTree(of: relationship) else { return nil }
      way = .toOne(tree: tree)
      known = try self.ends(destination, of: plan, usual: usual)
      if let known {
        ends = Double(known.count)
        rows = try links(tree, to: known, of: inner.rowCount, usual: usual)
      } else {
        let links = Double(try storing { () throws(StoreError) in try view.trees.count(tree) })
        rows = inner.rowCount > 0 ? ends * links / inner.rowCount : 0
      }
      cost = ends * costs.related + rows * costs.key
    case .derived:
      guard let inverse = schema.inverse(of: relationship) else { return nil }
      way = .toMany(inverse: inverse)
      rows = ends / Double(candidate.least)
      cost = ends
    case .row, .list, .tree:
      guard let inverse = keptInverse(of: relationship) else { return nil }
      way = .inverse(inverse)
      known = try self.ends(destination, of: plan, usual: usual)
      if let known { ends = Double(known.count) }
      rows = ends * (try linksPerObject(inverse, inner.rowCount)) / Double(candidate.least)
      cost = ends * costs.related + rows * costs.key
    }
    rows = min(rows, rowCount)
    if known == nil { cost += plan.cost }
    let related = RelatedRows(
      relationship: relationship, way: way, ends: .found(destination, plan), least: candidate.least, known: known)
    return Narrowing(path: .related(related), rows: rows, cost: cost, covered: candidate.places)
  }
}

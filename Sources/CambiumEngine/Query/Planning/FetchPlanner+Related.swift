import CambiumKernel

/// Narrowing by what is related: the condition is taken to the other end of the relationship, rows are found there, and the
/// relationship is followed back. This is done where the way back is kept with the relationship itself: to-one relationships
/// with an unordered to-many inverse, from either end. Other inverses are kept apart, and might say something else.
extension FetchPlanner {
  func related(_ conjuncts: [Conjunct], depth: Int) throws(EngineError) -> [Narrowing] {
    var found: [Narrowing] = []
    // What is asked of the one object at the end of a to-one relationship is asked together.
    var together: [(relationship: RelationshipSchema, predicates: [Predicate], places: [Int])] = []
    for (place, conjunct) in conjuncts.enumerated() {
      if let narrowing = try destinations(conjunct, place) {
        found.append(narrowing)
      } else if let (relationship, predicate) = toOne(conjunct) {
        if let known = together.firstIndex(where: { $0.relationship.id == relationship.id }) {
          together[known].predicates.append(predicate)
          together[known].places.append(place)
        } else {
          together.append((relationship, [predicate], [place]))
        }
      } else if let (relationship, predicate) = toMany(conjunct.predicate),
        let narrowing = try narrowing(relationship, predicate, covered: [place], depth: depth)
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

  /// The tree of the way back of a to-one relationship.
  private func backTree(of relationship: RelationshipSchema) -> TreeID? {
    guard case .rowAndTree = RelationshipStorage(relationship, in: view.store.schema) else { return nil }
    return view.store.catalogue.relationships[relationship.id]
  }

  private func narrowing(
    _ relationship: RelationshipSchema, _ predicate: Predicate, covered: [Int], depth: Int
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
    let rows = min(ends * perRow, rowCount)
    let following: Double
    switch way {
    case .toOne: following = ends * costs.related + rows * costs.key
    case .toMany: following = ends
    }
    let path = AccessPath.related(RelatedRows(relationship: relationship, way: way, ends: .found(destination, plan)))
    return Narrowing(path: path, rows: rows, cost: plan.cost + following, covered: covered)
  }

  // MARK: Conditions taken to the other end

  /// A condition that does not hold where a to-one relationship leads nowhere, as one of the object that it leads to.
  private func toOne(_ conjunct: Conjunct) -> (RelationshipSchema, Predicate)? {
    guard case .comparison(var comparison) = conjunct.predicate else { return nil }
    let text: String
    switch comparison.modifier {
    case .direct:
      guard let about = conjunct.about, conjunct.excludesNull, about.comparator != .notEqual else { return nil }
      text = about.path
      comparison.comparator = about.comparator
      comparison.right = .constant(about.value)
    case .any:
      guard case .keyPath(let path) = comparison.left, case .constant = comparison.right else { return nil }
      text = path
    default: return nil
    }
    guard let (relationship, rest) = split(text), !relationship.isToMany, let rest else { return nil }
    comparison.left = .keyPath(rest)
    return (relationship, .comparison(comparison))
  }

  /// A condition that asks for at least one object of a to-many relationship, as one of that object.
  func toMany(_ predicate: Predicate) -> (RelationshipSchema, Predicate)? {
    guard case .comparison(var comparison) = predicate else { return nil }
    switch (comparison.modifier, comparison.comparator, comparison.left, comparison.right) {
    case (.any, let comparator, .keyPath(let path), .constant(let value)):
      // A null among the values is no reason to hold for these; for the others, the comparison is as it is for the object.
      guard comparator != .notEqual, !value.isNull, Conjunct(.comparison(direct(comparison))).excludesNull,
        let (relationship, rest) = split(path), relationship.isToMany
      else { return nil }
      // Behind another to-many relationship, there are several values again.
      if let rest {
        comparison.left = .keyPath(rest)
        if !isToMany(rest, from: relationship) { comparison.modifier = .direct }
      } else {
        comparison.left = .evaluatedObject
        comparison.modifier = .direct
      }
      return (relationship, .comparison(comparison))
    case (.direct, .contains, .keyPath(let path), .constant(let value)):
      guard case .reference = value, let (relationship, rest) = split(path), relationship.isToMany, rest == nil else {
        return nil
      }
      return (relationship, .compare(.evaluatedObject, .equal, .constant(value)))
    case (.direct, .in, .constant(let value), .keyPath(let path)):
      guard case .reference = value, let (relationship, rest) = split(path), relationship.isToMany, rest == nil else {
        return nil
      }
      return (relationship, .compare(.evaluatedObject, .equal, .constant(value)))
    case (
      .direct, let comparator, .aggregate(.count, .subquery(.keyPath(let path), let name, let condition), path: nil),
      let right
    ):
      guard isAtLeastOne(comparator, right), let (relationship, rest) = split(path), relationship.isToMany, rest == nil,
        let moved = condition.moved(to: name, depth: 0)
      else { return nil }
      return (relationship, moved)
    default: return nil
    }
  }

  private func direct(_ comparison: Comparison) -> Comparison {
    var direct = comparison
    direct.modifier = .direct
    return direct
  }

  /// Whether a number of which this is said is at least 1, and nothing else is said.
  private func isAtLeastOne(_ comparator: Comparator, _ right: Expression) -> Bool {
    guard case .constant(let value) = right, let n = value.exactInteger else { return false }
    switch comparator {
    case .greater, .notEqual: return n == 0
    case .greaterOrEqual: return n == 1
    default: return false
    }
  }

  /// A path as the relationship that it begins with and the rest; nil if it begins with anything else.
  private func split(_ path: String) -> (RelationshipSchema, rest: String?)? {
    guard let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")) else {
      return entity.relationship(named: path).map { ($0, nil) }
    }
    guard let relationship = entity.relationship(named: String(path[..<dot])) else { return nil }
    return (relationship, String(path[path.utf8.index(after: dot)...]))
  }

  private func isToMany(_ path: String, from relationship: RelationshipSchema) -> Bool {
    let schema = view.store.schema
    guard let destination = schema.entity(named: relationship.destination) else { return true }
    do throws(SchemaError) { return try schema.resolve(keyPath: path, from: destination.id).isToMany } catch {
      return true
    }
  }
}

extension Predicate {
  /// The condition of a subquery as one of its element; nil if it is not about that alone.
  func moved(to variable: String, depth: Int) -> Predicate? {
    guard depth < Predicate.depthLimit else { return nil }
    switch self {
    case .true, .false: return self
    case .not(let inner): return inner.moved(to: variable, depth: depth + 1).map { .not($0) }
    case .and(let parts): return Self.moved(parts, variable, depth).map { .and($0) }
    case .or(let parts): return Self.moved(parts, variable, depth).map { .or($0) }
    case .comparison(var comparison):
      guard let left = Self.moved(comparison.left, variable), let right = Self.moved(comparison.right, variable) else {
        return nil
      }
      comparison.left = left
      comparison.right = right
      return .comparison(comparison)
    }
  }

  private static func moved(_ parts: [Predicate], _ variable: String, _ depth: Int) -> [Predicate]? {
    var result: [Predicate] = []
    for part in parts {
      guard let moved = part.moved(to: variable, depth: depth + 1) else { return nil }
      result.append(moved)
    }
    return result
  }

  private static func moved(_ expression: Expression, _ variable: String) -> Expression? {
    switch expression {
    case .constant: return expression
    case .variable(variable): return .evaluatedObject
    case .member(.variable(variable), let path): return .keyPath(path)
    default: return nil
    }
  }
}

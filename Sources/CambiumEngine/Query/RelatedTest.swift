import CambiumKernel

/// Asks whether a to-many relationship leads to an object that a condition holds for: link by link where they lie, the
/// rows at their ends in place, until there is one. Of many objects it asks at once, so that the rows come from memory
/// several at a time.
final class RelatedTest {
  private let objects: RelationshipReader
  private let sieve: RowSieve
  /// What is known of all owners, once many of them have been asked.
  private let counts: OwnerCounts?

  /// The test that says what a predicate says of objects of an entity; nil for other predicates.
  init?(_ predicate: Predicate, _ entity: EntitySchema, _ outer: PathReader) {
    let view = outer.view
    guard case .comparison(let comparison) = predicate else { return nil }
    do throws(EngineError) {
      let conditions = RelatedConditions(entity: entity, schema: view.store.schema)
      guard let (relationship, condition) = conditions.toMany(predicate) else { return nil }
      switch comparison.modifier {
      case .any:
        // An object of which nothing is asked but which it is need not be there.
        guard case .comparison(let inner) = condition, case .keyPath = inner.left else { return nil }
      default:
        // Elements of a subquery count that are not there any more; these relationships have none.
        guard case .derived = RelationshipStorage(relationship, in: view.store.schema) else { return nil }
      }
      objects = try view.destinations(of: relationship)
      let reader = PathReader(view: view)
      reader.prepare(for: condition)
      sieve = try RowSieve(view, objects.destination, condition, includesSubentities: true, reader)
      counts = OwnerCounts(relationship, condition, outer)
    } catch { return nil }
  }

  /// Whether it can be asked of rows that may be of other entities.
  var isForAnyRow: Bool { objects.isApart }

  /// Of how many links of each object the ends are read together with those of others. Whoever has more may have found
  /// one by then, and is asked by itself if not.
  private static let linksTogether = 4

  /// Those of some ascending rows for whose objects it holds.
  func holding(_ rows: ArraySlice<UInt64>, _ entity: UInt32) throws(EngineError) -> [UInt64] {
    var links: [(end: UInt64, place: Int)] = []
    links.reserveCapacity(rows.count)
    var hasMore: [Bool] = Array(repeating: false, count: rows.count)
    var holds = hasMore
    var isAscending = true
    var last: UInt64 = 0
    for (place, row) in rows.enumerated() {
      var count = 0
      try objects.forEachID(from: ObjectReference(entity: entity, row: row)) { (end) throws(EngineError) in
        if count == Self.linksTogether {
          hasMore[place] = true
          return false
        }
        count += 1
        if end < last { isAscending = false }
        last = end
        links.append((end, place))
        return true
      }
    }
    if !isAscending { links.sort { $0.end < $1.end } }
    var ends: [UInt64] = []
    ends.reserveCapacity(links.count)
    for link in links where link.end != ends.last { ends.append(link.end) }
    var next = 0
    try objects.offer(ends[...], to: sieve) { (end, isIn) in
      while next < links.count, links[next].end < end { next += 1 }
      while next < links.count, links[next].end == end {
        if isIn { holds[links[next].place] = true }
        next += 1
      }
    }
    var found: [UInt64] = []
    for (place, row) in rows.enumerated() {
      var isIn = holds[place]
      if !isIn, hasMore[place] { isIn = try self.holds(for: ObjectReference(entity: entity, row: row)) }
      if isIn { found.append(row) }
    }
    return found
  }

  /// Whether there is such an object.
  func holds(for reference: ObjectReference) throws(EngineError) -> Bool {
    try objects.leads(from: reference, toOneOf: sieve, counts)
  }
}

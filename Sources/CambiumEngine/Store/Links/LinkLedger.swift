import CambiumKernel

/// What a transaction notes of the links that it writes, until it ends.
struct LinkLedger {
  /// Rows that do not exist yet, and the rows that lead to them already: these are taken over when such a row is
  /// inserted.
  struct Claims {
    private var order: [ObjectReference] = []
    private var rows = Set<UInt64>()

    var isEmpty: Bool { rows.isEmpty }

    mutating func add(_ source: ObjectReference) {
      if rows.insert(source.row).inserted { order.append(source) }
    }

    mutating func remove(_ source: ObjectReference) { rows.remove(source.row) }

    func contains(_ source: ObjectReference) -> Bool { rows.contains(source.row) }

    /// The sources in the order in which they came; the last one of those that came twice.
    var sources: [ObjectReference] {
      var seen = Set<UInt64>()
      return order.reversed().filter { rows.contains($0.row) && seen.insert($0.row).inserted }.reversed()
    }
  }

  /// By relationship and row of what is led to.
  private struct Place: Hashable {
    let relationship: UInt32
    let row: UInt64
  }

  private var claims: [Place: Claims] = [:]
  /// The destinations that were written and not looked for yet, by entity.
  private var destinations: [(entity: UInt32, rows: RowSet)] = []
  /// The ends of links that were changed because others were written, each once, in the order of the changes.
  private(set) var changed: [LinkEnd] = []
  private var known = Set<LinkEnd>()
  /// The objects whose rows were written because others were, each once, in the order of the changes; new ones apart.
  private(set) var changedObjects: [ObjectReference] = []
  private(set) var newChangedObjects: [ObjectReference] = []
  private var knownObjects = RowSet()

  var hasClaims: Bool { !claims.isEmpty }

  mutating func claim(_ relationship: UInt32, of row: UInt64, _ source: ObjectReference) {
    claims[Place(relationship: relationship, row: row), default: Claims()].add(source)
  }

  mutating func withdraw(_ relationship: UInt32, of row: UInt64, _ source: ObjectReference) {
    if claims.isEmpty { return }
    let place = Place(relationship: relationship, row: row)
    claims[place]?.remove(source)
    if claims[place]?.isEmpty == true { claims[place] = nil }
  }

  /// Withdraws what an object claims of any row by a relationship.
  mutating func withdrawAll(_ relationship: UInt32, _ source: ObjectReference) {
    for place in claims.keys where place.relationship == relationship {
      withdraw(relationship, of: place.row, source)
    }
  }

  func claims(_ relationship: UInt32, of row: UInt64) -> Claims? {
    claims.isEmpty ? nil : claims[Place(relationship: relationship, row: row)]
  }

  /// Hands out who leads to a row that is there from now on.
  mutating func takeClaims(_ relationship: UInt32, of row: UInt64) -> Claims? {
    claims.removeValue(forKey: Place(relationship: relationship, row: row))
  }

  mutating func noteChanged(_ end: LinkEnd) {
    if known.insert(end).inserted { changed.append(end) }
  }

  mutating func noteChanged(_ object: ObjectReference, isNew: Bool) {
    if !knownObjects.insert(object.row) { return }
    if isNew { newChangedObjects.append(object) } else { changedObjects.append(object) }
  }

  /// Notes an object that a link leads to.
  @inline(__always)
  mutating func noteDestination(_ object: ObjectReference) {
    for i in destinations.indices where destinations[i].entity == object.entity {
      destinations[i].rows.insert(object.row)
      return
    }
    var rows = RowSet()
    rows.insert(object.row)
    destinations.append((object.entity, rows))
  }

  /// Forgets an object that is deleted: it leads to no row that is inserted later, and what still leads to it may do
  /// so.
  mutating func forget(_ object: ObjectReference) {
    for i in destinations.indices { destinations[i].rows.remove(object.row) }
    if claims.isEmpty { return }
    for place in claims.keys { claims[place]?.remove(object) }
  }

  mutating func takeDestinations() -> [(entity: UInt32, rows: RowSet)] {
    if destinations.isEmpty { return [] }
    defer { destinations = [] }
    return destinations
  }
}

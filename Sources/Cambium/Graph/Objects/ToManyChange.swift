/// Unsaved changes of a to-many relationship: what came and what went, so that the rest need not be read; or, of an
/// ordered one, everything.
struct ToManyChange {
  /// All destinations, if the relationship is ordered.
  var list: [ManagedObjectID]?
  /// What the list was when it was first changed, if that was not what the object's row says: the context had seen a
  /// newer one.
  var base: [ManagedObjectID]?
  private var added: [ManagedObjectID] = []
  /// The same as ``added``, for finding, once those are many. Sets that are not there cost nothing to copy.
  private var isAdded: Set<ManagedObjectID>?
  private var removed: Set<ManagedObjectID>?

  init(list: [ManagedObjectID]? = nil) { self.list = list }

  /// Whether nothing is changed in effect.
  var isEmpty: Bool { list == nil && added.isEmpty && removed == nil }

  /// The destinations that came or went; none if the change is a list.
  var touched: Set<ManagedObjectID> { removed?.union(added) ?? Set(added) }

  /// Up to as many are found one by one, which is faster than to hash, and takes no memory.
  private static let few = 8

  private func hasAdded(_ id: ManagedObjectID) -> Bool {
    isAdded?.contains(id) ?? added.contains(id)
  }

  /// Whether a destination came (true) or went (false); `nil` if it was left alone, or the change is a list.
  func state(of id: ManagedObjectID) -> Bool? {
    if removed?.contains(id) == true { return false }
    return hasAdded(id) ? true : nil
  }

  /// Notes that a destination came. O(1).
  mutating func add(_ id: ManagedObjectID) {
    if removed != nil, removed?.remove(id) != nil {
      if removed?.isEmpty == true { removed = nil }
      return
    }
    if isAdded != nil {
      // Hashed once, because an import adds the same way for each object.
      if isAdded?.insert(id).inserted == true { added.append(id) }
      return
    }
    if added.contains(id) { return }
    added.append(id)
    if added.count > Self.few { isAdded = Set(added) }
  }

  /// Notes that a destination went. O(1), or O(number of those that came) for one of them.
  mutating func remove(_ id: ManagedObjectID) {
    guard hasAdded(id) else {
      removed = removed ?? []
      removed?.insert(id)
      return
    }
    added.removeAll { $0 == id }
    isAdded?.remove(id)
    if added.count <= Self.few { isAdded = nil }
  }

  /// The same with other identifiers for some objects; `nil` if it has none of them.
  func renamed(_ identifiers: [ManagedObjectID: ManagedObjectID]) -> ToManyChange? {
    let all = Set(list ?? []).union(touched)
    if !all.contains(where: { identifiers[$0] != nil }) { return nil }
    // Two objects may have become one.
    func renamed(_ ids: [ManagedObjectID]) -> [ManagedObjectID] {
      var seen = Set<ManagedObjectID>()
      return ids.map { identifiers[$0] ?? $0 }.filter { seen.insert($0).inserted }
    }
    var result = ToManyChange(list: list.map(renamed))
    result.base = base.map(renamed)
    for id in added { result.add(identifiers[id] ?? id) }
    for id in removed ?? [] { result.remove(identifiers[id] ?? id) }
    return result
  }

  /// The destinations, given those in the store.
  func applied(to base: [ManagedObjectID]) -> [ManagedObjectID] {
    if let list { return list }
    let kept = removed.map { removed in base.filter { !removed.contains($0) } } ?? base
    guard !added.isEmpty else { return kept }
    let present = Set(kept)
    return kept + added.filter { !present.contains($0) }
  }
}

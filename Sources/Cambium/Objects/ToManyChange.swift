/// Unsaved changes of a to-many relationship.
enum ToManyChange {
  /// Of an unordered one: what came and what went, so that the rest need not be read.
  case delta(added: [ManagedObjectID], removed: Set<ManagedObjectID>)
  /// Of an ordered one: everything.
  case list([ManagedObjectID])

  /// Whether nothing is changed in effect.
  var isEmpty: Bool {
    if case .delta(let added, let removed) = self { return added.isEmpty && removed.isEmpty }
    return false
  }

  func applied(to base: [ManagedObjectID]) -> [ManagedObjectID] {
    switch self {
    case .list(let ids): return ids
    case .delta(let added, let removed):
      guard !added.isEmpty || !removed.isEmpty else { return base }
      let kept = removed.isEmpty ? base : base.filter { !removed.contains($0) }
      guard !added.isEmpty else { return kept }
      let present = Set(kept)
      return kept + added.filter { !present.contains($0) }
    }
  }
}

/// By the stores' spaces, the oldest commit that was read while a context has had unsaved changes, if it reads a later one by now; 0 if what it
/// knows is in doubt for another reason. What was changed by rules that keep both sides of a relationship in step was changed by that.
struct OldestKnowledge {
  private var sequences: [ObjectIdentifier: UInt64] = [:]
  /// How many changes are under way that have read what they go by, and may have changed nothing yet.
  private var begun = 0

  /// Whether what is read counts though nothing is changed yet.
  var isNeeded: Bool { begun > 0 }

  /// A change begins that reads what it goes by before it changes anything.
  mutating func begin() { begun += 1 }
  mutating func end() { begun -= 1 }

  func sequence(of space: ObjectIdentifier) -> UInt64? { sequences[space] }

  mutating func note(_ sequence: UInt64, of space: ObjectIdentifier) {
    sequences[space] = min(sequences[space] ?? sequence, sequence)
  }

  /// Forgets what is noted: there are no unsaved changes.
  mutating func forget() {
    if !sequences.isEmpty { sequences = [:] }
  }
}

/// By the stores' spaces, the oldest commit that was read while a context has had unsaved changes, if it reads a later one by now; 0 if what it
/// knows is in doubt for another reason. What was changed by rules that keep both sides of a relationship in step was changed by that.
struct OldestKnowledge {
  private var sequences: [ObjectIdentifier: UInt64] = [:]

  func sequence(of space: ObjectIdentifier) -> UInt64? { sequences[space] }

  mutating func note(_ sequence: UInt64, of space: ObjectIdentifier) {
    sequences[space] = min(sequences[space] ?? sequence, sequence)
  }

  mutating func forget(_ space: ObjectIdentifier) {
    if !sequences.isEmpty { sequences[space] = nil }
  }
}

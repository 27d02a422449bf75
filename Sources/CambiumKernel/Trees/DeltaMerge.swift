/// The changes over a tree's pages as one view sees them, in the order of their keys: of each key the newest.
struct DeltaMerge {
  /// The newest list first.
  private var cursors: [DeltaCursor] = []
  private(set) var node: DeltaNode?

  /// Stands on the first change of a key that is not less than `key`.
  init(_ access: TreeAccess, from key: TreeKey) {
    if let list = access.own { cursors.append(DeltaCursor(list, after: 0, upTo: access.ownUpTo)) }
    for list in [access.active, access.frozen] {
      if let list { cursors.append(DeltaCursor(list, after: access.after, upTo: access.upTo)) }
    }
    for i in cursors.indices { cursors[i].seek(key) }
    settle()
  }

  private mutating func settle() {
    node = nil
    for cursor in cursors {
      guard let other = cursor.node else { continue }
      if let best = node, TreeKey.compare(best.key, other.key) <= 0 { continue }
      node = other
    }
  }

  /// To the next key.
  mutating func next() {
    guard let present = node else { return }
    for i in cursors.indices {
      if let other = cursors[i].node, TreeKey.compare(other.key, present.key) == 0 { cursors[i].next() }
    }
    settle()
  }
}

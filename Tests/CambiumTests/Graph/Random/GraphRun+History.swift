import CambiumTesting
import Testing

@testable import Cambium

// Persistent history: it tells all that was saved, and a context that knows every object, and takes in nothing but what
// history tells, shows what is stored.
extension GraphRun {
  /// Begins to follow what happens to the store, which has what the root has.
  func startHistory() throws {
    guard design.kinds.contains(.history) else { return }
    let level = try another(levels[0].base)
    try level.check("begins to follow history, \(when)")
    follower = level
    token = try container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
  }

  /// The store has what the root has saved.
  func followHistory() throws {
    guard design.kinds.contains(.history), let follower else { return }
    let stored = levels[0].base
    let before = follower.known
    var alive = Set(before.keys)
    var updated: [ManagedObjectID: Set<String>] = [:]
    for transaction in try follower.context.execute(.fetchHistory(after: token)).transactions {
      follower.context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      // Of several stores, a transaction's says how far its own has come.
      token = token?.merging(transaction.token) ?? transaction.token
      for change in try #require(transaction.changes) {
        let id = change.changedObjectID
        switch change.changeType {
        case .insert: try #require(alive.insert(id).inserted, "\(id) is inserted twice, \(when)")
        case .update:
          try #require(alive.contains(id), "\(id) is changed, and not there, \(when)")
          updated[id, default: []].formUnion(change.updatedProperties ?? [])
        case .delete:
          try #require(alive.remove(id) != nil, "\(id) is deleted, and was not there, \(when)")
          guard let number = before[id], updated[id]?.contains("tag") != true else { continue }
          try #require(change.tombstone?["tag"] as? Int == number, "\(change), \(when)")
        }
      }
      count("transaction")
    }
    let old = follower.state
    (follower.base, follower.state) = (stored, stored)
    try follower.findObjects()
    try follower.check("what history tells, \(when)")
    try follower.checkDerived(stored, "what history tells, \(when)")
    try #require(Set(follower.known.keys) == alive, "\(when)")
    for (id, number) in before {
      // Those that have got another number have what is known of another one.
      guard updated[id]?.contains("tag") != true, follower.known[id] == number else { continue }
      let told = updated[id] ?? []
      for name in stored.changes(of: number, since: old) {
        try #require(told.contains(name), "\(name) of \(number) has changed, and history tells \(told), \(when)")
      }
    }
  }
}

extension GraphLevel {
  /// The numbers of the objects that are stored.
  fileprivate var known: [ManagedObjectID: Int] {
    Dictionary(objects.map { ($1.objectID, $0) }) { first, _ in first }
  }
}

extension GraphReference {
  /// The attributes of an object that are not what they were.
  fileprivate func changes(of number: Int, since old: GraphReference) -> [String] {
    guard let node = nodes[number], let before = old.nodes[number] else { return [] }
    return design.attributes(of: node.entity).map { $0.name }.filter { node.values[$0] != before.values[$0] }
      + design.derived(of: node.entity).filter { derived($0, of: number) != old.derived($0, of: number) }.map {
        $0.name
      }
      + (node.code == before.code ? [] : ["code"])
  }
}

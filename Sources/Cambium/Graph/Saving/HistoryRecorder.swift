import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Gathers what a transaction changes, and tells the store's history of it in the same commit.
final class HistoryRecorder {
  private var transaction = HistoryTransaction(timestamp: 0)
  /// The places of updates: an object has one in a transaction.
  private var updates: [ObjectReference: Int] = [:]
  /// The objects that are new: these are told as that alone.
  private var new = Set<ObjectReference>()
  /// The number of the transaction in the history; nil before ``finish(_:_:)``, or if nothing changed.
  private(set) var number: UInt64?

  /// Nil if the store keeps no history.
  convenience init?(_ context: ManagedObjectContext, _ store: PersistentStore) {
    self.init(author: context.transactionAuthor, contextName: context.name, store)
  }

  init?(author: String?, contextName: String?, _ store: PersistentStore) {
    guard store.tracksHistory else { return nil }
    let process = ProcessInfo.processInfo
    transaction.author = author
    transaction.contextName = contextName
    transaction.programName = process.processName
    transaction.processName = "\(process.processIdentifier)"
  }

  func inserted(_ reference: ObjectReference) {
    transaction.changes.append(HistoryChange(.insert, reference))
    new.insert(reference)
  }

  func updated(_ reference: ObjectReference, _ info: EntityInfo, _ names: [String]) {
    if new.contains(reference) { return }
    var ids: [UInt32] = []
    for name in names {
      if let id = info.schema.attribute(named: name)?.id ?? info.schema.relationship(named: name)?.id { ids.append(id) }
    }
    if ids.isEmpty { return }
    if let known = updates[reference] {
      for id in ids where !transaction.changes[known].properties.contains(id) {
        transaction.changes[known].properties.append(id)
      }
      return
    }
    updates[reference] = transaction.changes.count
    var change = HistoryChange(.update, reference)
    change.properties = ids
    transaction.changes.append(change)
  }

  func deleted(
    _ reference: ObjectReference, _ info: EntityInfo, _ t: EntityTransaction
  ) throws(EngineError) {
    // What is gone at the end is told as that alone.
    if let known = updates.removeValue(forKey: reference) {
      transaction.changes.remove(at: known)
      for (other, place) in updates where place > known { updates[other] = place - 1 }
    }
    var change = HistoryChange(.delete, reference)
    let kept = info.ordered.compactMap { property -> AttributeSchema? in
      guard case .attribute(let stored, let rules) = property.kind, rules.preservesValueInHistoryOnDeletion,
        !stored.isTransient
      else { return nil }
      return stored
    }
    if !kept.isEmpty, let row = try t.row(reference) {
      for attribute in kept {
        let value = try row.value(attribute)
        if !value.isNull { change.tombstone[attribute.id] = value }
      }
    }
    transaction.changes.append(change)
  }

  /// Adds what was gathered to the history, if that is anything; and the ends of links that were changed because others
  /// were.
  func finish(_ t: EntityTransaction, _ space: StoreSpace) throws(EngineError) {
    for end in t.changedEnds {
      guard let reference = try t.row(end.object)?.reference, let info = space.info(reference.entity),
        let relationship = info.schema.allRelationships.first(where: { $0.id == end.relationship })
      else { continue }
      updated(reference, info, [relationship.name])
    }
    if transaction.changes.isEmpty { return }
    transaction.timestamp = Date().timeIntervalSinceReferenceDate
    number = try t.appendHistory(transaction)
  }
}

import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A relationship of an object in a store.
struct RelationshipEnd: Hashable, Comparable {
  let relationship: UInt32
  let object: ObjectReference

  static func < (a: RelationshipEnd, b: RelationshipEnd) -> Bool {
    (a.object.row, a.relationship) < (b.object.row, b.relationship)
  }
}

/// What comes of it, in a transaction, that objects were led elsewhere which no context has changed: what is derived from where they lead.
struct RelationshipConsequences {
  let space: StoreSpace
  let history: HistoryRecorder?
  /// The objects that were changed.
  var changed: [ManagedObjectID] = []
  /// The rows of objects that the transaction inserts: the history tells no changes of these.
  var inserted = Set<UInt64>()
  /// Ends from which something may be derived.
  private var ends: Set<RelationshipEnd> = []

  init(_ space: StoreSpace, _ history: HistoryRecorder?) {
    self.space = space
    self.history = history
  }

  /// Notes a relationship that leads elsewhere than it did.
  mutating func note(_ end: RelationshipEnd) {
    if !space.derivedRules.isEmpty { ends.insert(end) }
  }

  /// Has the history tell of a property that was changed.
  func record(_ reference: ObjectReference, _ name: String) {
    guard !inserted.contains(reference.row), let info = space.info(reference.entity) else { return }
    history?.updated(reference, info, [name])
  }

  /// Computes anew what is derived; to be called when all is written.
  mutating func derive(_ t: EntityTransaction) throws(EngineError) {
    if space.derivedRules.isEmpty { return }
    for end in ends.ordered() { try deriveAnew(end, t) }
    try noteTime(t)
  }

  private mutating func deriveAnew(_ end: RelationshipEnd, _ t: EntityTransaction) throws(EngineError) {
    for rule in space.derivedRules where rule.relationship?.schema.id == end.relationship {
      guard let row = try t.row(end.object), let info = space.info(row.reference.entity),
        info.storeSchema?.isEntity(info.schema.id, orDescendantOf: rule.entity.id) == true,
        let value = try rule.newValue(of: row, t)
      else { continue }
      record(row.reference, rule.attribute.name)
      try t.update(row.reference, RowValues([rule.attribute.name: value]))
      changed.append(ManagedObjectID(space: space, reference: row.reference))
    }
  }

  /// Writes the time into what derives it, of objects that were changed.
  private func noteTime(_ t: EntityTransaction) throws(EngineError) {
    let rules = space.derivedRules.filter { $0.derivation == .now }
    if rules.isEmpty { return }
    let now = Value.date(Date().timeIntervalSinceReferenceDate)
    for id in Set(changed).ordered(by: { $0.reference < $1.reference }) {
      guard let row = try t.row(id.reference), let info = space.info(row.reference.entity) else { continue }
      var values = RowValues()
      for rule in rules where info.storeSchema?.isEntity(info.schema.id, orDescendantOf: rule.entity.id) == true {
        values.set(rule.attribute.name, now)
        record(row.reference, rule.attribute.name)
      }
      if !values.isEmpty { try t.update(row.reference, values) }
    }
  }
}

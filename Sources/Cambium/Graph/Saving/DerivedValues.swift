import CambiumEngine

/// The derived attributes that a transaction brings up to date, when all else is written.
///
/// A value is computed anew for the objects that the transaction inserts or changes, for objects whose relationship in
/// the rule leads elsewhere, and for objects whose destination has changed. All of it is read from the transaction, so
/// that it is right whatever others have saved before.
struct DerivedValues {
  private let space: StoreSpace
  /// Objects of which all rules are computed.
  private var objects = Set<ObjectReference>()
  /// Ends from which a value is derived, and which may have other links by now.
  private var ends = Set<LinkEnd>()
  /// Destinations whose changed attributes are the source of a value, by the places of the rules.
  private var sources: [Int: [ObjectReference]] = [:]

  /// Nil where nothing is derived.
  init?(_ space: StoreSpace) {
    if space.derivedRules.isEmpty { return nil }
    self.space = space
  }

  /// Notes an object that was inserted, or of which some properties were changed.
  ///
  /// - Parameters:
  ///   - names: The changed properties; nil if the object is new.
  ///   - isComputed: Whether what depends on the object's own attributes alone is written already.
  mutating func note(
    _ reference: ObjectReference, _ info: EntityInfo, changed names: [String]? = nil, isComputed: Bool
  ) {
    for (place, rule) in space.derivedRules.enumerated() {
      if info.isKind(of: rule.entity.id), !isComputed || rule.relationship != nil { objects.insert(reference) }
      guard let names, let key = rule.sourceKey, let destination = rule.destination, names.contains(key),
        info.isKind(of: destination)
      else { continue }
      sources[place, default: []].append(reference)
    }
  }

  /// Computes the values, and writes those that are others than before.
  ///
  /// - Parameters:
  ///   - checks: Whether the rules of the model are checked; not for batch requests, as in Core Data.
  ///   - isOwn: Whether the caller writes an object: of others it notes the time, where that is derived.
  /// - Returns: The objects of which a value was written.
  mutating func write(
    _ t: EntityTransaction, _ history: HistoryRecorder?, checks: Bool, isOwn: (ObjectReference) -> Bool
  ) throws(BatchError) -> [ObjectReference] {
    do throws(EngineError) { try findEnds(t) } catch { throw .engine(error) }
    var written: [ObjectReference] = []
    for object in Set(ends.map { $0.object }).union(objects).ordered() {
      let isWhole = objects.contains(object)
      let rules = space.derivedRules.filter { rule in
        if rule.derivation == .now, checks { return false }
        return isWhole || rule.relationship.map { ends.contains(LinkEnd($0.schema.id, object)) } == true
      }
      if try write(rules, of: object, t, history, checks: checks) { written.append(object) }
    }
    // What was computed as a whole above has its time.
    let others = Set(written + t.changedByLinks).filter { !isOwn($0) && (checks || !objects.contains($0)) }
    for object in others.ordered() {
      _ = try write(space.derivedRules.filter { $0.derivation == .now }, of: object, t, history, checks: false)
    }
    return written
  }

  /// Adds the ends that links have changed, and the owners of changed destinations. What is derived itself is the
  /// source of no other value.
  private mutating func findEnds(_ t: EntityTransaction) throws(EngineError) {
    let relationships = Set(space.derivedRules.compactMap { $0.relationship?.schema.id })
    for end in t.changedEnds where relationships.contains(end.relationship) { ends.insert(end) }
    for (place, objects) in sources.ordered(by: { $0.key < $1.key }) {
      guard let relationship = space.derivedRules[place].relationship, let inverse = relationship.inverse else {
        continue
      }
      for object in objects {
        for owner in try t.related(object, inverse) { ends.insert(LinkEnd(relationship.schema.id, owner)) }
      }
    }
  }

  private func write(
    _ rules: [DerivedRule], of object: ObjectReference, _ t: EntityTransaction, _ history: HistoryRecorder?,
    checks: Bool
  ) throws(BatchError) -> Bool {
    guard let row = try engine({ () throws(EngineError) in try t.row(object) }),
      let info = space.info(row.reference.entity)
    else { return false }
    var values = RowValues()
    var check = ValueCheck(info.name, ManagedObjectID(space: space, reference: row.reference))
    for rule in rules where info.isKind(of: rule.entity.id) {
      let value = try engine { () throws(EngineError) in try rule.storedValue(of: row, t) }
      guard let coerced = rule.attribute.coerce(value) else {
        throw .refused(rule.unfit(value, of: ManagedObjectID(space: space, reference: row.reference)))
      }
      if checks, let rules = rule.property.rules {
        check.value(coerced, rules, rule.property.readRules, path: rule.attribute.name)
      }
      if try engine({ () throws(EngineError) in try row.value(rule.attribute) }) == coerced { continue }
      values.set(rule.attribute.name, coerced)
      history?.updated(row.reference, info, [rule.attribute.name])
    }
    do throws(CambiumError) { try check.throwing() } catch { throw .refused(error) }
    if values.isEmpty { return false }
    try engine { () throws(EngineError) in try t.update(row.reference, values) }
    return true
  }
}

/// What ends a transaction of the object layer: an error of the engine, or one that says more.
enum BatchError: Error {
  case engine(EngineError)
  case refused(CambiumError)
}

/// Runs a part of a transaction that only the engine may refuse.
func engine<R>(_ body: () throws(EngineError) -> R) throws(BatchError) -> R {
  do throws(EngineError) { return try body() } catch { throw .engine(error) }
}

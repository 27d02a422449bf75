import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A derived attribute of a store's entities.
struct DerivedRule: Sendable {
  /// The entity that declares it.
  let entity: EntitySchema
  /// The attribute as stored, and how the model has it.
  let attribute: AttributeSchema
  let derivation: Derivation
  /// What comes first in the path.
  let relationship: RelationshipInfo?
  /// The entity that the relationship leads to.
  let destination: UInt32?
  /// What of a destination changes the value, besides its being one; `nil` if nothing does.
  let sourceKey: String?

  init?(_ property: PropertyInfo, _ info: EntityInfo) {
    guard case .attribute(let attribute, let rules) = property.kind, let text = rules.derivation,
      let derivation = Derivation(text)
    else { return nil }
    entity = info.schema
    self.attribute = attribute
    self.derivation = derivation
    let names = derivation.path?.split(separator: ".", omittingEmptySubsequences: false).map { String($0) } ?? []
    relationship = names.first.flatMap { info.properties[$0]?.relationship }
    destination = relationship.flatMap { info.storeSchema?.entity(named: $0.schema.destination)?.id }
    sourceKey = relationship != nil && names.count > 1 ? names[1] : nil
  }
}

extension DerivedRule {
  /// The sum of what destinations have, in the attribute's type.
  func sum(_ values: [Value]) -> Value {
    let isWhole = attribute.type.integerRange != nil
    var whole: Int64 = 0
    var decimal = Decimal()
    var double = 0.0
    for value in values {
      switch attribute.type {
      case .decimal: decimal += Decimal(attributeValue: value) ?? 0
      case _ where isWhole:
        let (sum, overflow) = whole.addingReportingOverflow(value.exactInteger ?? 0)
        guard !overflow else { return .double(.infinity) }
        whole = sum
      default: double += value.nearestDouble ?? 0
      }
    }
    if attribute.type == .decimal { return decimal.attributeValue }
    return isWhole ? .integer(whole) : .double(double)
  }

  /// The value of an object that a row is of, by where its relationship leads in the transaction; nil if that is what it has.
  func newValue(of row: Row, _ t: EntityTransaction) throws(EngineError) -> Value? {
    guard let schema = relationship?.schema else { return nil }
    let value: Value
    switch derivation {
    case .now: return nil
    case .keyPath(let path): value = try followed(path, schema, row, t)
    case .text(let form, let path):
      if case .string(let text) = try followed(path, schema, row, t) {
        value = .string(Derivation.apply(form, to: text))
      } else {
        value = .null
      }
    case .count: value = .integer(Int64(try t.related(row.reference, schema).count))
    case .sum(_, let path):
      var values: [Value] = []
      for other in try t.related(row.reference, schema) {
        if let value = try t.row(other)?.value(keyPath: path) { values.append(value) }
      }
      value = sum(values)
    }
    // What the attribute cannot hold is an error of who computes it for an object of the save.
    guard let coerced = attribute.coerce(value), try row.value(attribute) != coerced else { return nil }
    return coerced
  }

  /// What is at the end of a path that begins with a to-one relationship.
  private func followed(
    _ path: String, _ relationship: RelationshipSchema, _ row: Row, _ t: EntityTransaction
  ) throws(EngineError) -> Value {
    guard let dot = path.firstIndex(of: "."), let reference = try row.reference(relationship),
      let other = try t.row(reference)
    else { return .null }
    return try other.value(keyPath: String(path[path.index(after: dot)...]))
  }
}

// Derived attributes are computed when an object that they depend on is saved: the object itself, the destination of the
// to-one relationship in a path, or the destinations of a to-many relationship that are counted or summed up.
extension ManagedObjectContext {
  /// Brings the derived attributes of what is about to be saved up to date; objects that depend on it join the save, based
  /// on their newest rows. Answers those that are in the save for no other reason.
  ///
  /// - Parameter guests: Those objects, as far as it comes if it throws.
  func computeDerived(_ guests: inout [ManagedObject]) throws -> [ManagedObject] {
    if persistentStoreCoordinator.persistentStores.allSatisfy({ $0.space.derivedRules.isEmpty }) { return [] }
    // A batch computes it of all that it was asked for.
    let changed = inserted.values + updated.values.filter { isOfBatch || $0.isUpdated } + deleted.values
    let ownChanges = Set(changed.filter { $0.hasOwnChanges }.map { $0.objectID })
    // The save will read the newest commit in any case.
    if !changed.isEmpty { advance() }
    var joined: [ManagedObjectID: ManagedObject] = [:]
    for object in changed {
      for rule in object.objectID.space.derivedRules {
        // One that others have deleted has no values. Whether that is a conflict, writing will tell.
        if !object.isDeleted, object.isOf(rule.entity.id) { try unlessGone { try compute(rule, object) } }
        // An inherited relationship may lead to objects that do not have the attribute.
        var owners: [ManagedObject] = []
        // What others have deleted as well leads nowhere: they have computed it.
        try unlessGone { owners = try self.owners(rule, of: object) }
        for owner in owners where !owner.isDeleted && owner.isOf(rule.entity.id) {
          let isGuest = !ownChanges.contains(owner.objectID)
          if isGuest, joined.updateValue(owner, forKey: owner.objectID) == nil {
            guests.append(owner)
            forgetDerived(owner)
          }
          do { try compute(rule, owner) } catch let error as CambiumError
            where error.code == .managedObjectReferentialIntegrity
          {
            if !isGuest { continue }
            joined[owner.objectID] = nil
            forgetDerived(owner)
          }
        }
      }
    }
    return Array(joined.values)
  }

  /// Makes an object without changes of its own be read anew.
  func forgetDerived(_ object: ManagedObject) {
    readOwnCommits()
    object.attributeChanges = [:]
    if object.state != .fault { object.state = .stale }
    object.forgetRow()
    if !object.isUpdated { updated.remove(object) }
  }

  /// The objects whose derived value depends on a changed object as the destination of the rule's relationship.
  private func owners(_ rule: DerivedRule, of object: ManagedObject) throws -> [ManagedObject] {
    guard let relationship = rule.relationship, let destination = rule.destination, object.isOf(destination),
      let inverse = relationship.inverse, let back = object.info.properties[inverse.name]?.relationship
    else { return [] }
    var isRelevant =
      object.isDeleted || object.isInserted || (!back.isToMany && object.toOneChanges.contains(back.place))
    isRelevant = isRelevant || back.isToMany && object.toManyChanges.contains(back.place)
    if let key = rule.sourceKey, let source = object.info.properties[key], source.isAttribute {
      isRelevant = isRelevant || object.changesAttribute(at: source.place)
    }
    guard isRelevant else { return [] }
    // Those that it left count as well.
    var ids: Set<ManagedObjectID> = []
    if back.isToMany {
      ids.formUnion(try object.currentToMany(back))
      ids.formUnion(try object.committedToMany(back))
    } else {
      if !object.isDeleted, let id = try object.currentToOne(back) { ids.insert(id) }
      if !object.isInserted, let id = try object.committedToOne(back) { ids.insert(id) }
    }
    return ids.ordered { $0.reference < $1.reference }.map { self.object(with: $0) }
  }

  private func compute(_ rule: DerivedRule, _ object: ManagedObject) throws {
    let value = try derivedValue(rule, object)
    guard let coerced = rule.attribute.coerce(value) else {
      throw CambiumError(
        .managedObjectValidation,
        "the derived attribute '\(rule.attribute.name)' is of type \(rule.attribute.type.name), which cannot hold \(value)",
        entityName: object.entity.name, key: rule.attribute.name, objectID: object.objectID)
    }
    // A new object has null without a change.
    if coerced.isNull, object.state == .inserted, try object.currentValue(rule.attribute).isNull { return }
    try object.assign(coerced, to: rule.attribute)
  }

  private func derivedValue(_ rule: DerivedRule, _ object: ManagedObject) throws -> Value {
    switch rule.derivation {
    case .now: return .date(Date().timeIntervalSinceReferenceDate)
    case .keyPath(let path): return try value(path, rule, object)
    case .text(let form, let path):
      guard case .string(let text) = try value(path, rule, object) else { return .null }
      return .string(Derivation.apply(form, to: text))
    case .count: return .integer(Int64(try destinations(rule, object).count))
    case .sum(_, let path):
      return rule.sum(
        try destinations(rule, object).map { try newestValue($0, path) })
    }
  }

  private func value(_ path: String, _ rule: DerivedRule, _ object: ManagedObject) throws -> Value {
    guard let relationship = rule.relationship, let dot = path.firstIndex(of: ".") else {
      return try object.engineValue(keyPath: path)
    }
    guard let id = try object.currentToOne(relationship) else { return .null }
    return try newestValue(id, String(path[path.index(after: dot)...]))
  }

  /// What a destination has at a path of attributes: of one of which this save writes nothing, what is stored by now, which the context
  /// may not have read yet. Writing finds out what others have done to the others.
  private func newestValue(_ id: ManagedObjectID, _ path: String) throws -> Value {
    if let known = registered(id), known.isInserted || known.isUpdated && known.isWrittenBySave {
      return try known.engineValue(keyPath: path)
    }
    let view = try view(of: id.space)
    return try mapping { () throws(EngineError) in try view.row(id.reference)?.value(keyPath: path) } ?? .null
  }

  private func destinations(_ rule: DerivedRule, _ object: ManagedObject) throws -> [ManagedObjectID] {
    guard let relationship = rule.relationship else { return [] }
    return try object.currentToMany(relationship)
  }
}

extension ManagedObject {
  /// Whether something of the object is to be written that is not derived.
  var hasOwnChanges: Bool {
    if isInserted || isDeleted || !toOneChanges.isEmpty { return true }
    return info.ordered.contains { property in
      guard let r = property.relationship else {
        return !property.isDerived && changesAttribute(at: property.place)
      }
      return r.isToMany && !r.isDerived && toManyChanges.contains(r.place)
    }
  }

  /// Whether the object is of an entity or one that inherits from it.
  fileprivate func isOf(_ entity: UInt32) -> Bool {
    info.storeSchema?.isEntity(info.schema.id, orDescendantOf: entity) ?? false
  }
}

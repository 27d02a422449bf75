import CambiumEngine
import CambiumKernel

/// What an event changed of a property. Objects are meant themselves, not their identifiers, which change when they are
/// saved.
enum PropertyChange {
  case attribute(AttributeSchema, before: Value, after: Value)
  case transient(String, before: Any?)
  case toOne(RelationshipInfo, before: ManagedObject?, after: ManagedObject?)
  /// An ordered relationship, with everything in it.
  case list(RelationshipInfo, before: [ManagedObject], after: [ManagedObject])
  /// An unordered one, with what came and what went.
  case members(RelationshipInfo, added: [ManagedObject], removed: [ManagedObject])

  var name: String {
    switch self {
    case .attribute(let attribute, _, _): return attribute.name
    case .transient(let name, _): return name
    case .toOne(let r, _, _), .list(let r, _, _), .members(let r, _, _): return r.schema.name
    }
  }

  var relationship: RelationshipInfo? {
    switch self {
    case .attribute, .transient: return nil
    case .toOne(let r, _, _), .list(let r, _, _), .members(let r, _, _): return r
    }
  }

  /// What an object has that it did not have before. Of an object that was never saved and is gone again, everything.
  static func changes(of object: ManagedObject, since event: EventState) throws -> [PropertyChange] {
    guard let context = object.managedObjectContext else { return [] }
    let old = event.snapshot
    let isGone = object.isDeleted && object.state == .inserted
    func objects(_ ids: [ManagedObjectID]) -> [ManagedObject] { ids.map { context.object(with: $0) } }
    var result: [PropertyChange] = []
    for property in object.info.ordered {
      if property.isTransient {
        let name = property.name
        let (before, after) = (old?.transients[name], isGone ? nil : object.transients[name])
        // Values of any type cannot be compared.
        if before != nil || after != nil { result.append(.transient(name, before: before)) }
        continue
      }
      switch property.kind {
      case .attribute(let attribute, _):
        let (before, after) = (
          old?.attributeChanges[property.place], isGone ? nil : object.changedAttribute(at: property.place)
        )
        if property.isDerived || before == nil && after == nil { continue }
        let committed = try object.committedValue(attribute)
        if before ?? committed != after ?? committed {
          result.append(.attribute(attribute, before: before ?? committed, after: after ?? committed))
        }
      case .relationship(let r) where r.isToMany && r.isOrdered:
        let (before, after) = (old?.toManyChanges[r.place]?.list, isGone ? nil : object.toManyChanges[r.place]?.list)
        if before == nil && after == nil { continue }
        let committed = try old?.toManyChanges[r.place]?.base ?? object.listBeforeChanges(r)
        // What is changed no longer shows what is stored, which the object's row may not know yet.
        let shown = try after ?? (isGone ? committed : object.committedToMany(r))
        if before ?? committed != shown {
          result.append(.list(r, before: objects(before ?? committed), after: objects(shown)))
        }
      case .relationship(let r) where r.isToMany:
        let (before, after) = (old?.toManyChanges[r.place], isGone ? nil : object.toManyChanges[r.place])
        if before == nil && after == nil { continue }
        let (added, removed) = (after ?? ToManyChange()).difference(from: before ?? ToManyChange())
        if !(added.isEmpty && removed.isEmpty) {
          result.append(.members(r, added: objects(added), removed: objects(removed)))
        }
      case .relationship(let r):
        let before = old?.toOneChanges[r.place]
        let after = isGone ? nil : object.toOneChanges[r.place]
        if before == nil && after == nil { continue }
        let committed = try object.committedToOne(r)
        if before ?? committed != after ?? committed {
          func object(_ id: ManagedObjectID?) -> ManagedObject? { id.map { context.object(with: $0) } }
          result.append(.toOne(r, before: object(before ?? committed), after: object(after ?? committed)))
        }
      }
    }
    return result
  }

  /// What the property had before, as ``ManagedObject/value(forKey:)`` gives it.
  func oldValue(of object: ManagedObject) throws -> Any? {
    switch self {
    case .attribute(let attribute, let before, _):
      let value = before.foundation(type: attribute.type, objects: object.objectID.space)
      guard let property = object.info.properties[attribute.name], property.isTransformed else { return value }
      return try property.rules?.transformed(value, path: attribute.name, entity: object.entity.name)
    case .transient(_, let before): return before
    case .toOne(_, let before, _): return before
    case .list(_, let before, _): return before
    case .members(let r, let added, let removed):
      let context = try object.requireContext()
      let present = try object.currentToMany(r).map { context.object(with: $0) }
      return Set(present).subtracting(added).union(removed)
    }
  }
}

/// The values of an object that was deleted and saved.
final class ObjectRemains {
  let attributes: [(attribute: AttributeSchema, value: Value)]
  let transients: [String: Any]
  let toOne: [(r: RelationshipInfo, destination: ManagedObject)]
  let toMany: [(r: RelationshipInfo, destinations: [ManagedObject])]

  /// - Precondition: The object was not saved as deleted yet.
  init(_ object: ManagedObject, in context: ManagedObjectContext) throws {
    var attributes: [(AttributeSchema, Value)] = []
    var toOne: [(RelationshipInfo, ManagedObject)] = []
    var toMany: [(RelationshipInfo, [ManagedObject])] = []
    for property in object.info.ordered where !property.isTransient && !property.isDerived {
      switch property.kind {
      case .attribute(let attribute, _):
        let value = try object.currentValue(attribute)
        if !value.isNull { attributes.append((attribute, value)) }
      case .relationship(let r) where r.isToMany:
        let committed = try object.committedToMany(r)
        let ids = object.toManyChanges[property.place]?.applied(to: committed) ?? committed
        if !ids.isEmpty { toMany.append((r, ids.map { context.object(with: $0) })) }
      case .relationship(let r):
        if let id = try object.currentToOne(r) { toOne.append((r, context.object(with: id))) }
      }
    }
    self.attributes = attributes
    self.toOne = toOne
    self.toMany = toMany
    transients = object.transients
  }
}

extension ToManyChange {
  /// What came and what went since an earlier change of the same relationship, both in order.
  func difference(from old: ToManyChange) -> (added: [ManagedObjectID], removed: [ManagedObjectID]) {
    var added: [ManagedObjectID] = []
    var removed: [ManagedObjectID] = []
    for id in touched.union(old.touched).ordered(by: { $0.reference < $1.reference }) {
      // To leave an object alone that had come is to remove it, and the other way round.
      switch (old.state(of: id), state(of: id)) {
      case (nil, nil), (true?, true?), (false?, false?): break
      case (_, true?), (false?, nil): added.append(id)
      case (_, false?), (true?, nil): removed.append(id)
      }
    }
    return (added, removed)
  }
}

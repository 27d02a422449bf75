import CambiumEngine
import CambiumKernel

/// The values of key paths in a store that was read out as a whole: step by step, without the engine's paths.
struct NaiveValues {
  let schema: Schema
  let store: NaiveStore
  /// By row.
  private(set) var references: [UInt64: ObjectReference] = [:]
  /// All of them, ascending.
  private var ordered: [ObjectReference] = []
  /// Objects that are no more, which others lead to still.
  let ghosts: [UInt64: ObjectReference]

  init(_ schema: Schema, _ store: NaiveStore, ghosts: [UInt64: ObjectReference] = [:]) {
    self.schema = schema
    self.store = store
    self.ghosts = ghosts
    for (row, object) in store.objects {
      guard let entity = schema.entity(named: object.entity) else { continue }
      references[row] = ObjectReference(entity: entity.id, row: row)
    }
    ordered = references.values.sorted { $0.row < $1.row }
  }

  /// The objects of an entity, ascending.
  func objects(of entity: EntitySchema, includesSubentities: Bool) -> [ObjectReference] {
    ordered.filter {
      $0.entity == entity.id || (includesSubentities && schema.isEntity($0.entity, orDescendantOf: entity.id))
    }
  }

  func value(_ object: ObjectReference, _ path: String) -> Value {
    if path == "self" || path == "objectID" { return .reference(object) }
    guard let known = store.objects[object.row] else { return .null }
    var names = path.split(separator: ".").map { String($0) }
    let name = names.removeFirst()
    if let rows = known.relationships[name] {
      guard let relationship = schema.entity(id: object.entity)?.relationship(named: name) else { return .null }
      var values: [Value] = []
      for row in rows {
        guard let target = references[row] ?? (names.isEmpty ? ghosts[row] : nil) else { continue }
        let found = names.isEmpty ? Value.reference(target) : value(target, names.joined(separator: "."))
        if !relationship.isToMany { return found }
        if case .list(let inner) = found { values += inner } else { values.append(found) }
      }
      return relationship.isToMany ? .list(values) : .null
    }
    var value = known.attributes[name] ?? .null
    for element in names {
      guard case .composite(let composite) = value else { return .null }
      value = composite[element] ?? .null
    }
    return value
  }

  func holds(_ predicate: Predicate, for object: ObjectReference) throws -> Bool {
    try predicate.evaluate { (other: ObjectReference?, path: String) throws(Never) in value(other ?? object, path) }
  }
}

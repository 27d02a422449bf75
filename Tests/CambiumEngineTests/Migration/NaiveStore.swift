import CambiumEngine
import CambiumKernel

/// All objects of a store, by their row numbers, as plain values.
struct NaiveStore: Equatable {
  struct Object: Equatable {
    var entity: String
    var attributes: [String: Value] = [:]
    /// Rows: in order if the relationship is ordered, else ascending.
    var relationships: [String: [UInt64]] = [:]
  }

  var objects: [UInt64: Object] = [:]

  /// Reads everything out of a store.
  init(_ store: EntityStore) throws { try self.init(try store.view()) }

  /// Reads everything out of a view.
  init(_ view: EntityView) throws {
    for entity in view.store.schema.entities {
      try view.rows(entity: entity, includesSubentities: false) { (row) throws(EngineError) in
        var object = Object(entity: entity.name)
        for attribute in entity.allAttributes where !attribute.isTransient {
          object.attributes[attribute.name] = try row.value(attribute)
        }
        for relationship in entity.allRelationships where !relationship.isTransient {
          let rows = try view.related(row.reference, relationship).map { $0.row }
          object.relationships[relationship.name] = relationship.isOrdered ? rows : rows.sorted()
        }
        objects[row.reference.row] = object
        return true
      }
    }
  }

  init() {}

  /// What differs between two stores, in words; nil if nothing does.
  func difference(from other: NaiveStore) -> String? {
    if self == other { return nil }
    for (row, object) in objects.sorted(by: { $0.key < $1.key }) {
      guard let theirs = other.objects[row] else { return "row \(row) of \(object.entity) is missing" }
      if object == theirs { continue }
      var parts: [String] = object.entity == theirs.entity ? [] : ["is a \(theirs.entity)"]
      for name in Set(object.attributes.keys).union(theirs.attributes.keys).sorted()
      where object.attributes[name] != theirs.attributes[name] {
        parts.append(
          "\(name) is \(theirs.attributes[name].map { "\($0)" } ?? "missing"), expected "
            + "\(object.attributes[name].map { "\($0)" } ?? "none")")
      }
      for name in Set(object.relationships.keys).union(theirs.relationships.keys).sorted()
      where object.relationships[name] != theirs.relationships[name] {
        parts.append("\(name) is \(theirs.relationships[name] ?? []), expected \(object.relationships[name] ?? [])")
      }
      return "row \(row), \(object.entity): " + parts.joined(separator: "; ")
    }
    for (row, object) in other.objects where objects[row] == nil {
      return "row \(row) of \(object.entity) is there still"
    }
    return "they differ"
  }
}

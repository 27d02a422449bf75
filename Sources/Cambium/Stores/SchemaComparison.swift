import CambiumEngine

/// Compares what two schemas store: names, types, structure and constraints; not delete rules, defaults, limits, user info
/// or indexes, which need no migration.
enum SchemaComparison {
  /// The names of the entities, of either, that differ, in order.
  static func differingEntities(_ a: Schema, _ b: Schema) -> [String] {
    let left = parts(a)
    let right = parts(b)
    var names = Set(left.keys).union(right.keys).filter { left[$0] != right[$0] }
    // What differs in a parent differs in its children.
    for schema in [a, b] {
      for entity in schema.entities where names.contains(entity.name) {
        for descendant in schema.entityAndDescendants(entity.id) { names.insert(descendant.name) }
      }
    }
    return names.sorted()
  }

  private static func parts(_ schema: Schema) -> [String: [String]] {
    Dictionary(
      schema.entities.map { entity in
        var parts = ["entity \(entity.parent ?? "-") \(entity.isAbstract) \(entity.versionHashModifier ?? "-")"]
        parts += entity.attributes.map { part($0) }.sorted()
        parts += entity.relationships.map { part($0) }.sorted()
        parts += entity.uniquenessConstraints.map { "unique \($0.paths)" }.sorted()
        return (entity.name, parts)
      }, uniquingKeysWith: { first, _ in first })
  }

  private static func part(_ attribute: AttributeSchema) -> String {
    let elements = attribute.elements.map { part($0) }.joined(separator: "; ")
    return "\(attribute.name): \(attribute.type.rawValue) \(attribute.isOptional) \(attribute.isTransient) "
      + "\(attribute.versionHashModifier ?? "-") [\(elements)]"
  }

  private static func part(_ r: RelationshipSchema) -> String {
    "\(r.name) -> \(r.destination) \(r.inverse ?? "-") \(r.isToMany) \(r.isOrdered) \(r.minimumCount) "
      + "\(r.maximumCount) \(r.isOptional) \(r.isTransient) \(r.versionHashModifier ?? "-")"
  }
}

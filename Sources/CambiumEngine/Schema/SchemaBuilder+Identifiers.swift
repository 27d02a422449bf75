extension SchemaBuilder {
  /// Gives every entity and property its identifier: the one it has in `earlier`, or a fresh one.
  mutating func assignIdentifiers(earlier: Schema?) throws(SchemaError) {
    if let earlier { next = earlier.nextIdentifiers }
    try nameEntities()
    let old = earlier?.entities ?? []
    let matches = matchIdentities(
      entities.map { Identity(name: $0.name, canonicalName: $0.canonicalName) },
      old.map { Identity(name: $0.name, canonicalName: $0.canonicalName) })
    for place in entities.indices {
      let match = matches[place].map { old[$0] }
      entities[place].id = if let match { match.id } else { try next.takeEntity() }
      var attributes = entities[place].attributes
      try identify(&attributes, old: match?.attributes ?? [])
      entities[place].attributes = attributes
      try identifyRelationships(place, old: match?.relationships ?? [])
    }
  }

  /// Attributes and elements. The depth is bounded, since the composites have been expanded.
  private mutating func identify(_ attributes: inout [AttributeSchema], old: [AttributeSchema]) throws(SchemaError) {
    let matches = matchIdentities(
      attributes.map { Identity(name: $0.name, canonicalName: $0.canonicalName) },
      old.map { Identity(name: $0.name, canonicalName: $0.canonicalName) })
    for index in attributes.indices {
      var match = matches[index].map { old[$0] }
      // A composite's bytes are a record of its own; no other type reads them.
      if let found = match, (found.type == .composite) != (attributes[index].type == .composite) { match = nil }
      attributes[index].id = if let match { match.id } else { try next.takeProperty() }
      try identify(&attributes[index].elements, old: match?.elements ?? [])
    }
  }

  private mutating func identifyRelationships(_ place: Int, old: [RelationshipSchema]) throws(SchemaError) {
    let new = entities[place].relationships
    let matches = matchIdentities(
      new.map { Identity(name: $0.name, canonicalName: $0.canonicalName) },
      old.map { Identity(name: $0.name, canonicalName: $0.canonicalName) })
    for index in new.indices {
      entities[place].relationships[index].id =
        if let match = matches[index] { old[match].id } else { try next.takeProperty() }
    }
  }

  /// Indexes and constraints: the same entity, the same properties in the same order, and for indexes the same name,
  /// directions, kind and partial predicate.
  mutating func identifyKeys(_ place: Int, schema: Schema, earlier: Schema?) throws(SchemaError) {
    let entity = entities[place]
    let old = earlier?.entity(id: entity.id)
    for index in entity.indexes.indices {
      let new = entity.indexes[index]
      var id: UInt32?
      for candidate in old?.indexes ?? [] where candidate.name == new.name && isSame(new, candidate) {
        if isSamePaths(
          new.elements.map { $0.path }, schema, candidate.elements.map { $0.path }, earlier, entity: entity.id)
        {
          id = candidate.id
        }
      }
      entities[place].indexes[index].id = if let id { id } else { try next.takeIndex() }
    }
    var taken: Set<UInt32> = []
    for index in entity.uniquenessConstraints.indices {
      let new = entity.uniquenessConstraints[index]
      var id: UInt32?
      for candidate in old?.uniquenessConstraints ?? [] where id == nil && !taken.contains(candidate.id) {
        if isSamePaths(new.paths, schema, candidate.paths, earlier, entity: entity.id) { id = candidate.id }
      }
      if let id { taken.insert(id) }
      entities[place].uniquenessConstraints[index].id = if let id { id } else { try next.takeIndex() }
    }
  }

  private func isSame(_ a: IndexSchema, _ b: IndexSchema) -> Bool {
    guard a.partialPredicate == b.partialPredicate, a.elements.count == b.elements.count else { return false }
    for index in a.elements.indices {
      let (x, y) = (a.elements[index], b.elements[index])
      guard x.isAscending == y.isAscending, x.kind == y.kind else { return false }
    }
    return true
  }

  private func isSamePaths(
    _ new: [String], _ schema: Schema, _ old: [String], _ earlier: Schema?, entity: UInt32
  ) -> Bool {
    guard new.count == old.count, let earlier else { return false }
    for index in new.indices {
      guard let a = try? schema.resolve(keyPath: new[index], from: entity),
        let b = try? earlier.resolve(keyPath: old[index], from: entity), a.propertyIDs == b.propertyIDs,
        a.type == b.type
      else { return false }
    }
    return true
  }
}

extension ResolvedPath {
  /// The identifiers of the properties that the path goes through; 0 for the object itself and its identifier.
  public var propertyIDs: [UInt32] {
    steps.map {
      switch $0 {
      case .attribute(let attribute), .element(let attribute): return attribute.id
      case .toOne(let relationship, _), .toMany(let relationship, _): return relationship.id
      case .objectID, .evaluatedObject: return 0
      }
    }
  }
}

/// What an entity or property is matched by across versions.
struct Identity: Equatable {
  var name: String
  var canonicalName: String
}

/// For each of `new` the place of its match in `old`: first by name and canonical name, then by canonical name, then by
/// name. None of `old` is matched twice.
func matchIdentities(_ new: [Identity], _ old: [Identity]) -> [Int?] {
  var matches = [Int?](repeating: nil, count: new.count)
  var isTaken = [Bool](repeating: false, count: old.count)
  // Nearly everything is where it was, and needs no table.
  var kept = 0
  for index in 0..<min(new.count, old.count) where new[index] == old[index] {
    matches[index] = index
    isTaken[index] = true
    kept += 1
  }
  if kept == new.count || kept == old.count { return matches }
  var byName: [String: Int] = [:]
  for index in old.indices where !isTaken[index] { byName[old[index].name] = index }
  for index in new.indices where matches[index] == nil {
    guard let candidate = byName[new[index].name], !isTaken[candidate],
      old[candidate].canonicalName == new[index].canonicalName
    else { continue }
    matches[index] = candidate
    isTaken[candidate] = true
  }
  var byCanonicalName: [String: Int] = [:]
  for index in old.indices where !isTaken[index] { byCanonicalName[old[index].canonicalName] = index }
  for index in new.indices where matches[index] == nil {
    guard let candidate = byCanonicalName[new[index].canonicalName], !isTaken[candidate] else { continue }
    matches[index] = candidate
    isTaken[candidate] = true
  }
  for index in new.indices where matches[index] == nil {
    guard let candidate = byName[new[index].name], !isTaken[candidate] else { continue }
    matches[index] = candidate
    isTaken[candidate] = true
  }
  return matches
}

extension SchemaBuilder {
  /// Gives every entity and property its identifier: the one it has in `earlier`, or a fresh one.
  mutating func assignIdentifiers(earlier: Schema?) throws(SchemaError) {
    if let earlier { next = earlier.nextIdentifiers }
    try nameEntities()
    let old = earlier?.entities ?? []
    let matches = matchIdentities(
      entities.map { Identity($0.name, $0.renamingIdentifier) },
      old.map { Identity($0.name, $0.renamingIdentifier) })
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
      attributes.map { Identity($0.name, $0.renamingIdentifier) },
      old.map { Identity($0.name, $0.renamingIdentifier) })
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
      new.map { Identity($0.name, $0.renamingIdentifier) },
      old.map { Identity($0.name, $0.renamingIdentifier) })
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
  /// Whether the model sets the canonical name, which may be the name.
  var isSet: Bool

  init(_ name: String, _ renamingIdentifier: String?) {
    self.name = name
    canonicalName = renamingIdentifier ?? name
    isSet = renamingIdentifier != nil
  }

  /// Whether both names are the same, set or not.
  static func == (a: Identity, b: Identity) -> Bool { a.name == b.name && a.canonicalName == b.canonicalName }
}

/// For each of `new` the place of its match in `old`; none of `old` is matched twice.
///
/// An identifier that the new model sets comes before a name, and a name before an identifier that is only the name. So
/// a new property may have the former name of another one: the values of `fullName`, which was `name`, do not go to it.
///
/// 1. with an identifier that is set: the part with the same name and identifier, then that with the same identifier;
///    but not if its own name and the name that the identifier is are there before and after, because nothing is
///    renamed then,
/// 2. the part with the same name,
/// 3. the part with an identifier that is the name.
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
  if kept == new.count { return matches }
  let identified = new.indices.filter { matches[$0] == nil && new[$0].isSet }
  if identified.isEmpty {
    if kept == old.count { return matches }
  } else {
    // A part with an identifier may take another one's place.
    for index in new.indices where matches[index] != nil && !new[index].isSet {
      matches[index] = nil
      isTaken[index] = false
    }
  }
  var byName: [String: Int] = [:]
  var byCanonicalName: [String: Int] = [:]
  for index in old.indices where !isTaken[index] {
    byName[old[index].name] = index
    // That with the identifier comes before that with the name.
    if let other = byCanonicalName[old[index].canonicalName], old[other].isSet, !old[index].isSet { continue }
    byCanonicalName[old[index].canonicalName] = index
  }
  func match(_ index: Int, _ candidate: Int?) {
    guard let candidate, matches[index] == nil, !isTaken[candidate] else { return }
    matches[index] = candidate
    isTaken[candidate] = true
  }
  for index in identified {
    guard let candidate = byName[new[index].name], old[candidate] == new[index] else { continue }
    match(index, candidate)
  }
  let plain = Set(new.lazy.filter { !$0.isSet }.map { $0.name })
  for index in identified {
    guard let candidate = byCanonicalName[new[index].canonicalName] else { continue }
    if !old[candidate].isSet, plain.contains(old[candidate].name), byName[new[index].name] != nil { continue }
    match(index, candidate)
  }
  for index in new.indices { match(index, byName[new[index].name]) }
  for index in new.indices where !new[index].isSet { match(index, byCanonicalName[new[index].canonicalName]) }
  return matches
}

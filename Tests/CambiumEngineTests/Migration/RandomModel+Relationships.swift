import CambiumEngine
import CambiumTesting

// Random changes of relationships that move, lead elsewhere, or have to lead somewhere; and of keys.

extension RandomModel {
  // MARK: Required ones

  /// A required relationship that nothing fills, so that whatever objects there are stand in the way; with an inverse
  /// as new as it is, or without.
  mutating func addRequiredRelationship() -> Bool {
    let a = random.below(definition.entities.count)
    let b = random.below(definition.entities.count)
    let there = name("r")
    let back = random.oneIn(2) ? name("r") : nil
    var relationship = newRelationship(there, definition.entities[b].name, back)
    relationship.isOptional = false
    Self.needSome(&relationship, &random)
    definition.entities[a].relationships.append(relationship)
    if let back {
      definition.entities[b].relationships.append(newRelationship(back, definition.entities[a].name, there))
    }
    return true
  }

  /// Gives most to-many relationships a minimum count, without which a required one may be empty.
  static func needSome(_ relationship: inout RelationshipSchema, _ random: inout SplitMix64) {
    if relationship.isToMany, !random.oneIn(3) { relationship.minimumCount = 1 }
  }

  // MARK: Elsewhere in the hierarchy

  private func index(_ name: String?) -> Int? { definition.entities.firstIndex { $0.name == name } }

  /// A relationship becomes one of the parent; its inverse may lead to the parent from then on, or to the child still.
  mutating func moveRelationshipUp() -> Bool {
    let candidates = definition.entities.indices.flatMap { entity in
      definition.entities[entity].parent == nil
        ? [] : definition.entities[entity].relationships.indices.map { (entity, $0) }
    }
    .filter { !isKey(definition.entities[$0.0].relationships[$0.1].name) }
    guard !candidates.isEmpty else { return false }
    let (child, place) = random.pick(candidates)
    guard let parent = index(definition.entities[child].parent) else { return false }
    let moved = definition.entities[child].relationships.remove(at: place)
    // What went down into several children comes back from all of them.
    for name in NaiveModel(definition).family(definition.entities[parent].name) {
      guard let other = index(name) else { continue }
      definition.entities[other].relationships.removeAll { $0.name == moved.name }
    }
    definition.entities[parent].relationships.append(moved)
    if let inverse = moved.inverse, inverse != moved.name, random.oneIn(2) {
      lead(inverse, to: definition.entities[parent].name)
    }
    return true
  }

  /// A relationship becomes one of each child. Where there is one child, its inverse may lead to that, which cannot be
  /// inferred as long as the parent is there; else they are no inverses any more.
  mutating func moveRelationshipDown() -> Bool {
    let candidates = places { !isKey($0.name) }
      .filter { entity, _ in definition.entities.contains { $0.parent == definition.entities[entity].name } }
    if candidates.isEmpty { return false }
    let (parent, place) = random.pick(candidates)
    let children = definition.entities.indices.filter {
      definition.entities[$0].parent == definition.entities[parent].name
    }
    var moved = definition.entities[parent].relationships.remove(at: place)
    if let inverse = moved.inverse {
      if children.count == 1, inverse != moved.name, random.oneIn(4) {
        lead(inverse, to: definition.entities[children[0]].name)
      } else {
        part(moved.name, inverse)
        moved.inverse = nil
      }
    }
    for child in children { definition.entities[child].relationships.append(moved) }
    return true
  }

  private mutating func lead(_ relationship: String, to destination: String) {
    for entity in definition.entities.indices {
      for place in definition.entities[entity].relationships.indices
      where definition.entities[entity].relationships[place].name == relationship {
        definition.entities[entity].relationships[place].destination = destination
      }
    }
  }

  /// Two relationships are no inverses any more.
  private mutating func part(_ one: String, _ other: String) {
    for entity in definition.entities.indices {
      for place in definition.entities[entity].relationships.indices
      where [one, other].contains(definition.entities[entity].relationships[place].name) {
        definition.entities[entity].relationships[place].inverse = nil
      }
    }
  }

  /// A relationship leads to an ancestor of what it led to, which all are that it leads to; or to any other entity,
  /// which seldom can be inferred.
  mutating func changeDestination(toAncestor: Bool) -> Bool {
    let model = NaiveModel(definition)
    var candidates: [(entity: Int, place: Int, destination: String)] = []
    for (entity, place) in places({ $0.inverse == nil && !isKey($0.name) }) {
      let now = definition.entities[entity].relationships[place].destination
      let above = model.entity(now).map { model.path($0).dropFirst().map { $0.name } } ?? []
      let others = definition.entities.map { $0.name }.filter { $0 != now && !above.contains($0) }
      candidates += (toAncestor ? above : others).map { (entity, place, $0) }
    }
    if candidates.isEmpty { return false }
    let (entity, place, destination) = random.pick(candidates)
    definition.entities[entity].relationships[place].destination = destination
    return true
  }

  // MARK: Other kinds of properties

  /// An attribute gets the name of a relationship, which goes.
  mutating func makeAttribute() -> Bool {
    let candidates = places { !isKey($0.name) }
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    let gone = definition.entities[entity].relationships.remove(at: place)
    if let inverse = gone.inverse { part(gone.name, inverse) }
    var attribute = newAttribute()
    attribute.name = gone.name
    definition.entities[entity].attributes.append(attribute)
    return true
  }

  /// A number that an index or a constraint is made of becomes one of another type.
  mutating func changeTypeOfKey() -> Bool {
    let candidates = definition.entities.indices.flatMap { entity in
      definition.entities[entity].attributes.indices.filter {
        let attribute = definition.entities[entity].attributes[$0]
        return attribute.type.isNumeric && attribute.defaultValue.isNull && isKey(attribute.name)
      }
      .map { (entity, $0) }
    }
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    let now = definition.entities[entity].attributes[place].type
    definition.entities[entity].attributes[place].type = Self.otherNumber(than: now, &random)
    return true
  }

  // MARK: Before the first change

  /// Gives a model what changes seldom bring, for other changes to find: entities that are abstract, though never all
  /// of them, attributes that are required, perhaps with a default, and relationships that are required.
  mutating func vary() {
    for entity in definition.entities.indices {
      if entity > 0, random.oneIn(5) { definition.entities[entity].isAbstract = true }
      for place in definition.entities[entity].attributes.indices where random.oneIn(4) {
        let attribute = definition.entities[entity].attributes[place]
        // Objects are made unique by values that are null for some types.
        if attribute.type == .composite || isKey(attribute.name) { continue }
        definition.entities[entity].attributes[place].isOptional = false
        if random.oneIn(2) {
          definition.entities[entity].attributes[place].defaultValue = Self.value(attribute.type, &random)
        }
      }
      for place in definition.entities[entity].relationships.indices where random.oneIn(5) {
        definition.entities[entity].relationships[place].isOptional = false
        Self.needSome(&definition.entities[entity].relationships[place], &random)
      }
    }
  }
}

import CambiumEngine
import CambiumTesting

// Random changes of inverses, of elements of composites, and of hierarchies by several entities at once.

extension RandomModel {
  // MARK: Inverses

  mutating func addInverse(isRequired: Bool) -> Bool {
    let candidates = places { $0.inverse == nil }
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    let relationship = definition.entities[entity].relationships[place]
    guard let other = definition.entities.firstIndex(where: { $0.name == relationship.destination }) else {
      return false
    }
    var back = newRelationship(name("r"), definition.entities[entity].name, relationship.name)
    back.isOptional = !isRequired
    definition.entities[entity].relationships[place].inverse = back.name
    definition.entities[other].relationships.append(back)
    return true
  }

  mutating func makeOwnInverse() -> Bool {
    let candidates = places { $0.inverse == nil }.filter { entity, place in
      definition.entities[entity].relationships[place].destination == definition.entities[entity].name
    }
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    definition.entities[entity].relationships[place].inverse = definition.entities[entity].relationships[place].name
    return true
  }

  mutating func makeInverses() -> Bool {
    let free = places { $0.inverse == nil }
    var pairs: [((Int, Int), (Int, Int))] = []
    for a in free {
      let first = definition.entities[a.0].relationships[a.1]
      for b in free where a != b {
        let second = definition.entities[b.0].relationships[b.1]
        if first.destination == definition.entities[b.0].name, second.destination == definition.entities[a.0].name {
          pairs.append((a, b))
        }
      }
    }
    if pairs.isEmpty { return false }
    let (a, b) = random.pick(pairs)
    definition.entities[a.0].relationships[a.1].inverse = definition.entities[b.0].relationships[b.1].name
    definition.entities[b.0].relationships[b.1].inverse = definition.entities[a.0].relationships[a.1].name
    return true
  }

  mutating func partInverses() -> Bool {
    let candidates = places { $0.inverse != nil }
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    let parted = definition.entities[entity].relationships[place]
    for entity in definition.entities.indices {
      for place in definition.entities[entity].relationships.indices {
        let relationship = definition.entities[entity].relationships[place]
        if relationship.name == parted.name || relationship.inverse == parted.name {
          definition.entities[entity].relationships[place].inverse = nil
        }
      }
    }
    return true
  }

  // MARK: Elements

  mutating func requireElement(_ place: Int, withDefault: Bool) -> Bool {
    var seed = random
    let isMade = onAttribute(place, where: { $0.type == .composite && $0.elements.contains { $0.isOptional } }) {
      a, _ in
      guard let index = a.elements.firstIndex(where: { $0.isOptional }) else { return }
      Self.require(&a.elements[index], withDefault: withDefault, &seed)
    }
    random = seed
    return isMade
  }

  mutating func addRequiredElement(_ place: Int, withDefault: Bool) -> Bool {
    var element = newAttribute()
    var seed = random
    Self.require(&element, withDefault: withDefault, &seed)
    random = seed
    return onAttribute(place, where: { $0.type == .composite }) { a, _ in a.elements.append(element) }
  }

  private static func require(_ element: inout AttributeSchema, withDefault: Bool, _ random: inout SplitMix64) {
    element.isOptional = false
    if withDefault, element.type != .composite { element.defaultValue = value(element.type, &random) }
  }

  /// A flat attribute goes into a composite that is there, perhaps into one within it.
  mutating func moveIntoComposite(_ place: Int) -> Bool {
    let flat = definition.entities[place].attributes.filter {
      $0.type != .composite && !isKey($0.name)
    }
    let composites = definition.entities[place].attributes.indices.filter {
      definition.entities[place].attributes[$0].type == .composite
    }
    if flat.isEmpty || composites.isEmpty { return false }
    let old = random.pick(flat)
    let goal = random.pick(composites)
    var element = AttributeSchema(name("a"), old.type, optional: !random.oneIn(4))
    // An identifier stays what it was in the first version that had the property.
    element.renamingIdentifier = old.canonicalName
    let inner = definition.entities[place].attributes[goal].elements.firstIndex { $0.type == .composite }
    if let inner, random.oneIn(2) {
      definition.entities[place].attributes[goal].elements[inner].elements.append(element)
    } else {
      definition.entities[place].attributes[goal].elements.append(element)
    }
    definition.entities[place].attributes.removeAll { $0.name == old.name }
    return true
  }

  /// An element becomes an attribute, and its composite stays; perhaps it goes into another composite.
  mutating func moveOutOfComposite(_ place: Int) -> Bool {
    let composites = definition.entities[place].attributes.indices.filter {
      let attribute = definition.entities[place].attributes[$0]
      return attribute.type == .composite && attribute.elements.count > 1 && !isKey(attribute.name)
    }
    if composites.isEmpty { return false }
    let index = random.pick(composites)
    let composite = definition.entities[place].attributes[index]
    let from = random.below(composite.elements.count)
    var moved = composite.elements[from]
    definition.entities[place].attributes[index].elements.remove(at: from)
    if moved.renamingIdentifier == nil || random.oneIn(2) {
      moved.renamingIdentifier = composite.name + "." + moved.name
    }
    moved.name = name("a")
    moved.isOptional = true
    let others = composites.filter { $0 != index }
    if !others.isEmpty, random.oneIn(2) {
      definition.entities[place].attributes[random.pick(others)].elements.append(moved)
    } else {
      definition.entities[place].attributes.append(moved)
    }
    return true
  }

  /// A whole composite goes into another one, which is new or there.
  mutating func moveCompositeIntoComposite(_ place: Int) -> Bool {
    let composites = definition.entities[place].attributes.filter {
      $0.type == .composite && !isKey($0.name) && $0.elements.allSatisfy { $0.type != .composite }
    }
    if composites.isEmpty { return false }
    var moved = random.pick(composites)
    definition.entities[place].attributes.removeAll { $0.name == moved.name }
    moved.renamingIdentifier = moved.canonicalName
    moved.name = name("c")
    let goal = definition.entities[place].attributes.firstIndex { $0.type == .composite }
    if let goal, random.oneIn(2) {
      definition.entities[place].attributes[goal].elements.append(moved)
    } else {
      definition.entities[place].attributes.append(AttributeSchema(name("c"), elements: [moved, newAttribute()]))
    }
    return true
  }

  // MARK: Entities

  /// An entity without relatives goes under a new entity of a hierarchy, or one that has some to a place where it may
  /// not be.
  mutating func moveUnderNewEntity(_ place: Int) -> Bool {
    let model = NaiveModel(definition)
    let own = Set(model.family(definition.entities[place].name))
    let targets = definition.entities.filter { !own.contains($0.name) }
    if targets.isEmpty { return false }
    let between = EntitySchema(name("E"), parent: random.pick(targets).name, attributes: [newAttribute()])
    definition.entities[place].parent = between.name
    definition.entities.append(between)
    return true
  }
}

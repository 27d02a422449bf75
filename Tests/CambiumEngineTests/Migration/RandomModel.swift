import CambiumEngine
import CambiumKernel
import CambiumTesting

/// Random models, and random changes of them.
struct RandomModel {
  var definition: SchemaDefinition
  /// The changes that were made, by name.
  var changes: [String] = []
  var random: SplitMix64
  private var names = 0

  static let plainTypes: [AttributeType] = [
    .integer16, .integer32, .integer64, .double, .float, .decimal, .string, .boolean, .date, .binary, .uuid, .uri,
  ]

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    definition = SchemaDefinition()
    for n in 0..<(2 + random.below(3)) {
      var entity = EntitySchema("E\(n)")
      if n > 0, random.oneIn(3) { entity.parent = "E\(random.below(n))" }
      for _ in 0..<(1 + random.below(3)) { entity.attributes.append(newAttribute()) }
      if random.oneIn(3) { entity.attributes.append(newComposite()) }
      definition.entities.append(entity)
    }
    for _ in 0..<random.below(4) { addRelationship() }
    for place in definition.entities.indices where random.oneIn(3) { addKey(place, isUnique: random.oneIn(4)) }
  }

  mutating func name(_ prefix: String) -> String {
    names += 1
    return "\(prefix)\(names)"
  }

  mutating func newAttribute() -> AttributeSchema { AttributeSchema(name("a"), random.pick(Self.plainTypes)) }

  mutating func newComposite() -> AttributeSchema {
    var elements = (0..<(1 + random.below(3))).map { _ in newAttribute() }
    if random.oneIn(3) { elements.append(AttributeSchema(name("c"), elements: [newAttribute(), newAttribute()])) }
    return AttributeSchema(name("c"), elements: elements)
  }

  /// A value of a type; small numbers, so that narrower types often hold them.
  static func value(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
    let small = Int64(random.below(200)) - 100
    let number = random.oneIn(40) ? small * 1_000_000 : small
    switch type {
    case .integer16: return .integer(small)
    case .integer32, .integer64: return .integer(number)
    case .double: return .double(Double(number) + (random.oneIn(2) ? 0.5 : 0))
    case .float: return .float(Float(small) + (random.oneIn(2) ? 0.25 : 0))
    case .decimal:
      return .decimal(DecimalValue(isNegative: random.oneIn(2), coefficient: UInt128(small.magnitude), exponent: -1))
    case .string:
      // Now and then too long for a page, or written in one of two ways that are equal.
      if random.oneIn(20) { return .string(String(repeating: "long ", count: 100 + random.below(8000)) + "\(small)") }
      if random.oneIn(10) {
        return .string((random.oneIn(2) ? "caf\u{E9}" : "cafe\u{301}") + " \u{1F6E9}\u{0} \(small)")
      }
      return .string("text \(small)")
    case .boolean: return .boolean(random.oneIn(2))
    case .date: return .date(Double(small))
    case .binary, .transformable: return .binary(random.bytes(random.below(random.oneIn(12) ? 60_000 : 20)))
    case .uuid: return .uuid(UUIDBytes(high: random.next(), low: random.next()))
    case .uri: return .uri("https://example.org/\(small)")
    default: return .null
    }
  }

  // MARK: Changes

  /// The model with one to four changes.
  mutating func changed() -> RandomModel {
    var result = self
    result.random = SplitMix64(seed: random.next())
    result.changes = []
    // Renaming identifiers are those of the step to the next version.
    for _ in 0..<(1 + random.below(4)) { result.change() }
    return result
  }

  private mutating func change() {
    let place = random.below(definition.entities.count)
    switch random.below(52) {
    case 0: note("attribute added", addAttribute(place) { $0 })
    case 1:
      var seed = random
      note(
        "attribute added with default",
        addAttribute(place) { attribute in
          var result = attribute
          result.isOptional = false
          result.defaultValue = Self.value(attribute.type, &seed)
          return result
        })
      random = seed
    case 2:
      note(
        "required attribute added",
        addAttribute(place) {
          var a = $0; a.isOptional = false; return a
        })
    case 3: note("attribute removed", removeAttribute(place))
    case 4:
      note(
        "attribute renamed",
        onAttribute(place) { a, new in
          a.renamingIdentifier = a.canonicalName; a.name = new
        })
    case 5: note("attribute made optional", onAttribute(place) { a, _ in a.isOptional = true })
    case 6:
      let value = random
      note(
        "attribute made required with default",
        onAttribute(place) { a, _ in
          guard a.type != .composite else { return }
          var random = value
          a.isOptional = false
          a.defaultValue = Self.value(a.type, &random)
        })
    case 7:
      note(
        "attribute made required",
        onAttribute(place) { a, _ in
          a.isOptional = false; a.defaultValue = .null
        })
    case 8, 9:
      let type = random.pick([AttributeType.integer16, .integer32, .integer64, .double, .float, .decimal, .boolean])
      note(
        "numeric type changed",
        onAttribute(place, where: { $0.type.isNumeric && $0.defaultValue.isNull }) { a, _ in a.type = type })
    case 10:
      note(
        "type changed",
        onAttribute(place, where: { !$0.type.isNumeric && $0.type != .composite && $0.defaultValue.isNull }) { a, _ in
          a.type = .integer64
        })
    case 11, 12: note("relationship added", addRelationship())
    case 13: note("relationship removed", removeRelationship())
    case 14: note("relationship renamed", renameRelationship())
    case 15, 16:
      note(
        "to-one made to-many",
        onRelationship({ !$0.isToMany }) {
          $0.isToMany = true; $0.maximumCount = 0
        })
    case 17:
      note(
        "to-many made to-one",
        onRelationship({ $0.isToMany }) {
          $0.isToMany = false; $0.isOrdered = false; $0.maximumCount = 1
        })
    case 18, 19: note("to-many made ordered", onRelationship({ $0.isToMany && !$0.isOrdered }) { $0.isOrdered = true })
    case 20: note("ordered made unordered", onRelationship({ $0.isOrdered }) { $0.isOrdered = false })
    case 21:
      definition.entities.append(EntitySchema(name("E"), attributes: [newAttribute()]))
      note("entity added", true)
    case 22: note("entity removed", removeEntity(place))
    case 23: note("entity renamed", renameEntity(place))
    case 24: note("parent added", addParent(place))
    case 25:
      definition.entities.append(
        EntitySchema(name("E"), parent: definition.entities[place].name, attributes: [newAttribute()]))
      note("child added", true)
    case 26: note("attribute moved up", moveUp(place))
    case 27: note("attribute moved down", moveDown(place))
    case 28, 29: note("entity moved", moveEntity(place))
    case 30: note("attribute made relationship", makeRelationship(place))
    case 31:
      definition.entities[place].attributes.append(newComposite())
      note("composite added", true)
    case 32:
      let element = newAttribute()
      note(
        "composite extended",
        onAttribute(place, where: { $0.type == .composite }) { a, _ in a.elements.append(element) })
    case 33:
      note(
        "element renamed",
        onAttribute(place, where: { $0.type == .composite && $0.elements.contains { $0.type != .composite } }) {
          a, new in
          guard let index = a.elements.firstIndex(where: { $0.type != .composite }) else { return }
          a.elements[index].renamingIdentifier = a.elements[index].canonicalName
          a.elements[index].name = new
        })
    case 34:
      note(
        "element removed",
        onAttribute(place, where: { $0.type == .composite && $0.elements.count > 1 }) { a, _ in a.elements.removeLast()
        })
    case 35: note("attributes gathered", gather(place))
    case 36: note("composite spread", spread(place))
    case 37: note("index added", addKey(place, isUnique: false))
    case 38: note("constraint added", addKey(place, isUnique: true))
    case 39, 40: note("inverse added", addInverse())
    case 41: note("made its own inverse", makeOwnInverse())
    case 42: note("made inverses", makeInverses())
    case 43: note("inverses parted", partInverses())
    case 44: note("element made required", requireElement(place, withDefault: random.oneIn(3)))
    case 45, 46: note("required element added", addRequiredElement(place, withDefault: random.oneIn(3)))
    case 47: note("attribute moved into a composite", moveIntoComposite(place))
    case 48: note("element moved out of its composite", moveOutOfComposite(place))
    case 49: note("composite moved into another", moveCompositeIntoComposite(place))
    case 50: note("entity moved under a new one", moveUnderNewEntity(place))
    default:
      let has = definition.entities.firstIndex { !$0.uniquenessConstraints.isEmpty }
      if let has { definition.entities[has].uniquenessConstraints = [] }
      note("constraint removed", has != nil)
    }
  }

  private mutating func note(_ change: String, _ isMade: Bool) { if isMade { changes.append(change) } }

  private mutating func addAttribute(_ place: Int, _ make: (AttributeSchema) -> AttributeSchema) -> Bool {
    definition.entities[place].attributes.append(make(newAttribute()))
    return true
  }

  /// Whether indexes or constraints anywhere mention a name.
  func isKey(_ name: String) -> Bool {
    definition.entities.contains { entity in
      entity.indexes.contains {
        $0.elements.contains { $0.path.split(separator: ".").contains { $0 == name } }
          || $0.partialPredicate?.hasPrefix(name + " ") ?? false
      }
        || entity.uniquenessConstraints.contains {
          $0.paths.contains { $0.split(separator: ".").contains { $0 == name } }
        }
    }
  }

  mutating func onAttribute(
    _ place: Int, where condition: (AttributeSchema) -> Bool = { _ in true },
    _ body: (inout AttributeSchema, String) -> Void
  ) -> Bool {
    let candidates = definition.entities[place].attributes.indices.filter {
      let attribute = definition.entities[place].attributes[$0]
      return condition(attribute) && !isKey(attribute.name)
    }
    if candidates.isEmpty { return false }
    let new = name("a")
    body(&definition.entities[place].attributes[random.pick(candidates)], new)
    return true
  }

  private mutating func removeAttribute(_ place: Int) -> Bool {
    let candidates = definition.entities[place].attributes.indices.filter {
      !isKey(definition.entities[place].attributes[$0].name)
    }
    if candidates.isEmpty { return false }
    definition.entities[place].attributes.remove(at: random.pick(candidates))
    return true
  }

  @discardableResult
  private mutating func addKey(_ place: Int, isUnique: Bool) -> Bool {
    let candidates = definition.entities[place].attributes.filter { $0.type != .composite }
    if candidates.isEmpty { return false }
    let path = random.pick(candidates).name
    if isUnique {
      definition.entities[place].uniquenessConstraints.append(UniquenessConstraint([path]))
    } else {
      // Some are of some objects only.
      let other = random.pick(candidates).name
      definition.entities[place].indexes.append(
        IndexSchema(
          name("i"), [IndexElement(path, ascending: random.oneIn(2))],
          partialPredicate: random.oneIn(3) ? other + " != nil" : nil))
    }
    return true
  }

  // MARK: Relationships

  @discardableResult
  private mutating func addRelationship() -> Bool {
    let a = random.below(definition.entities.count)
    let hasInverse = !random.oneIn(4)
    // Within one entity more often, so that it can become its own inverse.
    let b = !hasInverse && random.oneIn(3) ? a : random.below(definition.entities.count)
    let there = name("r")
    let back = name("r")
    let first = newRelationship(there, definition.entities[b].name, hasInverse ? back : nil)
    definition.entities[a].relationships.append(first)
    // Two that lead to and fro, and are not inverses, may become that.
    if hasInverse || random.oneIn(2) {
      let second = newRelationship(back, definition.entities[a].name, hasInverse ? there : nil)
      definition.entities[b].relationships.append(second)
    }
    return true
  }

  mutating func newRelationship(_ name: String, _ to: String, _ inverse: String?) -> RelationshipSchema {
    switch random.below(4) {
    case 0, 1: return RelationshipSchema(name, to: to, inverse: inverse)
    case 2: return RelationshipSchema(name, toMany: to, inverse: inverse)
    default: return RelationshipSchema(name, toMany: to, inverse: inverse, ordered: true)
    }
  }

  func places(_ condition: (RelationshipSchema) -> Bool) -> [(Int, Int)] {
    definition.entities.indices.flatMap { entity in
      definition.entities[entity].relationships.indices.filter {
        condition(definition.entities[entity].relationships[$0])
      }
      .map { (entity, $0) }
    }
  }

  private mutating func onRelationship(
    _ condition: (RelationshipSchema) -> Bool, _ body: (inout RelationshipSchema) -> Void
  ) -> Bool {
    let candidates = places(condition)
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    body(&definition.entities[entity].relationships[place])
    return true
  }

  private mutating func removeRelationship() -> Bool {
    let candidates = places { _ in true }
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    let relationship = definition.entities[entity].relationships.remove(at: place)
    for other in definition.entities.indices {
      definition.entities[other].relationships.removeAll { $0.name == relationship.inverse }
    }
    return true
  }

  private mutating func renameRelationship() -> Bool {
    let candidates = places { _ in true }
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    let old = definition.entities[entity].relationships[place]
    let new = name("r")
    for other in definition.entities.indices {
      for index in definition.entities[other].relationships.indices
      where definition.entities[other].relationships[index].inverse == old.name {
        definition.entities[other].relationships[index].inverse = new
      }
    }
    definition.entities[entity].relationships[place].renamingIdentifier = old.canonicalName
    definition.entities[entity].relationships[place].name = new
    return true
  }

  // MARK: Entities

  private mutating func removeEntity(_ place: Int) -> Bool {
    let entity = definition.entities[place]
    guard definition.entities.count > 2, !definition.entities.contains(where: { $0.parent == entity.name }) else {
      return false
    }
    definition.entities.remove(at: place)
    for other in definition.entities.indices {
      definition.entities[other].relationships.removeAll { $0.destination == entity.name }
    }
    // Inverses that were inherited by nobody are gone with it.
    for other in definition.entities.indices {
      for index in definition.entities[other].relationships.indices {
        let inverse = definition.entities[other].relationships[index].inverse
        let exists = definition.entities.contains { $0.relationships.contains { $0.name == inverse } }
        if !exists { definition.entities[other].relationships[index].inverse = nil }
      }
    }
    return true
  }

  private mutating func renameEntity(_ place: Int) -> Bool {
    let old = definition.entities[place].name
    let new = name("E")
    definition.entities[place].renamingIdentifier = definition.entities[place].canonicalName
    definition.entities[place].name = new
    for other in definition.entities.indices {
      if definition.entities[other].parent == old { definition.entities[other].parent = new }
      for index in definition.entities[other].relationships.indices
      where definition.entities[other].relationships[index].destination == old {
        definition.entities[other].relationships[index].destination = new
      }
    }
    return true
  }

  private mutating func addParent(_ place: Int) -> Bool {
    var parent = EntitySchema(name("E"), parent: definition.entities[place].parent, attributes: [newAttribute()])
    parent.isAbstract = random.oneIn(2)
    definition.entities[place].parent = parent.name
    definition.entities.append(parent)
    return true
  }

  private mutating func moveUp(_ place: Int) -> Bool {
    let entity = definition.entities[place]
    guard let parent = definition.entities.firstIndex(where: { $0.name == entity.parent }),
      let index = entity.attributes.indices.first(where: {
        !isKey(entity.attributes[$0].name) && entity.attributes[$0].isOptional
      })
    else { return false }
    definition.entities[parent].attributes.append(definition.entities[place].attributes.remove(at: index))
    return true
  }

  private mutating func moveDown(_ place: Int) -> Bool {
    let entity = definition.entities[place]
    let children = definition.entities.indices.filter { definition.entities[$0].parent == entity.name }
    guard !children.isEmpty, let index = entity.attributes.indices.first(where: { !isKey(entity.attributes[$0].name) })
    else {
      return false
    }
    let attribute = definition.entities[place].attributes.remove(at: index)
    for child in children { definition.entities[child].attributes.append(attribute) }
    return true
  }

  private mutating func moveEntity(_ place: Int) -> Bool {
    let model = NaiveModel(definition)
    let own = Set(model.family(definition.entities[place].name))
    let targets = definition.entities.indices.filter { !own.contains(definition.entities[$0].name) }
    if definition.entities[place].parent != nil, random.oneIn(2) || targets.isEmpty {
      definition.entities[place].parent = nil
    } else if !targets.isEmpty {
      definition.entities[place].parent = definition.entities[random.pick(targets)].name
    } else {
      return false
    }
    return true
  }

  private mutating func makeRelationship(_ place: Int) -> Bool {
    guard
      let index = definition.entities[place].attributes.indices.first(where: {
        !isKey(definition.entities[place].attributes[$0].name)
      })
    else { return false }
    let attribute = definition.entities[place].attributes.remove(at: index)
    definition.entities[place].relationships.append(RelationshipSchema(attribute.name, to: definition.entities[0].name))
    return true
  }

  // MARK: Composites

  private mutating func gather(_ place: Int) -> Bool {
    let flat = definition.entities[place].attributes.filter {
      $0.type != .composite && !isKey($0.name) && $0.isOptional
    }.prefix(2)
    if flat.isEmpty { return false }
    let elements = flat.map { old in
      var element = AttributeSchema(name("a"), old.type)
      element.renamingIdentifier = old.canonicalName
      return element
    }
    definition.entities[place].attributes.removeAll { a in flat.contains { $0.name == a.name } }
    definition.entities[place].attributes.append(AttributeSchema(name("c"), elements: elements))
    return true
  }

  private mutating func spread(_ place: Int) -> Bool {
    guard
      let index = definition.entities[place].attributes.firstIndex(where: {
        $0.type == .composite && !isKey($0.name) && $0.renamingIdentifier == nil
      })
    else { return false }
    let composite = definition.entities[place].attributes.remove(at: index)
    for element in composite.elements where element.type != .composite && element.renamingIdentifier == nil {
      var flat = AttributeSchema(name("a"), element.type)
      flat.renamingIdentifier = composite.name + "." + element.name
      definition.entities[place].attributes.append(flat)
    }
    return true
  }
}

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
    let number = random.oneIn(15) ? small * 1_000_000 : small
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
    // Many kinds of changes need something that few models have.
    for _ in 0..<3 {
      let place = random.below(definition.entities.count)
      let before = definition
      let operation = Self.operations[random.pick(Self.draws)]
      // What changes nothing does not count.
      if operation.make(&self, place), definition != before { return changes.append(operation.name) }
    }
  }

  mutating func addAttribute(_ place: Int, _ make: (AttributeSchema) -> AttributeSchema) -> Bool {
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

  mutating func removeAttribute(_ place: Int, isComposite: Bool) -> Bool {
    let candidates = definition.entities[place].attributes.indices.filter {
      let attribute = definition.entities[place].attributes[$0]
      return (attribute.type == .composite) == isComposite && !isKey(attribute.name)
    }
    if candidates.isEmpty { return false }
    definition.entities[place].attributes.remove(at: random.pick(candidates))
    return true
  }

  @discardableResult
  mutating func addKey(_ place: Int, isUnique: Bool) -> Bool {
    let candidates = definition.entities[place].attributes.filter { $0.type != .composite }
    if candidates.isEmpty { return false }
    let path = random.pick(candidates).name
    if isUnique {
      // The same constraint once more would change nothing.
      if definition.entities[place].uniquenessConstraints.contains(where: { $0.paths == [path] }) { return false }
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
  mutating func addRelationship() -> Bool {
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

  mutating func onRelationship(
    _ condition: (RelationshipSchema) -> Bool, _ body: (inout RelationshipSchema) -> Void
  ) -> Bool {
    let candidates = places(condition)
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    body(&definition.entities[entity].relationships[place])
    return true
  }

  mutating func removeRelationship() -> Bool {
    let candidates = places { _ in true }
    if candidates.isEmpty { return false }
    let (entity, place) = random.pick(candidates)
    let relationship = definition.entities[entity].relationships.remove(at: place)
    for other in definition.entities.indices {
      definition.entities[other].relationships.removeAll { $0.name == relationship.inverse }
    }
    return true
  }

  mutating func renameRelationship() -> Bool {
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

  mutating func removeEntity(_ place: Int) -> Bool {
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

  mutating func renameEntity(_ place: Int) -> Bool {
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

  mutating func addParent(_ place: Int) -> Bool {
    var parent = EntitySchema(name("E"), parent: definition.entities[place].parent, attributes: [newAttribute()])
    parent.isAbstract = random.oneIn(2)
    definition.entities[place].parent = parent.name
    definition.entities.append(parent)
    return true
  }

  mutating func moveUp(_ place: Int) -> Bool {
    let entity = definition.entities[place]
    guard let parent = definition.entities.firstIndex(where: { $0.name == entity.parent }),
      let index = entity.attributes.indices.first(where: {
        !isKey(entity.attributes[$0].name) && entity.attributes[$0].isOptional
      })
    else { return false }
    let moved = definition.entities[place].attributes.remove(at: index)
    // What went down into several children comes back from all of them.
    for name in NaiveModel(definition).family(definition.entities[parent].name) {
      guard let other = definition.entities.firstIndex(where: { $0.name == name }) else { continue }
      definition.entities[other].attributes.removeAll { $0.name == moved.name }
    }
    definition.entities[parent].attributes.append(moved)
    return true
  }

  mutating func moveDown(_ place: Int) -> Bool {
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

  mutating func moveEntity(_ place: Int) -> Bool {
    let model = NaiveModel(definition)
    let own = Set(model.family(definition.entities[place].name))
    let targets = definition.entities.indices.filter {
      !own.contains(definition.entities[$0].name) && definition.entities[$0].name != definition.entities[place].parent
    }
    if definition.entities[place].parent != nil, random.oneIn(2) || targets.isEmpty {
      definition.entities[place].parent = nil
    } else if !targets.isEmpty {
      definition.entities[place].parent = definition.entities[random.pick(targets)].name
    } else {
      return false
    }
    return true
  }

  mutating func makeRelationship(_ place: Int) -> Bool {
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

  mutating func gather(_ place: Int) -> Bool {
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

  mutating func spread(_ place: Int) -> Bool {
    guard
      let index = definition.entities[place].attributes.firstIndex(where: {
        $0.type == .composite && !isKey($0.name) && $0.renamingIdentifier == nil
          && $0.elements.contains { $0.type != .composite && $0.renamingIdentifier == nil }
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

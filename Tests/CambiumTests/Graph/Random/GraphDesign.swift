import CambiumTesting

@testable import Cambium

/// A model that is drawn by chance: entities, one of which may inherit from another, attributes of several types,
/// uniqueness constraints, and relationships of all shapes with their delete rules.
final class GraphDesign {
  struct EntityDesign {
    let name: String
    var parent: String?
    var attributes: [Attribute] = []
    var derived: [Derived] = []
    /// Whether `code` is unique.
    var isUnique = false
    var isIndexed = false
  }

  enum Rule: Equatable { case nullify, cascade, deny, noAction }

  struct Side {
    var isToMany: Bool
    var isOrdered: Bool
    var rule: Rule
  }

  /// How many destinations there must be; no limit is 0.
  struct Counts {
    var isOptional = true
    var minimum = 0
    var maximum = 0
  }

  /// A relationship as its side with the inverse's name.
  struct Relationship {
    let name: String
    let entity: String
    /// Nil if there is none.
    let inverse: String?
    let destination: String
    let isToMany: Bool
    let isOrdered: Bool
    var rule: Rule
    var counts = Counts()
  }

  /// What the model has beside what all have.
  let kinds: GraphKinds
  private(set) var entities: [EntityDesign] = []
  private(set) var relationships: [Relationship] = []
  /// The entities that inherit from none of each store.
  private(set) var stores: [Set<String>]
  private var byName: [String: Relationship] = [:]
  private var ofEntity: [String: [Relationship]] = [:]

  init(_ random: inout SplitMix64, seed: UInt64, kinds: GraphKinds) {
    self.kinds = kinds
    stores = []
    let types: [AttributeType] = [.integer16, .integer32, .integer64, .string, .double, .decimal, .date, .binary]
    for place in 0..<Int.random(in: 2...3, using: &random) {
      let name = ["A", "B", "C"][place]
      var entity = EntityDesign(name: name)
      entity.attributes = (0..<Int.random(in: 1...3, using: &random)).map {
        Attribute(name: "v\($0)", type: types.randomElement(using: &random) ?? .integer64)
      }
      entity.isUnique = place == 0 || Int.random(in: 0..<3, using: &random) == 0
      entity.isIndexed = Bool.random(using: &random)
      entities.append(entity)
    }
    if Bool.random(using: &random), let parent = entities.randomElement(using: &random) {
      var entity = EntityDesign(name: "S", parent: parent.name)
      entity.attributes = [Attribute(name: "w", type: types.randomElement(using: &random) ?? .integer64)]
      entities.append(entity)
    }
    for number in 0..<Int.random(in: 3...7, using: &random) { drawRelationship(number, &random) }
    if kinds.contains(.dangling) {
      var random = GraphKinds.dangling.random(seed)
      drawDangling(&random)
    }
    if kinds.contains(.composites) {
      var random = GraphKinds.composites.random(seed)
      drawComposites(types, &random)
    }
    if kinds.contains(.rules) {
      var random = GraphKinds.rules.random(seed)
      drawRules(&random)
    }
    if kinds.contains(.stores) {
      var random = GraphKinds.stores.random(seed)
      drawStores(&random)
    }
    for relationship in relationships { byName[relationship.name] = relationship }
    for entity in entities {
      ofEntity[entity.name] = relationships.filter { isKind(entity.name, of: $0.entity) }
    }
    if kinds.contains(.derived) {
      var random = GraphKinds.derived.random(seed)
      for place in entities.indices { entities[place].derived = drawDerived(entities[place], &random) }
    }
  }

  private func drawRelationship(_ number: Int, _ random: inout SplitMix64) {
    func side() -> Side {
      let shape = Int.random(in: 0..<5, using: &random)
      let rule = Int.random(in: 0..<12, using: &random)
      return Side(
        isToMany: shape > 1, isOrdered: shape == 4, rule: rule < 2 ? .cascade : rule == 2 ? .deny : .nullify)
    }
    guard let from = entities.randomElement(using: &random)?.name, let to = entities.randomElement(using: &random)?.name
    else { return }
    let first = side()
    func add(_ name: String, _ entity: String, _ inverse: String, _ destination: String, _ side: Side) {
      relationships.append(
        Relationship(
          name: name, entity: entity, inverse: inverse, destination: destination, isToMany: side.isToMany,
          isOrdered: side.isOrdered, rule: side.rule))
    }
    if from == to, Int.random(in: 0..<3, using: &random) == 0 {
      return add("r\(number)", from, "r\(number)", to, first)
    }
    var second = side()
    // Objects of which each denies the other's deletion would be there for ever.
    if first.rule == .deny { second.rule = .nullify }
    add("r\(number)", from, "b\(number)", to, first)
    add("b\(number)", to, "r\(number)", from, second)
  }

  private func drawDangling(_ random: inout SplitMix64) {
    for place in relationships.indices where Int.random(in: 0..<3, using: &random) == 0 {
      // What is gone denies nothing: where it may be led to, nothing is to deny. Lists that lead there cannot be
      // written.
      let r = relationships[place]
      guard let inverse = relationships.first(where: { $0.name == r.inverse }), inverse.rule != .deny,
        !inverse.isToMany || !inverse.isOrdered && !r.isToMany
      else { continue }
      relationships[place].rule = .noAction
    }
    for number in 0..<Int.random(in: 1...2, using: &random) {
      guard let from = entities.randomElement(using: &random)?.name,
        let to = entities.randomElement(using: &random)?.name
      else { return }
      relationships.append(
        Relationship(
          name: "o\(number)", entity: from, inverse: nil, destination: to, isToMany: false, isOrdered: false,
          rule: Int.random(in: 0..<4, using: &random) == 0 ? .cascade : .nullify))
    }
  }

  /// Divides the entities among two stores, so that as many relationships as can be are left.
  private func drawStores(_ random: inout SplitMix64) {
    func left(_ first: Set<String>) -> [Relationship] {
      relationships.filter { first.contains(root(of: $0.entity)) == first.contains(root(of: $0.destination)) }
    }
    let roots = roots
    var first: Set<String> = []
    // Of those that leave as many, any.
    for root in roots.shuffled(using: &random) where first.isEmpty || left([root]).count > left(first).count {
      first = [root]
    }
    relationships = left(first)
    stores = [first, Set(roots).subtracting(first)]
    if Bool.random(using: &random) { stores.swapAt(0, 1) }
  }

  private func root(of entity: String) -> String { self.entity(entity)?.parent ?? entity }

  /// The configurations of the stores; nil for one store that has all entities.
  var configurations: [String?] { stores.isEmpty ? [nil] : ["First", "Second"] }

  private func drawComposites(_ types: [AttributeType], _ random: inout SplitMix64) {
    func composite(_ name: String, _ depth: Int) -> Attribute {
      var result = Attribute(name: name, type: .composite)
      result.elements = (0..<Int.random(in: 1...3, using: &random)).map {
        Attribute(name: "e\($0)", type: types.randomElement(using: &random) ?? .integer64)
      }
      if depth > 0, Bool.random(using: &random) { result.elements.append(composite("n", depth - 1)) }
      return result
    }
    for place in entities.indices where Bool.random(using: &random) {
      entities[place].attributes.append(composite(entities[place].parent == nil ? "c" : "d", 2))
    }
  }

  private func drawRules(_ random: inout SplitMix64) {
    for place in entities.indices {
      for number in entities[place].attributes.indices {
        entities[place].attributes[number].drawRules(&random)
      }
    }
    for place in relationships.indices where Int.random(in: 0..<4, using: &random) == 0 {
      var counts = Counts(isOptional: Bool.random(using: &random))
      if relationships[place].isToMany {
        counts.minimum = Int.random(in: 0...2, using: &random)
        // One that leads to one object at most is a to-one relationship.
        if Bool.random(using: &random) {
          counts.maximum = max(2, counts.minimum + Int.random(in: 0...1, using: &random))
        }
      } else {
        counts.isOptional = false
      }
      relationships[place].counts = counts
    }
  }

  func entity(_ name: String) -> EntityDesign? { entities.first { $0.name == name } }

  func isKind(_ entity: String, of other: String) -> Bool {
    entity == other || self.entity(entity)?.parent == other
  }

  /// The entities that inherit from none.
  var roots: [String] { entities.filter { $0.parent == nil }.map { $0.name } }

  func relationships(of entity: String) -> [Relationship] { ofEntity[entity] ?? [] }

  func relationship(_ name: String) -> Relationship? { byName[name] }

  func inverse(_ r: Relationship) -> Relationship? { r.inverse.flatMap { byName[$0] } }

  /// Whether a relationship may lead to what was deleted.
  func mayDangle(_ r: Relationship) -> Bool { inverse(r).map { $0.rule == .noAction } ?? true }

  func attributes(of entity: String) -> [Attribute] {
    guard let design = self.entity(entity) else { return [] }
    return (design.parent.map { attributes(of: $0) } ?? []) + design.attributes
  }

  /// A random attribute, or element of a composite, that is no composite.
  func leaf(of entity: String, _ random: inout some RandomNumberGenerator) -> (path: [String], attribute: Attribute)? {
    guard let attribute = attributes(of: entity).randomElement(using: &random) else { return nil }
    if attribute.elements.isEmpty { return ([attribute.name], attribute) }
    let leaf = attribute.parts.filter { $0.attribute.elements.isEmpty }.randomElement(using: &random)
    return leaf.map { ([attribute.name] + $0.path, $0.attribute) }
  }

  /// The values of a new object that is given these.
  func completed(_ values: [String: GraphValue], _ entity: String) -> [String: GraphValue] {
    var result = values
    for attribute in attributes(of: entity) where values[attribute.name] == nil {
      result[attribute.name] = attribute.defaultValue
    }
    return result
  }

  /// Whether there are rules about how many destinations a relationship of an entity has, or about how many lead to its
  /// objects.
  func countsRelationships(_ entity: String) -> Bool {
    relationships(of: entity).contains { r in
      !r.counts.isWithoutRule || inverse(r).map { !$0.counts.isWithoutRule } ?? false
    }
  }

  func isUnique(_ entity: String) -> Bool {
    guard let design = self.entity(entity) else { return false }
    return design.isUnique || design.parent.map { isUnique($0) } ?? false
  }

  /// The model, made anew.
  func model() throws -> ManagedObjectModel {
    let model = try modelOfAll()
    for (name, roots) in zip(configurations, stores) {
      let names = entities.map { $0.name }.filter { roots.contains(root(of: $0)) }
      if let name { model.setEntities(names.compactMap { model.entitiesByName[$0] }, forConfigurationName: name) }
    }
    return model
  }

  private func modelOfAll() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      for entity in entities {
        Entity(entity.name, parent: entity.parent) {
          if entity.parent == nil {
            Cambium.Attribute("tag", .integer64).with {
              $0.preservesValueInHistoryOnDeletion = self.kinds.contains(.history)
            }
            Cambium.Attribute("code", .string)
          }
          for attribute in entity.attributes {
            attribute.attribute
          }
          for attribute in entity.derived { attribute.attribute }
          if entity.isUnique { Unique("code") }
          if entity.isIndexed {
            Index("byFirst", entity.attributes[0].name)
            if let composite = entity.attributes.first(where: { !$0.elements.isEmpty }),
              let last = composite.parts.last
            {
              Index("byElement", composite.name + "." + last.path.joined(separator: "."))
            }
          }
          for r in relationships where r.entity == entity.name {
            if r.isToMany {
              ToMany(
                r.name, r.destination, inverse: r.inverse, ordered: r.isOrdered, deleteRule: r.rule.deleteRule,
                optional: r.counts.isOptional, minimum: r.counts.minimum, maximum: r.counts.maximum)
            } else {
              ToOne(
                r.name, r.destination, inverse: r.inverse, deleteRule: r.rule.deleteRule,
                optional: r.counts.isOptional)
            }
          }
        }
      }
    }
  }

  /// The model in a few words.
  var text: String {
    let names = entities.map { $0.name + ($0.parent.map { ":" + $0 } ?? "") + ($0.isUnique ? "!" : "") }
    let sides = relationships.map { r in
      "\(r.entity).\(r.name)\(r.inverse == nil ? "!" : "")\(r.isToMany ? r.isOrdered ? "[]" : "*" : "")->\(r.destination)"
        + (r.rule == .nullify ? "" : " \(r.rule)") + r.counts.text
    }
    let divided = stores.map { $0.sorted().joined() }.joined(separator: "|")
    return names.joined(separator: " ") + ", " + sides.joined(separator: " ") + " " + divided
  }
}

extension GraphDesign.Attribute {
  fileprivate mutating func drawRules(_ random: inout SplitMix64) {
    isRequired = Int.random(in: 0..<3, using: &random) == 0
    if elements.isEmpty, Int.random(in: 0..<4, using: &random) == 0 { defaultValue = self.random(&random) }
    for place in elements.indices {
      elements[place].drawRules(&random)
      // What is not given is not there.
      elements[place].defaultValue = nil
    }
  }
}

extension GraphDesign.Counts {
  fileprivate var isWithoutRule: Bool { isOptional && minimum == 0 && maximum == 0 }

  fileprivate var text: String {
    if isWithoutRule { return "" }
    return " \(isOptional ? "0, " : "")\(minimum)...\(maximum == 0 ? "" : "\(maximum)")"
  }
}

extension GraphDesign.Rule {
  fileprivate var deleteRule: DeleteRule {
    switch self {
    case .nullify: return .nullify
    case .cascade: return .cascade
    case .deny: return .deny
    case .noAction: return .noAction
    }
  }
}

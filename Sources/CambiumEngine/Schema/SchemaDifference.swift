import CambiumKernel

/// What is different between two models, entity by entity.
public struct SchemaDifference: Sendable, Equatable {
  /// The entities with changes: in the order of the new model, then those that it lacks.
  public internal(set) var entities: [EntityDifference] = []
  /// Changes of the model's other parts: composite types that attributes don't tell, configurations, templates.
  public internal(set) var others: [String] = []

  /// Whether nothing differs.
  public var isEmpty: Bool { entities.isEmpty && others.isEmpty }
  /// Whether something differs that is stored, so that a store has to be migrated.
  public var isStored: Bool { entities.contains { $0.isStored } }

  /// Compares two models. Entities and properties are matched by a renaming identifier that the new model sets, then by
  /// name, then by an identifier that only the old model sets, as for a migration. O(size of the models).
  @_optimize(none)
  public init(from old: Schema, to new: Schema) {
    let matches = matchIdentities(
      new.entities.map { Identity($0.name, $0.renamingIdentifier) },
      old.entities.map { Identity($0.name, $0.renamingIdentifier) })
    var isTaken = [Bool](repeating: false, count: old.entities.count)
    for (place, entity) in new.entities.enumerated() {
      guard let match = matches[place] else {
        entities.append(EntityDifference(entity.name, .added))
        continue
      }
      isTaken[match] = true
      let difference = EntityDifference(from: old.entities[match], to: entity)
      if !difference.changes.isEmpty { entities.append(difference) }
    }
    for (place, entity) in old.entities.enumerated() where !isTaken[place] {
      entities.append(EntityDifference(entity.name, .removed))
    }
    if old.configurations != new.configurations { others.append("configurations changed") }
    if old.fetchTemplates != new.fetchTemplates { others.append("fetch request templates changed") }
    if old.versionIdentifiers != new.versionIdentifiers { others.append("version identifiers changed") }
    if Set(old.removedEntities) != Set(new.removedEntities) { others.append("removed entities changed") }
  }
}

/// What is different in an entity.
public struct EntityDifference: Sendable, Equatable {
  /// What happened to the entity as a whole.
  public enum Kind: String, Sendable {
    /// The old model lacks it.
    case added
    /// The new model lacks it.
    case removed
    /// Both have it, and it is not the same in them.
    case changed
  }

  /// A change.
  public struct Change: Sendable, Equatable {
    /// The property, as the new model calls it (the old, for what the new lacks); `nil` for the entity itself.
    public var property: String?
    /// What changed, in words.
    public var text: String
    /// Whether the version hash depends on it, so that stores have to be migrated.
    public var isStored: Bool
  }

  /// The name in the new model; in the old, if the new lacks it.
  public var name: String
  /// What happened.
  public var kind: Kind
  /// What changed in it; empty for one that is new or gone.
  public internal(set) var changes: [Change] = []

  /// Whether the version hash of the entity itself depends on any of it.
  public var isStored: Bool { kind != .changed || changes.contains { $0.isStored } }

  @_optimize(none)
  init(_ name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }

  @_optimize(none)
  init(from old: EntitySchema, to new: EntitySchema) {
    self.init(new.name, .changed)
    if old.name != new.name { note(nil, "renamed from \(old.name)") }
    if old.parent != new.parent { note(nil, "parent \(text(old.parent)) became \(text(new.parent))") }
    if old.isAbstract != new.isAbstract { note(nil, new.isAbstract ? "became abstract" : "is no longer abstract") }
    noteModifier(nil, old.versionHashModifier, new.versionHashModifier)
    compareAttributes(old.attributes, new.attributes, prefix: "")
    compareRelationships(old.relationships, new.relationships)
    let constraints = (
      old.uniquenessConstraints.map { $0.paths.joined(separator: ", ") }.ordered(),
      new.uniquenessConstraints.map { $0.paths.joined(separator: ", ") }.ordered()
    )
    for paths in constraints.1 where !constraints.0.contains(paths) { note(nil, "constraint added: \(paths)") }
    for paths in constraints.0 where !constraints.1.contains(paths) { note(nil, "constraint removed: \(paths)") }
    compareIndexes(old, new)
    if old.className != new.className {
      note(nil, "class \(text(old.className)) became \(text(new.className))", isStored: false)
    }
    if old.renamingIdentifier != new.renamingIdentifier { note(nil, "renaming identifier changed", isStored: false) }
    if old.fetchedProperties != new.fetchedProperties { note(nil, "fetched properties changed", isStored: false) }
    if Set(old.removedProperties) != Set(new.removedProperties) {
      note(nil, "removed properties changed", isStored: false)
    }
    if old.userInfo != new.userInfo { note(nil, "user info changed", isStored: false) }
  }

  private mutating func note(_ property: String?, _ text: String, isStored: Bool = true) {
    changes.append(Change(property: property, text: text, isStored: isStored))
  }

  private mutating func noteModifier(_ property: String?, _ old: String?, _ new: String?) {
    if old != new { note(property, "version hash modifier \(text(old)) became \(text(new))") }
  }

  private func text(_ value: String?) -> String { value ?? "none" }

  // MARK: Attributes

  /// A schema bounds the depth.
  @_optimize(none)
  private mutating func compareAttributes(_ old: [AttributeSchema], _ new: [AttributeSchema], prefix: String) {
    let matches = matchIdentities(
      new.map { Identity($0.name, $0.renamingIdentifier) },
      old.map { Identity($0.name, $0.renamingIdentifier) })
    var isTaken = [Bool](repeating: false, count: old.count)
    for (place, attribute) in new.enumerated() {
      let path = prefix + attribute.name
      guard let match = matches[place] else {
        let required =
          attribute.isOptional ? "" : attribute.defaultValue.isNull ? ", required, without default" : ", required"
        note(path, "\(prefix.isEmpty ? "attribute" : "element") added: \(attribute.type.name)\(required)")
        continue
      }
      isTaken[match] = true
      compare(old[match], attribute, path)
    }
    for (place, attribute) in old.enumerated() where !isTaken[place] {
      note(prefix + attribute.name, "\(prefix.isEmpty ? "attribute" : "element") removed")
    }
    let kept = new.indices.compactMap { matches[$0] }
    if !prefix.isEmpty, kept != kept.ordered() { note(String(prefix.dropLast()), "elements in another order") }
  }

  @_optimize(none)
  private mutating func compare(_ old: AttributeSchema, _ new: AttributeSchema, _ path: String) {
    if old.name != new.name { note(path, "renamed from \(old.name)") }
    if old.type != new.type { note(path, "type \(old.type.name) became \(new.type.name)") }
    if old.isOptional != new.isOptional { note(path, new.isOptional ? "became optional" : "became required") }
    if old.isTransient != new.isTransient {
      note(path, new.isTransient ? "became transient" : "is no longer transient")
    }
    if old.derivation != new.derivation {
      note(path, "derivation \(text(old.derivation)) became \(text(new.derivation))")
    }
    noteModifier(path, old.versionHashModifier, new.versionHashModifier)
    compareAttributes(old.elements, new.elements, prefix: path + ".")
    if old.defaultValue != new.defaultValue { note(path, "default value changed", isStored: false) }
    if old.minimum != new.minimum || old.maximum != new.maximum || old.regularExpression != new.regularExpression {
      note(path, "limits or pattern changed", isStored: false)
    }
    if old.validationRules != new.validationRules { note(path, "validation rules changed", isStored: false) }
    if old.valueTransformerName != new.valueTransformerName {
      note(
        path, "value transformer \(text(old.valueTransformerName)) became \(text(new.valueTransformerName))",
        isStored: false)
    }
    if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
      note(path, "external storage \(new.allowsExternalBinaryDataStorage ? "allowed" : "not allowed")", isStored: false)
    }
    if old.renamingIdentifier != new.renamingIdentifier { note(path, "renaming identifier changed", isStored: false) }
    if old.compositeName != new.compositeName {
      note(path, "composite type \(text(old.compositeName)) became \(text(new.compositeName))", isStored: false)
    }
    if old.preservesValueInHistoryOnDeletion != new.preservesValueInHistoryOnDeletion {
      note(path, "keeping of values in the history changed", isStored: false)
    }
    if old.userInfo != new.userInfo { note(path, "user info changed", isStored: false) }
  }

  // MARK: Relationships

  @_optimize(none)
  private mutating func compareRelationships(_ old: [RelationshipSchema], _ new: [RelationshipSchema]) {
    let matches = matchIdentities(
      new.map { Identity($0.name, $0.renamingIdentifier) },
      old.map { Identity($0.name, $0.renamingIdentifier) })
    var isTaken = [Bool](repeating: false, count: old.count)
    for (place, relationship) in new.enumerated() {
      guard let match = matches[place] else {
        let required = relationship.isOptional ? "" : ", required"
        note(
          relationship.name,
          "relationship added: to-\(relationship.isToMany ? "many" : "one") \(relationship.destination)\(required)")
        continue
      }
      isTaken[match] = true
      compare(old[match], relationship)
    }
    for (place, relationship) in old.enumerated() where !isTaken[place] {
      note(relationship.name, "relationship removed")
    }
  }

  @_optimize(none)
  private mutating func compare(_ old: RelationshipSchema, _ new: RelationshipSchema) {
    let name = new.name
    if old.name != name { note(name, "renamed from \(old.name)") }
    if old.destination != new.destination { note(name, "destination \(old.destination) became \(new.destination)") }
    if old.inverse != new.inverse { note(name, "inverse \(text(old.inverse)) became \(text(new.inverse))") }
    if old.isToMany != new.isToMany { note(name, new.isToMany ? "became to-many" : "became to-one") }
    if old.isOrdered != new.isOrdered { note(name, new.isOrdered ? "became ordered" : "is no longer ordered") }
    if old.isToMany == new.isToMany,
      old.minimumCount != new.minimumCount || old.maximumCount != new.maximumCount
    {
      note(
        name, "count \(old.minimumCount) to \(old.maximumCount) became \(new.minimumCount) to \(new.maximumCount)")
    }
    if old.isOptional != new.isOptional { note(name, new.isOptional ? "became optional" : "became required") }
    if old.isTransient != new.isTransient {
      note(name, new.isTransient ? "became transient" : "is no longer transient")
    }
    noteModifier(name, old.versionHashModifier, new.versionHashModifier)
    if old.deleteRule != new.deleteRule {
      note(name, "delete rule \(old.deleteRule.name) became \(new.deleteRule.name)", isStored: false)
    }
    if old.renamingIdentifier != new.renamingIdentifier { note(name, "renaming identifier changed", isStored: false) }
    if old.userInfo != new.userInfo { note(name, "user info changed", isStored: false) }
  }

  @_optimize(none)
  private mutating func compareIndexes(_ old: EntitySchema, _ new: EntitySchema) {
    for index in new.indexes {
      guard let same = old.indexes.first(where: { $0.name == index.name }) else {
        note(nil, "index added: \(index.name)", isStored: false)
        continue
      }
      if same.elements != index.elements || same.partialPredicate != index.partialPredicate {
        note(nil, "index changed: \(index.name)", isStored: false)
      }
    }
    for index in old.indexes where !new.indexes.contains(where: { $0.name == index.name }) {
      note(nil, "index removed: \(index.name)", isStored: false)
    }
  }
}

extension DeleteRule {
  /// What to call the rule in messages, as the model editor does.
  public var name: String {
    switch self {
    case .noAction: return "No Action"
    case .nullify: return "Nullify"
    case .cascade: return "Cascade"
    case .deny: return "Deny"
    }
  }
}

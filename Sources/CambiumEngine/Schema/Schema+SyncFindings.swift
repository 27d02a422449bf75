extension Schema {
  /// Returns the reasons why the model cannot be mirrored to a cloud database, by CloudKit's rules. O(size of the
  /// model).
  ///
  /// - Entities have no uniqueness constraints.
  /// - Attributes, transient ones too, are of no type Undefined or ObjectID. Stored attributes, and the elements of
  ///   composites, are optional or have a default.
  /// - Relationships are optional, have an inverse and no order, do not deny deletions, and do not leave a
  ///   configuration.
  ///   Transient relationships are not mirrored.
  public func syncFindings() -> [ModelFinding] {
    var finder = SyncFinder(configurations: configurations)
    for entity in entities { finder.look(at: entity) }
    return finder.findings
  }
}

/// Looks for what a cloud database cannot mirror.
private struct SyncFinder {
  let configurations: [ConfigurationSchema]
  private(set) var findings: [ModelFinding] = []

  init(configurations: [ConfigurationSchema]) { self.configurations = configurations }

  private mutating func note(_ place: String, _ text: String) { findings.append(ModelFinding("sync", place, text)) }

  mutating func look(at entity: EntitySchema) {
    if !entity.uniquenessConstraints.isEmpty {
      note(entity.name, "uniqueness constraints cannot be kept by several devices; remove them")
    }
    for attribute in entity.attributes { look(at: attribute, in: entity.name) }
    for relationship in entity.relationships where !relationship.isTransient {
      look(at: relationship, of: entity.name, entity.name + "." + relationship.name)
    }
  }

  /// A schema bounds the depth.
  private mutating func look(at attribute: AttributeSchema, in holder: String) {
    let place = holder + "." + attribute.name
    if attribute.type == .undefined || attribute.type == .objectID {
      note(
        place,
        "\(attribute.type.name) attributes cannot be mirrored\(attribute.isTransient ? ", transient or not" : ""); "
          + (attribute.type == .objectID ? "use a relationship" : "give it a type"))
    }
    if attribute.isTransient { return }
    if !attribute.isOptional, !hasDefault(attribute) {
      note(place, "make it optional or give it a default: records come in parts")
    }
    for element in attribute.elements { look(at: element, in: place) }
  }

  /// Whether new objects have a value: a composite has one if any of its elements has.
  private func hasDefault(_ attribute: AttributeSchema) -> Bool {
    !attribute.defaultValue.isNull || attribute.elements.contains { hasDefault($0) }
  }

  private mutating func look(at relationship: RelationshipSchema, of entity: String, _ place: String) {
    if !relationship.isOptional { note(place, "make it optional: records come one by one") }
    if relationship.inverse == nil { note(place, "give it an inverse") }
    if relationship.isOrdered {
      note(place, "ordered relationships cannot be mirrored; keep the order in an attribute of the destination")
    }
    if relationship.deleteRule == .deny {
      note(place, "Deny cannot be kept by several devices; use another delete rule")
    }
    for configuration in configurations
    where configuration.entities.contains(entity) && !configuration.entities.contains(relationship.destination) {
      note(place, "leads out of configuration \(configuration.name); put both entities into it")
    }
  }
}

//  What developers trip over in models that are in order by themselves. One function a rule.

extension Schema {
  /// What in the model is probably not meant, entity by entity. O(size of the model).
  public func findings() -> [ModelFinding] {
    var result: [ModelFinding] = []
    for entity in entities {
      findNames(entity, &result)
      findAttributes(entity, &result)
      findRelationships(entity, &result)
      findIndexes(entity, &result)
      findIdentifiers(entity, &result)
      if entity.allAttributes.isEmpty, entity.allRelationships.isEmpty, entity.childIDs.isEmpty {
        result.append(ModelFinding("empty-entity", entity.name, "the entity has no properties; remove it or add some"))
      }
      if entity.isAbstract, entity.childIDs.isEmpty {
        result.append(
          ModelFinding(
            "abstract-leaf", entity.name, "the entity is abstract and nothing inherits from it: it can have no objects")
        )
      }
    }
    findClasses(&result)
    findComposites(&result)
    findConfigurations(&result)
    findTemplates(&result)
    return result
  }

  private func findNames(_ entity: EntitySchema, _ result: inout [ModelFinding]) {
    let properties =
      entity.attributes.map { $0.name } + entity.relationships.map { $0.name }
      + entity.fetchedProperties.map { $0.name }
    for name in properties {
      if clashingNames.contains(name) {
        result.append(
          ModelFinding(
            "clashing-name", entity.name + "." + name,
            "objects have a method of that name, which a property would hide; rename it (its renaming identifier keeps "
              + "the data)"))
      }
      if let first = name.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
        result.append(
          ModelFinding("capital-property", entity.name + "." + name, "names of properties begin with a small letter"))
      }
    }
    if let first = entity.name.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) {
      result.append(ModelFinding("small-entity", entity.name, "names of entities begin with a capital letter"))
    }
  }

  private func findAttributes(_ entity: EntitySchema, _ result: inout [ModelFinding]) {
    for attribute in entity.attributes {
      let place = entity.name + "." + attribute.name
      if !attribute.isOptional, attribute.defaultValue.isNull, !attribute.isTransient, attribute.derivation == nil {
        result.append(
          ModelFinding(
            "required-without-default", place,
            "required without default: new objects fail to be saved until it is set, and it cannot be added to a store that "
              + "has objects"))
      }
      if attribute.type == .transformable, attribute.valueTransformerName == nil {
        result.append(
          ModelFinding(
            "untransformed", place,
            "a transformable attribute without transformer holds bytes only, which predicates cannot look into; name a "
              + "transformer, or use a composite"))
      }
      findRules(attribute, place, &result)
      if let problem = derivationProblem(of: attribute, in: entity) {
        result.append(ModelFinding("derivation", place, "the attribute cannot be computed: " + problem))
      }
    }
  }

  /// Limits and defaults that contradict each other; of elements as well, as deep as the schema.
  private func findRules(_ attribute: AttributeSchema, _ place: String, _ result: inout [ModelFinding]) {
    for element in attribute.elements { findRules(element, place + "." + element.name, &result) }
    if attribute.minimum.compare(to: attribute.maximum) == .greater {
      result.append(
        ModelFinding(
          "limits", place, "the minimum is greater than the maximum, so that no value can be saved; exchange them"))
    }
    if let problem = attribute.ruleViolation(of: attribute.defaultValue) {
      let what = "the default value \(problem.description), so that new objects fail to be saved until it is changed"
      result.append(ModelFinding("default-outside", place, what + "; change the default or the rule"))
    }
    if attribute.defaultValue.isNull { return }
    for rule in attribute.validationRules where rule.meets(attribute.defaultValue, of: attribute) == false {
      result.append(
        ModelFinding(
          "default-outside", place,
          "the default value does not meet \"\(rule.predicate)\", so that new objects fail to be saved until it is changed; change the "
            + "default or the validation predicate"))
    }
  }

  private func findRelationships(_ entity: EntitySchema, _ result: inout [ModelFinding]) {
    for relationship in entity.relationships {
      let place = entity.name + "." + relationship.name
      guard let inverse = inverse(of: relationship) else {
        if relationship.inverse == nil {
          result.append(
            ModelFinding(
              "no-inverse", place,
              "a relationship without inverse: when a destination is deleted, this side goes on naming it; add a "
                + "relationship to \(entity.name) in \(relationship.destination)"))
        }
        continue
      }
      if relationship.deleteRule == .noAction {
        result.append(
          ModelFinding(
            "no-action", place, "deleting leaves dangling references in \(relationship.destination); use Nullify"))
      }
      if relationship.deleteRule == .deny, inverse.deleteRule == .deny, isFirst(relationship, inverse, entity) {
        result.append(
          ModelFinding(
            "deny-both", place, "both sides deny deletion, so that objects that are related can never be deleted"))
      }
      if relationship.deleteRule == .cascade, inverse.deleteRule == .cascade, relationship.isToMany || inverse.isToMany,
        isFirst(relationship, inverse, entity)
      {
        result.append(
          ModelFinding(
            "cascade-both", place,
            "both sides cascade, so that deleting one object deletes all that are connected with it"))
      }
      if relationship.deleteRule == .nullify, !inverse.isOptional, !inverse.isToMany {
        result.append(
          ModelFinding(
            "nullify-required", place,
            "deleting empties \(relationship.destination).\(inverse.name), which is required, so that the save fails; use "
              + "Cascade or Deny, or make it optional"))
      }
    }
  }

  /// Whether this side of a pair is the one to speak of it.
  private func isFirst(_ relationship: RelationshipSchema, _ inverse: RelationshipSchema, _ entity: EntitySchema)
    -> Bool
  {
    (entity.name, relationship.name) <= (relationship.destination, inverse.name)
  }

  private func findIndexes(_ entity: EntitySchema, _ result: inout [ModelFinding]) {
    for (place, index) in entity.indexes.enumerated() where index.partialPredicate == nil {
      let paths = index.elements.map { $0.path }
      for other in entity.indexes[..<place] where other.elements == index.elements && other.partialPredicate == nil {
        result.append(
          ModelFinding(
            "duplicate-index", entity.name, "index \(index.name) has the elements of \(other.name); remove one of them")
        )
      }
      for constraint in entity.uniquenessConstraints
      where constraint.paths == paths && index.elements.allSatisfy({ $0.isAscending && $0.kind == .binary }) {
        result.append(
          ModelFinding(
            "duplicate-index", entity.name,
            "index \(index.name) has the paths of a uniqueness constraint, which has one"))
      }
    }
  }

  private func findClasses(_ result: inout [ModelFinding]) {
    var entityByClass: [String: String] = [:]
    for entity in entities {
      guard let name = entity.className, name != "NSManagedObject", name != "ManagedObject" else { continue }
      guard let other = entityByClass[name] else {
        entityByClass[name] = entity.name
        continue
      }
      result.append(
        ModelFinding(
          "shared-class", entity.name,
          "objects are of class \(name), as those of \(other), which alone is meant where a class stands for an entity; make a "
            + "subclass for one of them"))
    }
  }

  private func findComposites(_ result: inout [ModelFinding]) {
    var used: Set<String> = []
    func note(_ attributes: [AttributeSchema]) {
      for attribute in attributes {
        if let name = attribute.compositeName { used.insert(name) }
      }
    }
    for entity in entities { note(entity.attributes) }
    // What only unused types use is unused as well.
    var pending = Array(used)
    while let name = pending.popLast() {
      for composite in composites where composite.name == name {
        for element in composite.elements {
          if let inner = element.compositeName, used.insert(inner).inserted { pending.append(inner) }
        }
      }
    }
    for composite in composites {
      if !used.contains(composite.name) {
        result.append(
          ModelFinding("unused-composite", composite.name, "no attribute is of this composite type; remove it"))
      }
      if composite.elements.isEmpty {
        result.append(ModelFinding("empty-composite", composite.name, "the composite type has no elements"))
      }
    }
  }

  private func findConfigurations(_ result: inout [ModelFinding]) {
    guard !configurations.isEmpty else { return }
    for entity in entities where !entity.isAbstract {
      if !configurations.contains(where: { $0.entities.contains(entity.name) }) {
        result.append(
          ModelFinding(
            "no-configuration", entity.name,
            "the entity is in none of the configurations, so that stores of configurations don't hold it"))
      }
    }
    findCrossings(&result)
  }

  /// Relationships between stores are not possible.
  private func findCrossings(_ result: inout [ModelFinding]) {
    for configuration in configurations {
      for name in configuration.entities {
        guard let entity = entity(named: name) else { continue }
        for relationship in entity.relationships where !configuration.entities.contains(relationship.destination) {
          result.append(
            ModelFinding(
              "crossing", name + "." + relationship.name,
              "leads to \(relationship.destination), which is not in configuration \(configuration.name): objects in two "
                + "stores cannot be related"))
        }
      }
    }
  }

  private func findTemplates(_ result: inout [ModelFinding]) {
    func check(_ template: FetchTemplate, _ place: String) {
      guard let text = template.predicate, let entity = entity(named: template.entity) else { return }
      do throws(PredicateError) {
        // Variables may stand for anything, and stay open.
        _ = try Predicate(format: text).check(against: self, entity: entity.id)
      } catch {
        result.append(ModelFinding("template", place, "the predicate cannot be used: \(error.description)"))
      }
    }
    for named in fetchTemplates { check(named.template, named.name) }
    for entity in entities {
      for property in entity.fetchedProperties { check(property.request, entity.name + "." + property.name) }
    }
  }
}

/// Members of objects with parameters, or of the class, which a property of the name would hide in Swift.
private let clashingNames: Set<String> = [
  "value", "setValue", "get", "set", "composite", "setComposite", "committedValues", "validate", "awake", "delete",
  "willChangeValue", "didChangeValue", "primitiveValue", "fetchRequest", "observationInfo", "new", "alloc", "load",
]

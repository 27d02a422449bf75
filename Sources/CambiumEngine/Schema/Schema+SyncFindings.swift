extension Schema {
  /// What keeps the model from being mirrored to a cloud database, by the rules that CloudKit has: no constraints, no
  /// required values without default, optional relationships with inverses, no Deny, no undefined or object-ID
  /// attributes, none across configurations. O(size of the model).
  public func syncFindings() -> [ModelFinding] {
    var result: [ModelFinding] = []
    for entity in entities {
      if !entity.uniquenessConstraints.isEmpty {
        result.append(
          ModelFinding("sync", entity.name, "uniqueness constraints cannot be kept by several devices; remove them"))
      }
      for attribute in entity.attributes where !attribute.isTransient {
        let place = entity.name + "." + attribute.name
        if attribute.type == .undefined || attribute.type == .objectID {
          result.append(ModelFinding("sync", place, "\(attribute.type.name) attributes cannot be mirrored"))
        }
        if !attribute.isOptional, attribute.defaultValue.isNull {
          result.append(ModelFinding("sync", place, "make it optional or give it a default: records come in parts"))
        }
      }
      for relationship in entity.relationships where !relationship.isTransient {
        let place = entity.name + "." + relationship.name
        if !relationship.isOptional {
          result.append(ModelFinding("sync", place, "make it optional: records come one by one"))
        }
        if relationship.inverse == nil { result.append(ModelFinding("sync", place, "give it an inverse")) }
        if relationship.isOrdered {
          result.append(ModelFinding("sync", place, "ordered relationships cannot be mirrored"))
        }
        if relationship.deleteRule == .deny {
          result.append(ModelFinding("sync", place, "Deny cannot be kept by several devices; use another delete rule"))
        }
        for configuration in configurations
        where configuration.entities.contains(entity.name)
          && !configuration.entities.contains(relationship.destination)
        {
          result.append(ModelFinding("sync", place, "leads out of configuration \(configuration.name)"))
        }
      }
    }
    return result
  }
}

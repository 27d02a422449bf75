extension Schema {
  /// Finds properties of an entity that share a renaming identifier. Only one of them would get the values. An
  /// identifier may be the name of another property: an identifier that is set comes before a name.
  func findIdentifiers(_ entity: EntitySchema, _ result: inout [ModelFinding]) {
    findShared(
      entity.allAttributes.map { Identity($0.name, $0.renamingIdentifier) },
      own: entity.attributes.count, entity.name, &result)
    findShared(
      entity.allRelationships.map { Identity($0.name, $0.renamingIdentifier) },
      own: entity.relationships.count, entity.name, &result)
    for attribute in entity.attributes { findShared(in: attribute, entity.name + "." + attribute.name, &result) }
  }

  /// The depth is bounded by the schema.
  private func findShared(in attribute: AttributeSchema, _ place: String, _ result: inout [ModelFinding]) {
    findShared(
      attribute.elements.map { Identity($0.name, $0.renamingIdentifier) },
      own: attribute.elements.count, place, &result)
    for element in attribute.elements { findShared(in: element, place + "." + element.name, &result) }
  }

  /// - Parameter own: The number of properties at the end that are not inherited. The parent's findings have the
  ///   others.
  private func findShared(_ level: [Identity], own: Int, _ place: String, _ result: inout [ModelFinding]) {
    var names: [String: String] = [:]
    for (number, identity) in level.enumerated() where identity.isSet {
      guard let first = names[identity.canonicalName] else {
        names[identity.canonicalName] = identity.name
        continue
      }
      if number < level.count - own { continue }
      result.append(
        ModelFinding(
          "shared-identifier", place + "." + identity.name,
          "'\(first)' has the renaming identifier '\(identity.canonicalName)' as well, so that only one of the two gets the "
            + "values. Give each its own"))
    }
  }
}

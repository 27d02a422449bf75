extension DocumentReader {
  @_optimize(none)
  mutating func relationship(_ element: XMLElement) throws(ModelDocumentError) -> ModelDocument.Relationship {
    let name = try required("name", of: element)
    let destination = try required("destinationEntity", of: element)
    let saysToMany = try flag("toMany", of: element)
    let maximum = try count("maxCount", of: element)
    // As in Core Data, where the greatest count decides.
    let isToMany = maximum.map { $0 != 1 && (saysToMany || $0 > 1) } ?? saysToMany
    if isToMany != saysToMany {
      warn(
        element.offset, "\(name): toMany and maxCount contradict each other; it is to-\(isToMany ? "many" : "one")")
    }
    var result = ModelDocument.Relationship(name, to: destination)
    result.line = document.line(element.offset)
    result.isToMany = isToMany
    result.inverse = text("inverseName", of: element)
    result.isOptional = try flag("optional", of: element)
    result.isTransient = try flag("transient", of: element)
    result.isOrdered = try flag("ordered", of: element)
    if result.isOrdered, !isToMany {
      result.isOrdered = false
      warn(element.offset, "\(name): a to-one relationship has no order")
    }
    result.minimumCount = try count("minCount", of: element) ?? 0
    result.maximumCount = isToMany ? maximum ?? 0 : 1
    let ruleName = element["deletionRule"] ?? "Nullify"
    guard let rule = ModelDocument.DeleteRule(rawValue: ruleName) else {
      throw document.unusable(
        element.offset(of: "deletionRule"),
        "'\(ruleName)' is no delete rule; write Nullify, Cascade, Deny or No Action")
    }
    result.deleteRule = rule
    result.renamingIdentifier = text("elementID", of: element)
    result.versionHashModifier = text("versionHashModifier", of: element)
    for child in element.children {
      if child.name == "userInfo" { result.userInfo = try userInfo(child) } else { passOver(child, in: name) }
    }
    noteUnknown(
      element,
      known: [
        "name", "destinationEntity", "toMany", "maxCount", "minCount", "inverseName", "inverseEntity", "optional",
        "transient", "ordered", "deletionRule", "elementID", "versionHashModifier", "syncable",
        // Relationships are found without an index of their own.
        "indexed",
      ],
      unused: [
        "spotlightIndexingEnabled": "there is no search index",
        "storedInExternalRecord": "there are no external records",
        "storedInTruthFile": "there are no truth files",
      ])
    return result
  }

  /// Takes the inverses from relationships that don't name each other, as real files have them: what one side names
  /// belongs to a third, or points elsewhere.
  @_optimize(none)
  mutating func mendInverses() {
    let places = PlaceTable(model.entities)
    // What one loses may be what another names. More rounds than these no model needs; the schema's checks follow.
    for _ in 0..<8 {
      var isMended = false
      for place in model.entities.indices {
        for index in model.entities[place].relationships.indices {
          let relationship = model.entities[place].relationships[index]
          guard let inverse = relationship.inverse else { continue }
          let entity = model.entities[place].name
          guard let problem = inverseProblem(relationship, inverse, of: entity, places) else { continue }
          model.entities[place].relationships[index].inverse = nil
          isMended = true
          model.warnings.append(
            ModelFileWarning(
              relationship.line,
              "\(entity).\(relationship.name) was read without its inverse '\(inverse)': \(problem)"))
        }
      }
      if !isMended { return }
    }
  }

  private func inverseProblem(
    _ relationship: ModelDocument.Relationship, _ name: String, of entity: String, _ places: PlaceTable
  ) -> String? {
    // What names no entity is refused by the schema's checks.
    guard places.entities[relationship.destination] != nil else { return nil }
    guard let inverse = find(name, of: relationship.destination, places) else {
      return "\(relationship.destination) has no relationship of that name"
    }
    guard inverse.inverse == relationship.name else {
      return "\(relationship.destination).\(name) has "
        + (inverse.inverse.map { "'\($0)' as its inverse" } ?? "no inverse")
    }
    guard isKind(inverse.destination, of: entity, places) || isKind(entity, of: inverse.destination, places) else {
      return "\(relationship.destination).\(name) leads to \(inverse.destination)"
    }
    return nil
  }

  /// A relationship of an entity or an ancestor.
  private func find(_ name: String, of entity: String, _ places: PlaceTable) -> ModelDocument.Relationship? {
    for place in places.lineage(entity, model.entities) {
      if let index = places.relationships[place][name] { return model.entities[place].relationships[index] }
    }
    return nil
  }

  private func isKind(_ entity: String, of ancestor: String, _ places: PlaceTable) -> Bool {
    places.lineage(entity, model.entities).contains { model.entities[$0].name == ancestor }
  }
}

/// Finds entities and their relationships by name.
private struct PlaceTable {
  private(set) var entities: [String: Int] = [:]
  /// By the entity's place.
  private(set) var relationships: [[String: Int]] = []

  @_optimize(none)
  init(_ all: [ModelDocument.Entity]) {
    for place in all.indices {
      entities[all[place].name] = place
      var names: [String: Int] = [:]
      for index in all[place].relationships.indices { names[all[place].relationships[index].name] = index }
      relationships.append(names)
    }
  }

  /// The places of an entity and its ancestors. A hierarchy that is a ring ends where it begins anew.
  func lineage(_ entity: String, _ all: [ModelDocument.Entity]) -> [Int] {
    var result: [Int] = []
    var seen: Set<Int> = []
    var next: String? = entity
    while let name = next, let place = entities[name], seen.insert(place).inserted {
      result.append(place)
      next = all[place].parent
    }
    return result
  }
}

import CambiumModelFiles

/// Finds what keeps a document from being a model at all: names that stand twice or lead nowhere, and rings.
struct StructureCheck {
  private let index: ModelIndex
  private(set) var refusals: [Refusal] = []

  init(_ index: ModelIndex) { self.index = index }

  mutating func run() {
    let document = index.document
    if document.entities.isEmpty { refuse(nil, nil, "it has no entities", "add one in the model") }
    checkNames(document.entities.map { $0.name }, nil, "entity", "rename one of them")
    checkNames(document.composites.map { $0.name }, nil, "composite type", "rename one of them")
    for type in document.composites {
      checkNames(type.elements.map { $0.name }, type.name, "element", "rename one of them")
      for element in type.elements { checkComposite(element, type.name) }
      if contains(type.name, in: type) {
        refuse(type.name, nil, "the composite type contains itself", "take the element out of it")
      }
    }
    for entity in document.entities {
      let own = propertyNames(of: entity)
      checkNames(own, entity.name, "property", "rename one of them")
      for attribute in entity.attributes { checkComposite(attribute, entity.name) }
      checkParent(entity, Set(own))
      for relationship in entity.relationships where index.entity(relationship.destination) == nil {
        refuse(
          entity.name, relationship.name, "leads to '\(relationship.destination)', which the model does not have",
          "correct the destination")
      }
      for property in entity.fetchedProperties where index.entity(property.request.entity) == nil {
        refuse(
          entity.name, property.name, "fetches '\(property.request.entity)', which the model does not have",
          "correct the destination")
      }
    }
  }

  private mutating func refuse(_ entity: String?, _ property: String?, _ reason: String, _ remedy: String) {
    refusals.append(Refusal(entity, property, reason, remedy))
  }

  private func propertyNames(of entity: ModelDocument.Entity) -> [String] {
    entity.attributes.map { $0.name } + entity.relationships.map { $0.name } + entity.fetchedProperties.map { $0.name }
  }

  private mutating func checkNames(_ names: [String], _ entity: String?, _ what: String, _ remedy: String) {
    var seen: Set<String> = []
    for name in names where !seen.insert(name).inserted {
      refuse(entity ?? name, entity == nil ? nil : name, "another \(what) has the same name", remedy)
    }
  }

  private mutating func checkComposite(_ attribute: ModelDocument.Attribute, _ place: String) {
    guard attribute.type == .composite, let name = attribute.compositeName, index.composite(name) == nil else { return }
    refuse(place, attribute.name, "is of the composite type '\(name)', which the model does not have", "choose another")
  }

  private func contains(_ name: String, in type: ModelDocument.Composite) -> Bool {
    var open = [type]
    var seen: Set<String> = []
    while let next = open.popLast() {
      for inner in next.elements.compactMap({ $0.compositeName }) {
        if inner == name { return true }
        if seen.insert(inner).inserted, let found = index.composite(inner) { open.append(found) }
      }
    }
    return false
  }

  private mutating func checkParent(_ entity: ModelDocument.Entity, _ own: Set<String>) {
    guard let parent = entity.parent else { return }
    let ancestors = index.lineage(of: entity).dropFirst()
    if index.entity(parent) == nil {
      refuse(entity.name, nil, "inherits from '\(parent)', which the model does not have", "correct the parent")
    } else if let last = ancestors.last, last.parent != nil, index.entity(last.parent ?? "") != nil {
      refuse(entity.name, nil, "inherits from itself", "take the parent entity out of one of its ancestors")
    }
    for ancestor in ancestors {
      for name in propertyNames(of: ancestor) where own.contains(name) {
        refuse(
          entity.name, name, "'\(ancestor.name)' has a property of the name, which is inherited", "rename one of them")
      }
    }
  }
}

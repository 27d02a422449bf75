import CambiumModelFiles

/// Finds the parts of a document by name, and what entities inherit. Names that stand twice find the first.
struct ModelIndex {
  let document: ModelDocument
  private var placeByName: [String: Int] = [:]
  private var compositePlaceByName: [String: Int] = [:]
  private var childPlaces: [[Int]] = []

  init(_ document: ModelDocument) {
    self.document = document
    for (place, entity) in document.entities.enumerated() where placeByName[entity.name] == nil {
      placeByName[entity.name] = place
    }
    for (place, type) in document.composites.enumerated() where compositePlaceByName[type.name] == nil {
      compositePlaceByName[type.name] = place
    }
    childPlaces = [[Int]](repeating: [], count: document.entities.count)
    for (place, entity) in document.entities.enumerated() {
      if let parent = entity.parent, let parentPlace = placeByName[parent] { childPlaces[parentPlace].append(place) }
    }
  }

  /// The entity of a name.
  func entity(_ name: String) -> ModelDocument.Entity? { placeByName[name].map { document.entities[$0] } }
  /// The composite type of a name.
  func composite(_ name: String) -> ModelDocument.Composite? {
    compositePlaceByName[name].map { document.composites[$0] }
  }
  /// Whether other entities inherit from an entity.
  func hasChildren(_ name: String) -> Bool { placeByName[name].map { !childPlaces[$0].isEmpty } ?? false }

  /// The entity and its ancestors, itself first. A hierarchy that is a ring ends where it begins anew.
  func lineage(of entity: ModelDocument.Entity) -> [ModelDocument.Entity] {
    var result = [entity]
    var names: Set<String> = [entity.name]
    while let parent = result.last?.parent, names.insert(parent).inserted, let found = self.entity(parent) {
      result.append(found)
    }
    return result
  }

  /// The attribute of a name of an entity or an ancestor.
  func attribute(_ name: String, of entity: ModelDocument.Entity) -> ModelDocument.Attribute? {
    for entity in lineage(of: entity) {
      if let found = entity.attributes.first(where: { $0.name == name }) { return found }
    }
    return nil
  }

  /// The relationship of a name of an entity or an ancestor.
  func relationship(_ name: String, of entity: ModelDocument.Entity) -> ModelDocument.Relationship? {
    for entity in lineage(of: entity) {
      if let found = entity.relationships.first(where: { $0.name == name }) { return found }
    }
    return nil
  }

  /// The end of a key path of an index or constraint.
  enum PathEnd {
    case attribute(ModelDocument.Attribute)
    case toOne(ModelDocument.Relationship)
  }

  /// Follows a key path through composites. Returns the attributes on the way and the end; `nil` if the path leads to
  /// no stored value that has an order.
  func resolve(_ path: String, from entity: ModelDocument.Entity) -> (way: [ModelDocument.Attribute], end: PathEnd)? {
    var names = path.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }[...]
    guard let first = names.popFirst() else { return nil }
    guard var attribute = attribute(first, of: entity) else {
      guard names.isEmpty, let relationship = relationship(first, of: entity), !relationship.isToMany,
        !relationship.isTransient
      else { return nil }
      return ([], .toOne(relationship))
    }
    if attribute.isTransient { return nil }
    var way: [ModelDocument.Attribute] = []
    while let name = names.popFirst() {
      guard attribute.type == .composite, let type = attribute.compositeName.flatMap({ composite($0) }),
        let element = type.elements.first(where: { $0.name == name })
      else { return nil }
      way.append(attribute)
      attribute = element
    }
    if [.composite, .transformable, .undefined].contains(attribute.type) { return nil }
    return (way, .attribute(attribute))
  }

  /// The indexes of an entity that a store can have. Reading the model file leaves out the others.
  func usableIndexes(of entity: ModelDocument.Entity) -> [ModelDocument.Index] {
    var names: Set<String> = []
    return entity.allIndexes().filter { isUsable($0, of: entity) && names.insert($0.name).inserted }
  }

  private func isUsable(_ index: ModelDocument.Index, of entity: ModelDocument.Entity) -> Bool {
    guard let first = index.elements.first, index.elements.allSatisfy({ $0.kind == first.kind }) else { return false }
    for element in index.elements {
      guard let found = resolve(element.path, from: entity) else { return false }
      guard element.kind == .rTree else { continue }
      guard case .attribute(let attribute) = found.end,
        [.integer16, .integer32, .integer64, .decimal, .double, .float, .date].contains(attribute.type)
      else { return false }
    }
    return first.kind == .binary || index.elements.count == 2 && index.elements[0].path != index.elements[1].path
  }
}

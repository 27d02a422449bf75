import CambiumModelFiles

/// Which of two inverse relationships names the other one in `@Relationship(inverse:)`: it must not be both.
struct InverseSides {
  private struct Place: Hashable {
    let entity: String
    let name: String
  }
  private var named: Set<Place> = []
  private var paired: Set<Place> = []
  private let index: ModelIndex

  init(_ index: ModelIndex) {
    self.index = index
    for entity in index.document.entities {
      for relationship in entity.relationships {
        guard let name = relationship.inverse,
          let (owner, inverse) = Self.find(name, of: relationship.destination, index)
        else { continue }
        let (mine, other) = (
          Place(entity: entity.name, name: relationship.name), Place(entity: owner, name: inverse.name)
        )
        paired.formUnion([mine, other])
        // The array names the single one; of two alike the first.
        if relationship.isToMany == inverse.isToMany ? !named.contains(other) : relationship.isToMany {
          named.insert(mine)
        }
      }
    }
  }

  /// The relationship of a name of an entity or an ancestor, and which declares it.
  private static func find(
    _ name: String, of entity: String, _ index: ModelIndex
  ) -> (owner: String, relationship: ModelDocument.Relationship)? {
    guard let entity = index.entity(entity) else { return nil }
    for owner in index.lineage(of: entity) {
      if let found = owner.relationships.first(where: { $0.name == name }) { return (owner.name, found) }
    }
    return nil
  }

  /// Whether a relationship names its inverse.
  func isNamed(at entity: String, _ name: String) -> Bool { named.contains(Place(entity: entity, name: name)) }

  /// Whether a relationship that is called like its inverse is the same.
  func isOwnInverse(_ relationship: ModelDocument.Relationship, of entity: ModelDocument.Entity) -> Bool {
    Self.find(relationship.name, of: relationship.destination, index)?.owner == entity.name
  }

  /// Returns the relationship that SwiftData takes for the inverse of one that has none: each is the only one that
  /// leads from its entity to the other's. `nil` if there is no such one.
  func inferred(for relationship: ModelDocument.Relationship, of entity: ModelDocument.Entity) -> String? {
    guard relationship.destination != entity.name, let destination = index.entity(relationship.destination),
      only(from: entity, to: destination.name)?.name == relationship.name
    else { return nil }
    return only(from: destination, to: entity.name)?.name
  }

  private func only(from entity: ModelDocument.Entity, to destination: String) -> ModelDocument.Relationship? {
    let leading = entity.relationships.filter {
      $0.destination == destination && !paired.contains(Place(entity: entity.name, name: $0.name))
    }
    return leading.count == 1 ? leading.first : nil
  }
}

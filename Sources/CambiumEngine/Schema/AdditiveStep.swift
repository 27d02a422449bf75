/// The step from a model that is in production to the next one, by the rule of databases that devices share: what is in
/// production stays, and only entities, attributes, elements and relationships are added.
///
/// Entities and properties are matched by their names alone, because a record keeps the names that it was written with.
/// A new name is therefore an addition and a removal, with or without a renaming identifier.
public struct AdditiveStep: Sendable, Equatable {
  /// The places that the new model adds: `Hotel`, `Trip.note`, `Trip.place.country`. Of a new entity only its name.
  public private(set) var additions: [String] = []
  /// The reasons why the new model cannot be promoted: rule `not-additive` for a change of what is in production, and
  /// rule `sync` for what cannot be mirrored at all (``Schema/syncFindings()``).
  public private(set) var obstacles: [ModelFinding] = []

  /// Whether the new model can be promoted.
  public var isAllowed: Bool { obstacles.isEmpty }

  /// Compares a model with the one in production. O(size of the models).
  ///
  /// - Parameter production: Nil if nothing is in production yet. Everything is an addition then.
  @_optimize(none)
  public init(from production: Schema?, to development: Schema) {
    for entity in production?.entities ?? [] {
      guard let next = development.entity(named: entity.name) else {
        refuse(
          entity.name, "records of the entity are in production, which keeps it; keep the entity, and leave it unused")
        continue
      }
      compare(entity, next)
    }
    for entity in development.entities where production?.entity(named: entity.name) == nil {
      additions.append(entity.name)
    }
    obstacles += development.syncFindings()
  }

  private mutating func refuse(_ place: String, _ text: String) {
    obstacles.append(ModelFinding("not-additive", place, text))
  }

  // MARK: Entities

  @_optimize(none)
  private mutating func compare(_ old: EntitySchema, _ new: EntitySchema) {
    if old.parent != new.parent {
      refuse(
        new.name,
        "the parent is \(old.parent ?? "none") in production, not \(new.parent ?? "none"); add a new entity instead")
    }
    if new.isAbstract, !old.isAbstract {
      refuse(new.name, "the entity became abstract, and production has records of it; add an abstract entity instead")
    }
    compareAttributes(old.attributes, in: new.name) { new.attribute(named: $0) }
    for attribute in new.attributes
    where !attribute.isTransient && old.attribute(named: attribute.name)?.isTransient ?? true {
      additions.append(new.name + "." + attribute.name)
    }
    for relationship in old.relationships where !relationship.isTransient {
      compare(relationship, new.relationship(named: relationship.name), new.name + "." + relationship.name)
    }
    for relationship in new.relationships
    where !relationship.isTransient && old.relationship(named: relationship.name)?.isTransient ?? true {
      additions.append(new.name + "." + relationship.name)
    }
  }

  // MARK: Properties

  /// A schema bounds the depth.
  @_optimize(none)
  private mutating func compareAttributes(
    _ old: [AttributeSchema], in holder: String, _ next: (String) -> AttributeSchema?
  ) {
    for attribute in old where !attribute.isTransient {
      let place = holder + "." + attribute.name
      guard let new = next(attribute.name), !new.isTransient else {
        refuse(place, Self.missing)
        continue
      }
      guard new.type == attribute.type else {
        refuse(
          place,
          "the type is \(attribute.type.name) in production, not \(new.type.name); keep it, and add an attribute under "
            + "another name")
        continue
      }
      compareAttributes(attribute.elements, in: place) { new.element(named: $0) }
      for element in new.elements where attribute.element(named: element.name) == nil {
        additions.append(place + "." + element.name)
      }
    }
  }

  @_optimize(none)
  private mutating func compare(_ old: RelationshipSchema, _ new: RelationshipSchema?, _ place: String) {
    guard let new, !new.isTransient else { return refuse(place, Self.missing) }
    func form(_ relationship: RelationshipSchema) -> String {
      "to \(relationship.isToMany ? "many" : "one") \(relationship.destination)"
        + (relationship.inverse.map { " with inverse \($0)" } ?? "")
    }
    if form(old) != form(new) {
      refuse(
        place,
        "the relationship is \(form(old)) in production, not \(form(new)); keep it, and add one under another name")
    }
  }

  private static let missing =
    "production has it, and devices with the former version use it; keep it in the model, and go on writing it as long as "
    + "such devices are in use"
}

/// An entity, stored attribute, element of a composite or relationship of a store's model without a counterpart in the
/// new model. An inferred migration drops its values.
///
/// A derived or transient attribute is no drop, because nothing is lost with it.
public struct ModelDrop: Error, Sendable, Equatable, CustomStringConvertible {
  /// Kinds of drops.
  public enum Kind: Sendable, Equatable {
    /// An entity with its objects.
    case entity
    /// An attribute, and a composite with all of its elements.
    case attribute
    /// An element of a composite that stays, or whose other elements move elsewhere.
    case element
    /// A relationship.
    case relationship
  }

  /// The kind.
  public let kind: Kind
  /// The entity, as the store's model calls it.
  public let entity: String
  /// The name of the property, or the path of the element, as the store's model has it. Nil for an entity.
  public let path: String?
  /// The entity of the new model that needs the line. Nil for the drop of an entity, because the model itself names it.
  public let place: String?
  /// Whether the new model names the drop (``EntitySchema/removedProperties``, ``SchemaDefinition/removedEntities``).
  public let isNamed: Bool
  /// The number of values that would be lost: objects of an entity, links of a relationship, otherwise values that are
  /// not null. Only ``EntityStore/migrationPlan(to:defers:matchesNames:)`` counts them; otherwise it is nil.
  public internal(set) var values: UInt64?
  /// The identifiers of the store's entities whose objects lose the property, or of the entity itself if it is dropped.
  var losers: [UInt32]
  /// The identifier of the property; of an element, those of the attributes on its path.
  let identifiers: [UInt32]

  /// The line of a model builder that names the drop: `Removed("notes")` or `RemovedEntity("Hotel")`.
  public var line: String {
    path.map { "Removed(" + swiftLiteral($0) + ")" } ?? "RemovedEntity(" + swiftLiteral(entity) + ")"
  }

  /// The entity, or the entity and the path: `Trip.notes`.
  public var name: String { path.map { entity + "." + $0 } ?? entity }

  /// One line with the name and, if it is known, the number of values.
  public var description: String {
    let what = "drop " + (kind == .entity ? "entity " : "") + name
    guard let values else { return what }
    let unit =
      switch kind {
      case .entity: values == 1 ? "object" : "objects"
      case .relationship: values == 1 ? "link" : "links"
      case .attribute, .element: values == 1 ? "value" : "values"
      }
    return what + " (\(values) " + unit + ")"
  }

  /// Returns the lines that name drops, one text per place: `in Entity("Trip"): Removed("notes")`.
  public static func lines(_ drops: [ModelDrop]) -> [String] {
    var places: [String?] = []
    for drop in drops where !places.contains(drop.place) { places.append(drop.place) }
    return places.map { place in
      var text = place.map { "in Entity(" + swiftLiteral($0) + "):" } ?? "in the model:"
      for (number, drop) in drops.filter({ $0.place == place }).enumerated() {
        text += (number == 0 ? " " : "; ") + drop.line
      }
      return text
    }
  }
}

/// Returns a text as a string literal of Swift.
private func swiftLiteral(_ text: String) -> String {
  var literal = "\""
  for character in text {
    if character == "\"" || character == "\\" { literal.append("\\") }
    literal.append(character)
  }
  return literal + "\""
}

/// Takes conditions of the objects of an entity to the other end of the relationship that they begin with.
struct RelatedConditions {
  let entity: EntitySchema
  let schema: Schema

  /// A condition that does not hold where a to-one relationship leads nowhere, as one of the object that it leads to.
  func toOne(_ conjunct: Conjunct) -> (RelationshipSchema, Predicate)? {
    guard case .comparison(var comparison) = conjunct.predicate else { return nil }
    let text: String
    switch comparison.modifier {
    case .direct:
      guard let about = conjunct.about, conjunct.excludesNull, about.comparator != .notEqual else { return nil }
      text = about.path
      comparison.comparator = about.comparator
      comparison.right = .constant(about.value)
    case .any:
      guard case .keyPath(let path) = comparison.left, case .constant = comparison.right else { return nil }
      text = path
    default: return nil
    }
    guard let (relationship, rest) = split(text), !relationship.isToMany, let rest else { return nil }
    comparison.left = .keyPath(rest)
    return (relationship, .comparison(comparison))
  }

  /// A condition that asks for at least one object of a to-many relationship, as one of that object.
  func toMany(_ predicate: Predicate) -> (RelationshipSchema, Predicate)? {
    guard case .comparison(var comparison) = predicate else { return nil }
    switch (comparison.modifier, comparison.comparator, comparison.left, comparison.right) {
    case (.any, let comparator, .keyPath(let path), .constant(let value)):
      guard let (relationship, rest) = split(path), relationship.isToMany else { return nil }
      // An object that is gone counts as no value here, and as null there. Where there may be such objects, null must
      // be no reason to hold.
      let excludesNull =
        comparator != .notEqual && !value.isNull && Conjunct(.comparison(direct(comparison))).excludesNull
      guard excludesNull || isOfRows(relationship, rest) else { return nil }
      // Behind another to-many relationship, there are several values again.
      if let rest {
        comparison.left = .keyPath(rest)
        if !isToMany(rest, from: relationship) { comparison.modifier = .direct }
      } else {
        comparison.left = .evaluatedObject
        comparison.modifier = .direct
      }
      return (relationship, .comparison(comparison))
    case (.direct, .contains, .keyPath(let path), .constant(let value)):
      guard case .reference = value, let (relationship, rest) = split(path), relationship.isToMany, rest == nil else {
        return nil
      }
      return (relationship, .compare(.evaluatedObject, .equal, .constant(value)))
    case (.direct, .in, .constant(let value), .keyPath(let path)):
      guard case .reference = value, let (relationship, rest) = split(path), relationship.isToMany, rest == nil else {
        return nil
      }
      return (relationship, .compare(.evaluatedObject, .equal, .constant(value)))
    case (
      .direct, let comparator, .aggregate(.count, .subquery(.keyPath(let path), let name, let condition), path: nil),
      let right
    ):
      guard isAtLeastOne(comparator, right), let (relationship, rest) = split(path), relationship.isToMany, rest == nil,
        let moved = condition.moved(to: name, depth: 0)
      else { return nil }
      return (relationship, moved)
    default: return nil
    }
  }

  /// A condition that at least so many objects of a to-many relationship have to meet, as one of such an object, and
  /// that number.
  func toManyAtLeast(
    _ predicate: Predicate
  ) -> (relationship: RelationshipSchema, condition: Predicate, least: Int)? {
    guard case .comparison(let c) = predicate, c.modifier == .direct, case .constant(let value) = c.right,
      let number = value.exactInteger, 0..<Int64(Int32.max) ~= number,
      case .aggregate(.count, .subquery(.keyPath(let path), let name, let condition), path: nil) = c.left
    else { return nil }
    let least: Int64
    switch c.comparator {
    case .greaterOrEqual where number > 0: least = number
    case .greater: least = number + 1
    default: return nil
    }
    guard let (relationship, rest) = split(path), relationship.isToMany, rest == nil,
      let moved = condition.moved(to: name, depth: 0)
    else { return nil }
    return (relationship, moved, Int(least))
  }

  /// Whether a path has one value for each row that leads back by the inverse of a to-many relationship, so that it
  /// leads to no object that is gone.
  private func isOfRows(_ relationship: RelationshipSchema, _ rest: String?) -> Bool {
    guard case .derived = RelationshipStorage(relationship, in: schema), let rest else { return false }
    return !isToMany(rest, from: relationship)
  }

  private func direct(_ comparison: Comparison) -> Comparison {
    var direct = comparison
    direct.modifier = .direct
    return direct
  }

  /// Whether a number of which this is said is at least 1, and nothing else is said.
  private func isAtLeastOne(_ comparator: Comparator, _ right: Expression) -> Bool {
    guard case .constant(let value) = right, let n = value.exactInteger else { return false }
    switch comparator {
    case .greater, .notEqual: return n == 0
    case .greaterOrEqual: return n == 1
    default: return false
    }
  }

  /// A path as the relationship that it begins with and the rest; nil if it begins with anything else.
  private func split(_ path: String) -> (RelationshipSchema, rest: String?)? {
    guard let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")) else {
      return entity.relationship(named: path).map { ($0, nil) }
    }
    guard let relationship = entity.relationship(named: String(path[..<dot])) else { return nil }
    return (relationship, String(path[path.utf8.index(after: dot)...]))
  }

  private func isToMany(_ path: String, from relationship: RelationshipSchema) -> Bool {
    guard let destination = schema.entity(named: relationship.destination) else { return true }
    if destination.attribute(named: path) != nil { return false }
    do throws(SchemaError) { return try schema.resolve(keyPath: path, from: destination.id).isToMany } catch {
      return true
    }
  }
}

extension Predicate {
  /// The condition of a subquery as one of its element; nil if it is not about that alone.
  func moved(to variable: String, depth: Int) -> Predicate? {
    guard depth < Predicate.depthLimit else { return nil }
    switch self {
    case .true, .false: return self
    case .not(let inner): return inner.moved(to: variable, depth: depth + 1).map { .not($0) }
    case .and(let parts): return Self.moved(parts, variable, depth).map { .and($0) }
    case .or(let parts): return Self.moved(parts, variable, depth).map { .or($0) }
    case .comparison(var comparison):
      guard let left = Self.moved(comparison.left, variable), let right = Self.moved(comparison.right, variable) else {
        return nil
      }
      comparison.left = left
      comparison.right = right
      return .comparison(comparison)
    }
  }

  private static func moved(_ parts: [Predicate], _ variable: String, _ depth: Int) -> [Predicate]? {
    var result: [Predicate] = []
    for part in parts {
      guard let moved = part.moved(to: variable, depth: depth + 1) else { return nil }
      result.append(moved)
    }
    return result
  }

  private static func moved(_ expression: Expression, _ variable: String) -> Expression? {
    switch expression {
    case .constant: return expression
    case .variable(variable): return .evaluatedObject
    case .member(.variable(variable), let path): return .keyPath(path)
    case .member(.function(let name, let arguments), let path):
      return moved(.function(name, arguments), variable).map { .member($0, path: path) }
    // Its argument is the object; the others are constants.
    case .function(PredicateFunction.castToEntity.name, var arguments):
      guard let first = arguments.first, let object = moved(first, variable) else { return nil }
      arguments[0] = object
      return .function(PredicateFunction.castToEntity.name, arguments)
    default: return nil
    }
  }
}

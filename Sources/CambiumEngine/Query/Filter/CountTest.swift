import CambiumKernel

/// Compares a constant with the count, sum, average, minimum or maximum over a to-many relationship, or with the
/// number of its objects for which a condition holds. It follows links where they lie and reads rows in place; it
/// makes no list of the objects.
final class CountTest {
  private enum Question {
    case links
    /// Whether there is an object that the sieve lets through: not where ALL holds.
    case exception(RowSieve, OwnerCounts?)
    case matching(RowSieve, OwnerCounts?)
    case values(CollectionOperator, ValuesReader)
  }

  /// Fewer links are gone through, because that costs less than asking the tree for their number.
  private static let fewLinks: Int64 = 8

  private let objects: RelationshipReader
  private let question: Question
  private let comparison: Comparison
  private let constant: Value

  /// Nil for any other comparison, and where the relationship may lead to objects that are gone, because the
  /// evaluator counts those differently.
  init?(_ comparison: Comparison, _ entity: EntitySchema, _ outer: PathReader) {
    let view = outer.view
    guard comparison.modifier == .direct, comparison.comparator != .matches,
      case .constant(let constant) = comparison.right,
      case .aggregate(let operation, let collection, let path) = comparison.left
    else { return nil }
    let name: String
    var condition: Predicate?
    switch (operation, collection, path) {
    case (.count, .keyPath(let path), nil): name = path
    case (.count, .subquery(.keyPath(let path), let variable, let inner), nil):
      name = path
      guard let moved = inner.moved(to: variable, depth: 0) else { return nil }
      condition = moved
    case (.sum, .keyPath(let path), .some), (.average, .keyPath(let path), .some),
      (.minimum, .keyPath(let path), .some),
      (.maximum, .keyPath(let path), .some):
      name = path
    default: return nil
    }
    guard let relationship = entity.relationship(named: name), relationship.isToMany else { return nil }
    do throws(EngineError) {
      objects = try view.destinations(of: relationship)
      if operation == .count, condition == nil {
        question = .links
      } else {
        guard case .derived = RelationshipStorage(relationship, in: view.store.schema) else { return nil }
        if let path {
          question = .values(operation, ValuesReader(view, [.keyPath(path)]))
        } else {
          let reader = PathReader(view: view)
          reader.prepare(for: condition)
          question = .matching(
            try RowSieve(view, objects.destination, condition, includesSubentities: true, reader),
            condition.flatMap { OwnerCounts(relationship, $0, outer) })
        }
      }
    } catch {
      // The evaluator meets the error again.
      return nil
    }
    self.comparison = comparison
    self.constant = constant
  }

  /// The test of `ALL relationship.path`: that no object is there for which the comparison does not hold.
  init?(all comparison: Comparison, _ entity: EntitySchema, _ outer: PathReader) {
    let view = outer.view
    guard case .keyPath(let text) = comparison.left, case .constant(let constant) = comparison.right,
      comparison.modifier == .all, comparison.comparator != .matches,
      let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")),
      let relationship = entity.relationship(named: String(text[..<dot])), relationship.isToMany,
      case .derived = RelationshipStorage(relationship, in: view.store.schema)
    else { return nil }
    var single = comparison
    single.modifier = .direct
    single.left = .keyPath(String(text[text.utf8.index(after: dot)...]))
    do throws(EngineError) {
      let objects = try view.destinations(of: relationship)
      self.objects = objects
      guard case .keyPath(let path) = single.left else { return nil }
      // Behind another to-many relationship there are several values again.
      let resolved = try resolving { () throws(SchemaError) in
        try view.store.schema.resolve(keyPath: path, from: objects.destination.entity.id)
      }
      if resolved.isToMany { return nil }
      let exception = Predicate.not(.comparison(single))
      question = .exception(
        try RowSieve(view, objects.destination, exception, includesSubentities: true, PathReader(view: view)),
        OwnerCounts(relationship, exception, outer))
    } catch {
      // The evaluator meets the error again.
      return nil
    }
    self.comparison = comparison
    self.constant = constant
  }

  /// Answers whether the comparison holds for an object.
  func holds(for reference: ObjectReference) throws(EngineError) -> Bool {
    switch question {
    case .links:
      // To compare with a small number, it is enough to know whether there are more.
      var count: Int
      if let number = constant.exactInteger, number >= 0, number < Self.fewLinks {
        count = try objects.count(from: reference, limit: Int(number) + 1)
      } else {
        count = try objects.count(from: reference)
      }
      return comparison.holds(.integer(Int64(count)), constant)
    case .exception(let sieve, let counts):
      return try !objects.leads(from: reference, toOneOf: sieve, counts)
    case .matching(let sieve, let counts):
      // More than the number that they are compared with need not be counted.
      var enough = Int.max
      if let number = constant.exactInteger, 0..<Int64(Int32.max) ~= number { enough = Int(number) + 1 }
      let count = try objects.count(from: reference, of: sieve, counts, enough: enough)
      return comparison.holds(.integer(Int64(count)), constant)
    case .values(let operation, let reader):
      var values: [Value] = []
      try objects.forEachRow(from: reference) { (row) throws(EngineError) in
        let value = try reader.first(of: row)
        // Of a path through another to-many relationship there are several.
        if case .list(let inner) = value { values += inner } else { values.append(value) }
        return true
      }
      return comparison.holds(Aggregates.apply(operation, values), constant)
    }
  }
}

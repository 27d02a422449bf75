import CambiumKernel

/// Asks a condition of the object at the other end of a to-one relationship.
final class DestinationTest {
  private let reader: PathReader
  private let predicate: Predicate
  private var filters: [UInt16: RowFilter] = [:]

  /// - Parameter predicate: A condition whose key paths begin at that object.
  init(_ predicate: Predicate, _ view: EntityView) {
    self.predicate = predicate
    reader = PathReader(view: view)
  }

  /// Answers whether the condition holds for an object. If that object is gone, all its paths are null: the answer is
  /// `whenNull`.
  func holds(for packed: UInt64, whenNull: Bool) throws(EngineError) -> Bool {
    guard let row = try reader.view.row(PackedReference.unpack(packed)) else { return whenNull }
    let filter: RowFilter
    if let known = filters[row.layout.id] {
      filter = known
    } else {
      filter = RowFilter(predicate, row.layout, reader)
      filters[row.layout.id] = filter
    }
    return try row.withBytes { (bytes) throws(EngineError) -> Bool in
      let record = try storing { () throws(StoreError) in try RecordView(bytes, layout: row.layout.record) }
      return try filter.matches(record, row.reference)
    }
  }
}

/// A condition of an object as one of the object at the other end of a to-one relationship, if it is about that one
/// alone.
struct DestinationCondition {
  let relationship: RelationshipSchema
  /// The condition, whose key paths begin at that object.
  let predicate: Predicate
  /// The answer where there is no such object.
  let whenNull: Bool
  /// Whether asking it cannot fail, so that it may be asked in another order.
  let isSafe: Bool

  /// Nil if the condition is about anything else as well, or may give another answer at another time.
  init?(_ predicate: Predicate, of entity: EntitySchema) {
    var mover = Mover(entity: entity)
    guard let moved = mover.move(predicate, depth: 0), let relationship = mover.relationship else { return nil }
    self.relationship = relationship
    self.predicate = moved
    isSafe = mover.isSafe
    do throws(PredicateEvaluationError<Never>) {
      whenNull = try moved.evaluate { (_: ObjectReference?, _: String) throws(Never) in .null }
    } catch { return nil }
  }

  private struct Mover {
    let entity: EntitySchema
    var relationship: RelationshipSchema?
    var isSafe = true
    /// How many parts may still be moved. Each level of a predicate is tried, so that a deep one would take too long
    /// without a limit.
    private var partsLeft = 512
    /// The relationships that a path may go through: each of them has a filter of its own.
    private static let longestPath = 8

    init(entity: EntitySchema) { self.entity = entity }

    mutating func move(_ predicate: Predicate, depth: Int) -> Predicate? {
      partsLeft -= 1
      guard depth < Predicate.depthLimit, partsLeft > 0 else { return nil }
      switch predicate {
      case .true, .false: return predicate
      case .not(let inner): return move(inner, depth: depth + 1).map { .not($0) }
      case .and(let parts): return move(parts, depth: depth + 1).map { .and($0) }
      case .or(let parts): return move(parts, depth: depth + 1).map { .or($0) }
      case .comparison(var comparison):
        guard let left = move(comparison.left, depth: depth + 1), let right = move(comparison.right, depth: depth + 1)
        else { return nil }
        comparison.left = left
        comparison.right = right
        if comparison.comparator == .matches { isSafe = false }
        return .comparison(comparison)
      }
    }

    private mutating func move(_ parts: [Predicate], depth: Int) -> [Predicate]? {
      var result: [Predicate] = []
      for part in parts {
        guard let moved = move(part, depth: depth) else { return nil }
        result.append(moved)
      }
      return result
    }

    private mutating func move(_ expression: Expression, depth: Int) -> Expression? {
      partsLeft -= 1
      guard depth < Predicate.depthLimit, partsLeft > 0 else { return nil }
      switch expression {
      case .constant: return expression
      case .keyPath(let path): return move(path).map { .keyPath($0) }
      case .negated(let inner): return move(inner, depth: depth + 1).map { .negated($0) }
      case .arithmetic(let operation, let a, let b):
        guard let x = move(a, depth: depth + 1), let y = move(b, depth: depth + 1) else { return nil }
        return .arithmetic(operation, x, y)
      case .function(let name, let arguments):
        guard PredicateFunction(name).map({ !$0.isVolatile && $0 != .call }) ?? false else { return nil }
        isSafe = false
        var moved: [Expression] = []
        for argument in arguments {
          guard let argument = move(argument, depth: depth + 1) else { return nil }
          moved.append(argument)
        }
        return .function(name, moved)
      default: return nil
      }
    }

    private mutating func move(_ path: String) -> String? {
      guard let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")),
        let found = entity.relationship(named: String(path[..<dot])), !found.isToMany,
        relationship == nil || relationship?.id == found.id, keyPathNames(path).count <= Self.longestPath
      else { return nil }
      relationship = found
      return String(path[path.utf8.index(after: dot)...])
    }
  }
}

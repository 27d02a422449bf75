import CambiumKernel

/// Compares the number of objects that a to-many relationship leads to with a number.
final class CountTest {
  private let objects: RelationshipReader
  private let comparison: Comparison
  private let number: Value

  /// The test of `relationship.@count` and a constant; nil for any other comparison.
  init?(_ comparison: Comparison, _ entity: EntitySchema, _ view: EntityView) {
    guard comparison.modifier == .direct, case .aggregate(.count, .keyPath(let path), path: nil) = comparison.left,
      case .constant(let number) = comparison.right, number.isNumeric,
      let relationship = entity.relationship(named: path), relationship.isToMany
    else { return nil }
    do throws(EngineError) { objects = try view.destinations(of: relationship) } catch {
      // The evaluator meets the error again.
      return nil
    }
    self.comparison = comparison
    self.number = number
  }

  /// Whether it holds for an object.
  func holds(for reference: ObjectReference) throws(EngineError) -> Bool {
    comparison.holds(.integer(Int64(try objects.count(from: reference))), number)
  }
}

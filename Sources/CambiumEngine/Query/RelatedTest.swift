import CambiumKernel

/// Asks whether a to-many relationship leads to an object that a condition holds for: link by link where they lie, the rows
/// at their ends in place, until there is one.
final class RelatedTest {
  private let objects: RelationshipReader
  private let sieve: RowSieve

  /// The test that says what a predicate says of objects of an entity; nil for other predicates.
  init?(_ predicate: Predicate, _ entity: EntitySchema, _ view: EntityView) {
    guard case .comparison(let comparison) = predicate else { return nil }
    do throws(EngineError) {
      let planner = try FetchPlanner(view, entity, costs: .measured)
      guard let (relationship, condition) = planner.toMany(predicate) else { return nil }
      switch comparison.modifier {
      case .any:
        // An object of which nothing is asked but which it is need not be there.
        guard case .comparison(let inner) = condition, case .keyPath = inner.left else { return nil }
      default:
        // Elements of a subquery count that are not there any more; these relationships have none.
        guard case .derived = RelationshipStorage(relationship, in: view.store.schema) else { return nil }
      }
      objects = try view.destinations(of: relationship)
      let reader = PathReader(view: view)
      reader.prepare(for: condition)
      sieve = try RowSieve(view, objects.destination, condition, includesSubentities: true, reader)
    } catch { return nil }
  }

  /// Whether there is such an object.
  func holds(for reference: ObjectReference) throws(EngineError) -> Bool {
    try objects.leads(from: reference, toOneOf: sieve)
  }
}

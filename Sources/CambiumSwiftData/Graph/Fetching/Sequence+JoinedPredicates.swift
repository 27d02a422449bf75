import Cambium
import Foundation

// `#Predicate` refuses `evaluate` off Apple's platforms. `Cambium` declares the same calls for all types. They are
// repeated here for files that import this module alone and see no members of other modules (`MemberImportVisibility`).
extension Sequence {
  /// Returns the condition that all of these hold. Of none, it holds.
  ///
  ///     let filters: [Predicate<Trip>] = [upcoming, #Predicate { $0.destination == "Oslo" }]
  ///     let trips = try context.fetch(FetchDescriptor(predicate: filters.conjunction()))
  public func conjunction<T: PersistentModel>() -> Foundation.Predicate<T> where Element == Foundation.Predicate<T> {
    JoinedPredicates.all(self)
  }

  /// Returns the condition that at least one of these holds. Of none, it does not.
  public func disjunction<T: PersistentModel>() -> Foundation.Predicate<T> where Element == Foundation.Predicate<T> {
    JoinedPredicates.any(self)
  }

  /// Returns the condition that none of these holds: `[upcoming].negation()` holds of trips that are not upcoming.
  public func negation<T: PersistentModel>() -> Foundation.Predicate<T> where Element == Foundation.Predicate<T> {
    JoinedPredicates.none(self)
  }
}

/// Calls Cambium's own functions: for a type that is not known to be a model, the compiler does not choose those above.
private enum JoinedPredicates {
  static func all<O>(_ predicates: some Sequence<Foundation.Predicate<O>>) -> Foundation.Predicate<O> {
    predicates.conjunction()
  }

  static func any<O>(_ predicates: some Sequence<Foundation.Predicate<O>>) -> Foundation.Predicate<O> {
    predicates.disjunction()
  }

  static func none<O>(_ predicates: some Sequence<Foundation.Predicate<O>>) -> Foundation.Predicate<O> {
    predicates.negation()
  }
}

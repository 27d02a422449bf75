import CambiumEngine

/// A Swift type whose values properties are compared with: ``AttributeRepresentable``, ``CompositeRepresentable``,
/// ``ManagedObject`` and ``ManagedObjectID``.
public protocol FetchComparable {
  /// The value as predicates know it.
  var fetchValue: Value { get }
}

extension AttributeRepresentable {
  /// The value to store.
  public var fetchValue: Value { attributeValue }
}

extension CompositeRepresentable {
  /// The elements; an empty list, which is refused with the predicate, if no attribute holds one of them.
  public var fetchValue: Value { Value(foundation: compositeValues) ?? .list([]) }
}

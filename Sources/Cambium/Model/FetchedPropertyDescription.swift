import CambiumEngine

/// A property whose value is what a stored request fetches. Core Data: `NSFetchedPropertyDescription`.
///
/// ``ManagedObject/value(forKey:)`` gives an array, fetched when first asked for and kept until the object is
/// refreshed. The predicate may mention `$FETCH_SOURCE`, the object, with key paths (`$FETCH_SOURCE.remarks`), and
/// `$FETCHED_PROPERTY.userInfo.key`. Fetched properties are not stored, cannot be set, and cannot be used in
/// predicates; they are no part of the version hash.
public final class FetchedPropertyDescription: PropertyDescription, @unchecked Sendable {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
  /// The request.
  @ModelValue public var fetchRequest: FetchRequestTemplate?

  /// A fetched property without name and request.
  public override init() { super.init() }

  /// A fetched property.
  public convenience init(_ name: String, fetchRequest: FetchRequestTemplate) {
    self.init()
    self.name = name
    self.fetchRequest = fetchRequest
  }

  func schema() throws -> FetchedPropertySchema {
    guard let fetchRequest else {
      throw CambiumError(
        .invalidModel, "the fetched property '\(name)' has no fetchRequest; set one", entityName: entity?.name,
        key: name)
    }
    var result = FetchedPropertySchema(name, request: try fetchRequest.schema())
    result.userInfo = userInfo.engineEntries
    return result
  }
}

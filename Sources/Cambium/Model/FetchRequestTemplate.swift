import CambiumEngine

/// A stored fetch request of a model, or of a fetched property.
///
/// Core Data stores an `NSFetchRequest`; a request of Cambium's gives results of a type, and is made of a template by
/// ``ManagedObjectModel/fetchRequestFromTemplate(withName:substitutionVariables:as:)``.
public struct FetchRequestTemplate: Equatable, Sendable {
  /// The name of the entity to fetch.
  public var entityName: String
  /// A predicate in format syntax with `$variables`; `nil` for all objects.
  public var predicateFormat: String?
  /// How many objects at most; 0 for all.
  public var fetchLimit = 0
  /// What else is kept with it. Settings of a request by their names in a model file are set in the request that is
  /// made: `fetchBatchSize`, a number; `includeSubentities`, `includePropertyValues`, `includePendingChanges`,
  /// `returnObjectsAsFaults` and `returnDistinctResults`, `YES` or `NO`. The type of the results is that which is asked
  /// for.
  public var userInfo: [String: String] = [:]

  /// A template.
  public init(entityName: String, predicateFormat: String? = nil, fetchLimit: Int = 0) {
    self.entityName = entityName
    self.predicateFormat = predicateFormat
    self.fetchLimit = fetchLimit
  }

  init(_ template: CambiumEngine.FetchTemplate) {
    entityName = template.entity
    predicateFormat = template.predicate
    fetchLimit = Int(clamping: template.fetchLimit)
    userInfo = template.userInfo.dictionary
  }

  func schema() throws -> CambiumEngine.FetchTemplate {
    guard let limit = UInt32(exactly: fetchLimit) else {
      throw CambiumError(
        .invalidModel, "the limit of a fetch request template is \(fetchLimit), which is out of range",
        entityName: entityName)
    }
    var result = CambiumEngine.FetchTemplate(entity: entityName, predicate: predicateFormat)
    result.fetchLimit = limit
    result.userInfo = userInfo.engineEntries
    return result
  }
}

extension [UserInfoEntry] {
  /// As the descriptions have it; the last of two entries of one key counts.
  var dictionary: [String: String] {
    Dictionary(map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
  }
}

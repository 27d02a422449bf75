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
  /// What else is kept with it. Settings of a request by their names in a model file are set in the request that is made:
  /// `fetchBatchSize`, a number; `includeSubentities`, `includePropertyValues`, `includePendingChanges`, `returnObjectsAsFaults` and
  /// `returnDistinctResults`, `YES` or `NO`. The type of the results is that which is asked for.
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

  /// Makes a request with values for all variables of the predicate. See ``FetchPredicate/withSubstitutionVariables(_:)``.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate`` for a predicate that cannot be read, or a variable without a value.
  public func request<R: FetchRequestResult>(
    substituting variables: [String: Any?] = [:], as type: R.Type = ManagedObject.self
  ) throws -> FetchRequest<R> {
    let request = FetchRequest<R>(entityName: entityName)
    request.fetchLimit = fetchLimit
    for (name, value) in userInfo { Self.set(name, value, in: request) }
    if let predicateFormat {
      request.predicate = try FetchPredicate(format: predicateFormat).withSubstitutionVariables(variables)
      if let open = request.predicate?.variableNames.first {
        throw CambiumError(
          .invalidPredicate, "the predicate '\(predicateFormat)' needs a value for $\(open)", entityName: entityName)
      }
    }
    return request
  }

  /// Sets what a model file says of a request; what is not known, or has another value, changes nothing.
  private static func set<R: FetchRequestResult>(_ name: String, _ value: String, in request: FetchRequest<R>) {
    if name == "fetchBatchSize" {
      if let size = Int(value), size >= 0 { request.fetchBatchSize = size }
      return
    }
    let isOn: Bool
    switch value {
    case "YES", "true", "1": isOn = true
    case "NO", "false", "0": isOn = false
    default: return
    }
    // Versions of the model editor spell them with and without s.
    switch name {
    case "includeSubentities", "includesSubentities": request.includesSubentities = isOn
    case "includePropertyValues", "includesPropertyValues": request.includesPropertyValues = isOn
    case "includePendingChanges", "includesPendingChanges": request.includesPendingChanges = isOn
    case "returnObjectsAsFault", "returnObjectsAsFaults", "returnsObjectsAsFaults":
      request.returnsObjectsAsFaults = isOn
    case "returnDistinctResults", "returnsDistinctResults": request.returnsDistinctResults = isOn
    default: break
    }
  }
}

extension [UserInfoEntry] {
  /// As the descriptions have it; the last of two entries of one key counts.
  var dictionary: [String: String] {
    Dictionary(map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
  }
}

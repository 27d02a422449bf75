import CambiumEngine

/// A to-one relationship, in a model builder.
public struct ToOne {
  private let name: String
  private let destination: String
  private let inverse: String?
  private let deleteRule: DeleteRule
  private let isOptional: Bool
  private let renamed: String?
  private var changes: [(RelationshipDescription) -> Void] = []

  /// A to-one relationship; destination and inverse by name.
  public init(
    _ name: String, _ destination: String, inverse: String? = nil, deleteRule: DeleteRule = .nullify,
    optional: Bool = true, renamed: String? = nil
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.deleteRule = deleteRule
    isOptional = optional
    self.renamed = renamed
  }

  func description() -> RelationshipDescription {
    let result = RelationshipDescription(
      name, toMany: false, destination: destination, inverse: inverse, deleteRule: deleteRule)
    result.isOptional = isOptional
    if let renamed { result.renamingIdentifier = renamed }
    for change in changes { change(result) }
    return result
  }

  /// The relationship with more set on its description.
  public func with(_ change: @escaping (RelationshipDescription) -> Void) -> ToOne {
    var result = self
    result.changes.append(change)
    return result
  }
}

/// A to-many relationship, in a model builder.
public struct ToMany {
  private let name: String
  private let destination: String
  private let inverse: String?
  private let isOrdered: Bool
  private let deleteRule: DeleteRule
  private let isOptional: Bool
  private let minimum: Int
  private let maximum: Int
  private let renamed: String?
  private var changes: [(RelationshipDescription) -> Void] = []

  /// A to-many relationship; destination and inverse by name. A `maximum` of 0 stands for no limit.
  public init(
    _ name: String, _ destination: String, inverse: String? = nil, ordered: Bool = false,
    deleteRule: DeleteRule = .nullify, optional: Bool = true, minimum: Int = 0, maximum: Int = 0,
    renamed: String? = nil
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    isOrdered = ordered
    self.deleteRule = deleteRule
    isOptional = optional
    self.minimum = minimum
    self.maximum = maximum
    self.renamed = renamed
  }

  func description() -> RelationshipDescription {
    let result = RelationshipDescription(
      name, toMany: true, destination: destination, inverse: inverse, deleteRule: deleteRule)
    result.isOrdered = isOrdered
    result.isOptional = isOptional
    result.minCount = minimum
    result.maxCount = maximum
    if let renamed { result.renamingIdentifier = renamed }
    for change in changes { change(result) }
    return result
  }

  /// The relationship with more set on its description.
  public func with(_ change: @escaping (RelationshipDescription) -> Void) -> ToMany {
    var result = self
    result.changes.append(change)
    return result
  }
}

/// A fetch index, in a model builder.
public struct Index {
  private let name: String
  private let elements: [(path: String, isAscending: Bool)]
  private let partialPredicate: String?
  private let kind: FetchIndexElementType

  /// An index over key paths, each ascending unless it begins with `-`. The paths may lead into composites
  /// (`place.location.latitude`).
  public init(
    _ name: String, _ paths: String..., where partialPredicate: String? = nil, kind: FetchIndexElementType = .binary
  ) {
    self.name = name
    self.kind = kind
    elements = paths.map { $0.hasPrefix("-") ? (String($0.dropFirst()), false) : ($0, true) }
    self.partialPredicate = partialPredicate
  }

  func description() -> FetchIndexDescription {
    let result = FetchIndexDescription(
      name: name,
      elements: elements.map {
        FetchIndexElementDescription(keyPath: $0.path, ascending: $0.isAscending, collationType: kind)
      })
    result.partialIndexPredicate = partialPredicate
    return result
  }
}

/// A fetched property, in a model builder; see ``FetchedPropertyDescription``.
public struct Fetched {
  private let name: String
  private let template: FetchRequestTemplate
  private let userInfo: [String: String]

  /// A property that fetches objects of an entity by a predicate that may mention `$FETCH_SOURCE`.
  public init(
    _ name: String, _ entity: String, where predicate: String? = nil, limit: Int = 0, userInfo: [String: String] = [:]
  ) {
    self.name = name
    template = FetchRequestTemplate(entityName: entity, predicateFormat: predicate, fetchLimit: limit)
    self.userInfo = userInfo
  }

  func description() -> FetchedPropertyDescription {
    let result = FetchedPropertyDescription(name, fetchRequest: template)
    result.userInfo = userInfo
    return result
  }
}

/// A uniqueness constraint, in a model builder.
public struct Unique {
  let paths: [String]

  /// No two objects of the entity and its subentities may share the values of all these key paths.
  public init(_ paths: String...) { self.paths = paths }
}

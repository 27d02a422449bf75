/// A stored fetch request of the model, or of a fetched property.
public struct FetchTemplate: Equatable, Sendable {
  /// The entity to fetch.
  public var entity: String
  /// A predicate in format syntax, with `$variables` to be substituted; `nil` for all objects.
  public var predicate: String?
  /// The greatest number of objects; 0 for no limit.
  public var fetchLimit: UInt32 = 0
  /// What the layer above keeps with it.
  public var userInfo: [UserInfoEntry] = []

  /// Describes a template.
  public init(entity: String, predicate: String? = nil) {
    self.entity = entity
    self.predicate = predicate
  }
}

/// A fetch template under its name in the model.
public struct NamedFetchTemplate: Equatable, Sendable {
  /// The name, unique in the model.
  public var name: String
  /// The request.
  public var template: FetchTemplate

  /// Describes a named template.
  public init(_ name: String, _ template: FetchTemplate) {
    self.name = name
    self.template = template
  }
}

/// A named subset of the model's entities.
public struct ConfigurationSchema: Equatable, Sendable {
  /// The name, unique in the model.
  public var name: String
  /// The names of its entities.
  public var entities: [String]
  /// What the application attached.
  public var userInfo: [UserInfoEntry] = []

  /// Describes a configuration.
  public init(_ name: String, entities: [String]) {
    self.name = name
    self.entities = entities
  }
}

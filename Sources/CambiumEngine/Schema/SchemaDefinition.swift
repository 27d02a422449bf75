/// A model as callers describe it, before a ``Schema`` is built of it.
public struct SchemaDefinition: Equatable, Sendable {
  /// The entities. Their order does not matter.
  public var entities: [EntitySchema]
  /// The composite types that attributes name.
  public var composites: [CompositeSchema]
  /// What the developer calls the version.
  public var versionIdentifiers: [String] = []
  /// Named subsets of the entities.
  public var configurations: [ConfigurationSchema] = []
  /// Stored fetch requests.
  public var fetchTemplates: [NamedFetchTemplate] = []
  /// The entities of earlier versions that the model removes on purpose: names or renaming identifiers.
  public var removedEntities: [String] = []

  /// Describes a model.
  public init(_ entities: [EntitySchema] = [], composites: [CompositeSchema] = []) {
    self.entities = entities
    self.composites = composites
  }
}

/// A version of a model as its `contents` file describes it: entities, attributes and so on under Xcode's names.
///
/// The reader mends contradictions among the parts (``warnings`` lists them). It does not check values, predicates or
/// patterns, because that takes the store's engine.
public struct ModelDocument: Equatable, Sendable {
  /// The developer's name of the version, from `userDefinedModelVersionIdentifier`.
  public var versionIdentifier: String?
  /// The entities, in the order of the file.
  public var entities: [Entity] = []
  /// The composite types, in the order of the file.
  public var composites: [Composite] = []
  /// The named subsets of the entities.
  public var configurations: [Configuration] = []
  /// The fetch request templates.
  public var fetchRequests: [Request] = []
  /// The parts that the reader passed over or mended, in the order of the reading.
  public var warnings: [ModelFileWarning] = []

  /// An empty document.
  public init() {}
}

extension ModelDocument {
  /// A text of the file, with the line on which it stands.
  public struct Text: Equatable, Sendable {
    /// The text, with references resolved.
    public var value: String
    /// The line, from 1; 0 for a text that comes from no file.
    public var line: Int

    /// A text of a line.
    public init(_ value: String, line: Int = 0) {
      self.value = value
      self.line = line
    }
  }

  /// A key and a value that the developer attached to a part of the model.
  public struct UserInfo: Equatable, Sendable {
    /// The key.
    public var key: String
    /// The value.
    public var value: String

    /// An entry.
    public init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// A composite type, which attributes use by name.
  public struct Composite: Equatable, Sendable {
    /// The name, unique among the composite types.
    public var name: String
    /// The elements, in the order of the file.
    public var elements: [Attribute] = []
    /// The line, from 1.
    public var line = 0

    /// A type without elements.
    public init(_ name: String) { self.name = name }
  }

  /// A named subset of the entities.
  public struct Configuration: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The names of the entities.
    public var entities: [String] = []
    /// The entries that the developer attached.
    public var userInfo: [UserInfo] = []

    /// A configuration without entities.
    public init(_ name: String) { self.name = name }
  }

  /// A stored fetch request: a template of the model, or the request of a fetched property.
  public struct Request: Equatable, Sendable {
    /// The name; empty if the file has none.
    public var name = ""
    /// The name of the entity to fetch.
    public var entity: String
    /// The predicate in format syntax; `nil` for all objects.
    public var predicate: Text?
    /// The greatest number of objects; 0 for no limit.
    public var fetchLimit: UInt32 = 0
    /// Further attributes of the file's element, such as `fetchBatchSize`.
    public var userInfo: [UserInfo] = []

    /// A request for all objects of an entity.
    public init(entity: String) { self.entity = entity }
  }
}

/// Groups of key paths that belong together.
protocol PathGroups {
  var modelType: any PersistentModel.Type { get }
  /// The key paths, and whether the group is spatial.
  var groups: [(keyPaths: [AnyKeyPath], isSpatial: Bool)] { get }
  /// Whether the groups are constraints, and not indexes.
  var areUnique: Bool { get }
}

extension Schema {
  /// Properties of which no two models have the same values together. `#Unique` makes it. SwiftData: `Schema.Unique`.
  public final class Unique<T: PersistentModel>: SchemaProperty, @unchecked Sendable {
    // `@unchecked`: nothing changes. Key paths of models capture nothing.

    /// The groups.
    public let constraints: [[PartialKeyPath<T>]]

    /// Groups of properties.
    public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }
  }

  /// Properties that have indexes. `#Index` makes it. SwiftData: `Schema.Index`.
  public final class Index<T: PersistentModel>: SchemaProperty, @unchecked Sendable {
    // `@unchecked`: as of `Unique`.

    /// The kinds of indexes.
    public enum Types<P: PersistentModel> {
      /// For equality, ranges and order.
      case binary([PartialKeyPath<P>])
      /// For places: two numbers, such as a latitude and a longitude.
      case rtree([PartialKeyPath<P>])
    }

    /// The indexes.
    public let indices: [Types<T>]

    /// Indexes of kinds.
    public init(_ indices: Types<T>...) { self.indices = indices }

    /// Indexes for equality, ranges and order.
    public init(_ binaryIndices: [PartialKeyPath<T>]...) { indices = binaryIndices.map { .binary($0) } }
  }
}

extension Schema.Unique: PathGroups {
  var modelType: any PersistentModel.Type { T.self }
  var groups: [(keyPaths: [AnyKeyPath], isSpatial: Bool)] { constraints.map { ($0, false) } }
  var areUnique: Bool { true }
}

extension Schema.Index: PathGroups {
  var modelType: any PersistentModel.Type { T.self }
  var groups: [(keyPaths: [AnyKeyPath], isSpatial: Bool)] {
    indices.map {
      switch $0 {
      case .binary(let paths): (paths, false)
      case .rtree(let paths): (paths, true)
      }
    }
  }
  var areUnique: Bool { false }
}

extension Schema.Unique {
  /// Always `Unique`.
  public var name: String { "Unique" }
  /// The same as ``name``.
  public var originalName: String { name }
  /// The class of the models.
  public var valueType: any Any.Type { T.self }
  /// Never.
  public var isAttribute: Bool { false }
  /// Never.
  public var isRelationship: Bool { false }
  /// Never.
  public var isTransient: Bool { false }
  /// Never.
  public var isOptional: Bool { false }
  /// Always.
  public var isUnique: Bool { true }
  /// Whether the groups are the same.
  public static func == (a: Schema.Unique<T>, b: Schema.Unique<T>) -> Bool { a.constraints == b.constraints }
  /// Hashes the groups.
  public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }
}

extension Schema.Index {
  /// Always `Index`.
  public var name: String { "Index" }
  /// The same as ``name``.
  public var originalName: String { name }
  /// The class of the models.
  public var valueType: any Any.Type { T.self }
  /// Never.
  public var isAttribute: Bool { false }
  /// Never.
  public var isRelationship: Bool { false }
  /// Never.
  public var isTransient: Bool { false }
  /// Never.
  public var isOptional: Bool { false }
  /// Never.
  public var isUnique: Bool { false }
  /// Whether the indexes are the same.
  public static func == (a: Schema.Index<T>, b: Schema.Index<T>) -> Bool {
    a.groups.map { $0.keyPaths } == b.groups.map { $0.keyPaths }
      && a.groups.map { $0.isSpatial } == b.groups.map { $0.isSpatial }
  }
  /// Hashes the key paths.
  public func hash(into hasher: inout Hasher) { hasher.combine(groups.map { $0.keyPaths }) }
}

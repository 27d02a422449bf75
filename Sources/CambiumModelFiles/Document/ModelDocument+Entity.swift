extension ModelDocument {
  /// The sources that Xcode generates for an entity with every build, under the name that files have.
  public enum CodeGeneration: String, CaseIterable, Sendable {
    /// The class and its properties.
    case classDefinition = "class"
    /// The properties, in an extension of a class that the developer wrote.
    case categoryExtension = "category"
  }

  /// An entity.
  public struct Entity: Equatable, Sendable {
    /// The name, unique in the model.
    public var name: String
    /// The name of the parent entity.
    public var parent: String?
    /// Whether there are no objects of the entity itself.
    public var isAbstract = false
    /// The class of the objects, without a leading point; `nil` for `NSManagedObject`.
    public var className: String?
    /// The sources that Xcode generates; `nil` for none.
    public var codeGeneration: CodeGeneration?
    /// The renaming identifier: the entity's name in earlier versions.
    public var renamingIdentifier: String?
    /// The version hash modifier.
    public var versionHashModifier: String?
    /// The entity's own attributes.
    public var attributes: [Attribute] = []
    /// The entity's own relationships.
    public var relationships: [Relationship] = []
    /// The entity's own fetched properties.
    public var fetchedProperties: [FetchedProperty] = []
    /// The fetch indexes.
    public var indexes: [Index] = []
    /// The indexes in the forms from before Xcode 9: `indexed="YES"` and `compoundIndexes`.
    public var legacyIndexes: [Index] = []
    /// The key paths of each uniqueness constraint.
    public var uniquenessConstraints: [[String]] = []
    /// The entries that the developer attached.
    public var userInfo: [UserInfo] = []
    /// The line, from 1.
    public var line = 0

    /// An entity without properties.
    public init(_ name: String) { self.name = name }

    /// Returns the usable fetch indexes, and those in the older forms that are not among them. The editor keeps both
    /// forms side by side in models that it converted.
    public func allIndexes(where isUsable: (Index) -> Bool = { _ in true }) -> [Index] {
      var result = indexes.filter(isUsable)
      for index in legacyIndexes where !result.contains(where: { $0.isSame(as: index) }) { result.append(index) }
      return result
    }
  }

  /// A fetch index.
  public struct Index: Equatable, Sendable {
    /// The kind of a part of an index.
    public enum Kind: String, Sendable {
      /// Equality, ranges and order.
      case binary = "Binary"
      /// Places in a plane.
      case rTree = "RTree"
    }

    /// One part of the key of an index.
    public struct Element: Equatable, Sendable {
      /// An attribute, an element of a composite, or a to-one relationship.
      public var path: String
      /// Whether the order is ascending.
      public var isAscending = true
      /// The kind.
      public var kind = Kind.binary

      /// An ascending part.
      public init(_ path: String) { self.path = path }
    }

    /// The name.
    public var name: String
    /// The parts of the key, the most significant first.
    public var elements: [Element] = []
    /// A predicate in format syntax; only objects that match it are in the index.
    public var partialPredicate: Text?
    /// The line, from 1.
    public var line = 0

    /// An index without elements.
    public init(_ name: String) { self.name = name }

    fileprivate func isSame(as legacy: Index) -> Bool {
      name == legacy.name || (elements == legacy.elements && partialPredicate == nil)
    }
  }

  /// A property that is a stored request.
  public struct FetchedProperty: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The request.
    public var request: Request
    /// The entries that the developer attached.
    public var userInfo: [UserInfo] = []
    /// The line, from 1.
    public var line = 0

    /// A fetched property.
    public init(_ name: String, _ request: Request) {
      self.name = name
      self.request = request
    }
  }
}

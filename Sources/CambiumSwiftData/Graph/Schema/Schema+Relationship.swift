import Cambium

extension Schema {
  /// A relationship of a model. SwiftData: `Schema.Relationship`.
  public final class Relationship: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
    // `@unchecked`: nothing changes after it was made. Key paths of models capture nothing.

    /// What becomes of the destinations when a model is deleted.
    public enum DeleteRule: String, Codable, Sendable {
      /// Nothing. They lead to a model that is gone until they are changed.
      case noAction
      /// They lead nowhere.
      case nullify
      /// They are deleted as well.
      case cascade
      /// The save throws, as long as there are any.
      case deny
    }

    /// What is said of a relationship.
    public struct Option: Hashable, Sendable, CustomDebugStringConvertible {
      enum Kind: Hashable, Sendable { case unique, ordered, rule(DeleteRule) }
      let kind: Kind

      /// No two models lead to the same destination.
      public static var unique: Option { Option(kind: .unique) }
      /// The destinations keep the order that they are given. SwiftData has no such option.
      public static var ordered: Option { Option(kind: .ordered) }

      /// The spelling of the delete rule in SwiftData's first beta.
      @available(*, deprecated, message: "write deleteRule: .cascade")
      public static var cascade: Option { Option(kind: .rule(.cascade)) }
      /// The spelling of the delete rule in SwiftData's first beta.
      @available(*, deprecated, message: "write deleteRule: .deny")
      public static var deny: Option { Option(kind: .rule(.deny)) }
      /// The spelling of the delete rule in SwiftData's first beta.
      @available(*, deprecated, message: "write deleteRule: .nullify, or nothing")
      public static var nullify: Option { Option(kind: .rule(.nullify)) }

      /// The option's name.
      public var debugDescription: String { "\(kind)" }
    }

    /// The name.
    public let name: String
    /// The name in earlier versions.
    public let originalName: String
    /// What was said of it.
    public let options: [Option]
    /// The key path.
    public let keypath: AnyKeyPath?
    /// The type in Swift.
    public let valueType: any Any.Type
    /// The entity of the destinations.
    public let destination: String
    /// What becomes of the destinations when a model is deleted.
    public let deleteRule: DeleteRule
    /// The relationship that leads back.
    public let inverseName: String?
    /// The key path of the relationship that leads back, as the class gives it.
    public let inverseKeyPath: AnyKeyPath?
    /// How many destinations there have to be; 0 or `nil` for any number. An optional array may be empty all the same.
    public let minimumModelCount: Int?
    /// How many destinations there may be; 0 or `nil` for any number. Not 1 for an array: write an optional model
    /// instead.
    public let maximumModelCount: Int?
    /// Changed to make versions differ that are otherwise equal.
    public let hashModifier: String?

    /// What a class says of a relationship. The expansion of ``Model()`` makes it.
    public init(
      _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
      maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil, hashModifier: String? = nil
    ) {
      name = ""
      self.originalName = originalName ?? ""
      self.options = options
      keypath = nil
      valueType = Never.self
      destination = ""
      let rules = options.compactMap { if case .rule(let rule) = $0.kind { rule } else { nil } }
      self.deleteRule = rules.first ?? deleteRule
      inverseName = nil
      inverseKeyPath = inverse
      self.minimumModelCount = minimumModelCount
      self.maximumModelCount = maximumModelCount
      self.hashModifier = hashModifier
    }

    init(_ property: ModelProperty, destination: String, inverseName: String?) {
      let said = property.metadata.relationship
      name = property.name
      originalName = said?.originalName.nonEmpty ?? property.name
      options = said?.options ?? []
      keypath = property.metadata.keypath
      valueType = property.valueType
      self.destination = destination
      deleteRule = said?.deleteRule ?? .nullify
      self.inverseName = inverseName
      inverseKeyPath = said?.inverseKeyPath
      minimumModelCount = said?.minimumModelCount ?? 0
      maximumModelCount = said?.maximumModelCount ?? 0
      hashModifier = said?.hashModifier
    }

    /// Never.
    public var isAttribute: Bool { false }
    /// Always.
    public var isRelationship: Bool { true }
    /// Never.
    public var isTransient: Bool { false }
    /// Whether there may be no destination.
    public var isOptional: Bool {
      valueType is any OptionalType.Type || !isToOneRelationship && minimumModelCount ?? 0 == 0
    }
    /// Whether there is one destination at most.
    public var isToOneRelationship: Bool { !(valueType is any RelationshipCollection.Type) }
    /// Whether no two models lead to the same destination.
    public var isUnique: Bool { options.contains(.unique) }

    /// Whether both are said to be the same.
    public static func == (a: Relationship, b: Relationship) -> Bool {
      a.name == b.name && a.originalName == b.originalName && a.options == b.options && a.destination == b.destination
        && a.deleteRule == b.deleteRule && a.inverseName == b.inverseName && a.hashModifier == b.hashModifier
    }

    /// Hashes the name and the destination.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(destination)
    }

    /// The name and the destination.
    public var debugDescription: String { "\(name): \(valueType)" }
  }
}

extension String {
  var nonEmpty: String? { isEmpty ? nil : self }
}

import Cambium

extension Schema {
  /// An attribute of a model. SwiftData: `Schema.Attribute`.
  public class Attribute: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
    // `@unchecked`: nothing changes after it was made; the initial value is a value.

    /// What is said of an attribute.
    public struct Option: Hashable, Sendable, CustomDebugStringConvertible {
      enum Kind: Hashable, Sendable {
        case unique, externalStorage, allowsCloudEncryption, preserveValueOnDeletion, ephemeral, spotlight, codable
        case transformable(String)
      }
      let kind: Kind

      /// No two models have the same value. A new model with the value of another one takes its place when it is saved.
      public static var unique: Option { Option(kind: .unique) }
      /// Large data. Cambium stores every large value apart from its row, within the file, and does not ask.
      public static var externalStorage: Option { Option(kind: .externalStorage) }
      /// Without effect: there is no cloud.
      public static var allowsCloudEncryption: Option { Option(kind: .allowsCloudEncryption) }
      /// The value of a deleted model stays in the history.
      public static var preserveValueOnDeletion: Option { Option(kind: .preserveValueOnDeletion) }
      /// The value is in memory only. The schema has the property, unlike one with ``Transient()``. Setting it leaves
      /// nothing to save: ``ModelContext/hasChanges`` does not change.
      public static var ephemeral: Option { Option(kind: .ephemeral) }
      /// Without effect: there is no Spotlight.
      public static var spotlight: Option { Option(kind: .spotlight) }
      /// The value is stored as one coded value, though it is a structure of values.
      public static var codable: Option { Option(kind: .codable) }
      /// The value is stored as what a transformer makes of it, which is registered under a name. See
      /// `AttributeTransformers` of `Cambium`.
      public static func transformable(by transformerName: String) -> Option {
        Option(kind: .transformable(transformerName))
      }

      /// The option's name.
      public var debugDescription: String { "\(kind)" }
    }

    /// The name.
    public let name: String
    /// The name in earlier versions.
    public let originalName: String
    /// What was said of it.
    public let options: [Option]
    /// The type of the values in Swift.
    public let valueType: any Any.Type
    /// The initial value that the class gives.
    public let defaultValue: Any?
    /// Whether it may be without a value.
    public let isOptional: Bool
    /// Changed to make versions differ that are otherwise equal.
    public let hashModifier: String?

    /// What a class says of an attribute. The expansion of ``Model()`` makes it.
    public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
      name = ""
      self.originalName = originalName ?? ""
      self.options = options
      valueType = Never.self
      defaultValue = nil
      isOptional = false
      self.hashModifier = hashModifier
    }

    /// An attribute of a type.
    public init(
      name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
      defaultValue: Any? = nil, hashModifier: String? = nil
    ) {
      self.name = name
      self.originalName = originalName ?? name
      self.options = options
      self.valueType = valueType
      self.defaultValue = defaultValue
      isOptional = valueType is any OptionalType.Type
      self.hashModifier = hashModifier
    }

    /// Always.
    public var isAttribute: Bool { true }
    /// Never.
    public var isRelationship: Bool { false }
    /// Whether the values are in memory only.
    public var isTransient: Bool { options.contains(.ephemeral) }
    /// Whether no two models have the same value.
    public var isUnique: Bool { options.contains(.unique) }
    /// Whether a transformer makes what is stored.
    public var isTransformable: Bool { transformerName != nil }
    /// Whether values are stored as one coded value.
    public var isCodable: Bool {
      if case .coded = ValueKinds.kind(of: plainType, options: options) { return true }
      return false
    }

    var plainType: Any.Type { (valueType as? any OptionalType.Type)?.wrappedType ?? valueType }

    var transformerName: String? {
      options.lazy.compactMap { if case .transformable(let name) = $0.kind { name } else { nil } }.first
    }

    /// Whether both are said to be the same.
    public static func == (a: Attribute, b: Attribute) -> Bool {
      a.name == b.name && a.originalName == b.originalName && a.options == b.options && a.valueType == b.valueType
        && a.hashModifier == b.hashModifier
    }

    /// Hashes the name and the options.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(options)
    }

    /// The name and the type.
    public var debugDescription: String { "\(name): \(valueType)" }
  }

  /// An attribute that is a structure, stored field by field.
  public final class CompositeAttribute: Attribute, @unchecked Sendable {
    // `@unchecked`: as of its superclass.

    /// The fields.
    public let properties: [Attribute]

    init(_ attribute: Attribute, _ shape: CompositeShape) {
      properties = shape.fields.map { field in
        let plain = Attribute(name: field.name, valueType: field.type)
        if case .composite(let inner) = field.kind { return CompositeAttribute(plain, inner) }
        return plain
      }
      super.init(
        name: attribute.name, originalName: attribute.originalName, options: attribute.options,
        valueType: attribute.valueType, defaultValue: attribute.defaultValue, hashModifier: attribute.hashModifier)
    }
  }
}

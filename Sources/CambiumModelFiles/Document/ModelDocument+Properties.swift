extension ModelDocument {
  /// The type of an attribute, under the name that files have.
  public enum AttributeType: String, CaseIterable, Sendable {
    /// No type; of transient attributes.
    case undefined = "Undefined"
    /// A whole number of 16 bits.
    case integer16 = "Integer 16"
    /// A whole number of 32 bits.
    case integer32 = "Integer 32"
    /// A whole number of 64 bits.
    case integer64 = "Integer 64"
    /// A decimal number.
    case decimal = "Decimal"
    /// A binary floating-point number of 64 bits.
    case double = "Double"
    /// A binary floating-point number of 32 bits.
    case float = "Float"
    /// Text.
    case string = "String"
    /// True or false.
    case boolean = "Boolean"
    /// A moment.
    case date = "Date"
    /// Bytes.
    case binary = "Binary"
    /// A UUID.
    case uuid = "UUID"
    /// A URI.
    case uri = "URI"
    /// Bytes that a value transformer makes of an object.
    case transformable = "Transformable"
    /// The identifier of an object.
    case objectID = "ObjectID"
    /// Named elements.
    case composite = "Composite"
  }

  /// An attribute of an entity, or an element of a composite type.
  public struct Attribute: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The type of the values.
    public var type: AttributeType
    /// The name of the composite type, for a composite.
    public var compositeName: String?
    /// Whether null is allowed when saving.
    public var isOptional = false
    /// Whether the attribute is kept in memory only.
    public var isTransient = false
    /// The default value as text, from `defaultValueString`.
    public var defaultValue: Text?
    /// The default of a date in seconds since 2001-01-01, from `defaultDateTimeInterval`.
    public var defaultInterval: Text?
    /// The least value or length; of dates in seconds since 2001-01-01.
    public var minimum: Text?
    /// The greatest value or length; of dates in seconds since 2001-01-01.
    public var maximum: Text?
    /// The pattern that strings must match.
    public var regularExpression: Text?
    /// The value transformer of a transformable attribute.
    public var valueTransformerName: String?
    /// The type of a transformable attribute's values in Swift.
    public var customClassName: String?
    /// Whether Xcode's generated code has a number in place of an object: a `Double` for an `NSNumber`, a
    /// `TimeInterval` for a `Date`. `nil` if the file does not say.
    public var usesScalarValueType: Bool?
    /// Whether large binaries may be stored outside of the row.
    public var allowsExternalBinaryDataStorage = false
    /// Whether the last value of a deleted object stays in the history.
    public var preservesValueInHistoryOnDeletion = false
    /// The expression of a derived attribute.
    public var derivation: String?
    /// The renaming identifier: the attribute's name in earlier versions.
    public var renamingIdentifier: String?
    /// The version hash modifier.
    public var versionHashModifier: String?
    /// The entries that the developer attached.
    public var userInfo: [UserInfo] = []
    /// The line, from 1.
    public var line = 0

    /// A required attribute.
    public init(_ name: String, _ type: AttributeType) {
      self.name = name
      self.type = type
    }
  }

  /// The effect of a deletion on the destinations of a relationship, under the name that files have.
  public enum DeleteRule: String, CaseIterable, Sendable {
    /// The destinations keep dangling references.
    case noAction = "No Action"
    /// The destinations lose their references.
    case nullify = "Nullify"
    /// The destinations are deleted as well.
    case cascade = "Cascade"
    /// Destinations prevent the deletion.
    case deny = "Deny"
  }

  /// A relationship of an entity.
  public struct Relationship: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The name of the destination entity.
    public var destination: String
    /// The name of the inverse relationship.
    public var inverse: String?
    /// Whether there may be more than one destination.
    public var isToMany = false
    /// Whether the destinations keep an order.
    public var isOrdered = false
    /// The least number of destinations.
    public var minimumCount: UInt32 = 0
    /// The greatest number of destinations; 0 for no limit, 1 for to-one.
    public var maximumCount: UInt32 = 1
    /// The effect of a deletion.
    public var deleteRule = DeleteRule.nullify
    /// Whether the relationship may be empty when saving.
    public var isOptional = false
    /// Whether the relationship is kept in memory only.
    public var isTransient = false
    /// The renaming identifier: the relationship's name in earlier versions.
    public var renamingIdentifier: String?
    /// The version hash modifier.
    public var versionHashModifier: String?
    /// The entries that the developer attached.
    public var userInfo: [UserInfo] = []
    /// The line, from 1.
    public var line = 0

    /// A required to-one relationship.
    public init(_ name: String, to destination: String) {
      self.name = name
      self.destination = destination
    }
  }
}

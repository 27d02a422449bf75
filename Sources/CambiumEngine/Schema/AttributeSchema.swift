/// An attribute of an entity, or an element of a composite attribute.
///
/// Callers describe attributes with this type, identifiers left at 0; the ones that a ``Schema`` hands out have theirs.
public struct AttributeSchema: Equatable, Sendable {
  /// Identifies the property in the file for as long as the file lives: it survives renaming and is never used again,
  /// so that a property dropped and added back under its name does not show old bytes. 0 before a schema is built.
  public internal(set) var id: UInt32 = 0
  /// The name, unique among the properties of the entity and its ancestors, or among its composite's elements.
  public var name: String
  /// The type of the values.
  public var type: AttributeType
  /// Whether null is allowed when saving.
  public var isOptional = true
  /// Whether the attribute is kept in memory only.
  public var isTransient = false
  /// What new objects start with; of the attribute's type, or null.
  public var defaultValue = Value.null
  /// The least value allowed when saving (for strings and binaries: the least length); null for no limit.
  public var minimum = Value.null
  /// The greatest value (or length) allowed when saving; null for no limit.
  public var maximum = Value.null
  /// A regular expression that strings must match when saving.
  public var regularExpression: String?
  /// The expression that a derived attribute is computed from, such as `chapters.@count`.
  public var derivation: String?
  /// The value transformer of a transformable attribute.
  public var valueTransformerName: String?
  /// Whether the last value of a deleted object stays in the history.
  public var preservesValueInHistoryOnDeletion = false
  /// Whether large binaries may be stored outside the row.
  public var allowsExternalBinaryDataStorage = false
  /// The model-level composite type that the elements come from, when the attribute's type is composite and its elements
  /// are not given directly.
  public var compositeName: String?
  /// The elements of a composite, in declared order. A schema fills them from the composite type that ``compositeName``
  /// names, each place with identifiers of its own.
  public var elements: [AttributeSchema] = []
  /// The name that the property had in the earlier model, if it was renamed.
  public var renamingIdentifier: String?
  /// Changed to make versions differ that are otherwise equal.
  public var versionHashModifier: String?
  /// What the application attached.
  public var userInfo: [UserInfoEntry] = []

  /// Describes an attribute; the rest is set on the result.
  public init(_ name: String, _ type: AttributeType, optional: Bool = true, default defaultValue: Value = .null) {
    self.name = name
    self.type = type
    self.isOptional = optional
    self.defaultValue = defaultValue
  }

  /// Describes an attribute of a composite type that the model declares.
  public init(_ name: String, composite: String, optional: Bool = true) {
    self.init(name, .composite, optional: optional)
    compositeName = composite
  }

  /// Describes a composite attribute by its elements.
  public init(_ name: String, elements: [AttributeSchema], optional: Bool = true) {
    self.init(name, .composite, optional: optional)
    self.elements = elements
  }

  /// What the property is matched by across versions: its renaming identifier, or its name.
  public var canonicalName: String { renamingIdentifier ?? name }

  /// The element `name` of a composite. O(number of elements).
  public func element(named name: String) -> AttributeSchema? {
    for element in elements where element.name == name { return element }
    return nil
  }
}

/// A composite type that the model declares once, for attributes to use by name.
public struct CompositeSchema: Equatable, Sendable {
  /// The name, unique among the model's composite types.
  public var name: String
  /// The elements in declared order; they may be composite themselves, to a depth of ``Schema/compositeDepthLimit``.
  public var elements: [AttributeSchema]

  /// Describes a composite type.
  public init(_ name: String, elements: [AttributeSchema]) {
    self.name = name
    self.elements = elements
  }
}

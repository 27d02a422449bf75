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
  /// Whether the last value of a deleted object stays in the history.
  public var preservesValueInHistoryOnDeletion = false
  /// Whether large binaries may be stored outside the row.
  public var allowsExternalBinaryDataStorage = false
  /// The elements of a composite, in declared order. A schema fills them from the composite type that ``compositeName``
  /// names, each place with identifiers of its own.
  public var elements: [AttributeSchema] = []
  /// What few attributes have; nil as long as all of it is as usual. Attributes are copied often.
  private var details: SharedBox<AttributeDetails>?

  /// What new objects start with; of the attribute's type, or null.
  public var defaultValue: Value {
    get { details?.content.defaultValue ?? .null }
    set { if details != nil || !newValue.isNull { own().content.defaultValue = newValue } }
  }
  /// The least value allowed when saving; null for no limit. For strings and URIs the least number of characters (of
  /// `String.count`), for binaries of bytes.
  public var minimum: Value {
    get { details?.content.minimum ?? .null }
    set { if details != nil || !newValue.isNull { own().content.minimum = newValue } }
  }
  /// The greatest value (or length) allowed when saving; null for no limit.
  public var maximum: Value {
    get { details?.content.maximum ?? .null }
    set { if details != nil || !newValue.isNull { own().content.maximum = newValue } }
  }
  /// A regular expression that strings must match as a whole when saving, as ``StringPattern`` reads it. Of string
  /// attributes only.
  public var regularExpression: String? {
    get { details?.content.regularExpression }
    set { if details != nil || newValue != nil { own().content.regularExpression = newValue } }
  }
  /// Conditions that values must meet when saving, besides limits and pattern.
  public var validationRules: [ValidationRule] {
    get { details?.content.validationRules ?? [] }
    set { if details != nil || !newValue.isEmpty { own().content.validationRules = newValue } }
  }
  /// The expression that a derived attribute is computed from, such as `chapters.@count`.
  public var derivation: String? {
    get { details?.content.derivation }
    set { if details != nil || newValue != nil { own().content.derivation = newValue } }
  }
  /// The value transformer of a transformable attribute.
  public var valueTransformerName: String? {
    get { details?.content.valueTransformerName }
    set { if details != nil || newValue != nil { own().content.valueTransformerName = newValue } }
  }
  /// The model-level composite type that the elements come from, when the attribute's type is composite and its
  /// elements are not given directly.
  public var compositeName: String? {
    get { details?.content.compositeName }
    set { if details != nil || newValue != nil { own().content.compositeName = newValue } }
  }
  /// The name that the property had in the earlier model, if it was renamed.
  public var renamingIdentifier: String? {
    get { details?.content.renamingIdentifier }
    set { if details != nil || newValue != nil { own().content.renamingIdentifier = newValue } }
  }
  /// Changed to make versions differ that are otherwise equal.
  public var versionHashModifier: String? {
    get { details?.content.versionHashModifier }
    set { if details != nil || newValue != nil { own().content.versionHashModifier = newValue } }
  }
  /// What the application attached.
  public var userInfo: [UserInfoEntry] {
    get { details?.content.userInfo ?? [] }
    set { if details != nil || !newValue.isEmpty { own().content.userInfo = newValue } }
    _modify {
      let details = own()
      yield &details.content.userInfo
    }
  }

  /// Describes an attribute; the rest is set on the result.
  public init(_ name: String, _ type: AttributeType, optional: Bool = true, default defaultValue: Value = .null) {
    self.name = name
    self.type = type
    self.isOptional = optional
    self.defaultValue = defaultValue
  }

  /// Sets what few attributes have, all of it.
  mutating func setDetails(_ details: AttributeDetails) { self.details = SharedBox(details) }

  /// Whether all that few attributes have is as usual: no values among it, for one.
  var isPlain: Bool { details == nil }

  /// What few attributes have, of no other attribute.
  private mutating func own() -> SharedBox<AttributeDetails> {
    if isKnownUniquelyReferenced(&details), let details { return details }
    let made = SharedBox(details?.content ?? AttributeDetails())
    details = made
    return made
  }

  /// Whether two attributes are the same in every part, identifiers included.
  public static func == (a: AttributeSchema, b: AttributeSchema) -> Bool {
    guard
      a.id == b.id && a.name == b.name && a.type == b.type && a.isOptional == b.isOptional
        && a.isTransient == b.isTransient
        && a.preservesValueInHistoryOnDeletion == b.preservesValueInHistoryOnDeletion
        && a.allowsExternalBinaryDataStorage == b.allowsExternalBinaryDataStorage && a.elements == b.elements
    else { return false }
    if a.details === b.details { return true }
    return (a.details?.content ?? AttributeDetails()) == (b.details?.content ?? AttributeDetails())
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

/// What few attributes have.
struct AttributeDetails: Equatable, Sendable {
  var defaultValue = Value.null
  var minimum = Value.null
  var maximum = Value.null
  var regularExpression: String?
  var validationRules: [ValidationRule] = []
  var derivation: String?
  var valueTransformerName: String?
  var compositeName: String?
  var renamingIdentifier: String?
  var versionHashModifier: String?
  var userInfo: [UserInfoEntry] = []
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

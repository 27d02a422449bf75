import CambiumEngine

/// The type of an attribute, with Core Data's raw values.
public typealias AttributeType = CambiumEngine.AttributeType
/// What becomes of the destinations of a relationship when the source is deleted, with Core Data's raw values.
public typealias DeleteRule = CambiumEngine.DeleteRule

/// An attribute of an entity, or an element of a composite. Core Data: `NSAttributeDescription`.
public class AttributeDescription: PropertyDescription, @unchecked Sendable {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is read.
  @ModelValue var storedType = AttributeType.undefined
  /// What new objects start with: a Foundation value of the attribute's type (see ``ManagedObject/value(forKey:)``).
  @ModelValue public var defaultValue: Any?
  /// The least value allowed when saving; for strings and binaries the least length.
  @ModelValue public var minimumValue: Any?
  /// The greatest value allowed when saving; for strings and binaries the greatest length.
  @ModelValue public var maximumValue: Any?
  /// A regular expression that strings must match when saving. Kept in the model; not enforced yet.
  @ModelValue public var regularExpression: String?
  /// The value transformer of a transformable attribute.
  @ModelValue public var valueTransformerName: String?
  /// Whether large binaries may be stored outside of the row, as the model file says. The engine does so with every large value,
  /// within the file, and does not ask.
  @ModelValue public var allowsExternalBinaryDataStorage = false
  /// Whether the last value of a deleted object stays in the history.
  @ModelValue public var preservesValueInHistoryOnDeletion = false

  /// An attribute without name and type.
  public override init() { super.init() }

  /// An attribute with name and type.
  public convenience init(_ name: String, _ type: AttributeType, isOptional: Bool = true, defaultValue: Any? = nil) {
    self.init()
    self.name = name
    self.storedType = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
  }

  /// The type of the values. Stays `AttributeType.composite` for a ``CompositeAttributeDescription``.
  public var attributeType: AttributeType {
    get { storedType }
    set { storedType = newValue }
  }

  /// What the engine is told of the attribute.
  func schema() throws -> AttributeSchema {
    var result = AttributeSchema(name, attributeType)
    try fill(&result)
    return result
  }

  func fill(_ result: inout AttributeSchema) throws {
    result.isOptional = isOptional
    result.isTransient = isTransient
    result.defaultValue = try engineValue(defaultValue, "default value", type: attributeType)
    let isLength = attributeType == .string || attributeType == .binary || attributeType == .uri
    result.minimum = try engineValue(minimumValue, "minimum", type: isLength ? .integer64 : attributeType)
    result.maximum = try engineValue(maximumValue, "maximum", type: isLength ? .integer64 : attributeType)
    result.regularExpression = regularExpression
    result.valueTransformerName = valueTransformerName
    result.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    result.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    result.renamingIdentifier = explicitRenamingIdentifier
    result.versionHashModifier = versionHashModifier
    result.userInfo = userInfo.engineEntries
  }

  private func engineValue(_ value: Any?, _ what: String, type: AttributeType) throws -> Value {
    guard let value = unwrapped(value) else { return .null }
    guard let converted = Value(foundation: value), let coerced = type.coerce(converted) else {
      throw CambiumError(
        .invalidModel, "the \(what) of attribute '\(name)' is a \(Swift.type(of: value)), which is no \(type.name)",
        entityName: entity?.name, key: name)
    }
    return coerced
  }
}

extension [String: String] {
  /// In the engine's form, by key.
  var engineEntries: [UserInfoEntry] { sorted { $0.key < $1.key }.map { UserInfoEntry(key: $0.key, value: $0.value) } }
}

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
  /// The least value allowed when saving, of numbers and dates. For strings and URIs the least length in characters
  /// (`String.count`: what a reader takes for one, of whatever Unicode scalars), for binaries in bytes. Other types have no
  /// limits. A save throws ``CambiumError/Code/validationNumberTooSmall`` (for binaries as well),
  /// ``CambiumError/Code/validationDateTooSoon`` or ``CambiumError/Code/validationStringTooShort``.
  @ModelValue public var minimumValue: Any?
  /// The greatest value, or length, allowed when saving; the units are those of ``minimumValue``. A save throws
  /// ``CambiumError/Code/validationNumberTooLarge`` (for binaries as well), ``CambiumError/Code/validationDateTooLate`` or
  /// ``CambiumError/Code/validationStringTooLong``.
  @ModelValue public var maximumValue: Any?
  /// A regular expression that a string must match as a whole when it is saved; a save throws
  /// ``CambiumError/Code/validationStringPatternMatching``. Of string attributes only.
  ///
  /// The dialect is that of `MATCHES` in predicates: a part of ICU's, without back references, looking ahead and behind,
  /// flags and possessive quantifiers. Matching takes at most O(length of the string times size of the pattern). A pattern
  /// that cannot be read makes compiling the model throw ``CambiumError/Code/invalidModel``, with the place in the pattern;
  /// one of an Xcode model's file is left out, and ``ManagedObjectModel/fileWarnings`` says so.
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
        .invalidModel,
        "the \(what) of attribute '\(name)'\(entity.map { " of '\($0.name)'" } ?? "") is a \(Swift.type(of: value)), which is "
          + "no \(type.name)",
        entityName: entity?.name, key: name)
    }
    return coerced
  }
}

extension [String: String] {
  /// In the engine's form, by key.
  var engineEntries: [UserInfoEntry] { sorted { $0.key < $1.key }.map { UserInfoEntry(key: $0.key, value: $0.value) } }
}

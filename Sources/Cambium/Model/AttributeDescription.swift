import CambiumEngine

/// What becomes of the destinations of a relationship when the source is deleted, with Core Data's raw values.
public typealias DeleteRule = CambiumEngine.DeleteRule

/// An attribute of an entity, or an element of a composite. Core Data: `NSAttributeDescription`.
public class AttributeDescription: PropertyDescription, @unchecked Sendable {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
  @ModelValue var storedType = AttributeType.undefined
  /// What new objects start with: a Foundation value of the attribute's type (see ``ManagedObject/value(forKey:)``).
  @ModelValue public var defaultValue: Any?
  /// The least value allowed when saving, of numbers and dates. For strings and URIs the least length in characters
  /// (`String.count`: what a reader takes for one, of whatever Unicode scalars), for binaries in bytes. Other types
  /// have no limits. A save throws ``CambiumError/Code/validationNumberTooSmall`` (for binaries as well),
  /// ``CambiumError/Code/validationDateTooSoon`` or ``CambiumError/Code/validationStringTooShort``.
  @ModelValue public var minimumValue: Any?
  /// The greatest value, or length, allowed when saving; the units are those of ``minimumValue``. A save throws
  /// ``CambiumError/Code/validationNumberTooLarge`` (for binaries as well), ``CambiumError/Code/validationDateTooLate``
  /// or ``CambiumError/Code/validationStringTooLong``.
  @ModelValue public var maximumValue: Any?
  /// A regular expression that a string must match as a whole when it is saved; a save throws
  /// ``CambiumError/Code/validationStringPatternMatching``. Of string attributes only.
  ///
  /// The dialect is that of `MATCHES` in predicates: a part of ICU's, without back references, looking ahead and
  /// behind, flags and possessive quantifiers. Matching takes at most O(length of the string times size of the
  /// pattern). A pattern that cannot be read makes compiling the model throw ``CambiumError/Code/invalidModel``, with
  /// the place in the pattern; one of an Xcode model's file is left out, and ``ManagedObjectModel/fileWarnings`` says
  /// so.
  @ModelValue public var regularExpression: String?
  @ModelValue var validationRules: [AttributeValidation] = []
  /// The value transformer of a transformable attribute.
  @ModelValue public var valueTransformerName: String?
  /// Whether large binaries may be stored outside of the row, as the model file says. The engine does so with every
  /// large value, within the file, and does not ask.
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

  /// What values have to meet when they are saved, besides the limits and the pattern; see
  /// ``setValidationPredicates(_:withValidationWarnings:)``.
  public var validationPredicates: [FetchPredicate] { validationRules.map { $0.predicate } }

  /// What is said of a value that does not meet the predicate at the same place of ``validationPredicates``; empty if
  /// nothing else than that is said.
  public var validationWarnings: [String] { validationRules.map { $0.warning } }

  /// Sets predicates that values have to meet when they are saved, and what is said where one is not met: a save throws
  /// ``CambiumError/Code/managedObjectValidation`` with it, for each. They are asked when the limits and the pattern
  /// allow the value; null is not asked, and whether it is allowed, ``PropertyDescription/isOptional`` says. They are
  /// no part of the version hash. Core Data: `setValidationPredicates(_:withValidationWarnings:)`, where limits and
  /// patterns are such predicates as well. One about a composite is asked whatever its elements are.
  ///
  /// In a predicate `SELF` is the value, and `length` how many characters a text has (`String.count`, as the limits
  /// have it; the function `length(SELF)` counts Unicode scalars, as in all predicates), or bytes a piece of data. A
  /// composite's elements have their names, so that a predicate of the composite may compare them:
  ///
  ///     let tailNumber = AttributeDescription("tailNumber", .string)
  ///     tailNumber.setValidationPredicates(
  ///       [try FetchPredicate(format: "SELF BEGINSWITH 'N' AND length <= 6")],
  ///       withValidationWarnings: ["an American registration begins with N, and has five more characters at most"])
  ///     let place = CompositeAttributeDescription("place", compositeTypeName: "Place")
  ///     place.setValidationPredicates(
  ///       [try FetchPredicate(format: "latitude BETWEEN {-90, 90} AND longitude BETWEEN {-180, 180}")],
  ///       withValidationWarnings: nil)
  ///
  /// One that cannot be used (another key path, a value of another type, a variable, an attribute that is
  /// transformable) makes compiling the model throw ``CambiumError/Code/invalidModel``, with the place. It is kept with
  /// the model, in the store as well.
  ///
  /// - Parameters:
  ///   - predicates: In place of those that were set before; none if nil.
  ///   - warnings: One for each predicate, in their order; those that lack are empty, and those too many are left out.
  public func setValidationPredicates(
    _ predicates: [FetchPredicate]?, withValidationWarnings warnings: [String]?
  ) {
    let warnings = warnings ?? []
    validationRules = (predicates ?? []).enumerated().map { place, predicate in
      AttributeValidation(predicate: predicate, warning: place < warnings.count ? warnings[place] : "")
    }
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
    result.validationRules = try validationRules.map { rule in
      do { return ValidationRule(try rule.predicate.writtenFormat(), warning: rule.warning) } catch {
        throw CambiumError(
          .invalidModel,
          "a validation predicate of attribute '\(name)'\(entity.map { " of '\($0.name)'" } ?? "") cannot be used: \(error)",
          entityName: entity?.name, key: name, underlying: [error])
      }
    }
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

/// A condition on values, and what is said where it is not met.
struct AttributeValidation: Hashable, Sendable {
  let predicate: FetchPredicate
  let warning: String

  init(predicate: FetchPredicate, warning: String) {
    self.predicate = predicate
    self.warning = warning
  }

  /// As the engine has it. One that cannot be read stays, and whatever uses it throws.
  init(_ rule: ValidationRule) {
    warning = rule.warning
    do { predicate = try FetchPredicate(format: rule.predicate) } catch { predicate = FetchPredicate(failure: error) }
  }
}

extension [String: String] {
  /// In the engine's form, by key.
  var engineEntries: [UserInfoEntry] { sorted { $0.key < $1.key }.map { UserInfoEntry(key: $0.key, value: $0.value) } }
}

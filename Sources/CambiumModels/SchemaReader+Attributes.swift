import CambiumEngine
import CambiumKernel
import CambiumModelFiles

extension SchemaReader {
  /// An attribute of an entity, or an element of a composite type.
  @_optimize(none)
  mutating func attribute(_ attribute: ModelDocument.Attribute) -> AttributeSchema {
    let type = AttributeType(attribute.type)
    var result = AttributeSchema(attribute.name, type)
    result.isOptional = attribute.isOptional
    result.isTransient = attribute.isTransient
    result.compositeName = attribute.compositeName
    result.defaultValue = defaultValue(of: attribute, type: type)
    result.minimum = limit(attribute.minimum, "min", of: attribute, type: type)
    result.maximum = limit(attribute.maximum, "max", of: attribute, type: type)
    if let pattern = attribute.regularExpression {
      // A model that is in use elsewhere has to be read: what of its patterns cannot be done is told, and is no rule.
      if let reason = AttributeSchema.problem(ofPattern: pattern.value, type: type) {
        warn(
          pattern,
          "\(attribute.name): the pattern '\(pattern.value)' is left out, so that strings are not checked against it: \(reason)"
        )
      } else {
        result.regularExpression = pattern.value
      }
    }
    result.valueTransformerName = attribute.valueTransformerName
    result.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    result.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    result.derivation = attribute.derivation
    result.renamingIdentifier = attribute.renamingIdentifier
    result.versionHashModifier = attribute.versionHashModifier
    if !attribute.userInfo.isEmpty { result.userInfo = attribute.userInfo.map { UserInfoEntry($0) } }
    return result
  }

  private mutating func warn(_ text: ModelDocument.Text, _ warning: String) {
    warnings.append(ModelFileWarning(text.line, warning))
  }

  // MARK: Values

  /// The default value, in the attribute's type; nothing stored depends on it, so that one that cannot be is left out.
  @_optimize(none)
  private mutating func defaultValue(of attribute: ModelDocument.Attribute, type: AttributeType) -> Value {
    let name = attribute.name
    if type == .date, let text = attribute.defaultInterval {
      if let seconds = Double(text.value), seconds.isFinite { return .date(seconds) }
      warn(text, "\(name): the default '\(text.value)' is no number of seconds; it is left out")
    }
    guard let text = attribute.defaultValue else { return .null }
    if type == .string { return .string(text.value) }
    if text.value.isEmpty { return .null }
    if let value = plainValue(text.value, type: type) {
      if value.isMended {
        warn(text, "\(name): the default '\(text.value)' of \(type.name) was taken as \(value.text)")
      }
      return value.value
    }
    warn(text, "\(name): the default '\(text.value)' is no \(type.name), and is left out")
    return .null
  }

  @_optimize(none)
  private mutating func limit(
    _ placed: ModelDocument.Text?, _ which: String, of attribute: ModelDocument.Attribute, type: AttributeType
  ) -> Value {
    guard let placed else { return .null }
    let text = placed.value
    let value: Value?
    switch type {
    case .date: value = Double(text).map { .date($0) }
    case .string, .binary, .uri: value = Int64(text).flatMap { $0 >= 0 ? .integer($0) : nil }
    case .integer16, .integer32, .integer64, .decimal, .double, .float: value = plainValue(text, type: type)?.value
    default: value = nil
    }
    if let value { return value }
    let what = which + (type == .date ? "DateTimeInterval" : "ValueString")
    warn(placed, "\(attribute.name): \(what) '\(text)' means nothing for \(type.name), and is left out")
    return .null
  }

  private struct PlainValue {
    var value: Value
    var text: String
    var isMended = false
  }

  /// A value as the editor writes it: numbers plain, YES and NO; either where the other belongs as well.
  @_optimize(none)
  private func plainValue(_ text: String, type: AttributeType) -> PlainValue? {
    switch type {
    case .boolean:
      // Xcode has written them in each of these ways over the years, and Core Data's compiler reads them all.
      let isTrue: Bool
      switch text.lowercased() {
      case "yes", "true": isTrue = true
      case "no", "false": isTrue = false
      default:
        guard let number = DecimalValue(text), !number.isNaN else { return nil }
        isTrue = number != DecimalValue(0)
      }
      return PlainValue(value: .boolean(isTrue), text: isTrue ? "YES" : "NO")
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      if text == "YES" || text == "NO" {
        return type.coerce(.boolean(text == "YES")).map {
          PlainValue(value: $0, text: text == "YES" ? "1" : "0", isMended: true)
        }
      }
      guard let decimal = DecimalValue(text), !decimal.isNaN else {
        guard type == .double || type == .float, let number = Double(text), let value = type.coerce(.double(number))
        else {
          return nil
        }
        return PlainValue(value: value, text: text)
      }
      return type.coerce(.decimal(decimal)).map { PlainValue(value: $0, text: text) }
    case .uuid, .uri: return type.coerce(.string(text)).map { PlainValue(value: $0, text: text) }
    default: return nil
    }
  }
}

extension AttributeType {
  /// The engine's type for one of a file.
  @_optimize(none)
  init(_ type: ModelDocument.AttributeType) {
    self =
      switch type {
      case .undefined: .undefined
      case .integer16: .integer16
      case .integer32: .integer32
      case .integer64: .integer64
      case .decimal: .decimal
      case .double: .double
      case .float: .float
      case .string: .string
      case .boolean: .boolean
      case .date: .date
      case .binary: .binary
      case .uuid: .uuid
      case .uri: .uri
      case .transformable: .transformable
      case .objectID: .objectID
      case .composite: .composite
      }
  }
}

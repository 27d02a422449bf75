import CambiumKernel

extension ModelFileReader {
  /// An attribute of an entity, or an element of a composite type.
  @_optimize(none)
  mutating func attribute(_ element: XMLElement, isElement: Bool) throws(ModelFileError) -> AttributeSchema {
    let name = try required("name", of: element)
    let type = try attributeType(of: element)
    var result = AttributeSchema(name, type)
    result.isOptional = try flag("optional", of: element)
    result.isTransient = try flag("transient", of: element)
    if type == .composite {
      result.compositeName = try required("composite", of: element)
    } else if text("composite", of: element) != nil {
      throw document.unusable(
        element.offset(of: "composite"), "\(name) names a composite type, but is a \(type.name); make it a Composite")
    }
    result.defaultValue = defaultValue(of: element, type: type)
    result.minimum = limit("min", of: element, type: type)
    result.maximum = limit("max", of: element, type: type)
    if let pattern = text("regularExpressionString", of: element) {
      // A model that is in use elsewhere has to be read: what of its patterns cannot be done is told, and is no rule.
      if let reason = SchemaBuilder.problem(ofPattern: pattern, type: type) {
        warn(
          element.offset(of: "regularExpressionString"),
          "\(name): the pattern '\(pattern)' is left out, so that strings are not checked against it: \(reason)")
      } else {
        result.regularExpression = pattern
      }
    }
    result.valueTransformerName = text("valueTransformerName", of: element)
    if try flag("allowsExternalBinaryDataStorage", of: element) {
      result.allowsExternalBinaryDataStorage = !isElement
      if isElement { warn(element.offset, "\(name): elements are not stored outside of the row") }
    }
    result.preservesValueInHistoryOnDeletion = try flag("preserveAfterDeletion", of: element)
    if try flag("derived", of: element) {
      guard let expression = text("derivationExpression", of: element) else {
        throw document.unusable(element.offset, "\(name) is derived, but has no derivationExpression")
      }
      result.derivation = expression
    }
    result.renamingIdentifier = text("elementID", of: element)
    result.versionHashModifier = text("versionHashModifier", of: element)
    for child in element.children {
      if child.name == "userInfo" { result.userInfo = try userInfo(child) } else { passOver(child, in: name) }
    }
    noteUnknown(element, known: knownAttributes, unused: unusedAttributes)
    return result
  }

  @_optimize(none)
  private func attributeType(of element: XMLElement) throws(ModelFileError) -> AttributeType {
    guard let text = text("attributeType", of: element) else { return .undefined }
    switch text {
    case "UUID": return .uuid
    case "URI": return .uri
    case "ObjectID", "Object ID": return .objectID
    default: break
    }
    for type in AttributeType.allCases where type.name == text { return type }
    throw document.unusable(element.offset(of: "attributeType"), "'\(text)' is no type of attribute")
  }

  // MARK: Values

  /// The default value, in the attribute's type; nothing stored depends on it, so that one that cannot be is left out.
  @_optimize(none)
  private mutating func defaultValue(of element: XMLElement, type: AttributeType) -> Value {
    if type == .date, let text = text("defaultDateTimeInterval", of: element) {
      if let seconds = Double(text), seconds.isFinite { return .date(seconds) }
      warn(
        element.offset(of: "defaultDateTimeInterval"),
        "\(element["name"] ?? ""): the default '\(text)' is no number of seconds; it is left out")
    }
    guard let text = element["defaultValueString"] else { return .null }
    if type == .string { return .string(text) }
    if text.isEmpty { return .null }
    let offset = element.offset(of: "defaultValueString")
    let name = element["name"] ?? ""
    if let value = plainValue(text, type: type) {
      if value.isMended { warn(offset, "\(name): the default '\(text)' of \(type.name) was taken as \(value.text)") }
      return value.value
    }
    warn(offset, "\(name): the default '\(text)' is no \(type.name), and is left out")
    return .null
  }

  @_optimize(none)
  private mutating func limit(_ which: String, of element: XMLElement, type: AttributeType) -> Value {
    let attribute = type == .date ? which + "DateTimeInterval" : which + "ValueString"
    guard let text = text(attribute, of: element) else { return .null }
    let value: Value?
    switch type {
    case .date: value = Double(text).map { .date($0) }
    case .string, .binary, .uri: value = Int64(text).flatMap { $0 >= 0 ? .integer($0) : nil }
    case .integer16, .integer32, .integer64, .decimal, .double, .float: value = plainValue(text, type: type)?.value
    default: value = nil
    }
    if let value { return value }
    warn(
      element.offset(of: attribute),
      "\(element["name"] ?? ""): \(attribute) '\(text)' means nothing for \(type.name), and is left out")
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
      switch text {
      case "YES", "yes", "true", "1": return PlainValue(value: .boolean(true), text: "YES")
      case "NO", "no", "false", "0": return PlainValue(value: .boolean(false), text: "NO")
      default: return nil
      }
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

private let knownAttributes: Set<String> = [
  "name", "attributeType", "optional", "transient", "composite", "defaultValueString", "defaultDateTimeInterval",
  "minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString",
  "valueTransformerName", "allowsExternalBinaryDataStorage", "preserveAfterDeletion", "derived",
  "derivationExpression", "elementID", "versionHashModifier", "indexed", "syncable", "usesScalarValueType",
  "customClassName",
]

private let unusedAttributes: [String: String] = [
  "spotlightIndexingEnabled": "there is no search index",
  "allowsCloudEncryption": "values are encrypted nowhere",
  "storedInExternalRecord": "there are no external records",
  "storedInTruthFile": "there are no truth files",
]

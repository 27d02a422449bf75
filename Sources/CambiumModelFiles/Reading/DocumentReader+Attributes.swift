extension DocumentReader {
  /// An attribute of an entity, or an element of a composite type.
  @_optimize(none)
  mutating func attribute(
    _ element: XMLElement, isElement: Bool
  ) throws(ModelDocumentError) -> ModelDocument.Attribute {
    let name = try required("name", of: element)
    let type = try attributeType(of: element)
    var result = ModelDocument.Attribute(name, type)
    result.line = document.line(element.offset)
    result.isOptional = try flag("optional", of: element)
    result.isTransient = try flag("transient", of: element)
    if type == .composite {
      result.compositeName = try required("composite", of: element)
    } else if text("composite", of: element) != nil {
      throw document.unusable(
        element.offset(of: "composite"),
        "\(name) names a composite type, but is a \(type.rawValue); make it a Composite")
    }
    readValues(of: element, into: &result)
    result.valueTransformerName = text("valueTransformerName", of: element)
    result.customClassName = text("customClassName", of: element)
    if text("usesScalarValueType", of: element) != nil {
      result.usesScalarValueType = try flag("usesScalarValueType", of: element)
    }
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

  private func readValues(of element: XMLElement, into result: inout ModelDocument.Attribute) {
    // An empty text is a default of its own.
    if let text = element["defaultValueString"] {
      result.defaultValue = ModelDocument.Text(
        text, line: document.line(element.offset(of: "defaultValueString")))
    }
    result.defaultInterval = placedText("defaultDateTimeInterval", of: element)
    let ending = result.type == .date ? "DateTimeInterval" : "ValueString"
    result.minimum = placedText("min" + ending, of: element)
    result.maximum = placedText("max" + ending, of: element)
    result.regularExpression = placedText("regularExpressionString", of: element)
  }

  @_optimize(none)
  private func attributeType(of element: XMLElement) throws(ModelDocumentError) -> ModelDocument.AttributeType {
    guard let text = text("attributeType", of: element) else { return .undefined }
    if let type = ModelDocument.AttributeType(rawValue: text) { return type }
    if text == "Object ID" { return .objectID }
    throw document.unusable(element.offset(of: "attributeType"), "'\(text)' is no type of attribute")
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

import CambiumSourceText

/// A property of a structure with `@StoredRow` that an attribute keeps.
struct StoredRowProperty: Equatable {
  /// Without backticks.
  var name: String
  /// The initial value as written.
  var value: String?

  /// The source of the attribute's description.
  var attribute: String {
    var text = "CambiumEngine.AttributeSchema(\(ManagedMacro.literal(name)), of: { (row: Self) in row.`\(name)` }"
    // A closing bracket behind `// comment` or a regular expression would belong to it.
    if let value { text += ", default: \(value)" + (value.utf8.contains(UInt8(ascii: "/")) ? "\n      " : "") }
    return text + ")"
  }

  /// Reads a variable; nil if it is no attribute.
  init?(_ variable: TypeDeclaration.Variable) throws(Refusal) {
    if variable.hasAccessors || variable.hasModifier("static") { return nil }
    name = variable.name.text
    value = variable.value?.text
    // It always has this value.
    if variable.introducer.text == "let", value != nil, !variable.isConditional { return nil }
    try Self.check(variable)
    if let type = variable.type, let advice = Self.advice(Self.unwrapped(type.text) ?? type.text) {
      throw Refusal(message: "'@StoredRow' cannot store '\(name)': \(advice)", offset: type.offset)
    }
  }

  private static func check(_ variable: TypeDeclaration.Variable) throws(Refusal) {
    let name = variable.name.text
    if variable.isConditional {
      throw Refusal(
        message: "'@StoredRow' cannot see whether the condition of '#if' holds: write '\(name)' without a condition",
        offset: variable.name.offset)
    }
    for modifier in variable.modifiers where ["lazy", "weak", "unowned"].contains(modifier.text) {
      throw Refusal(
        message: "a row cannot keep '\(modifier.text)' properties: write 'var \(name)' without '\(modifier.text)', or "
          + "a computed property", offset: modifier.offset)
    }
    for attribute in variable.attributes {
      guard let initial = attribute.name.unicodeScalars.first, initial.properties.isUppercase,
        attribute.name != "MainActor"
      else { continue }
      throw Refusal(
        message: "a row cannot keep a property with '@\(attribute.name)', which looks like a property wrapper: write "
          + "'var \(name)' without it", offset: attribute.offset)
    }
  }

  /// The type without the mark of an optional; nil if it has none.
  private static func unwrapped(_ text: String) -> String? {
    if text.hasSuffix("?") { return String(text.dropLast()).trimmed }
    for prefix in ["Optional<", "Swift.Optional<"] where text.hasPrefix(prefix) && text.hasSuffix(">") {
      return String(text.dropFirst(prefix.count).dropLast()).trimmed
    }
    return nil
  }

  /// Types that are known to be no attribute's, and what to write instead.
  private static let others: [String: String] = [
    "UInt": "write 'Int64', whose values all fit an attribute",
    "UInt64": "write 'Int64', and convert with 'Int64(bitPattern:)' if all 64 bits count",
    "Int128": "write 'Int64', or '[UInt8]' for all bytes", "UInt128": "write '[UInt8]' for all bytes",
    "Float16": "write 'Float'", "Float80": "write 'Double'", "CGFloat": "write 'Double'",
    "Date": "write 'DateValue', which is in seconds since 2001-01-01 and needs no Foundation",
    "TimeInterval": "write 'DateValue' for a moment and 'Double' for a duration",
    "UUID": "write 'UUIDBytes', which needs no Foundation", "Data": "write '[UInt8]'",
    "Decimal": "write 'DecimalValue', which needs no Foundation", "URL": "write 'String'",
    "Character": "write 'String'", "Substring": "write 'String'", "StaticString": "write 'String'",
    "ObjectReference":
      "a link is no attribute: add a 'RelationshipSchema' to the entity, and set it with a 'RowWriter'",
  ]

  /// The type that the message advises to write in place of one that no attribute holds; nil if the macro leaves the
  /// decision to the compiler.
  private static func advice(_ type: String) -> String? {
    let name = type.hasPrefix("Swift.") ? String(type.dropFirst(6)) : type
    if let advice = others[name] ?? others[name.hasPrefix("Foundation.") ? String(name.dropFirst(11)) : name] {
      return advice
    }
    let shape = TypeShape(type)
    if shape.isFunction { return "an attribute cannot keep a function: write a method" }
    if shape.isTuple { return "an attribute cannot keep a tuple: write one variable for each part" }
    if shape.isExistential { return "an attribute keeps values of one type: write that type" }
    if type.hasSuffix("!") { return "write '\(type.dropLast())?', because a row may have no value" }
    if unwrapped(type) != nil { return "an attribute has one kind of no value: write one '?'" }
    let isBytes = ["[UInt8]", "Array<UInt8>", "Swift.Array<UInt8>", "[Swift.UInt8]"].contains(type)
    let lists = ["[", "Array<", "Set<", "Dictionary<", "ArraySlice<", "ContiguousArray<"]
    if !isBytes, lists.contains(where: { name.hasPrefix($0) }) {
      return "'[UInt8]' is the only list that an attribute keeps: write a row for each element, or encode them as bytes"
    }
    return nil
  }
}

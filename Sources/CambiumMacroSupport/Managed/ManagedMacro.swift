import CambiumSourceText

/// `@Managed`: the accessors of a property of a managed object.
///
///     @Managed var tailNumber: String?
///     // get { self[managed: "tailNumber"] }
///     // set { self[managed: "tailNumber"] = newValue }
///
/// What the property's type means is left to the overloads of that subscript: the compiler knows types, and the source
/// does not tell what `Squadron` is.
enum ManagedMacro {
  /// The source of the accessors.
  static func accessors(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let variable = try VariableDeclaration(request.declSyntax.source)
    try check(variable)
    try check(context: request.lexicalContext ?? [], of: variable)
    let arguments = try AttributeArguments(request.attributeSyntax.source)
    let key = arguments[nil]?.text ?? literal(variable.name.text)
    let property = "self[managed: \(key)"
    let fallback = arguments["default"].map { ", default: \($0.text)" } ?? ""
    return """
      get { \(property)\(fallback)] }
      set { \(property)\(fallback)] = newValue }
      """
  }

  private static func check(_ variable: VariableDeclaration) throws(Refusal) {
    let name = variable.name.text
    if variable.introducer.text == "let" {
      throw Refusal(
        message: "'@Managed' needs a 'var': the value of '\(name)' is the store's, and can change",
        offset: variable.introducer.offset)
    }
    for modifier in variable.modifiers {
      let reason: String
      switch modifier.text {
      case "static", "class": reason = "belong to an object, not to its class"
      case "lazy", "weak", "unowned": reason = "are not stored in the object; leave out '\(modifier.text)'"
      default: continue
      }
      throw Refusal(message: "properties with '@Managed' \(reason)", offset: modifier.offset)
    }
    if let offset = variable.furtherVariableOffset {
      throw Refusal(message: "'@Managed' goes with one variable; declare the others by themselves", offset: offset)
    }
    guard variable.type != nil else {
      throw Refusal(
        message: "'\(name)' needs a type: '@Managed var \(name): String?'", offset: variable.name.offset)
    }
    if let offset = variable.initialValueOffset {
      throw Refusal(
        message: "'\(name)' cannot have an initial value here: the model has the default of an attribute, and "
          + "'@Managed(default: ...)' says what is read where there is no value", offset: offset)
    }
    if let offset = variable.accessorsOffset {
      throw Refusal(message: "'@Managed' makes the accessors of '\(name)'; leave these out", offset: offset)
    }
  }

  /// Objects have the subscript, so that anything but a class or an extension is a mistake that the compiler would
  /// explain with words about the expansion.
  private static func check(
    context: [CompilerMessage.Syntax], of variable: VariableDeclaration
  ) throws(Refusal) {
    var place = "a variable outside of any type"
    if let innermost = context.first {
      var reader = SourceReader(innermost.source)
      try reader.skipAttributes()
      var word = ""
      repeat {
        reader.skipTrivia()
        guard let next = reader.name() else { return }
        word = next
        reader.skipTrivia()
        if reader.peek() == UInt8(ascii: "("), !reader.skipGroup() { return }
      } while modifiers.contains(word)
      switch word {
      case "struct", "enum", "protocol", "actor": place = "a property of this \(word)"
      case "func", "init", "deinit", "subscript", "var": place = "a local variable"
      default: return
      }
    }
    throw Refusal(
      message:
        "'@Managed' is for properties of classes that inherit from 'ManagedObject', and their extensions; this is "
        + place, offset: variable.name.offset)
  }

  private static let modifiers: Set<String> = [
    "public", "open", "package", "internal", "fileprivate", "private", "final", "indirect", "static", "override",
    "mutating", "nonmutating", "nonisolated", "convenience", "required", "distributed", "isolated", "borrowing",
    "consuming",
  ]

  /// The name as a string literal. Names in backticks may have almost any character.
  static func literal(_ name: String) -> String {
    var result = "\""
    for scalar in name.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }
}

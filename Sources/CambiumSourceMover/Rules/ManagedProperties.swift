/// `@NSManaged var` becomes `@Managed var`, with a type that the macro can read and set.
enum ManagedProperties {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].isWord("var") {
      let head = DeclarationHead(source, introducer: index)
      guard let attribute = head.attribute("@NSManaged") else { continue }
      let variables = source.variables(at: index)
      guard let last = variables.last else {
        move.find(unreadable, attribute.tokens.lowerBound...index)
        continue
      }
      let className = move.structure.innermostType(around: index)?.lastName ?? ""
      let forms = variables.map { form(of: $0, className, head, &move) }
      let place = source.tokens[attribute.tokens.lowerBound].range.lowerBound
      move.replace(
        attribute.tokens, with: "@Managed\(forms[0].arguments)",
        as: "@NSManaged var \(source.text(tokens: (index + 1)...last.type.upperBound))"
          + " -> @Managed\(forms[0].arguments) var \(variables[0].name): \(forms[0].type)"
          + (variables.count > 1 ? ", and a line for each other variable" : ""))
      if variables.count == 1 {
        if let type = forms[0].newType { move.substitute(variables[0].type, with: type) }
        continue
      }
      // The macro goes with one variable: each gets its own line.
      let words = head.modifiers.filter { $0 < index }.map { modifier in
        let end = source[modifier + 1]?.isOpen("(") == true ? source.tokens[modifier + 1].partner : nil
        return source.text(tokens: modifier...(end ?? modifier)) + " "
      }
      let lineStart = source.lineEnd + source.indentation(at: place)
      var text = ""
      for (position, variable) in variables.enumerated() {
        if position > 0 { text += "\(lineStart)@Managed\(forms[position].arguments) \(words.joined())" }
        text += "var \(source.text(source.tokens[variable.nameToken].range)): \(forms[position].type)"
      }
      guard last.type.upperBound > index else { continue }
      move.substitute(index...last.type.upperBound, with: text)
    }
  }

  private struct Form {
    /// The arguments of the macro, with their brackets.
    var arguments = ""
    /// The type as it is afterwards.
    var type: String
    /// The type if it changes.
    var newType: String?
  }

  private static func form(
    of variable: SourceText.Variable, _ className: String, _ head: DeclarationHead, _ move: inout FileMove
  ) -> Form {
    let source = move.source
    let folder = move.folder
    let written = source.text(tokens: variable.type)
    let type = ManagedType(folder.resolved(written))
    var arguments: [String] = []
    // The name in the model, if that is not the variable's.
    if let key = head.modelName(source), key != variable.name { arguments.append("\"\(key)\"") }
    var newType: String?
    if type.mark != "" {
      if ["NSObject", "AnyObject"].contains(type.base) { newType = "Any?" }
    } else if ManagedType.values.contains(type.base) {
      reportInterval(variable, type, className, head, &move)
    } else if type.isDictionary {
      arguments.append("default: [:]")
    } else if type.isCollection {
      if !(type.elementName.map { folder.managedClasses.contains($0) } ?? false) { arguments.append("default: []") }
    } else if ["NSObject", "AnyObject", "Any"].contains(type.base) {
      newType = "Any?"
    } else if type.base == "CGFloat" {
      newType = "Double"
    } else if let name = type.elementName, folder.isRawEnum(name), let first = folder.enums[name]?.firstCase {
      arguments.append("default: \(written).\(first)")
    } else {
      // A class: there may be no object.
      newType = written + "!"
      let isKnown =
        ManagedType.classes.contains(type.base) || folder.isRelationship(variable.name, of: className)
        || (type.elementName.map { folder.managedClasses.contains($0) } ?? false)
      if !isKnown { move.find(unknownType, (variable.nameToken)...(variable.type.upperBound)) }
    }
    let text = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
    return Form(arguments: text, type: newType ?? written, newType: newType)
  }

  /// Reports a number that has the date of an attribute with "Use Scalar Type". `@Managed` would read 0 of it.
  private static func reportInterval(
    _ variable: SourceText.Variable, _ type: ManagedType, _ className: String, _ head: DeclarationHead,
    _ move: inout FileMove
  ) {
    guard ["TimeInterval", "Double"].contains(type.base) else { return }
    let place = variable.nameToken...variable.type.upperBound
    switch move.folder.attributeType(head.modelName(move.source) ?? variable.name, of: className) {
    case .date: move.find(dateAsNumber, place)
    case nil where type.base == "TimeInterval": move.find(interval, place)
    default: break
    }
  }

  private static let dateAsNumber = Cause(
    "a number that holds a date of the model reads 0", "declare the property as Date")
  private static let interval = Cause(
    "a TimeInterval may hold a date of the model, and then reads 0", "if the attribute is a Date, declare it as Date")
  private static let unreadable = Cause(
    "an @NSManaged property without a type that the tool can read", "write '@Managed var name: Type'")
  private static let unknownType = Cause(
    "the type of an @NSManaged property is not in the folder, and not optional",
    "if it is an enumeration, conform it to AttributeRepresentable and write '@Managed(default: ...)'"
  )
}

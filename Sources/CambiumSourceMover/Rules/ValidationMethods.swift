/// Makes classes call the methods that validate single properties, such as `validateName(_:)` for a property `name`,
/// because Core Data finds them by their names. The class gets an override of `validateValue(_:forKey:)` that calls
/// them. Its `validateForInsert()` and `validateForUpdate()` call that override for each property.
enum ValidationMethods {
  static func run(_ move: inout FileMove) {
    for scope in move.structure.scopes where move.folder.managedClasses.contains(scope.lastName) {
      if scope.kind == "class" { complete(scope, &move) }
      if scope.kind == "class" || scope.kind == "extension", move.folder.validatesFirst(scope.lastName) {
        for (name, call) in saves { insertCall(call, in: name, of: scope, &move) }
      }
      if scope.kind == "extension" { reportHidden(scope, &move) }
    }
  }

  /// The methods that saves call, and what they call first.
  private static let saves = [
    ("validateForInsert", "validateValuesForInsert"), ("validateForUpdate", "validateValuesForUpdate"),
  ]

  /// Adds overrides at the end of a class.
  private static func complete(_ scope: TypeScope, _ move: inout FileMove) {
    let source = move.source
    guard let validation = move.folder.validations[scope.lastName] else { return }
    let methods = validation.methods.filter {
      !validation.called.contains($0.name) && (!$0.isPrivate || isDeclared($0.name, scope.lastName, move))
    }
    if !methods.isEmpty, validation.overridesValue {
      return move.find(both, scope.head.introducer...scope.nameToken)
    }
    let end = source.lineEnd
    let outer = scope.indentation(in: source)
    let step = step(of: scope, outer, source)
    let inner = outer + step
    let words = scope.head.modifiers.map { source.tokens[$0].text }
    let access = words.contains("public") || words.contains("open") ? "public " : ""
    var members: [[String]] = []
    if !methods.isEmpty {
      members.append(
        [
          "/// Calls the methods that validate single properties, as Core Data does.",
          "\(access)override func validateValue("
            + "_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {",
          "\(step)try super.validateValue(value, forKey: key)", "\(step)switch key {",
        ]
          + methods.map {
            "\(step)case \"\(move.folder.property(capitalized: $0.property, of: scope.lastName))\": "
              + "try \($0.name)(value)"
          } + ["\(step)default: break", "\(step)}", "}"])
      move.note(
        "\(methods.map { "\($0.name)(_:)" }.joined(separator: ", ")): "
          + "\(scope.name) gets an override of validateValue(_:forKey:) that calls this",
        at: source.tokens[scope.head.introducer].range.lowerBound)
    }
    if move.folder.validatesFirst(scope.lastName) {
      for (name, call) in saves where !validation.overridden.contains(name) {
        members.append([
          "\(access)override func \(name)() throws {", "\(step)try \(call)()", "\(step)try super.\(name)()", "}",
        ])
        move.note(
          "\(scope.name) gets an override of \(name)() that validates each property, as Core Data does",
          at: source.tokens[scope.head.introducer].range.lowerBound)
      }
    }
    guard !members.isEmpty else { return }
    let lines = members.map { lines in end + lines.map { $0.isEmpty ? "" : inner + $0 }.joined(separator: end) + end }
    if let place = scope.end(lines.joined(), in: source) { move.insert(place.text, at: place.offset) }
  }

  /// How far the members of a class are indented.
  private static func step(of scope: TypeScope, _ outer: String, _ source: SourceText) -> String {
    guard let first = source[scope.open + 1], first.kind != .close else { return "  " }
    return SourceText.step(from: outer, to: source.indentation(at: first.range.lowerBound))
  }

  /// Inserts a call before that of `super`. A method that does not call `super` validates no property, as in Core Data.
  private static func insertCall(_ call: String, in name: String, of scope: TypeScope, _ move: inout FileMove) {
    let source = move.source
    for index in move.structure.members(["func"], of: scope) where source[index + 1]?.text == name {
      guard let bracket = source.parameterBracket(at: index), let end = source.tokens[bracket].partner,
        let open = ((end + 1)..<source.tokens.count).prefix(4).first(where: { source.tokens[$0].isOpen("{") }),
        let close = source.tokens[open].partner,
        !(open..<close).contains(where: { source.tokens[$0].text == call })
      else { continue }
      for place in open..<close {
        guard source.tokens[place].isWord("super"), source[place + 1]?.isMark(".") == true,
          source[place + 2]?.isWord(name) == true
        else { continue }
        var first = place
        if let before = source[first - 1], before.isMark("?") || before.isMark("!") { first -= 1 }
        guard source[first - 1]?.isWord("try") == true else { continue }
        let offset = source.tokens[first - 1].range.lowerBound
        let start = source.startOfLine(at: offset)
        let indentation = source.indentation(at: offset)
        let isFirst = start + indentation.utf8.count == offset
        move.insert(isFirst ? "try \(call)()\(source.lineEnd)\(indentation)" : "try \(call)(); ", at: offset)
        move.note("\(name)() validates each property before super.\(name)(), as Core Data does", at: offset)
        break
      }
    }
  }

  /// Whether this file declares a method of a class.
  private static func isDeclared(_ method: String, _ className: String, _ move: FileMove) -> Bool {
    move.structure.scopes.contains { scope in
      scope.lastName == className
        && move.structure.members(["func"], of: scope).contains { move.source[$0 + 1]?.text == method }
    }
  }

  /// Reports private methods of an extension whose class is in another file.
  private static func reportHidden(_ scope: TypeScope, _ move: inout FileMove) {
    let isHere = move.structure.scopes.contains { $0.kind == "class" && $0.lastName == scope.lastName }
    guard !isHere, let validation = move.folder.validations[scope.lastName] else { return }
    for index in move.structure.members(["func"], of: scope) {
      if validation.methods.contains(where: { $0.isPrivate && $0.name == move.source[index + 1]?.text }) {
        move.find(hidden, index...(index + 1))
      }
    }
  }

  private static let both = Cause(
    "a class that overrides validateValue(_:forKey:) has methods for single properties as well",
    "call them in validateValue(_:forKey:), after super, by the key")
  private static let hidden = Cause(
    "a private method validates a property, and its class is in another file", "leave out private")
}

extension FileDeclarations {
  /// What a class or its extensions validate by themselves.
  struct Validation {
    /// A method of the form `validateName(_:)`.
    struct Method: Equatable {
      var name: String
      /// The property, with a capital letter.
      var property: String
      /// Whether other files do not see it.
      var isPrivate: Bool
    }

    var methods: [Method] = []
    /// Whether there is an override of `validateValue(_:forKey:)`.
    var overridesValue = false
    /// The methods that this override calls.
    var called: Set<String> = []
    /// Which of `validateForInsert` and `validateForUpdate` are overridden.
    var overridden: Set<String> = []

    /// Whether properties are validated by more than the model.
    var isOwn: Bool { !methods.isEmpty || overridesValue }

    mutating func merge(_ other: Validation) {
      methods += other.methods
      overridesValue = overridesValue || other.overridesValue
      called.formUnion(other.called)
      overridden.formUnion(other.overridden)
    }
  }

  /// Reads what a type or an extension validates; `nil` if it has nothing of the kind.
  static func validation(of scope: TypeScope, _ structure: SourceStructure) -> Validation? {
    let source = structure.source
    var result = Validation()
    for index in structure.members(["func"], of: scope) {
      guard let name = source[index + 1]?.text, name.hasPrefix("validate") else { continue }
      let head = DeclarationHead(source, introducer: index)
      let words = head.modifiers.map { source.tokens[$0].text }
      // A method without a body has nothing to say, and a call of one under a condition would need that condition.
      if head.attribute("@NSManaged") != nil || structure.isConditional(index, in: scope) { continue }
      if words.contains("override"), ["validateForInsert", "validateForUpdate"].contains(name) {
        result.overridden.insert(name)
      }
      let parameters = source.parameters(at: index)
      guard let first = parameters.first, first.label == "_",
        first.type.split(separator: " ").joined() == "AutoreleasingUnsafeMutablePointer<AnyObject?>"
      else { continue }
      if name == "validateValue", parameters.count == 2 {
        result.overridesValue = true
        guard let open = source.tokens.indices.dropFirst(index).first(where: { source.tokens[$0].isOpen("{") }),
          let close = source.tokens[open].partner
        else { continue }
        for place in open..<close where source[place + 1]?.isOpen("(") == true {
          result.called.insert(source.tokens[place].text)
        }
      } else if parameters.count == 1, name != "validate", !words.contains("static"), !words.contains("class") {
        result.methods.append(
          Validation.Method(
            name: name, property: String(name.dropFirst("validate".count)),
            isPrivate: words.contains("private") || words.contains("fileprivate")
              || scope.head.modifiers.contains { ["private", "fileprivate"].contains(source.tokens[$0].text) }
                && scope.kind == "extension"
          ))
      }
    }
    return result.isOwn || !result.overridden.isEmpty ? result : nil
  }
}

/// The declarations of a file that the other files of its folder need to be moved.
struct FileDeclarations {
  struct DeclaredClass {
    var name: String
    var superclass: String?
    var hasInitializerOfEntity = false
  }

  struct DeclaredEnum {
    var name: String
    var inherited: [String]
    var firstCase: String?
  }

  /// A property with `@NSManaged` or `@Managed`.
  struct ManagedProperty: Equatable {
    /// The type as it is written.
    var type: String
    /// The name in the model: `isDone` of `@objc(isDone) @NSManaged var done: Bool`.
    var key: String
  }

  var classes: [DeclaredClass] = []
  var enums: [DeclaredEnum] = []
  /// The names of all types, without the types around them.
  var types: Set<String> = []
  /// The types that aliases stand for.
  var aliases: [String: String] = [:]
  /// The types that extensions conform, and to what.
  var conformances: [String: [String]] = [:]
  /// The properties with `@NSManaged` or `@Managed`, by class and name in Swift.
  var managedProperties: [String: [String: ManagedProperty]] = [:]
  /// The methods that `#selector` names.
  var selectors: Set<String> = []
  /// The types that observe notifications with closures once they are moved.
  var observers: Set<String> = []
  /// What classes and their extensions validate, by class.
  var validations: [String: Validation] = [:]
  /// The class methods for key-value observing, by class.
  var observedKeys: [String: Set<String>] = [:]

  /// Whether the file imports Core Data, or CambiumCoreData.
  var importsCoreData = false

  init(_ structure: SourceStructure) {
    let source = structure.source
    for scope in structure.scopes {
      if scope.kind != "extension" { types.insert(scope.lastName) }
      switch scope.kind {
      case "class":
        let initializers = structure.members(["init"], of: scope)
        classes.append(
          DeclaredClass(
            name: scope.lastName, superclass: scope.inherited.first,
            hasInitializerOfEntity: initializers.contains { source.isInitializerOfEntity($0) }))
      case "enum":
        enums.append(
          DeclaredEnum(name: scope.lastName, inherited: scope.inherited, firstCase: Self.firstCase(scope, structure)))
      case "extension": conformances[scope.lastName, default: []] += scope.inherited
      default: break
      }
      if let validation = Self.validation(of: scope, structure) {
        validations[scope.lastName, default: Validation()].merge(validation)
      }
      for index in structure.members(["func"], of: scope) {
        if let name = source[index + 1]?.text, ObservedKeys.values[name] != nil {
          observedKeys[scope.lastName, default: []].insert(name)
        }
      }
      for index in structure.members(["var"], of: scope) {
        let head = DeclarationHead(source, introducer: index)
        guard head.attribute("@NSManaged") != nil || head.attribute("@Managed") != nil else { continue }
        for variable in source.variables(at: index) {
          managedProperties[scope.lastName, default: [:]][variable.name] = ManagedProperty(
            type: source.text(tokens: variable.type), key: head.modelName(source) ?? variable.name)
        }
      }
    }
    // A selector that becomes a closure needs no method of Objective-C.
    let replaced = ObserverSelectors.calls(in: structure).map { $0.tokens }
    for call in replaced {
      if let type = structure.innermostType(around: call.lowerBound) { observers.insert(type.lastName) }
    }
    for (index, token) in source.tokens.enumerated() {
      if token.text == "#selector", !replaced.contains(where: { $0.contains(index) }), let open = source[index + 1],
        open.isOpen("("), let end = open.partner
      {
        for inner in source.tokens[(index + 1)..<end] where inner.kind == .word { selectors.insert(inner.text) }
      }
      if token.isWord("import"), ["CoreData", "CambiumCoreData"].contains(source[index + 1]?.text) {
        importsCoreData = true
      }
      if token.isWord("typealias"), let name = source[index + 1], name.kind == .word,
        source[index + 2]?.isMark("=") == true
      {
        let end = source.afterType(index + 3)
        if end > index + 3 { aliases[name.text] = source.text(tokens: (index + 3)...(end - 1)) }
      }
    }
  }

  private static func firstCase(_ scope: TypeScope, _ structure: SourceStructure) -> String? {
    guard let index = structure.members(["case"], of: scope).first, let name = structure.source[index + 1],
      name.kind == .word
    else { return nil }
    return structure.source.text(name.range)
  }
}

extension SourceText {
  /// A variable with a type.
  struct Variable {
    var name: String
    var nameToken: Int
    var type: ClosedRange<Int>
  }

  /// The variables of a `var`: of `var a, b: Int` both have the type.
  func variables(at introducer: Int) -> [Variable] {
    var result: [Variable] = []
    var names: [Int] = []
    var next = introducer + 1
    while let name = self[next], name.kind == .word {
      names.append(next)
      next += 1
      if self[next]?.isMark(":") == true {
        let end = afterType(next + 1)
        guard end > next + 1 else { return result }
        for token in names {
          result.append(Variable(name: tokens[token].text, nameToken: token, type: (next + 1)...(end - 1)))
        }
        names = []
        next = end
      }
      guard self[next]?.isMark(",") == true else { break }
      next += 1
    }
    return result
  }

  /// Whether an `init` is `init(entity:insertInto:)`.
  func isInitializerOfEntity(_ index: Int) -> Bool {
    parameterLabels(at: index) == ["entity", "insertInto"]
  }

  /// The labels of the parameters of a function or initializer.
  func parameterLabels(at introducer: Int) -> [String] { parameters(at: introducer).map { $0.label } }

  struct Parameter {
    var label: String
    /// The name within the function, as it is written.
    var name: String
    var type: String
  }

  /// The bracket of the parameters of a `func` or `init`.
  func parameterBracket(at introducer: Int) -> Int? {
    var next = introducer + 1
    if self[introducer]?.text == "func" { next += 1 }
    while self[next]?.isMark("?") == true || self[next]?.isMark("!") == true { next += 1 }
    next = afterGenericArguments(next)
    return self[next]?.isOpen("(") == true ? next : nil
  }

  /// The parameters of a `func` or `init`.
  func parameters(at introducer: Int) -> [Parameter] {
    guard let open = parameterBracket(at: introducer), let close = tokens[open].partner else { return [] }
    var result: [Parameter] = []
    var next = open + 1
    while next < close, let label = self[next], label.kind == .word {
      var name = label
      next += 1
      if let second = self[next], second.kind == .word {
        name = second
        next += 1
      }
      guard self[next]?.isMark(":") == true else { return [] }
      let end = afterType(next + 1)
      guard end > next + 1, end <= close else { return [] }
      result.append(
        Parameter(label: label.text, name: text(name.range), type: text(tokens: (next + 1)...(end - 1))))
      next = end
      while next < close, let token = self[next], !token.isMark(",") {
        if token.kind == .open, let partner = token.partner { next = partner }
        next += 1
      }
      next += 1
    }
    return result
  }
}

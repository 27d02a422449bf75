/// Replaces `addObserver(self, selector: #selector(didSave(_:)), name: ..., object: ...)` of a notification center with
/// a closure that calls the method.
enum ObserverSelectors {
  /// A call that can be rewritten.
  struct Call {
    /// The tokens from `addObserver` to the closing bracket.
    var tokens: ClosedRange<Int>
    /// The first token of the statement, if the call is one.
    var statement: Int?
    var method: String
    /// The call with a closure.
    var replacement: String
  }

  static func run(_ move: inout FileMove) {
    let source = move.source
    for call in calls(in: move.structure) {
      move.replace(
        call.tokens, with: call.replacement,
        as: "addObserver with #selector(\(call.method)) -> addObserver with a closure")
      if let statement = call.statement { move.insert("_ = ", at: source.tokens[statement].range.lowerBound) }
    }
    reportRemovals(&move)
  }

  /// Reports `removeObserver(self)` in a type that observes with a closure in this file or in another one.
  static func reportRemovals(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].isWord("removeObserver") {
      guard let type = move.structure.innermostType(around: index), move.folder.observers.contains(type.lastName),
        source[index + 1]?.isOpen("(") == true, source[index + 2]?.isWord("self") == true
      else { continue }
      move.find(removal, index...(index + 2))
    }
  }

  /// All such calls of a source.
  static func calls(in structure: SourceStructure) -> [Call] {
    let source = structure.source
    return source.tokens.indices.compactMap { index in
      guard source.tokens[index].isWord("addObserver"), source[index - 1]?.isMark(".") == true else { return nil }
      return call(at: index, structure)
    }
  }

  private static func call(at index: Int, _ structure: SourceStructure) -> Call? {
    let source = structure.source
    guard let open = source[index + 1], open.isOpen("("), let close = open.partner,
      let arguments = source.arguments(in: index + 1),
      arguments.map({ $0.label }) == [nil, "selector", "name", "object"],
      source.text(tokens: arguments[0].value) == "self", let type = structure.innermostType(around: index),
      type.kind == "class" || type.kind == "extension",
      let name = method(arguments[1].value, source), let parameter = parameter(of: name, structure)
    else { return nil }
    let call = parameter.isEmpty ? "\(name)()" : "\(name)(\(parameter == "_" ? "" : parameter + ": ")notification)"
    let replacement =
      "addObserver(forName: \(source.text(tokens: arguments[2].value)), "
      + "object: \(source.text(tokens: arguments[3].value)), queue: nil) "
      + "{ [weak self] \(parameter.isEmpty ? "_" : "notification") in self?.\(call) }"
    return Call(
      tokens: index...close, statement: statement(before: index - 1, source), method: name, replacement: replacement)
  }

  /// The name of the method of `#selector(Stack.didSave(_:))`.
  private static func method(_ value: ClosedRange<Int>, _ source: SourceText) -> String? {
    guard source[value.lowerBound]?.text == "#selector", let open = source[value.lowerBound + 1], open.isOpen("("),
      open.partner == value.upperBound
    else { return nil }
    var next = value.lowerBound + 2
    var name: String?
    while let token = source[next], token.kind == .word {
      name = token.text
      next += 1
      guard source[next]?.isMark(".") == true else { break }
      next += 1
    }
    return name
  }

  /// The label of the one parameter of a method, `_` for none, or empty text without a parameter. `nil` if there is no
  /// such method, or more than one, or if it takes an `NSNotification`, which a closure does not get.
  private static func parameter(of method: String, _ structure: SourceStructure) -> String? {
    let source = structure.source
    let found = source.tokens.indices.filter {
      source.tokens[$0].isWord("func") && source[$0 + 1]?.text == method && source.parameterBracket(at: $0) != nil
        && structure.owner(of: $0) != nil
    }
    guard found.count == 1, let index = found.first else { return nil }
    let parameters = source.parameters(at: index)
    if parameters.count == 1 {
      return ManagedType(parameters[0].type).base == "NSNotification" ? nil : parameters[0].label
    }
    guard parameters.isEmpty, let bracket = source.parameterBracket(at: index),
      source.tokens[bracket].partner == bracket + 1
    else { return nil }
    return ""
  }

  /// The first token of a chain such as `NotificationCenter.default`, if a statement begins with it.
  private static func statement(before dot: Int, _ source: SourceText) -> Int? {
    var first = dot
    while true {
      guard let token = source[first - 1] else { return nil }
      if token.kind == .word {
        first -= 1
      } else if token.isClose(")"), let open = token.partner, source[open - 1]?.kind == .word {
        first = open - 1
      } else {
        return nil
      }
      guard source[first - 1]?.isMark(".") == true else { break }
      first -= 1
    }
    guard let before = source[first - 1] else { return first }
    let isOnLine = source.line(at: before.range.lowerBound) == source.line(at: source.tokens[first].range.lowerBound)
    return !isOnLine && !before.isMark("=") || before.isOpen("{") || before.isMark(";") ? first : nil
  }

  private static let removal = Cause(
    "removeObserver(self) does not end an observation with a closure",
    "keep what addObserver(forName:object:queue:using:) returns, and remove that")
}

extension SourceText {
  struct Argument {
    var label: String?
    var value: ClosedRange<Int>
  }

  /// The arguments in a bracket; `nil` if they cannot be told apart.
  func arguments(in open: Int) -> [Argument]? {
    guard let close = self[open]?.partner, close > open + 1 else { return self[open]?.partner == nil ? nil : [] }
    var result: [Argument] = []
    var start = open + 1
    while start < close {
      var label: String?
      if self[start]?.kind == .word, self[start + 1]?.isMark(":") == true {
        label = tokens[start].text
        start += 2
      }
      var end = start
      while end < close, !tokens[end].isMark(",") {
        if tokens[end].kind == .open {
          guard let partner = tokens[end].partner else { return nil }
          end = partner
        }
        end += 1
      }
      guard end > start, end <= close else { return nil }
      result.append(Argument(label: label, value: start...(end - 1)))
      start = end + 1
    }
    return result
  }
}

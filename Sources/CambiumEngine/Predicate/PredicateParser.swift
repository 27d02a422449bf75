extension Predicate {
  /// Reads a predicate in Core Data's format syntax.
  ///
  /// Supported are the comparisons `= == != <> < <= =< > >= =>`, `BETWEEN {a, b}`, `IN`, `BEGINSWITH`, `CONTAINS`,
  /// `ENDSWITH` and `LIKE`, with the options `[c]`, `[d]`, `[n]`; `AND OR NOT && || !` and parentheses; `ANY`, `SOME`,
  /// `ALL` and `NONE`; `TRUEPREDICATE` and `FALSEPREDICATE`; literals, lists in braces, `NULL`, `SELF`, key paths,
  /// `$variables`, and `CAST` of a literal. Key words are recognised in any case; `#` before a name makes it a name. `%@`
  /// and the number marks take a value, `%K` a key path, from `arguments` in turn, except inside of quotes.
  ///
  /// Numbers without point and exponent are integers (decimals beyond 64 bits), others doubles, or decimals if they have
  /// more digits than a double needs.
  ///
  /// - Throws: ``PredicateError`` with the position of the first mistake. Linear in the length of the text.
  public init(format: String, arguments: [PredicateArgument] = []) throws(PredicateError) {
    let text = Array(format.utf8)
    var lexer = PredicateLexer(text)
    var parser = PredicateParser(text: text, tokens: try lexer.tokens(), arguments: arguments)
    self = try parser.parse()
  }
}

/// A recursive-descent parser; its depth is counted and bounded.
struct PredicateParser {
  let text: [UInt8]
  private let tokens: [PredicateToken]
  private let arguments: [PredicateArgument]
  private var place = 0
  private var nextArgument = 0
  private var depth = 0
  /// For each left parenthesis the place of the token after its right one.
  private var afterParenthesis: [Int: Int] = [:]

  init(text: [UInt8], tokens: [PredicateToken], arguments: [PredicateArgument]) {
    self.text = text
    self.tokens = tokens
    self.arguments = arguments
    var open: [Int] = []
    for index in tokens.indices {
      if tokens[index].kind == .symbol(.leftParenthesis) { open.append(index) }
      if tokens[index].kind == .symbol(.rightParenthesis), let start = open.popLast() {
        afterParenthesis[start] = index + 1
      }
    }
  }

  // MARK: Tokens

  /// The token at hand; past the last one, the last one, which is the end.
  private var token: PredicateToken { tokens[min(place, tokens.count - 1)] }

  private func tokenAfter(_ place: Int) -> PredicateToken { tokens[min(place, tokens.count - 1)] }

  private mutating func advance() { place = min(place + 1, tokens.count - 1) }

  private mutating func take(_ symbol: PredicateToken.Symbol) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    advance()
    return true
  }

  private mutating func take(_ keyword: PredicateKeyword) -> Bool {
    guard self.keyword == keyword else { return false }
    advance()
    return true
  }

  private mutating func expect(_ symbol: PredicateToken.Symbol, _ advice: String) throws(PredicateError) {
    guard take(symbol) else { throw error(.syntax, advice) }
  }

  private var keyword: PredicateKeyword? { keyword(of: token) }

  private func keyword(of token: PredicateToken) -> PredicateKeyword? {
    guard case .path(let components) = token.kind, components.count == 1, !components[0].isEscaped else { return nil }
    return PredicateKeyword(components[0].name)
  }

  private func error(_ kind: PredicateError.Kind, _ advice: String) -> PredicateError { error(kind, token, advice) }

  private func error(_ kind: PredicateError.Kind, _ token: PredicateToken, _ advice: String) -> PredicateError {
    PredicateError(kind, at: token.start, excerpt(text, token.start, token.end), advice)
  }

  private mutating func descend() throws(PredicateError) {
    depth += 1
    guard depth <= Predicate.depthLimit else {
      throw error(.tooDeep, "nested deeper than \(Predicate.depthLimit) levels; use fewer parentheses")
    }
  }

  // MARK: Predicates

  mutating func parse() throws(PredicateError) -> Predicate {
    let result = try disjunction()
    guard token.kind == .end else { throw try unexpected() }
    guard nextArgument == arguments.count else {
      throw error(.argument, "\(arguments.count) arguments were given, but the text has \(nextArgument) marks for them")
    }
    return result
  }

  /// What to say about a token after a complete predicate.
  private func unexpected() throws(PredicateError) -> PredicateError {
    switch token.kind {
    case .symbol(.rightParenthesis): return error(.syntax, "there is no '(' for it")
    case .symbol(.assign): return error(.unsupported, "assignments are not supported; give variables their values")
    case .symbol(.leftBracket):
      return error(.unsupported, "array elements are not supported; compare a property of the objects instead")
    default: return arithmeticError() ?? error(.syntax, "AND, OR or the end of the predicate is expected here")
    }
  }

  private mutating func disjunction() throws(PredicateError) -> Predicate {
    var parts = [try conjunction()]
    while take(.or as PredicateToken.Symbol) || take(.or as PredicateKeyword) { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction() throws(PredicateError) -> Predicate {
    var parts = [try negation()]
    while take(.and as PredicateToken.Symbol) || take(.and as PredicateKeyword) { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation() throws(PredicateError) -> Predicate {
    if take(.not as PredicateToken.Symbol) || take(.not as PredicateKeyword) {
      try descend()
      defer { depth -= 1 }
      return .not(try negation())
    }
    return try primary()
  }

  private mutating func primary() throws(PredicateError) -> Predicate {
    if take(.truePredicate) { return .true }
    if take(.falsePredicate) { return .false }
    if token.kind == .symbol(.leftParenthesis), !isExpressionInParentheses {
      advance()
      try descend()
      defer { depth -= 1 }
      let inner = try disjunction()
      try expect(.rightParenthesis, "')' is expected here")
      return inner
    }
    return try comparison()
  }

  /// Whether the parentheses that begin here hold an expression, seen by what follows them.
  private var isExpressionInParentheses: Bool {
    guard let after = afterParenthesis[place] else { return false }
    let next = tokenAfter(after)
    switch next.kind {
    case .symbol(let symbol):
      switch symbol {
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .plus, .minus, .times, .divide, .power,
        .leftBracket, .assign:
        return true
      default: return false
      }
    case .path:
      switch keyword(of: next) {
      case .between, .in, .beginsWith, .contains, .endsWith, .like, .matches: return true
      default: return false
      }
    default: return false
    }
  }

  // MARK: Comparisons

  private mutating func comparison() throws(PredicateError) -> Predicate {
    var modifier = ComparisonModifier.direct
    switch keyword {
    case .anyOf, .someOf: modifier = .any
    case .allOf: modifier = .all
    case .noneOf: modifier = .none
    default: break
    }
    if modifier != .direct { advance() }
    let left = try expression()
    let comparator = try self.comparator()
    let options = try self.options()
    let rightToken = token
    let right = try expression()
    if comparator == .between {
      let isPair: Bool
      switch right {
      case .constant(.list(let values)): isPair = values.count == 2
      case .list(let expressions): isPair = expressions.count == 2
      case .variable: isPair = true
      default: isPair = false
      }
      guard isPair else { throw error(.syntax, rightToken, "BETWEEN takes a list of two, such as {1, 10}") }
    }
    return .comparison(
      Comparison(left: left, comparator: comparator, right: right, options: options, modifier: modifier))
  }

  private mutating func comparator() throws(PredicateError) -> Comparator {
    let result: Comparator
    switch token.kind {
    case .symbol(.equal): result = .equal
    case .symbol(.notEqual): result = .notEqual
    case .symbol(.less): result = .less
    case .symbol(.lessOrEqual): result = .lessOrEqual
    case .symbol(.greater): result = .greater
    case .symbol(.greaterOrEqual): result = .greaterOrEqual
    case .symbol(.leftBracket):
      throw error(.unsupported, "array elements are not supported; compare a property of the objects instead")
    case .symbol(.assign): throw error(.unsupported, "assignments are not supported; give variables their values")
    case .path: result = try wordComparator()
    default:
      throw arithmeticError()
        ?? error(.syntax, "a comparison is expected here; a boolean property is compared as well: isActive == YES")
    }
    advance()
    return result
  }

  private func wordComparator() throws(PredicateError) -> Comparator {
    switch keyword {
    case .between: return .between
    case .in: return .in
    case .beginsWith: return .beginsWith
    case .contains: return .contains
    case .endsWith: return .endsWith
    case .like: return .like
    case .matches:
      throw error(.unsupported, "regular expressions are not supported; use LIKE, BEGINSWITH, CONTAINS or ENDSWITH")
    case .uti: throw error(.unsupported, "type identifiers are not supported; compare with == or BEGINSWITH")
    case .not: throw error(.syntax, "NOT stands before the whole comparison: NOT (a IN b)")
    case .and, .or:
      throw error(.syntax, "a comparison is expected here; a boolean property is compared as well: isActive == YES")
    default: throw error(.syntax, "a comparison such as ==, IN or CONTAINS is expected here")
    }
  }

  private mutating func options() throws(PredicateError) -> ComparisonOptions {
    guard take(.leftBracket) else { return [] }
    var result: ComparisonOptions = []
    guard case .path(let components) = token.kind, components.count == 1 else {
      throw error(.syntax, "options are c, d and n, as in ==[cd]")
    }
    for byte in components[0].name.utf8 {
      switch byte | 0x20 {
      case UInt8(ascii: "c"): result.insert(.caseInsensitive)
      case UInt8(ascii: "d"): result.insert(.diacriticInsensitive)
      case UInt8(ascii: "n"): result.insert(.normalized)
      case UInt8(ascii: "l"):
        throw error(
          .unsupported, "comparison by language is not supported; use [cd], which is the same in all languages")
      default: throw error(.syntax, "options are c, d and n, as in ==[cd]")
      }
    }
    advance()
    try expect(.rightBracket, "']' is expected here")
    return result
  }

  private func arithmeticError() -> PredicateError? {
    switch token.kind {
    case .symbol(.plus), .symbol(.minus), .symbol(.times), .symbol(.divide), .symbol(.power):
      return error(.unsupported, "arithmetic is not supported; compute the value first and compare with it")
    default: return nil
    }
  }

  // MARK: Expressions

  private mutating func expression() throws(PredicateError) -> Expression {
    try descend()
    defer { depth -= 1 }
    let start = token
    switch start.kind {
    case .number, .symbol(.minus), .symbol(.plus): return .constant(try number())
    case .string(let string):
      advance()
      return .constant(.string(string))
    case .variable(let name):
      advance()
      // Split at the byte: a combining mark behind the point would make another character of it.
      guard let point = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return .variable(name) }
      let path = String(decoding: name.utf8[name.utf8.index(after: point)...], as: UTF8.self)
      return .member(.variable(String(decoding: name.utf8[..<point], as: UTF8.self)), path: path)
    case .mark(let conversion):
      advance()
      return try argument(conversion, start)
    case .symbol(.leftBrace):
      advance()
      return try list()
    case .symbol(.leftParenthesis):
      advance()
      let inner = try expression()
      guard take(.rightParenthesis) else {
        throw arithmeticError() ?? error(.syntax, "')' is expected here; a list is written in braces: {1, 2}")
      }
      return inner
    case .path(let components): return try path(components)
    case .end: throw error(.syntax, "the predicate ends where a value or key path is expected")
    case .symbol: throw error(.syntax, "a value or key path is expected here")
    }
  }

  private mutating func number() throws(PredicateError) -> Value {
    let start = token
    let isNegative = take(.minus)
    if !isNegative { _ = take(.plus) }
    guard token.kind == .number else {
      throw error(.unsupported, start, "a sign stands before a number only; compute the value first")
    }
    guard let value = numberValue(text[token.start..<token.end], isNegative: isNegative) else {
      throw error(.syntax, "the number is too large")
    }
    advance()
    return value
  }

  private mutating func list() throws(PredicateError) -> Expression {
    var elements: [Expression] = []
    if !take(.rightBrace) {
      repeat { elements.append(try expression()) } while take(.comma)
      try expect(.rightBrace, "',' or '}' is expected here")
    }
    return Expression.list(of: elements)
  }

  private mutating func path(_ components: [PathComponent]) throws(PredicateError) -> Expression {
    let start = token
    if let keyword {
      switch keyword {
      case .null: return constant(.null)
      case .yes: return constant(.boolean(true))
      case .no: return constant(.boolean(false))
      case .self:
        advance()
        return .evaluatedObject
      case .cast, .subquery, .function, .ternary, .fetch, .uti: break
      default:
        throw error(.syntax, "a value or key path is expected here; a name that is a key word is written with '#'")
      }
    }
    let next = tokenAfter(place + 1).kind
    if next == .symbol(.leftParenthesis) || next == .symbol(.colon) {
      if keyword == .cast, next == .symbol(.leftParenthesis) {
        advance()
        advance()
        return .constant(try cast(start))
      }
      throw callError(start)
    }
    var names: [String] = []
    for component in components {
      if !component.isEscaped, component.name.utf8.first == UInt8(ascii: "@") {
        throw error(.unsupported, "collection operators are not supported; use ANY, ALL or NONE on the key path")
      }
      names.append(component.name)
    }
    advance()
    if names.count > 1, !components[0].isEscaped, PredicateKeyword(names[0]) == .self { names.removeFirst() }
    return .keyPath(names.joined(separator: "."))
  }

  private mutating func constant(_ value: Value) -> Expression {
    advance()
    return .constant(value)
  }

  private func callError(_ start: PredicateToken) -> PredicateError {
    switch keyword(of: start) {
    case .subquery:
      return error(.unsupported, start, "SUBQUERY is not supported; use ANY, ALL or NONE on the key path")
    case .ternary:
      return error(.unsupported, start, "TERNARY is not supported; write (condition AND a) OR (NOT condition AND b)")
    case .fetch: return error(.unsupported, start, "FETCH is not supported; fetch first, and use IN with the result")
    default:
      return error(.unsupported, start, "functions are not supported; compute the value first and compare with it")
    }
  }

  /// After `CAST(`.
  private mutating func cast(_ start: PredicateToken) throws(PredicateError) -> Value {
    guard case .constant(let value) = try expression() else {
      throw error(.unsupported, start, "only literals can be cast; compare the property as it is")
    }
    try expect(.comma, "',' and the name of a type are expected here")
    guard case .string(let type) = token.kind else { throw error(.syntax, "the name of a type in quotes is expected") }
    guard let result = castValue(value, to: type) else {
      throw error(.unsupported, "a \(value.kindName) cannot be cast to this; see Value.castType for the types")
    }
    advance()
    try expect(.rightParenthesis, "')' is expected here")
    return result
  }

  // MARK: Arguments

  private mutating func argument(_ conversion: UInt8, _ mark: PredicateToken) throws(PredicateError) -> Expression {
    guard nextArgument < arguments.count else {
      throw error(.argument, mark, "argument \(nextArgument + 1) is missing; \(arguments.count) were given")
    }
    let argument = arguments[nextArgument]
    nextArgument += 1
    if conversion == UInt8(ascii: "K") {
      switch argument {
      case .keyPath(let path), .value(.string(let path)): return try keyPath(path, mark)
      case .value(let value):
        throw error(.argument, mark, "argument \(nextArgument) is a \(value.kindName); %K takes a key path")
      }
    }
    guard case .value(let value) = argument else {
      throw error(.argument, mark, "argument \(nextArgument) is a key path; use %K for it")
    }
    switch (conversion, value) {
    case (UInt8(ascii: "@"), _): return .constant(value)
    case (UInt8(ascii: "s"), .string): return .constant(value)
    case (UInt8(ascii: "d"), .integer), (UInt8(ascii: "d"), .boolean): return .constant(value)
    case (UInt8(ascii: "f"), _) where value.isNumeric: return .constant(value)
    default:
      throw error(
        .argument, mark, "argument \(nextArgument) is a \(value.kindName), which the mark does not take; use %@")
    }
  }

  private func keyPath(_ path: String, _ mark: PredicateToken) throws(PredicateError) -> Expression {
    var names = keyPathNames(path)
    for name in names {
      if name.isEmpty { throw error(.argument, mark, "'\(path)' is not a key path: a name in it is empty") }
      if name.utf8.first == UInt8(ascii: "@") {
        throw error(.unsupported, mark, "collection operators ('\(path)') are not supported; use ANY, ALL or NONE")
      }
    }
    if let first = names.first, PredicateKeyword(String(first)) == .self {
      names.removeFirst()
      if names.isEmpty { return .evaluatedObject }
    }
    return .keyPath(names.joined(separator: "."))
  }
}

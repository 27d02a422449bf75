extension Predicate {
  /// Reads a predicate in Core Data's format syntax.
  ///
  /// Read is Core Data's grammar: the comparisons `= == != <> < <= =< > >= =>`, `BETWEEN {a, b}`, `IN`, `BEGINSWITH`,
  /// `CONTAINS`, `ENDSWITH`, `LIKE` and `MATCHES`, with the options `[c]`, `[d]`, `[n]`; `AND OR NOT && || !` and
  /// parentheses; `ANY`, `SOME`, `ALL` and `NONE`; `TRUEPREDICATE` and `FALSEPREDICATE`; literals, lists in braces,
  /// `NULL`, `SELF`, key paths with collection operators, `$variables` and key paths from them, `+ - * / **`,
  /// functions, `CAST`, `TERNARY`, `SUBQUERY`, elements `[0]`, `[FIRST]`, `[LAST]`, `[SIZE]`. Key words are recognised
  /// in any case; `#` before a name makes it a name. `%@` and the number marks take a value, `%K` a key path, from
  /// `arguments` in turn, except inside of quotes. `:=`, `FETCH`, type identifiers and unknown functions are refused.
  ///
  /// Numbers without point and exponent are integers (decimals beyond 64 bits), others doubles, or decimals if they
  /// have more digits than a double needs.
  ///
  /// - Throws: ``PredicateError`` with the position of the first mistake. Linear in the length of the text.
  public init(format: String, arguments: [PredicateArgument] = []) throws(PredicateError) {
    #if CAMBIUM_NO_PREDICATES
      throw .leftOut
    #else
      let text = Array(format.utf8)
      var lexer = PredicateLexer(text)
      var parser = PredicateParser(text: text, tokens: try lexer.tokens(), arguments: arguments)
      self = try parser.parse()
    #endif
  }
}

extension Expression {
  /// Reads an expression in Core Data's format syntax, such as `price * 1.19`; see
  /// ``Predicate/init(format:arguments:)``.
  ///
  /// - Throws: ``PredicateError`` with the position of the first mistake.
  public init(format: String, arguments: [PredicateArgument] = []) throws(PredicateError) {
    #if CAMBIUM_NO_PREDICATES
      throw .leftOut
    #else
      let text = Array(format.utf8)
      var lexer = PredicateLexer(text)
      var parser = PredicateParser(text: text, tokens: try lexer.tokens(), arguments: arguments)
      self = try parser.parseExpression()
    #endif
  }
}

/// A recursive-descent parser; its depth is counted and bounded.
struct PredicateParser {
  let text: [UInt8]
  private let tokens: [PredicateToken]
  private let arguments: [PredicateArgument]
  var place = 0
  private var nextArgument = 0
  var depth = 0
  /// How many levels the tree has that was read last: those of `1 + 1 + 1` are more than the parser's own.
  var height = 0
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
  var token: PredicateToken { tokens[min(place, tokens.count - 1)] }

  func tokenAfter(_ place: Int) -> PredicateToken { tokens[min(place, tokens.count - 1)] }

  mutating func advance() { place = min(place + 1, tokens.count - 1) }

  mutating func take(_ symbol: PredicateToken.Symbol) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    advance()
    return true
  }

  mutating func take(_ keyword: PredicateKeyword) -> Bool {
    guard self.keyword == keyword else { return false }
    advance()
    return true
  }

  @inline(never)
  mutating func expect(_ symbol: PredicateToken.Symbol, _ advice: String) throws(PredicateError) {
    guard take(symbol) else { throw error(.syntax, advice) }
  }

  var keyword: PredicateKeyword? { keyword(of: token) }

  func keyword(of token: PredicateToken) -> PredicateKeyword? {
    guard case .path(let components) = token.kind, components.count == 1, !components[0].isEscaped else { return nil }
    return PredicateKeyword(components[0].name)
  }

  func error(_ kind: PredicateError.Kind, _ advice: String) -> PredicateError { error(kind, token, advice) }

  @inline(never)
  func error(_ kind: PredicateError.Kind, _ token: PredicateToken, _ advice: String) -> PredicateError {
    PredicateError(kind, at: token.start, excerpt(text, token.start, token.end), advice)
  }

  mutating func descend() throws(PredicateError) {
    depth += 1
    guard depth <= Predicate.depthLimit else { throw tooDeep }
  }

  /// Notes that a node was made over trees of which the highest has `inner` levels.
  mutating func rise(_ inner: Int) throws(PredicateError) {
    height = inner + 1
    guard height <= Predicate.depthLimit else { throw tooDeep }
  }

  private var tooDeep: PredicateError {
    error(.tooDeep, "nested deeper than \(Predicate.depthLimit) levels; use fewer parentheses")
  }

  // MARK: Predicates

  mutating func parse() throws(PredicateError) -> Predicate {
    let result = try disjunction()
    guard token.kind == .end else { throw unexpected("AND, OR or the end of the predicate is expected here") }
    try finish()
    return result
  }

  mutating func parseExpression() throws(PredicateError) -> Expression {
    let result = try expression()
    guard token.kind == .end else { throw unexpected("the end of the expression is expected here") }
    try finish()
    return result
  }

  private func finish() throws(PredicateError) {
    guard nextArgument == arguments.count else {
      throw error(
        .argument,
        "\(arguments.count) \(arguments.count == 1 ? "argument was" : "arguments were") given, but the text has "
          + "\(nextArgument) \(nextArgument == 1 ? "mark" : "marks") for them")
    }
  }

  /// What to say about a token after a complete predicate.
  private func unexpected(_ advice: String) -> PredicateError {
    switch token.kind {
    case .symbol(.rightParenthesis): return error(.syntax, "there is no '(' for it")
    case .symbol(.assign): return error(.unsupported, "assignments are not supported; give variables their values")
    default: return error(.syntax, advice)
    }
  }

  mutating func disjunction() throws(PredicateError) -> Predicate {
    var parts = [try conjunction()]
    var highest = height
    while take(.or as PredicateToken.Symbol) || take(.or as PredicateKeyword) {
      parts.append(try conjunction())
      highest = max(highest, height)
    }
    if parts.count == 1 { return parts[0] }
    try rise(highest)
    return .or(parts)
  }

  private mutating func conjunction() throws(PredicateError) -> Predicate {
    var parts = [try negation()]
    var highest = height
    while take(.and as PredicateToken.Symbol) || take(.and as PredicateKeyword) {
      parts.append(try negation())
      highest = max(highest, height)
    }
    if parts.count == 1 { return parts[0] }
    try rise(highest)
    return .and(parts)
  }

  private mutating func negation() throws(PredicateError) -> Predicate {
    if take(.not as PredicateToken.Symbol) || take(.not as PredicateKeyword) {
      try descend()
      defer { depth -= 1 }
      let inner = try negation()
      try rise(height)
      return .not(inner)
    }
    return try primary()
  }

  private mutating func primary() throws(PredicateError) -> Predicate {
    height = 1
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
  @inline(never)
  private var isExpressionInParentheses: Bool {
    guard let after = afterParenthesis[place] else { return false }
    let next = tokenAfter(after)
    switch next.kind {
    case .symbol(let symbol):
      switch symbol {
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .plus, .minus, .times, .divide, .power,
        .leftBracket, .point, .assign:
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
    let leftHeight = height
    let comparator = try self.comparator()
    let options = try self.options()
    let rightToken = token
    let right = try expression()
    try rise(max(leftHeight, height))
    if comparator == .between { try requirePair(right, rightToken) }
    return .comparison(
      Comparison(left: left, comparator: comparator, right: right, options: options, modifier: modifier))
  }

  @inline(never)
  private func requirePair(_ expression: Expression, _ start: PredicateToken) throws(PredicateError) {
    let isPair: Bool
    switch expression {
    case .constant(.list(let values)): isPair = values.count == 2
    case .list(let expressions): isPair = expressions.count == 2
    case .variable: isPair = true
    default: isPair = false
    }
    guard isPair else { throw error(.syntax, start, "BETWEEN takes a list of two, such as {1, 10}") }
  }

  @inline(never)
  private mutating func comparator() throws(PredicateError) -> Comparator {
    let result: Comparator
    switch token.kind {
    case .symbol(.equal): result = .equal
    case .symbol(.notEqual): result = .notEqual
    case .symbol(.less): result = .less
    case .symbol(.lessOrEqual): result = .lessOrEqual
    case .symbol(.greater): result = .greater
    case .symbol(.greaterOrEqual): result = .greaterOrEqual
    case .symbol(.assign): throw error(.unsupported, "assignments are not supported; give variables their values")
    case .path: result = try wordComparator()
    default:
      throw error(.syntax, "a comparison is expected here; a boolean property is compared as well: isActive == YES")
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
    case .matches: return .matches
    case .uti: throw error(.unsupported, "type identifiers are not supported; compare with == or BEGINSWITH")
    case .not: throw error(.syntax, "NOT stands before the whole comparison: NOT (a IN b)")
    case .and, .or:
      throw error(.syntax, "a comparison is expected here; a boolean property is compared as well: isActive == YES")
    default:
      if case .path(let components) = token.kind, components.count == 1, asciiUppercase(components[0].name) == "IS" {
        throw error(.syntax, "there is no IS; write == nil for IS NULL, and != nil for IS NOT NULL")
      }
      throw error(.syntax, "a comparison such as ==, IN or CONTAINS is expected here")
    }
  }

  @inline(never)
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

  // MARK: Arguments

  mutating func argument(_ conversion: UInt8, _ mark: PredicateToken) throws(PredicateError) -> Expression {
    guard nextArgument < arguments.count else { throw missingArgument(mark) }
    let argument = arguments[nextArgument]
    nextArgument += 1
    if conversion == UInt8(ascii: "K") {
      return try expression(of: try components(of: argument, mark), from: nil, mark)
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

  /// The next argument, which has to be a key path.
  mutating func givenPath(_ mark: PredicateToken) throws(PredicateError) -> [PathComponent] {
    guard nextArgument < arguments.count else { throw missingArgument(mark) }
    nextArgument += 1
    return try components(of: arguments[nextArgument - 1], mark)
  }

  private func components(
    of argument: PredicateArgument, _ mark: PredicateToken
  ) throws(PredicateError) -> [PathComponent] {
    let path: String
    switch argument {
    case .keyPath(let given), .value(.string(let given)): path = given
    case .value(let value):
      throw error(.argument, mark, "argument \(nextArgument) is a \(value.kindName); %K takes a key path")
    }
    var components: [PathComponent] = []
    for name in keyPathNames(path) {
      if name.isEmpty { throw error(.argument, mark, "'\(path)' is not a key path: a name in it is empty") }
      components.append(PathComponent(name: String(name), isEscaped: false))
    }
    return components
  }

  private func missingArgument(_ mark: PredicateToken) -> PredicateError {
    error(.argument, mark, "argument \(nextArgument + 1) is missing; \(arguments.count) were given")
  }
}

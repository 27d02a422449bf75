// From the loosest to the tightest: `+ -`, `* /`, `**` (which binds to the right), signs, then what stands behind an
// expression: elements, key paths, collection operators.
//
// Operators and signs are read without recursion, and what is rare has functions of its own: a level of parentheses
// takes two frames, and the deepest text has to fit the stack of a small thread.
extension PredicateParser {
  mutating func expression() throws(PredicateError) -> Expression {
    try descend()
    defer { depth -= 1 }
    let first = try operand()
    return arithmeticOperator == nil ? first : try operation(first)
  }

  private var arithmeticOperator: ArithmeticOperator? {
    switch token.kind {
    case .symbol(.plus): return .add
    case .symbol(.minus): return .subtract
    case .symbol(.times): return .multiply
    case .symbol(.divide): return .divide
    case .symbol(.power): return .power
    default: return nil
    }
  }

  /// The operators behind an operand, with two stacks.
  private mutating func operation(_ first: Expression) throws(PredicateError) -> Expression {
    var operands: [(expression: Expression, height: Int)] = [(first, height)]
    var operators: [ArithmeticOperator] = []
    while let next = arithmeticOperator {
      advance()
      while let last = operators.last, last.rank > next.rank || (last.rank == next.rank && next != .power) {
        try combine(&operands, &operators)
      }
      operators.append(next)
      operands.append((try operand(), height))
    }
    while !operators.isEmpty { try combine(&operands, &operators) }
    return operands.first?.expression ?? first
  }

  private mutating func combine(
    _ operands: inout [(expression: Expression, height: Int)], _ operators: inout [ArithmeticOperator]
  ) throws(PredicateError) {
    guard let operation = operators.popLast(), let right = operands.popLast(), let left = operands.popLast() else {
      return
    }
    try rise(max(left.height, right.height))
    operands.append((.arithmetic(operation, left.expression, right.expression), height))
  }

  private mutating func operand() throws(PredicateError) -> Expression {
    let negations = takeSigns()
    let isParenthesised = token.kind == .symbol(.leftParenthesis)
    var result: Expression
    if isParenthesised {
      advance()
      result = try expression()
      guard take(.rightParenthesis) else { throw missingParenthesis }
    } else if case .path(let components) = token.kind, isCall {
      result = try call(components, token)
    } else if token.kind == .symbol(.leftBrace) {
      advance()
      result = try list()
    } else {
      result = try literalOrPath()
    }
    while token.kind == .symbol(.leftBracket) || token.kind == .symbol(.point) {
      result = try token.kind == .symbol(.point) ? path(from: result) : element(of: result)
    }
    if token.kind == .symbol(.assign), !isParenthesised, case .variable = result { throw assignment }
    for _ in 0..<negations {
      try rise(height)
      result = .negated(result)
    }
    return result
  }

  /// Takes the signs before an operand; answers how often it is negated.
  private mutating func takeSigns() -> Int {
    var negations = 0
    while token.kind == .symbol(.minus) || token.kind == .symbol(.plus) {
      // A sign directly before a number is part of it: the least integer has no positive counterpart.
      if tokenAfter(place + 1).kind == .number { break }
      if token.kind == .symbol(.minus) { negations += 1 }
      advance()
    }
    return negations
  }

  private var isCall: Bool {
    let next = tokenAfter(place + 1).kind
    guard next == .symbol(.leftParenthesis) || next == .symbol(.colon) else { return false }
    switch keyword {
    case nil, .cast, .subquery, .function, .ternary, .fetch, .uti: return true
    default: return false
    }
  }

  private var missingParenthesis: PredicateError {
    error(.syntax, "')' is expected here; a list is written in braces: {1, 2}")
  }

  private var assignment: PredicateError {
    error(.unsupported, "assignments are not supported; give variables their values")
  }

  // MARK: Behind an expression

  /// After a point, a key path with collection operators.
  @inline(never)
  private mutating func path(from base: Expression) throws(PredicateError) -> Expression {
    advance()
    let start = token
    guard case .path(let components) = start.kind else { throw error(.syntax, "a key path is expected here") }
    advance()
    return try expression(of: components, from: base, start)
  }

  /// What is given as an argument is part of a key path as if it were written: behind a point, and with names behind
  /// it.
  @inline(never)
  private mutating func continued(
    _ first: Expression, _ start: PredicateToken
  ) throws(PredicateError) -> Expression {
    var result = first
    while token.kind == .symbol(.point) {
      var base: Expression?
      var names: [PathComponent] = []
      switch result {
      case .keyPath(let path): names = written(path)
      case .evaluatedObject: break
      case .variable: base = result
      case .member(.variable(let name), let path):
        base = .variable(name)
        names = written(path)
      default: return result
      }
      advance()
      let next = token
      switch next.kind {
      case .path(let components): names += components
      case .mark(UInt8(ascii: "K")): names += try givenPath(next)
      default: throw error(.syntax, "a key path is expected here")
      }
      advance()
      result = try expression(of: names, from: base, start)
    }
    return result
  }

  private func written(_ path: String) -> [PathComponent] {
    keyPathNames(path).map { PathComponent(name: String($0), isEscaped: true) }
  }

  private mutating func element(of collection: Expression) throws(PredicateError) -> Expression {
    advance()
    let inner = height
    let index = try elementIndex()
    try rise(max(inner, height))
    return .element(collection, index)
  }

  /// After the left bracket; up to behind the right one.
  private mutating func elementIndex() throws(PredicateError) -> ElementIndex {
    if let index = takeIndexWord() { return index }
    let index = try expression()
    try expect(.rightBracket, "']' is expected here")
    return .at(index)
  }

  /// `FIRST`, `LAST` or `SIZE` with the right bracket behind it.
  private mutating func takeIndexWord() -> ElementIndex? {
    guard case .path(let components) = token.kind, components.count == 1, !components[0].isEscaped,
      tokenAfter(place + 1).kind == .symbol(.rightBracket)
    else { return nil }
    let index: ElementIndex
    switch asciiUppercase(components[0].name) {
    case "FIRST": index = .first
    case "LAST": index = .last
    case "SIZE": index = .size
    default: return nil
    }
    advance()
    advance()
    height = 1
    return index
  }

  /// The expression that names with collection operators between them mean, from another expression or the evaluated
  /// object. `start` is where they stand.
  mutating func expression(
    of components: [PathComponent], from base: Expression?, _ start: PredicateToken
  ) throws(PredicateError) -> Expression {
    var names = components[...]
    func isOperator(_ component: PathComponent) -> Bool {
      !component.isEscaped && component.name.utf8.first == UInt8(ascii: "@")
    }
    func takePath() -> String? {
      var path: [String] = []
      while let component = names.first, !isOperator(component) {
        path.append(component.name)
        names.removeFirst()
      }
      return path.isEmpty ? nil : path.joined(separator: ".")
    }
    var result: Expression
    if let base {
      result = base
      if let path = takePath() {
        result = .member(base, path: path)
        try rise(height)
      }
    } else {
      height = 1
      result = .evaluatedObject
      if let first = names.first, !first.isEscaped, PredicateKeyword(first.name) == .self { names.removeFirst() }
      if let path = takePath() { result = .keyPath(path) }
    }
    while let component = names.popFirst() {
      var operation: CollectionOperator?
      for candidate in CollectionOperator.allCases where candidate.text == component.name { operation = candidate }
      guard let operation else {
        throw error(
          .unsupported, start, "there is no collection operator '\(component.name)'; see CollectionOperator for those")
      }
      result = .aggregate(operation, result, path: takePath())
      try rise(height)
    }
    return result
  }

  // MARK: What begins an expression

  @inline(never)
  private mutating func literalOrPath() throws(PredicateError) -> Expression {
    let start = token
    height = 1
    switch start.kind {
    case .number, .symbol(.minus), .symbol(.plus): return .constant(try number())
    case .string(let string):
      advance()
      return .constant(.string(string))
    case .variable(let name):
      advance()
      // Split at the byte: a combining mark behind the point would make another character of it.
      guard let point = name.utf8.firstIndex(of: UInt8(ascii: ".")) else {
        return try continued(.variable(name), start)
      }
      let path = String(decoding: name.utf8[name.utf8.index(after: point)...], as: UTF8.self)
      try rise(height)
      return try continued(
        .member(.variable(String(decoding: name.utf8[..<point], as: UTF8.self)), path: path), start)
    case .mark(let conversion):
      advance()
      let given = try argument(conversion, start)
      return conversion == UInt8(ascii: "K") ? try continued(given, start) : given
    case .path(let components): return try continued(try path(components), start)
    case .end: throw error(.syntax, "the predicate ends where a value or key path is expected")
    case .symbol: throw error(.syntax, "a value or key path is expected here")
    }
  }

  private mutating func number() throws(PredicateError) -> Value {
    let isNegative = take(.minus)
    if !isNegative { _ = take(.plus) }
    guard let value = numberValue(text[token.start..<token.end], isNegative: isNegative) else {
      throw error(.syntax, "the number is too large")
    }
    advance()
    return value
  }

  private mutating func list() throws(PredicateError) -> Expression {
    var elements: [Expression] = []
    var highest = 0
    if !take(.rightBrace) {
      repeat {
        elements.append(try expression())
        highest = max(highest, height)
      } while take(.comma)
      try expect(.rightBrace, "',' or '}' is expected here")
    }
    try rise(highest)
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
    advance()
    return try expression(of: components, from: nil, start)
  }

  private mutating func constant(_ value: Value) -> Expression {
    advance()
    return .constant(value)
  }

  // MARK: Calls

  private mutating func call(
    _ components: [PathComponent], _ start: PredicateToken
  ) throws(PredicateError) -> Expression {
    let keyword = self.keyword
    let name = try callName(components, start)
    switch keyword {
    case .cast: return try cast()
    case .subquery: return try subquery()
    case .ternary: return try ternary()
    default: return .function(name, try callArguments())
    }
  }

  /// Takes the name of a function and its left parenthesis.
  @inline(never)
  private mutating func callName(
    _ components: [PathComponent], _ start: PredicateToken
  ) throws(PredicateError) -> String {
    guard components.count == 1, !components[0].isEscaped else {
      throw error(.unsupported, start, "methods of objects cannot be called; compute the value first")
    }
    let keyword = self.keyword
    var name = components[0].name
    advance()
    var words = 1
    while take(.colon) {
      name += ":"
      guard case .path(let word) = token.kind, word.count == 1, !word[0].isEscaped,
        tokenAfter(place + 1).kind == .symbol(.colon)
      else { break }
      name += word[0].name
      words += 1
      advance()
    }
    if words == 1, name.utf8.last == UInt8(ascii: ":") { name = components[0].name }
    try expect(.leftParenthesis, "'(' and the arguments of the function are expected here")
    switch keyword {
    case .cast, .subquery, .ternary: return name
    case .function: return PredicateFunction.call.name
    case .fetch:
      throw error(.unsupported, start, "FETCH is not supported; fetch first, and use IN with the result")
    default:
      guard PredicateFunction(name) != nil else {
        throw error(.unsupported, start, "there is no such function; compute the value first and compare with it")
      }
      return name
    }
  }

  private mutating func callArguments() throws(PredicateError) -> [Expression] {
    var arguments: [Expression] = []
    var highest = 0
    if !take(.rightParenthesis) {
      repeat {
        arguments.append(try expression())
        highest = max(highest, height)
      } while take(.comma)
      try expect(.rightParenthesis, "',' or ')' is expected here")
    }
    try rise(highest)
    return arguments
  }

  /// After `CAST(`. Literals are cast at once.
  private mutating func cast() throws(PredicateError) -> Expression {
    try castType(of: try expression())
  }

  @inline(never)
  private mutating func castType(of inner: Expression) throws(PredicateError) -> Expression {
    try expect(.comma, "',' and the name of a type are expected here")
    guard case .string(let type) = token.kind else { throw error(.syntax, "the name of a type in quotes is expected") }
    let result: Expression
    if case .constant(let value) = inner {
      var constant = castValue(value, to: type)
      if constant == nil, let known = CastType(type) {
        let converted = known.convert(value)
        if !converted.isNull || value.isNull { constant = converted }
      }
      guard let constant else {
        throw error(.unsupported, "a \(value.kindName) cannot be cast to this; see Value.castType for the types")
      }
      result = .constant(constant)
    } else {
      guard CastType(type) != nil else { throw error(.unsupported, PredicateError.unknownCast(type).advice) }
      result = .cast(inner, type: type)
      try rise(height)
    }
    advance()
    try expect(.rightParenthesis, "')' is expected here")
    return result
  }

  /// After `SUBQUERY(`.
  private mutating func subquery() throws(PredicateError) -> Expression {
    let collection = try expression()
    let collectionHeight = height
    let name = try subqueryVariable()
    let condition = try nestedPredicate()
    try expect(.rightParenthesis, "')' is expected here")
    try rise(max(collectionHeight, height))
    return .subquery(collection: collection, variable: name, condition: condition)
  }

  @inline(never)
  private mutating func subqueryVariable() throws(PredicateError) -> String {
    try expect(.comma, "',' and a variable are expected here")
    guard case .variable(let name) = token.kind, !name.utf8.contains(UInt8(ascii: ".")) else {
      throw error(.syntax, "a variable for the elements is expected here, such as $x")
    }
    advance()
    try expect(.comma, "',' and a condition are expected here")
    return name
  }

  /// After `TERNARY(`.
  private mutating func ternary() throws(PredicateError) -> Expression {
    let condition = try nestedPredicate()
    var highest = height
    try expect(.comma, "',' is expected here")
    let then = try expression()
    highest = max(highest, height)
    try expect(.comma, "',' is expected here")
    let otherwise = try expression()
    try expect(.rightParenthesis, "')' is expected here")
    try rise(max(highest, height))
    return .ternary(condition, then: then, otherwise: otherwise)
  }

  /// A condition in an expression. It takes more of the stack than a level of parentheses, and counts as two more.
  private mutating func nestedPredicate() throws(PredicateError) -> Predicate {
    try descend()
    try descend()
    defer { depth -= 2 }
    return try disjunction()
  }
}

extension ArithmeticOperator {
  fileprivate var rank: Int {
    switch self {
    case .add, .subtract: return 1
    case .multiply, .divide: return 2
    case .power: return 3
    }
  }
}

// From the loosest to the tightest: `+ -`, `* /`, `**` (which binds to the right), signs, then what stands behind an
// expression: elements, key paths, collection operators.
extension PredicateParser {
  mutating func expression() throws(PredicateError) -> Expression {
    try descend()
    defer { depth -= 1 }
    var left = try product()
    while true {
      let operation: ArithmeticOperator
      if take(.plus) { operation = .add } else if take(.minus) { operation = .subtract } else { return left }
      let leftHeight = height
      left = .arithmetic(operation, left, try product())
      try rise(max(leftHeight, height))
    }
  }

  private mutating func product() throws(PredicateError) -> Expression {
    var left = try power()
    while true {
      let operation: ArithmeticOperator
      if take(.times) { operation = .multiply } else if take(.divide) { operation = .divide } else { return left }
      let leftHeight = height
      left = .arithmetic(operation, left, try power())
      try rise(max(leftHeight, height))
    }
  }

  private mutating func power() throws(PredicateError) -> Expression {
    let base = try signed()
    guard take(.power) else { return base }
    let baseHeight = height
    try descend()
    defer { depth -= 1 }
    let result = Expression.arithmetic(.power, base, try power())
    try rise(max(baseHeight, height))
    return result
  }

  private mutating func signed() throws(PredicateError) -> Expression {
    guard token.kind == .symbol(.minus) || token.kind == .symbol(.plus) else { return try postfixed() }
    // A sign directly before a number is part of it: the least integer has no positive counterpart.
    if tokenAfter(place + 1).kind == .number { return try postfixed() }
    try descend()
    defer { depth -= 1 }
    let isNegative = token.kind == .symbol(.minus)
    advance()
    let inner = try signed()
    guard isNegative else { return inner }
    try rise(height)
    return .negated(inner)
  }

  // MARK: Behind an expression

  private mutating func postfixed() throws(PredicateError) -> Expression {
    let isParenthesised = token.kind == .symbol(.leftParenthesis)
    var result = try primaryExpression()
    while true {
      if take(.leftBracket) {
        let inner = height
        result = .element(result, try elementIndex())
        try rise(max(inner, height))
      } else if token.kind == .symbol(.point), case .path(let components) = tokenAfter(place + 1).kind {
        advance()
        let start = token
        advance()
        result = try expression(of: components, from: result, start)
      } else if token.kind == .symbol(.assign), !isParenthesised, case .variable = result {
        throw error(.unsupported, "assignments are not supported; give variables their values")
      } else {
        return result
      }
    }
  }

  /// After the left bracket; up to behind the right one.
  private mutating func elementIndex() throws(PredicateError) -> ElementIndex {
    if case .path(let components) = token.kind, components.count == 1, !components[0].isEscaped,
      tokenAfter(place + 1).kind == .symbol(.rightBracket)
    {
      let index: ElementIndex?
      switch asciiUppercase(components[0].name) {
      case "FIRST": index = .first
      case "LAST": index = .last
      case "SIZE": index = .size
      default: index = nil
      }
      if let index {
        advance()
        advance()
        height = 1
        return index
      }
    }
    let index = try expression()
    try expect(.rightBracket, "']' is expected here")
    return .at(index)
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

  private mutating func primaryExpression() throws(PredicateError) -> Expression {
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
      guard let point = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return .variable(name) }
      let path = String(decoding: name.utf8[name.utf8.index(after: point)...], as: UTF8.self)
      try rise(height)
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
        throw error(.syntax, "')' is expected here; a list is written in braces: {1, 2}")
      }
      return inner
    case .path(let components): return try path(components)
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
    let next = tokenAfter(place + 1).kind
    if next == .symbol(.leftParenthesis) || next == .symbol(.colon) { return try call(components, start) }
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
    case .cast: return try cast(start)
    case .subquery: return try subquery()
    case .ternary: return try ternary()
    case .fetch:
      throw error(.unsupported, start, "FETCH is not supported; fetch first, and use IN with the result")
    default: break
    }
    if keyword == .function { name = PredicateFunction.call.name }
    guard PredicateFunction(name) != nil else {
      throw error(.unsupported, start, "there is no such function; compute the value first and compare with it")
    }
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
    return .function(name, arguments)
  }

  /// After `CAST(`. Literals are cast at once.
  private mutating func cast(_ start: PredicateToken) throws(PredicateError) -> Expression {
    let inner = try expression()
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
    try expect(.comma, "',' and a variable are expected here")
    guard case .variable(let name) = token.kind, !name.utf8.contains(UInt8(ascii: ".")) else {
      throw error(.syntax, "a variable for the elements is expected here, such as $x")
    }
    advance()
    try expect(.comma, "',' and a condition are expected here")
    let condition = try nestedPredicate()
    try expect(.rightParenthesis, "')' is expected here")
    try rise(max(collectionHeight, height))
    return .subquery(collection: collection, variable: name, condition: condition)
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

  private mutating func nestedPredicate() throws(PredicateError) -> Predicate {
    try descend()
    defer { depth -= 1 }
    return try disjunction()
  }
}

import CambiumEngine

extension CambiumEngine.Expression {
  /// What a key path from this leads to.
  func member(_ path: String) -> EngineExpression {
    switch self {
    case .evaluatedObject: return .keyPath(path)
    case .keyPath(let start): return .keyPath(start + "." + path)
    case .member(let object, let start): return .member(object, path: start + "." + path)
    case .constant(.null): return self
    default: return .member(self, path: path)
    }
  }

  /// The path that leads here from another expression, empty from the expression itself; `nil` if none does.
  func path(from start: EngineExpression) -> String? {
    if self == start { return "" }
    switch (self, start) {
    case (.keyPath(let path), .evaluatedObject): return path
    case (.keyPath(let path), .keyPath(let other)): return path.rest(after: other)
    case (.member(let object, let path), .member(let origin, let other)) where object == origin:
      return path.rest(after: other)
    case (.member(let object, let path), _) where object == start: return path
    default: return nil
    }
  }

  /// Whether a variable has a say in the value.
  func mentions(_ variable: String) -> Bool {
    switch self {
    case .variable(let name): return name == variable
    case .constant, .keyPath, .evaluatedObject: return false
    case .list(let parts), .function(_, let parts): return parts.contains { $0.mentions(variable) }
    case .arithmetic(_, let a, let b): return a.mentions(variable) || b.mentions(variable)
    case .negated(let a), .cast(let a, _), .member(let a, _): return a.mentions(variable)
    default: return true
    }
  }
}

extension String {
  /// The rest of a key path that begins with another one.
  fileprivate func rest(after start: String) -> String? {
    guard hasPrefix(start + ".") else { return nil }
    return String(dropFirst(start.count + 1))
  }
}

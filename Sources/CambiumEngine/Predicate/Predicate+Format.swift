extension Predicate: CustomStringConvertible {
  /// The predicate in the format syntax. Parsing it gives an equal predicate, if it is written as the parser would:
  /// `and` and `or` of at least two, lists and casts of values as constants, functions by their short names, and
  /// nothing that the parser refuses. Not for trees deeper than ``depthLimit``.
  public var description: String {
    switch self {
    case .true: return "TRUEPREDICATE"
    case .false: return "FALSEPREDICATE"
    case .comparison(let comparison): return comparison.description
    case .and(let parts): return Predicate.join(parts, " AND ", empty: "TRUEPREDICATE", isAnd: true)
    case .or(let parts): return Predicate.join(parts, " OR ", empty: "FALSEPREDICATE", isAnd: false)
    case .not(let inner): return "NOT " + inner.text(inParentheses: inner.isCompound)
    }
  }

  private var isCompound: Bool {
    switch self {
    case .and(let parts), .or(let parts): return parts.count > 1
    default: return false
    }
  }

  private func text(inParentheses: Bool) -> String { inParentheses ? "(" + description + ")" : description }

  private static func join(_ parts: [Predicate], _ separator: String, empty: String, isAnd: Bool) -> String {
    if parts.isEmpty { return empty }
    var texts: [String] = []
    for part in parts {
      var needsParentheses = part.isCompound
      if case .and = part, !isAnd { needsParentheses = false }
      texts.append(part.text(inParentheses: needsParentheses))
    }
    return texts.joined(separator: separator)
  }
}

extension Comparison: CustomStringConvertible {
  /// The comparison in the format syntax.
  public var description: String {
    var text = ""
    switch modifier {
    case .direct: break
    case .any: text = "ANY "
    case .all: text = "ALL "
    case .none: text = "NONE "
    }
    return text + left.description + " " + comparator.text + options.text + " " + right.description
  }
}

extension Comparator {
  /// The operator in the format syntax.
  public var text: String {
    switch self {
    case .equal: return "=="
    case .notEqual: return "!="
    case .less: return "<"
    case .lessOrEqual: return "<="
    case .greater: return ">"
    case .greaterOrEqual: return ">="
    case .between: return "BETWEEN"
    case .in: return "IN"
    case .beginsWith: return "BEGINSWITH"
    case .contains: return "CONTAINS"
    case .endsWith: return "ENDSWITH"
    case .like: return "LIKE"
    case .matches: return "MATCHES"
    }
  }
}

extension ComparisonOptions {
  /// The options in brackets; nothing, if there are none.
  public var text: String {
    if isEmpty { return "" }
    return "[" + (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
      + (contains(.normalized) ? "n" : "") + "]"
  }
}

extension Expression: CustomStringConvertible {
  /// The expression in the format syntax.
  public var description: String {
    switch self {
    case .constant(let value): return value.formatText
    case .keyPath(let path): return keyPathText(path)
    case .variable(let name): return "$" + name
    case .evaluatedObject: return "SELF"
    case .list(let elements): return "{" + elements.map { $0.description }.joined(separator: ", ") + "}"
    case .arithmetic(let operation, let left, let right):
      return "(" + left.description + " " + operation.text + " " + right.description + ")"
    case .negated(let inner): return "-(" + inner.description + ")"
    case .function(let name, let arguments):
      return name + "(" + arguments.map { $0.description }.joined(separator: ", ") + ")"
    case .cast(let inner, let type): return "CAST(" + inner.description + ", " + quoted(type) + ")"
    case .ternary(let condition, let then, let otherwise):
      return "TERNARY(" + condition.description + ", " + then.description + ", " + otherwise.description + ")"
    case .subquery(let collection, let variable, let condition):
      return "SUBQUERY(" + collection.description + ", $" + variable + ", " + condition.description + ")"
    case .aggregate(let operation, let collection, let path):
      return collection.baseText + "." + operation.text + (path.map { "." + keyPathText($0) } ?? "")
    case .member(let object, let path):
      switch object {
      case .keyPath, .evaluatedObject, .member, .aggregate: return "(" + object.description + ")." + keyPathText(path)
      default: return object.baseText + "." + keyPathText(path)
      }
    case .element(let collection, let index): return collection.baseText + "[" + index.text + "]"
    case .fetch(let request, let context, let countOnly):
      return "FETCH(" + request.description + ", " + context.description + ", " + (countOnly ? "TRUE" : "FALSE") + ")"
    case .assignment(let variable, let value): return "$" + variable + " := " + value.description
    }
  }

  /// The text before a point or bracket.
  private var baseText: String {
    switch self {
    case .constant, .list, .negated, .fetch, .assignment: return "(" + description + ")"
    default: return description
    }
  }
}

extension ArithmeticOperator {
  var text: String {
    switch self {
    case .add: return "+"
    case .subtract: return "-"
    case .multiply: return "*"
    case .divide: return "/"
    case .power: return "**"
    }
  }
}

extension CollectionOperator {
  /// The operator as a component of a key path.
  public var text: String {
    switch self {
    case .count: return "@count"
    case .sum: return "@sum"
    case .average: return "@avg"
    case .minimum: return "@min"
    case .maximum: return "@max"
    case .distinctUnionOfObjects: return "@distinctUnionOfObjects"
    case .unionOfObjects: return "@unionOfObjects"
    case .distinctUnionOfArrays: return "@distinctUnionOfArrays"
    case .unionOfArrays: return "@unionOfArrays"
    case .distinctUnionOfSets: return "@distinctUnionOfSets"
    case .unionOfSets: return "@unionOfSets"
    }
  }
}

extension ElementIndex {
  var text: String {
    switch self {
    case .at(.keyPath(let path)):
      let text = keyPathText(path)
      let word = asciiUppercase(text)
      return word == "FIRST" || word == "LAST" || word == "SIZE" ? "#" + text : text
    case .at(let index): return index.description
    case .first: return "FIRST"
    case .last: return "LAST"
    case .size: return "SIZE"
    }
  }
}

/// A key path as it can be read back: key words escaped, names that are no words quoted.
private func keyPathText(_ path: String) -> String {
  let names = keyPathNames(path)
  var texts: [String] = []
  for name in names {
    let word = String(name)
    var isWord = word.utf8.first.map { isNameStart($0) } ?? false
    for byte in word.utf8 where !isNameStart(byte) && !isDigit(byte) { isWord = false }
    if !isWord {
      texts.append("#" + quoted(word))
    } else if texts.isEmpty, let keyword = PredicateKeyword(word), names.count == 1 || keyword == .self {
      texts.append("#" + word)
    } else {
      texts.append(word)
    }
  }
  return texts.joined(separator: ".")
}

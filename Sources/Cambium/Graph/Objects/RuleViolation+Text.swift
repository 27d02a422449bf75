import CambiumEngine

extension AttributeSchema {
  /// How a value breaks a rule, to stand behind the name of the attribute: with the value and the limit, where a person
  /// can read them.
  @_optimize(none)
  func text(of violation: RuleViolation, by value: Value) -> String {
    let measured: String
    switch value {
    case .string(let text), .uri(let text): measured = "has \(count(text.count, "character"))"
    case .binary(let bytes): measured = "has \(count(bytes.count, "byte"))"
    default: measured = "is \(text(of: value))"
    }
    switch violation {
    case .tooSmall: return "\(measured), below the least allowed, \(text(of: minimum))"
    case .tooLarge: return "\(measured), above the greatest allowed, \(text(of: maximum))"
    case .noMatch:
      return "is '\(text(of: value))', which the pattern '\(regularExpression ?? "")' does not match"
    }
  }

  /// How a value fails to meet a validation predicate, to stand behind the name of the attribute.
  @_optimize(none)
  func text(of value: Value, unmet predicate: String) -> String {
    switch value {
    case .composite: return "does not meet \(predicate)"
    case .string, .uri: return "is '\(text(of: value))', which does not meet \(predicate)"
    default: return "is \(text(of: value)), which does not meet \(predicate)"
    }
  }

  private func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }

  /// A value as a person reads it, of a long text the beginning.
  @_optimize(none)
  private func text(of value: Value) -> String {
    let text = value.foundation(type: type, objects: nil).map { "\($0)" } ?? "nothing"
    return text.count > 80 ? text.prefix(80) + "..." : text
  }
}

import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A part of a Foundation predicate that has a meaning in the store.
protocol FetchExpressible {
  /// What it comes to.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate``.
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression
}

/// Goes through a Foundation predicate, and knows what its variables and key paths stand for.
struct PredicateTranslator {
  private let names: [AnyKeyPath: String]
  private var variables: [PredicateExpressions.VariableID: TranslatedExpression]
  private var localCount = 0
  private var depth = 0

  /// What a predicate may come to. Some parts are repeated in what they are translated into: each level of these makes it
  /// twice as large, and nobody could wait for what a few dozen of them come to.
  private static let partsLimit = 100_000

  init(object: PredicateExpressions.VariableID, names: [AnyKeyPath: String]) {
    self.names = names
    variables = [object: .value(.evaluatedObject)]
  }

  mutating func translate(_ expression: any PredicateExpression) throws -> TranslatedExpression {
    guard depth < EnginePredicate.depthLimit else {
      throw CambiumError(
        .invalidPredicate, "the predicate is nested deeper than \(EnginePredicate.depthLimit) levels; split it")
    }
    depth += 1
    defer { depth -= 1 }
    guard let expressible = expression as? any FetchExpressible else { throw unsupported(expression) }
    let result = try expressible.translated(by: &self)
    if result.hasMoreParts(than: Self.partsLimit) {
      throw CambiumError(
        .invalidPredicate,
        "the predicate comes to more than \(Self.partsLimit) parts, since each == or != of two conditions, each condition "
          + "of a choice and each ?? is translated into two of it; nest less of them, or write them as a format string")
    }
    return result
  }

  // MARK: Variables

  /// What a variable stands for.
  func value(of variable: PredicateExpressions.VariableID) throws -> TranslatedExpression {
    if let value = variables[variable] { return value }
    throw CambiumError(.invalidPredicate, "the predicate uses a variable that is not its own")
  }

  /// Translates a part in which a variable stands for something.
  mutating func translate(
    _ expression: any PredicateExpression, where variable: PredicateExpressions.VariableID,
    is value: TranslatedExpression
  ) throws -> TranslatedExpression {
    let before = variables.updateValue(value, forKey: variable)
    defer { variables[variable] = before }
    return try translate(expression)
  }

  /// A name for the elements of a collection.
  mutating func makeLocalName() -> String {
    localCount += 1
    return "x\(localCount)"
  }

  // MARK: Key paths

  /// What the model calls the property of a key path.
  func name(of keyPath: AnyKeyPath, in type: Any.Type) -> String? {
    names[keyPath] ?? (type as? any PredicateKeyPaths.Type)?.predicateKeyPaths[keyPath]
  }

  // MARK: Constants

  func constant(_ captured: Any) throws -> TranslatedExpression {
    if let value = value(captured) { return .value(.constant(value)) }
    throw CambiumError(
      .invalidPredicate,
      "the predicate captures a \(type(of: captured)), which no attribute holds; make it AttributeRepresentable or "
        + "CompositeRepresentable, or capture its parts")
  }

  private func value(_ captured: Any) -> EngineValue? {
    guard let captured = unwrapped(captured) else { return .null }
    if let value = EngineValue(foundation: captured) { return value }
    switch captured {
    case let raw as any RawRepresentable: return EngineValue(foundation: raw.rawValue)
    case let character as Character: return .string(String(character))
    case let elements as [Any]: return list(elements)
    case let elements as Set<AnyHashable>: return list(elements.map { $0.base })
    default: return nil
    }
  }

  private func list(_ elements: [Any]) -> EngineValue? {
    var values: [EngineValue] = []
    for element in elements {
      guard let element = unwrapped(element) else {
        values.append(.null)
        continue
      }
      switch element {
      case let raw as any RawRepresentable:
        guard let value = EngineValue(foundation: element) ?? EngineValue(foundation: raw.rawValue) else { return nil }
        values.append(value)
      case let character as Character: values.append(.string(String(character)))
      default:
        guard let value = EngineValue(foundation: element) else { return nil }
        values.append(value)
      }
    }
    return .list(values)
  }

  // MARK: Errors

  private func unsupported(_ expression: any PredicateExpression) -> CambiumError {
    let construct = String(String(describing: type(of: expression)).prefix { $0 != "<" })
    let advice =
      switch construct {
      case "StringContainsRegex": "use contains(_:) or starts(with:), or MATCHES in a format string"
      case "CollectionRangeSubscript": "ask for single elements, or filter the collection"
      case "ExpressionEvaluate", "PredicateEvaluate": "write what it evaluates into the predicate"
      case "StringCaseInsensitiveCompare", "StringLocalizedCompare":
        "compare with [c] or [cd] in a format string; the store knows no languages"
      default: "write that part as a format string, and join both with FetchPredicate.and"
      }
    return Self.unsupported(construct, advice)
  }

  /// The error for a part that has no translation.
  static func unsupported(_ construct: String, _ advice: String) -> CambiumError {
    CambiumError(.invalidPredicate, "\(construct) has no translation for the store: \(advice)")
  }
}

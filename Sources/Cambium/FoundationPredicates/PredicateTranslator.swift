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
  private let naming: (any PredicateNaming)?
  /// The identifiers of objects that were captured.
  private(set) var capturedObjects: [any ObjectIdentifying] = []
  private var variables: [PredicateExpressions.VariableID: TranslatedExpression]
  private var localCount = 0
  private var depth = 0

  /// The most parts that a translated predicate may have. The translation of some parts contains a part twice. So each
  /// level of them doubles the size, and a few dozen levels would never end.
  private static let partsLimit = 100_000

  init(
    object: PredicateExpressions.VariableID, names: [AnyKeyPath: String] = [:], naming: (any PredicateNaming)? = nil
  ) {
    self.names = names
    self.naming = naming
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

  /// Translates a predicate that another predicate evaluates, and gives its variables their meanings. The meanings end
  /// with the call, because the other predicate may evaluate the same one again with others.
  mutating func translate(
    _ expression: any PredicateExpression, where meanings: [(PredicateExpressions.VariableID, TranslatedExpression)]
  ) throws -> TranslatedExpression {
    let before = variables
    defer { variables = before }
    for (variable, meaning) in meanings { variables[variable] = meaning }
    return try translate(expression)
  }

  /// A name for the elements of a collection.
  mutating func makeLocalName() -> String {
    localCount += 1
    return "x\(localCount)"
  }

  // MARK: Key paths

  /// What a key path stands for; nil if nothing tells.
  func name(of keyPath: AnyKeyPath, in type: Any.Type) throws -> PredicateName? {
    if let name = names[keyPath] { return .property(name) }
    if let name = try naming?.name(of: keyPath, in: type) { return name }
    return (type as? any PredicateKeyPaths.Type)?.predicateKeyPaths[keyPath].map { .property($0) }
  }

  /// The name of the entity that a class stands for; nil if it stands for none.
  func entityName(of type: Any.Type) throws -> String? {
    if let name = try naming?.entityName(of: type) { return name }
    return (type as? ManagedObject.Type)?.entity().name
  }

  // MARK: Constants

  mutating func constant(_ captured: Any) throws -> TranslatedExpression {
    if let value = try value(captured) { return .value(.constant(value)) }
    throw CambiumError(
      .invalidPredicate,
      "the predicate captures a \(type(of: unwrapped(captured) ?? captured)), which no attribute holds; make it AttributeRepresentable or "
        + "CompositeRepresentable, or capture its parts")
  }

  private mutating func value(_ captured: Any) throws -> EngineValue? {
    guard let captured = unwrapped(captured) else { return .null }
    let elements = (captured as? [Any]) ?? (captured as? Set<AnyHashable>)?.map { $0.base }
    guard let elements else { return try single(captured) }
    var values: [EngineValue] = []
    for element in elements {
      guard let element = unwrapped(element) else {
        values.append(.null)
        continue
      }
      guard let value = try single(element) else { return try single(captured) }
      values.append(value)
    }
    return .list(values)
  }

  /// A value that is not `nil`.
  private mutating func single(_ captured: Any) throws -> EngineValue? {
    switch try naming?.meaning(of: captured) {
    case .value(let value)?: return value
    case .object(let object)?:
      guard let object else { return .reference(ObjectReference(entity: 0, row: 0)) }
      capturedObjects.append(object)
      return .reference(object.reference)
    case nil: break
    }
    if let object = captured as? any ObjectIdentifying { capturedObjects.append(object) }
    if let value = EngineValue(foundation: captured) { return value }
    switch captured {
    case let raw as any RawRepresentable: return EngineValue(foundation: raw.rawValue)
    case let character as Character: return .string(String(character))
    default: return nil
    }
  }

  // MARK: Errors

  private func unsupported(_ expression: any PredicateExpression) -> CambiumError {
    let construct = String(String(describing: type(of: expression)).prefix { $0 != "<" })
    let advice =
      switch construct {
      case "StringContainsRegex": "use contains(_:) or starts(with:), or MATCHES in a format string"
      case "CollectionRangeSubscript": "ask for single elements, or filter the collection"
      case "ExpressionEvaluate", "PredicateEvaluate": "write what it evaluates into the predicate"
      case "StringLocalizedCompare":
        "use caseInsensitiveCompare(_:), or < and >; the store knows no languages"
      default: "write that part as a format string, and join both with FetchPredicate.and"
      }
    return Self.unsupported(construct, advice)
  }

  /// The error for a part that has no translation.
  static func unsupported(_ construct: String, _ advice: String) -> CambiumError {
    CambiumError(.invalidPredicate, "\(construct) has no translation for the store: \(advice)")
  }
}

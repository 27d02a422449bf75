import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Conditions on one object, joined to one.
struct JoinedPredicates<Object>: StandardPredicateExpression {
  enum Operation { case and, or, not }

  typealias Output = Bool

  let operation: Operation
  let parts: [FoundationPredicate<Object>]
  let object: PredicateExpressions.Variable<Object>

  func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    let object = try object.evaluate(bindings)
    switch operation {
    case .and: return try parts.allSatisfy { try $0.evaluate(object) }
    case .or: return try parts.contains { try $0.evaluate(object) }
    case .not: return try !parts.contains { try $0.evaluate(object) }
    }
  }
}

// The protocol asks for it. Foundation's predicates can only be coded on Apple's platforms, and only if their types are known to it.
extension JoinedPredicates: Codable {
  init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "joined predicates cannot be decoded; join decoded ones"))
  }

  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self, .init(codingPath: encoder.codingPath, debugDescription: "joined predicates cannot be encoded; encode the parts"))
  }
}

extension JoinedPredicates: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let object = try translator.value(of: object.key)
    var conditions: [EnginePredicate] = []
    for part in parts {
      conditions.append(try translator.translate(part.expression, where: part.variable.key, is: object).condition)
    }
    switch operation {
    case .and: return .condition(.all(conditions))
    case .or: return .condition(.any(conditions))
    case .not: return .condition(EnginePredicate.any(conditions).reversed())
    }
  }
}

// Foundation's own way to use a predicate in another, `evaluate`, is refused by `#Predicate` off Apple's platforms.
extension Sequence {
  /// The condition that all of these hold. Of none, it holds.
  ///
  ///     let white = #Predicate<Aircraft> { $0.color == "white" }
  ///     let large = #Predicate<Aircraft> { $0.seats > 200 }
  ///     let both = [white, large].conjunction()
  public func conjunction<Object>() -> FoundationPredicate<Object> where Element == FoundationPredicate<Object> {
    FoundationPredicate<Object> { JoinedPredicates(operation: .and, parts: Array(self), object: $0) }
  }

  /// The condition that at least one of these holds. Of none, it does not.
  public func disjunction<Object>() -> FoundationPredicate<Object> where Element == FoundationPredicate<Object> {
    FoundationPredicate<Object> { JoinedPredicates(operation: .or, parts: Array(self), object: $0) }
  }

  /// The condition that none of these holds: `[white].negation()` is true of what is not white.
  public func negation<Object>() -> FoundationPredicate<Object> where Element == FoundationPredicate<Object> {
    FoundationPredicate<Object> { JoinedPredicates(operation: .not, parts: Array(self), object: $0) }
  }
}

import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The store has one type for each attribute, and the model says which. A cast of a value is the value itself where it
// cannot fail, or takes an element out of an untyped dictionary. A cast of an object asks of which entity the object
// is.

extension PredicateExpressions.ForceCast: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try translator.cast(input, from: Input.Output.self, to: Desired.self, "as!")
  }
}

extension PredicateExpressions.ConditionalCast: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try translator.cast(input, from: Input.Output.self, to: Desired.self, "as?")
  }
}

extension PredicateExpressions.TypeCheck: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    if Input.Output.self == Desired.self { return .condition(.true) }
    if Optional<Desired>.self == Input.Output.self {
      return .condition(try translator.translate(input).isPresent)
    }
    let object = try translator.object(input, ofType: Input.Output.self, as: Desired.self, "is")
    return .condition(object.isPresent)
  }
}

extension PredicateTranslator {
  fileprivate mutating func cast<From, To>(
    _ input: any PredicateExpression, from: From.Type, to: To.Type, _ written: String
  ) throws -> TranslatedExpression {
    let isHarmless =
      From.self == To.self || From.self == Optional<To>.self || To.self == Optional<From>.self || From.self == Any.self
      || From.self == Any?.self
    return isHarmless ? try translate(input) : try object(input, ofType: From.self, as: To.self, written)
  }

  /// An object, if it is of the entity that a class stands for, or else null.
  fileprivate mutating func object<To>(
    _ input: any PredicateExpression, ofType from: Any.Type, as desired: To.Type, _ written: String
  ) throws -> TranslatedExpression {
    let from = (from as? any AnyOptional.Type)?.wrapped ?? from
    guard let source = from as? AnyClass, desired is AnyClass else {
      throw Self.unsupported(
        "'\(written) \(desired)'", "give the property the type that the model has for it; only objects are cast")
    }
    if source is To.Type { return try translate(input) }
    guard let name = try entityName(of: desired) else {
      throw Self.unsupported("'\(written) \(desired)'", "name a class that stands for an entity of the model")
    }
    return try translate(input).mapped { object in
      if case .constant(.null) = object { return .null }
      return .value(.function("castObject:toEntity:", [object, .constant(.string(name))]))
    }
  }
}

private protocol AnyOptional {
  static var wrapped: Any.Type { get }
}

extension Optional: AnyOptional {
  fileprivate static var wrapped: Any.Type { (Wrapped.self as? any AnyOptional.Type)?.wrapped ?? Wrapped.self }
}

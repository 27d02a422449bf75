import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The ends of a range; one that is missing is not asked about.
struct TranslatedRange {
  var lower: TranslatedExpression?
  var upper: TranslatedExpression?
  /// Whether the upper end belongs to the range.
  var isClosed: Bool

  /// Whether a value is in the range.
  func contains(_ value: TranslatedExpression) -> EnginePredicate {
    if isClosed, case .value(let low)? = lower, case .value(let high)? = upper {
      if let a = lower?.constant, let b = upper?.constant {
        return TranslatedExpression.compare(value, .between, .value(.constant(.list([a, b]))))
      }
      return TranslatedExpression.compare(value, .between, .value(.list([low, high])))
    }
    var parts: [EnginePredicate] = []
    if let lower { parts.append(TranslatedExpression.compare(value, .greaterOrEqual, lower)) }
    if let upper { parts.append(TranslatedExpression.compare(value, isClosed ? .lessOrEqual : .less, upper)) }
    return .all(parts)
  }
}

/// A part that is a range.
protocol RangeExpressible {
  /// The ends; `nil` if it is none after all.
  func translatedRange(by translator: inout PredicateTranslator) throws -> TranslatedRange?
}

extension PredicateExpressions.Range: RangeExpressible {
  func translatedRange(by translator: inout PredicateTranslator) throws -> TranslatedRange? {
    TranslatedRange(
      lower: try translator.translate(lower), upper: try translator.translate(upper), isClosed: false)
  }
}

extension PredicateExpressions.ClosedRange: RangeExpressible {
  func translatedRange(by translator: inout PredicateTranslator) throws -> TranslatedRange? {
    TranslatedRange(lower: try translator.translate(lower), upper: try translator.translate(upper), isClosed: true)
  }
}

extension PredicateExpressions.Value: RangeExpressible {
  func translatedRange(by translator: inout PredicateTranslator) throws -> TranslatedRange? {
    guard let bounds = (value as? any BoundedRange)?.bounds else { return nil }
    return TranslatedRange(
      lower: try bounds.lower.map { try translator.constant($0) },
      upper: try bounds.upper.map { try translator.constant($0) }, isClosed: bounds.isClosed)
  }
}

/// A range that was captured.
private protocol BoundedRange {
  var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { get }
}

extension Swift.Range: BoundedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension Swift.ClosedRange: BoundedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension PartialRangeFrom: BoundedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, nil, true) }
}

extension PartialRangeThrough: BoundedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, true) }
}

extension PartialRangeUpTo: BoundedRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, false) }
}

extension PredicateExpressions.RangeExpressionContains: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    guard let range = try (range as? any RangeExpressible)?.translatedRange(by: &translator) else {
      throw PredicateTranslator.unsupported("this range", "compare with its ends, by >= and <=")
    }
    return .condition(range.contains(try translator.translate(element)))
  }
}

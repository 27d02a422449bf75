#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a key path makes of the values of many objects. Core Data: the collection operators of key-value coding.
enum KeyPathOperator: String {
  case count = "@count"
  case sum = "@sum"
  case average = "@avg"
  case least = "@min"
  case greatest = "@max"
  case values = "@unionOfObjects"
  case distinctValues = "@distinctUnionOfObjects"

  /// What comes of values, none of which is null; `nil` if there is nothing that could be given.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for values that the operator does not go with.
  func result(of values: [Any], _ keyPath: String, _ entity: String) throws -> Any? {
    switch self {
    case .count: return values.count
    case .values: return values
    case .distinctValues:
      var seen = Set<AnyHashable>()
      return values.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
    case .sum, .average:
      guard let total = Self.total(values) else { throw misfit(values, keyPath, entity) }
      if self == .sum { return total }
      if values.isEmpty { return nil }
      switch total {
      case let total as Decimal: return total / Decimal(values.count)
      case let total as Double: return total / Double(values.count)
      case let total as Int: return Double(total) / Double(values.count)
      default: return nil
      }
    case .least, .greatest:
      guard var best = values.first else { return nil }
      for value in values.dropFirst() {
        guard let isLess = Self.precedes(value, best) else { throw misfit(values, keyPath, entity) }
        if self == .least ? isLess : Self.precedes(best, value) == true { best = value }
      }
      return best
    }
  }

  private func misfit(_ values: [Any], _ keyPath: String, _ entity: String) -> CambiumError {
    let type = values.first.map { "\(Swift.type(of: $0))" } ?? "nothing"
    return CambiumError(
      .invalidArgument, "'\(keyPath)' of '\(entity)' cannot be computed of values such as a \(type)",
      entityName: entity, key: keyPath)
  }

  /// The sum: an `Int` of integers as long as it is one, a `Decimal` where one of them is, a `Double` otherwise.
  private static func total(_ values: [Any]) -> Any? {
    if values.contains(where: { $0 is Decimal }) {
      var sum = Decimal()
      for value in values {
        switch value {
        case let value as Decimal: sum += value
        case let value as Int: sum += Decimal(value)
        case let value as Int64: sum += Decimal(value)
        case let value as Double: sum += Decimal(value)
        case let value as Float: sum += Decimal(Double(value))
        default: return nil
        }
      }
      return sum
    }
    var (whole, isWhole, sum) = (0, true, 0.0)
    for value in values {
      guard let number = double(value) else { return nil }
      sum += number
      guard let integer = value as? Int ?? (value as? Int64).flatMap({ Int(exactly: $0) }) else {
        isWhole = false
        continue
      }
      let (next, overflow) = whole.addingReportingOverflow(integer)
      whole = next
      if overflow { isWhole = false }
    }
    return isWhole ? whole : sum
  }

  private static func double(_ value: Any) -> Double? {
    switch value {
    case let value as Int: Double(value)
    case let value as Int64: Double(value)
    case let value as Double: value
    case let value as Float: Double(value)
    default: nil
    }
  }

  /// Whether a value is less than another; nil for values that have no order.
  private static func precedes(_ a: Any, _ b: Any) -> Bool? {
    switch (a, b) {
    case (let a as Int, let b as Int): a < b
    case (let a as Decimal, let b as Decimal): a < b
    case (let a as String, let b as String): a < b
    case (let a as Date, let b as Date): a < b
    case (let a as Bool, let b as Bool): !a && b
    default: double(a).flatMap { a in double(b).map { a < $0 } }
    }
  }
}

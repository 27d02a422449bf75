import CambiumEngine

extension CambiumEngine.Predicate {
  /// The number of a transaction behind which all transactions are for which this condition can hold: 7 for
  /// `transactionNumber > 7 AND author == "widget"`. Nil if the condition sets no such bound.
  var lastTransactionBefore: UInt64? {
    switch self {
    case .and(let parts): return parts.compactMap { $0.lastTransactionBefore }.max()
    case .comparison(let comparison) where comparison.modifier == .direct:
      switch (comparison.left, comparison.comparator, comparison.right) {
      case (.keyPath("transactionNumber"), .greater, .constant(.integer(let number))),
        (.constant(.integer(let number)), .less, .keyPath("transactionNumber")):
        return UInt64(clamping: number)
      case (.keyPath("transactionNumber"), .greaterOrEqual, .constant(.integer(let number))),
        (.constant(.integer(let number)), .lessOrEqual, .keyPath("transactionNumber")),
        (.keyPath("transactionNumber"), .equal, .constant(.integer(let number))):
        return number > 0 ? UInt64(number - 1) : 0
      default: return nil
      }
    default: return nil
    }
  }
}

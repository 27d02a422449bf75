import CambiumKernel

// Ranges of an index without a predicate. An embedded program that reads only in this way leaves out the planner, the
// parser and the evaluator, which are half of the engine.

extension IndexLookup {
  /// Lends `body` every row with a value in a range, in the order of the index, until `body` answers false.
  ///
  ///     let byTime = try view.lookup(measurement, by: ["time"])
  ///     try byTime.forEach(from: .date(start), to: .date(end)) { row in … }
  ///
  /// The first properties of the lookup must equal `values`. The range is of the property behind them, which must be a
  /// number or a date. Rows that have no value there are in no range, just as a predicate's comparisons do not match
  /// them.
  ///
  /// O(log n + m) for m rows.
  ///
  /// - Parameters:
  ///   - values: The values of the first properties, in their order and of their types.
  ///   - low: The lowest value of the range; nil for no bound. It is of the property's type: `.integer` for integers of
  ///     any width.
  ///   - high: The first value above the range, of the property's type; nil for no bound.
  /// - Throws: ``EngineError/misuse(_:)`` if a value is of another type or too long for a key, or if no property is
  ///   left for the range; kernel errors; errors of `body`.
  public func forEach(
    equalTo values: [Value] = [], from low: Value?, to high: Value?,
    _ body: (borrowing RowReader) throws(EngineError) -> Bool
  ) throws(EngineError) {
    guard let (start, end) = try keys(values, low, high) else { return }
    try eachID(from: start, to: end) { (id) throws(EngineError) in try lend(id, body) }
  }

  /// Returns the first key of a range and the first key above it; nil if no key can be in the range.
  private func keys(
    _ values: [Value], _ low: Value?, _ high: Value?
  ) throws(EngineError) -> (start: [UInt8], end: [UInt8]?)? {
    let part = values.count
    guard part < maker.paths.count, let type = maker.types[part], type.isNumeric || type == .date else {
      throw .misuse("a range needs a number or a date behind the \(part) properties that have a value")
    }
    let isAscending = maker.ascending[part]
    let prefix = try key(values)
    let null = try key(values, endsWithNull: true)
    var lowKey: [UInt8]?
    if let low { lowKey = try key(values + [low]) }
    var highKey: [UInt8]?
    if let high { highKey = try key(values + [high]) }
    if isAscending {
      // Null comes first.
      guard let start = lowKey ?? KeyRange.upperBound(ofPrefix: null) else { return nil }
      return (start, highKey ?? KeyRange.upperBound(ofPrefix: prefix))
    }
    // The highest value comes first, and null last. A key goes on with other values and the row behind the bytes of a
    // bound, so the keys of a bound end only at its upper bound.
    let end = lowKey.map { KeyRange.upperBound(ofPrefix: $0) } ?? null
    guard let highKey else { return (prefix, end) }
    return KeyRange.upperBound(ofPrefix: highKey).map { ($0, end) }
  }

  /// Returns the bytes with which the keys of these values begin.
  private func key(_ values: [Value], endsWithNull: Bool = false) throws(EngineError) -> [UInt8] {
    var encoder = KeyEncoder(limit: view.store.kernel.maxKeyLength)
    for (part, value) in values.enumerated() {
      guard IndexRanges.tells(value, maker, part), IndexRanges.append(value, maker, part, to: &encoder),
        !encoder.isInexact
      else { throw .misuse("a value for \(maker.paths[part]) is of another type, or too long for a key") }
    }
    if endsWithNull { encoder.appendNull(descending: !maker.ascending[values.count]) }
    return encoder.bytes
  }
}

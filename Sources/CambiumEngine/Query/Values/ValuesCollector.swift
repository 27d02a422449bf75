/// Makes results of slots: leaves out those that there are already, puts them in order, and keeps no more than are
/// wanted.
struct ValuesCollector {
  private struct Result {
    var values: [Value]
    var keys: [Value]
    /// As they came.
    var place: Int
  }

  private let design: ValuesDesign
  /// Whether equal results may come, of which only the first one is wanted.
  private var isDistinct: Bool
  /// How many results are left out at the start.
  let offset: Int
  /// How many results count from the first; nil for all.
  let wanted: Int?
  private var state: EvaluationState
  private var known: Set<[Value]> = []
  private var results: [Result] = []
  private var count = 0

  init(_ design: ValuesDesign, _ request: EngineValuesFetch, _ state: EvaluationState) {
    self.state = state
    self.design = design
    isDistinct = request.isDistinct
    let offset = max(0, request.fetch.offset)
    self.offset = offset
    // Saturating: a limit may be the largest number there is.
    wanted = request.fetch.limit.map { limit in
      let (sum, overflow) = offset.addingReportingOverflow(max(0, limit))
      return overflow ? Int.max : sum
    }
  }

  /// Says that no two results will have the same slots.
  mutating func hasDistinctSlots(_ design: ValuesDesign) {
    if design.hasColumnsOfAllSlots { isDistinct = false }
  }

  /// The result that slots make; nil for one that there was already, where each is wanted once.
  mutating func values(of slots: [Value]) throws(EngineError) -> [Value]? {
    var values: [Value] = []
    values.reserveCapacity(design.columns.count)
    for column in design.columns {
      let value = try value(column.source, slots)
      values.append(column.type.flatMap { $0.coerce(value) } ?? value)
    }
    return isDistinct && !known.insert(values).inserted ? nil : values
  }

  /// Takes a result in. Answers whether more can change the answer.
  mutating func add(_ slots: [Value]) throws(EngineError) -> Bool {
    guard let values = try values(of: slots) else { return true }
    var keys: [Value] = []
    for key in design.order { keys.append(key.sort.key(try value(key.source, slots))) }
    results.append(Result(values: values, keys: keys, place: count))
    count += 1
    // With a limit, keep about twice as many as wanted and throw the rest away now and then.
    if let wanted, !design.order.isEmpty, results.count / 2 > wanted, results.count >= 64 {
      sort()
      results.removeLast(results.count - wanted)
    }
    return !design.order.isEmpty || wanted.map { results.count < $0 } ?? true
  }

  /// The results, in order.
  mutating func finish() -> [[Value]] {
    if !design.order.isEmpty { sort() }
    let end = wanted.map { min($0, results.count) } ?? results.count
    let start = min(offset, end)
    var answer: [[Value]] = []
    answer.reserveCapacity(end - start)
    for result in results[start..<end] { answer.append(result.values) }
    return answer
  }

  private mutating func value(_ source: ValuesDesign.Source, _ slots: [Value]) throws(EngineError) -> Value {
    switch source {
    case .constant(let value): return value
    case .slot(let slot): return slots[slot]
    case .computed(let expression): return try expression.value(ofSlots: slots, &state)
    }
  }

  private mutating func sort() {
    let order = design.order
    results.sort { a, b in
      for i in order.indices {
        let outcome = order[i].sort.order(a.keys[i], b.keys[i])
        if outcome != 0 { return order[i].sort.isAscending ? outcome < 0 : outcome > 0 }
      }
      return a.place < b.place
    }
  }
}

import CambiumKernel

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
  /// Whether the columns are the slots as they come.
  private let isOfSlots: Bool
  /// The order that results have to be put in.
  private var order: [ValuesDesign.Order]
  private var state: EvaluationState
  private var known: Set<[Value]> = []
  private var results: [Result] = []
  private var count = 0

  init(_ design: ValuesDesign, _ request: EngineValuesFetch, _ state: EvaluationState) {
    self.state = state
    self.design = design
    order = design.order
    isOfSlots = design.hasSlotsAsColumns
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

  /// Says that the results will come in their order.
  mutating func comesInOrder() { order = [] }

  /// The result that slots make; nil for one that there was already, where each is wanted once.
  mutating func values(of slots: [Value]) throws(EngineError) -> [Value]? {
    if isOfSlots, !isDistinct { return slots }
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
    for key in order { keys.append(key.sort.key(try value(key.source, slots))) }
    results.append(Result(values: values, keys: keys, place: count))
    count += 1
    // With a limit, keep about twice as many as wanted and throw the rest away now and then.
    if let wanted, !order.isEmpty, results.count / 2 > wanted, results.count >= 64 {
      sort()
      results.removeLast(results.count - wanted)
    }
    return !order.isEmpty || wanted.map { results.count < $0 } ?? true
  }

  /// The results, in order.
  mutating func finish() -> [[Value]] {
    if !order.isEmpty { sort() }
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

  /// Puts the results in order, those with equal keys as they came: by the last key first, each time by words.
  private mutating func sort() {
    guard results.count > 1 else { return }
    var places: [UInt32] = []
    places.reserveCapacity(results.count)
    for place in results.indices { places.append(UInt32(truncatingIfNeeded: place)) }
    for i in order.indices.reversed() {
      RadixSort.sort(&places, by: words(ofKey: i), ascending: order[i].sort.isAscending)
    }
    results = places.map { results[Int($0)] }
  }

  /// Returns a word for each result that orders as its key `i` does.
  private func words(ofKey i: Int) -> [UInt64] {
    var words: [UInt64] = []
    words.reserveCapacity(results.count)
    var kind: GroupKeys.Source.Kind?
    for result in results {
      guard let found = SortColumn.word(of: result.keys[i]) else { return ranks(ofKey: i) }
      if let other = found.kind {
        if kind != nil, kind != other { return ranks(ofKey: i) }
        kind = other
      }
      words.append(found.word)
    }
    return words
  }

  /// Returns words for keys whose values have no word of their own: the place of each value among all different ones in
  /// order.
  private func ranks(ofKey i: Int) -> [UInt64] {
    var numbers: [Value: Int] = [:]
    var different: [Value] = []
    var words: [UInt64] = []
    words.reserveCapacity(results.count)
    for result in results {
      let key = result.keys[i]
      if let number = numbers[key] {
        words.append(UInt64(number))
        continue
      }
      numbers[key] = different.count
      words.append(UInt64(different.count))
      different.append(key)
    }
    let sort = order[i].sort
    var sorted = Array(different.indices)
    sorted.order { sort.order(different[$0], different[$1]) < 0 }
    var ranks: [UInt64] = Array(repeating: 0, count: different.count)
    var rank: UInt64 = 0
    for (place, number) in sorted.enumerated() {
      if place > 0, sort.order(different[sorted[place - 1]], different[number]) != 0 { rank += 1 }
      ranks[number] = rank
    }
    return words.map { ranks[Int($0)] }
  }
}

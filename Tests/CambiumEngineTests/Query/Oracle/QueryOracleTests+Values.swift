import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

extension QueryOracleTests {
  /// Groups and distinct values of what indexes begin with, beside those made of values that were read out.
  static func askValues(
    _ entity: EntitySchema, _ view: EntityView, _ values: NaiveValues, _ predicates: inout RandomPredicates,
    text: String,
    _ random: inout SplitMix64, _ tally: inout Tally
  ) throws {
    let types = Dictionary(
      RandomPredicates.attributes(entity).map { ($0.path, $0.type) }, uniquingKeysWith: { a, _ in a })
    let indexes = entity.indexes.filter { index in
      index.elements.allSatisfy { $0.kind == .binary && types[$0.path] != nil && types[$0.path] != .binary }
    }
    if indexes.isEmpty { return }
    let index = random.pick(indexes)
    var paths: [String] = []
    for element in index.elements where !paths.contains(element.path) { paths.append(element.path) }
    let count = random.below(paths.count + 1)
    var fetch = EngineFetch(entity)
    fetch.costs.scannedRow = random.pick([1, 10_000])
    if random.oneIn(2) {
      // What the index decides, as often as not.
      let about =
        random.oneIn(3)
        ? predicates.predicate(entity, depth: 1) : predicates.about(paths[random.below(paths.count)], entity)
      guard (try? about.check(against: view.store.schema, entity: entity.id)) != nil else { return }
      fetch.predicate = about
    }
    let checked = try fetch.predicate?.check(against: view.store.schema, entity: entity.id)
    let objects = try values.objects(of: entity, includesSubentities: true).filter { object in
      try checked.map { try values.holds($0, for: object) } ?? true
    }
    let grouped = Array(paths[..<count].shuffled(using: &random))
    var columns = grouped.enumerated().map { EngineColumn("k\($0.offset)", .keyPath($0.element)) }
    let isDistinct = !grouped.isEmpty && random.oneIn(2)
    var asked: [(name: String, path: String?)] = []
    if !isDistinct {
      asked.append(("count", nil))
      if count < paths.count, let type = types[paths[count]] {
        asked.append(("count", paths[count]))
        if type.isOrderedByKeys { asked += [("min", paths[count]), ("max", paths[count])] }
      }
      for (n, ask) in asked.enumerated() {
        columns.append(EngineColumn("a\(n)", .function(ask.name, [ask.path.map { .keyPath($0) } ?? .evaluatedObject])))
      }
    }
    var request = EngineValuesFetch(fetch, columns: columns)
    if isDistinct { request.isDistinct = true } else { request.groupBy = grouped }

    var order: [[Value]] = !isDistinct && grouped.isEmpty ? [[]] : []
    var groups: [[Value]: [ObjectReference]] = [:]
    for object in objects {
      let key = grouped.map { values.value(object, $0) }
      if groups[key] == nil, !key.isEmpty { order.append(key) }
      groups[key, default: []].append(object)
    }
    var expected = order.map { key in
      key
        + asked.map { ask in
          let members = groups[key] ?? []
          guard let path = ask.path else { return Value.integer(Int64(members.count)) }
          let known = members.map { values.value($0, path) }.filter { !$0.isNull }
          if ask.name == "count" { return .integer(Int64(known.count)) }
          var best = Value.null
          for value in known where best.isNull || value.compare(to: best) == (ask.name == "min" ? .less : .greater) {
            best = value
          }
          return best
        }
    }
    // A copy, so that what is asked next does not depend on it.
    var dice = random
    if isDistinct, dice.oneIn(2) {
      let count = 1 + dice.below(grouped.count)
      request.fetch.sort = Array(columns.indices.prefix(count)).shuffled(using: &dice).map { column in
        EngineSort(columns[column].name, ascending: dice.oneIn(2))
      }
      let order = request.fetch.sort.map { sort in
        (column: columns.firstIndex { $0.name == sort.keyPath } ?? 0, sign: sort.isAscending ? 1 : -1)
      }
      let before = expected.enumerated().sorted { a, b in
        for (column, sign) in order {
          let outcome = a.element[column].sortOrder(b.element[column]) * sign
          if outcome != 0 { return outcome < 0 }
        }
        return a.offset < b.offset
      }
      expected = before.map { $0.element }
    }
    if random.oneIn(4) {
      request.fetch.offset = random.below(3)
      request.fetch.limit = random.below(5)
      expected = Array(expected.dropFirst(request.fetch.offset).prefix(request.fetch.limit ?? .max))
    }
    let plan = try view.explain(request)
    for kind in plan.kinds where kind == .coveringIndex { tally.kinds[kind, default: 0] += 1 }
    var found = try view.fetchValues(request)
    let whole = "\(text): \(entity.name), \(columns), \(fetch.predicate.map { "\($0)" } ?? "all"), \(plan)"
    let byFirstObject = expected
    if isDistinct, request.fetch.limit == nil {
      // Where the order leaves it open, in any order.
      let keys = request.fetch.sort.map { sort in columns.firstIndex { $0.name == sort.keyPath } ?? 0 }
      for key in keys.prefix(1) {
        #expect(found.map { $0[key] } == expected.map { $0[key] }, "\(whole)")
      }
      if Set(keys).count < columns.count {
        found.sort { "\($0)" < "\($1)" }
        expected.sort { "\($0)" < "\($1)" }
      }
    }
    #expect(found == expected, "\(whole)")
    // Two texts may be equal and have other scalars: which it is, is that of the first object.
    #expect("\(found)" == "\(expected)", "\(whole)")
    request.fetch.usesIndexes = false
    #expect(try view.fetchValues(request) == byFirstObject, "\(whole), looking at every row")
  }
}

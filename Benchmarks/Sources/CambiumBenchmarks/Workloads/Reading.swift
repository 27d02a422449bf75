/// Reads of one thread, warm: what is timed has been read once before, by each peer, so that its pages are in memory.
/// (What cold pages cost is measured by `open-cold`.)
func readingWorkloads(_ context: RunContext) -> [MainWorkload] {
  let gets = max(1000, context.rows / 10)
  let tails = max(1000, context.rows / 20)
  let first = max(1000, context.rows / 10)
  let window = max(100, context.rows / 100)

  /// A line that counts rows: whole digests for the comparison, light ones for the timing.
  func rows(
    _ name: String, _ title: String, _ read: @escaping (any Peer, Int, (Aircraft) -> Void) throws -> Void
  ) -> MainWorkload {
    MainWorkload(
      name, [Line(name, title, .nanoseconds)],
      check: { peer, _ in
        var answer = Answer()
        try read(peer, 0) { answer.addWhole($0) }
        return answer
      },
      run: { peer, _, round in
        try read(peer, round) { _ in }
        var answer = Answer()
        let time = try seconds { try read(peer, round) { answer.add($0) } }
        return [name: time * 1e9 / Double(max(1, answer.count))]
      })
  }

  /// A line that the peer sums up itself.
  func sums(
    _ name: String, _ title: String, _ unit: Unit = .nanoseconds, by count: Int? = nil,
    _ read: @escaping (any Peer, Int) throws -> Answer
  ) -> MainWorkload {
    MainWorkload(
      name, [Line(name, title, unit)], check: { peer, _ in try read(peer, 0) },
      run: { peer, _, round in
        var answer = try read(peer, round)
        let time = try seconds { answer = try read(peer, round) }
        let each = time / Double(count ?? max(1, answer.count))
        return [name: each * (unit == .microseconds ? 1e6 : 1e9)]
      })
  }

  func ids(_ round: Int) -> [Int] { context.data.randomIDs(gets, seed: 100 + UInt64(round)) }
  let lists = (0..<max(1, context.options.rounds)).map(ids)
  let tailLists = (0..<max(1, context.options.rounds)).map { round in
    context.data.randomIDs(tails, seed: 200 + UInt64(round)).map { Aircraft.tailNumber($0) }
  }
  return [
    sums("get-column", "get by id, one column, a row") { peer, round in try peer.hours(ids: lists[round]) },
    rows("get-row", "get by id, the row as a struct, a row") { peer, round, body in
      try peer.rows(ids: lists[round], body)
    },
    rows("get-own", "get by id as a struct, each in a read transaction of its own, a row") { peer, round, body in
      try peer.rowsOneByOne(ids: Array(lists[round].prefix(gets / 4)), body)
    },
    rows("get-unique", "get by unique tail number as a struct, a row") { peer, round, body in
      try peer.rows(tailNumbers: tailLists[round], body)
    },
    rows("equal-rows", "indexed equality, 1% of the rows, structs, a row") { peer, round, body in
      try peer.rows(primary: Aircraft.colour(UInt64(11 + round)), body)
    },
    sums("equal-ids", "the same, ids only, a row") { peer, round in
      try peer.ids(primary: Aircraft.colour(UInt64(11 + round)))
    },
    MainWorkload(
      "range", [Line("range", "range of 1% by date, structs, a row", .nanoseconds)],
      check: { peer, _ in
        var answer = Answer()
        try peer.entries(from: LogEntry.date(context.rows / 3), before: LogEntry.date(context.rows / 3 + window)) {
          answer.addWhole($0)
        }
        return answer
      },
      run: { peer, _, round in
        let start = context.rows / 5 * (1 + round % 3)
        func read(_ body: (LogEntry) -> Void) throws {
          try peer.entries(from: LogEntry.date(start), before: LogEntry.date(start + window), body)
        }
        try read { _ in }
        var answer = Answer()
        let time = try seconds { try read { answer.add($0) } }
        return ["range": time * 1e9 / Double(max(1, answer.count))]
      }),
    MainWorkload(
      "scan", [Line("scan", "scan with two conditions, counted", .rowsPerSecond)],
      check: { peer, _ in Answer(count: try peer.count(secondary: Aircraft.colour(33), hoursOver: 7500)) },
      run: { peer, _, round in
        func count() throws { _ = try peer.count(secondary: Aircraft.colour(UInt64(33 + round)), hoursOver: 7500) }
        try count()
        let time = try seconds(count)
        return ["scan": Double(context.rows) / time]
      }),
    rows("structs", "10% of the rows in order of id to structs, a row") { peer, _, body in
      try peer.firstRows(first, body)
    },
    sums("to-one", "log entry to its aircraft's tail number, a row") { peer, round in
      try peer.tailNumbers(entries: lists[round])
    },
    sums("to-many", "tail number to the distances of its log entries, a query", .microseconds, by: tails) {
      peer, round in
      try peer.entries(tailNumbers: tailLists[round])
    },
  ]
}

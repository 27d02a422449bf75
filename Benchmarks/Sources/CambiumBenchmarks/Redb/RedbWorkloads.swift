/// The sizes of redb's published benchmark, times `scale`.
struct RedbSize {
  let bulk, singles, batches, batch, gets, ranges: Int
  let rangeLength = 10
  let threads = [4, 8, 16, 32]

  init(scale: Double) {
    func times(_ n: Int, least: Int) -> Int { max(least, Int(Double(n) * scale)) }
    bulk = times(5_000_000, least: 10_000)
    singles = times(1000, least: 100)
    batches = times(100, least: 10)
    batch = 1000
    gets = times(1_000_000, least: 10_000)
    ranges = times(500_000, least: 5_000)
  }

  /// Pairs that are there after the steps that add.
  var all: Int { bulk + singles + batches * batch }
}

/// redb's published benchmark, its steps in its order.
func redbWorkloads(_ size: RedbSize) -> [Workload<any KeyValuePeer>] {
  typealias Step = Workload<any KeyValuePeer>

  func random(_ count: Int, seed: UInt64) -> [Int] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in Int(generator.next() % UInt64(size.bulk)) }
  }

  let gets = random(size.gets, seed: 1)
  let ranges = random(size.ranges, seed: 2)

  func step(
    _ name: String, _ title: String, _ count: Int, check: ((any KeyValuePeer) throws -> Answer)? = nil,
    rounds: Int? = 1,
    _ body: @escaping (any KeyValuePeer) throws -> Void
  ) -> Step {
    Step(
      name, [Line(name, title, .perSecond)], rounds: rounds,
      check: check.map { check in { peer, _ in try check(peer) } },
      run: { peer, _, _ in [name: Double(count) / (try seconds { try body(peer) })] })
  }

  var steps = [
    Step(
      "bulk", [Line("bulk", "bulk load in random order, one durable transaction, pairs", .perSecond)],
      prepare: { peer, _, _ in try peer.create() },
      run: { peer, _, _ in ["bulk": Double(size.bulk) / (try seconds { try peer.put(0..<size.bulk) })] }),
    step("individual", "commits of one pair", size.singles) { peer in
      for i in 0..<size.singles { try peer.put((size.bulk + i)..<(size.bulk + i + 1)) }
    },
    step("batches", "batches of 1,000, pairs", size.batches * size.batch) { peer in
      let first = size.bulk + size.singles
      for i in 0..<size.batches { try peer.put((first + i * size.batch)..<(first + (i + 1) * size.batch)) }
    },
    Step(
      "length", [Line("length", "count of all pairs", .microseconds)],
      check: { peer, _ in Answer(count: try peer.count()) },
      run: { peer, _, _ in ["length": 1e6 * (try seconds { _ = try peer.count() })] }),
    step("random-gets", "random gets", size.gets, check: { try $0.get(gets) }, rounds: nil) { _ = try $0.get(gets) },
    step(
      "random-ranges", "random ranges of 10 pairs", size.ranges,
      check: { try $0.ranges(ranges, count: size.rangeLength) },
      rounds: nil
    ) { _ = try $0.ranges(ranges, count: size.rangeLength) },
  ]
  for threads in size.threads {
    steps.append(
      step("gets-\(threads)", "random gets of \(threads) threads, in all", size.gets / threads * threads, rounds: nil) {
        peer in
        let readers = try (0..<threads).map { _ in try peer.reader() }
        let part = size.gets / threads
        try onThreads(threads) { i in _ = try readers[i].get(Array(gets[(i * part)..<((i + 1) * part)])) }
        for reader in readers { reader.close() }
      })
  }
  steps.append(
    Step(
      "removal", [Line("removal", "removal of half, one durable transaction, pairs", .perSecond)], rounds: 1,
      checkAfter: { peer, _ in
        var answer = try peer.get(gets)
        answer.count += try peer.count()
        return answer
      },
      run: { peer, _, _ in
        ["removal": Double(size.bulk / 2) / (try seconds { try peer.remove(0..<(size.bulk / 2)) })]
      }))
  steps.append(
    Step(
      "redb-size",
      [
        Line("uncompacted", "bytes of the file for a pair that is left", .bytes),
        Line("compaction", "compaction", .milliseconds), Line("compacted", "bytes a pair after it", .bytes),
      ], rounds: 1, checkAfter: { peer, _ in try peer.get(gets) },
      run: { peer, _, _ in
        let left = Double(size.all - size.bulk / 2)
        let before = Double(try peer.fileBytes()) / left
        let time = try seconds { try peer.compact() }
        return ["uncompacted": before, "compaction": time * 1e3, "compacted": Double(try peer.fileBytes()) / left]
      }))
  return steps
}

/// The questions as workloads: the answers to all variants first, then the time for each of them.
func queryWorkloads(_ queries: [TwinQuery]) -> [Workload<any QueryPeer>] {
  queries.map { query in
    Workload(
      query.name, [Line(query.name, query.title, .microseconds)],
      check: { peer, _ in
        var all = Answer()
        for variant in query.variants.indices {
          let answer = try peer.answer(query, variant)
          all.count += answer.count
          all.sum = all.sum &+ answer.sum
        }
        return all
      },
      run: { peer, _, round in
        var found = 0
        let time = try seconds {
          for number in 0..<query.repeats { found += try peer.answer(query, round + number).count }
        }
        return [query.name: time * 1e6 / Double(query.repeats)]
      })
  }
}

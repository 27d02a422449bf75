/// Opening, and opening after a crash.
func openingWorkloads(_ context: RunContext) -> [MainWorkload] {
  let times = 30
  return [
    MainWorkload(
      "open", [Line("open", "open and get one value, warm", .microseconds)],
      run: { peer, context, round in
        var samples = Samples()
        for i in 0..<times {
          try peer.close()
          let id = 1 + (context.rows / 2 + i * 7) % context.rows
          samples.values.append(1e6 * (try seconds { _ = try peer.openAndRead(.synced, id: id) }))
        }
        return ["open": samples.median]
      }),
    MainWorkload(
      "open-cold", [Line("open-cold", "open and get one value, nothing of the file in memory", .milliseconds)],
      run: { peer, context, round in
        var samples = Samples()
        for i in 0..<7 {
          try peer.close()
          BareFile.evict(peer.path)
          let id = 1 + (context.rows / 3 + (round * 7 + i) * 7919) % context.rows
          samples.values.append(1e3 * (try seconds { _ = try peer.openAndRead(.synced, id: id) }))
        }
        return ["open-cold": samples.median]
      }),
    MainWorkload(
      "open-killed",
      [
        Line("open-killed", "open and get one value after kill -9 with 14 MiB of log", .milliseconds),
        Line("open-killed-commits", "commits in that log", .remark),
      ],
      run: { peer, context, round in
        try peer.close()
        let first = context.nextID(for: peer)
        let count = try ChildProcess.number(["kill", peer.name, context.options.directory, "\(first)"])
        let rows = context.newRows(count, for: peer)
        guard let last = rows.last else { return [:] }
        var value = 0.0
        let time = try seconds { value = try peer.openAndRead(.synced, id: last.id) }
        // Acknowledged before the kill, so it has to be there.
        if value != last.hours { throw ChildProcess.Failure(text: "a commit was lost: \(value), not \(last.hours)") }
        return ["open-killed": time * 1e3, "open-killed-commits": Double(count)]
      }),
  ]
}

/// Transactions of one row.
func committingWorkloads(_ context: RunContext) -> [MainWorkload] {
  let synced = max(300, context.rows / 1000)
  let unsynced = max(1000, context.rows / 20)

  func line(_ name: String, _ title: String, _ count: Int, _ durability: CommitDurability, _ lines: [Line])
    -> MainWorkload
  {
    MainWorkload(
      name, [Line(name, title, .perSecond)] + lines,
      prepare: { peer, _, _ in
        try peer.close()
        try peer.open(durability)
      },
      checkAfter: { peer, context in
        try peer.close()
        try peer.open(.synced)
        return try peer.digest(context.rows)
      },
      run: { peer, context, _ in
        let rows = context.newRows(count, for: peer)
        var latencies: [Double] = []
        latencies.reserveCapacity(count)
        try peer.insert(rows[0])
        let before = ProcessCounters.now()
        let start = now()
        var last = start
        for row in rows[1...] {
          try peer.insert(row)
          let next = now()
          latencies.append((next - last) * 1e6)
          last = next
        }
        let time = last - start
        let after = ProcessCounters.now()
        let samples = Samples(values: latencies)
        let n = Double(count - 1)
        let bare = durability == .synced ? try BareFile.syncsPerSecond(in: context.options.directory) : 1
        return [
          name: n / time, name + "-share": 100 * n / time / bare, name + "-p50": samples.quantile(0.5),
          name + "-p99": samples.quantile(0.99),
          name + "-p999": samples.quantile(0.999), name + "-syncs": Double(after.syncs - before.syncs) / n,
          name + "-bytes": Double(after.written - before.written) / n,
        ]
      })
  }

  return [
    line(
      "commit", "single-row durable commits", synced, .synced,
      [
        Line("commit-p50", "their latency, median", .microseconds), Line("commit-p99", "99%", .microseconds),
        Line("commit-p999", "99.9%", .microseconds),
        Line("commit-share", "their rate, of bare writes of 512 bytes with a sync each", .share),
        Line("commit-syncs", "syncs a commit", .count),
      ]),
    line("commit-unsynced", "single-row commits, not synced each", unsynced, .unsynced, []),
  ]
}

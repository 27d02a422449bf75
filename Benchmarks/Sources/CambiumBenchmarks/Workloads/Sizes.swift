/// Sizes of files and of memory, on stores of their own.
func sizeWorkloads(_ context: RunContext) -> [MainWorkload] {
  let rows = max(10_000, context.rows / 10)
  return [
    MainWorkload(
      "sizes",
      [
        Line("size-loaded", "bytes in the file an aircraft, after load (10% of the rows)", .bytes),
        Line("size-overwritten", "after every row was overwritten 10 times", .bytes),
        Line("size-compacted", "after compaction", .bytes), Line("compact", "that compaction", .milliseconds),
      ], rounds: 1,
      run: { peer, context, _ in
        let peer = try Program.peer(peer.name, directory: context.options.directory + "/sizes")
        try peer.create(.synced)
        try peer.load(context.data.aircraft.prefix(rows))
        let loaded = try peer.fileBytes()
        for pass in 0..<10 { try peer.setHours(ids: Array(1...rows), Double(pass), oneByOne: false) }
        let overwritten = try peer.fileBytes()
        let time = try seconds { try peer.compact() }
        let compacted = try peer.fileBytes()
        try peer.close()
        let n = Double(rows)
        return [
          "size-loaded": Double(loaded) / n, "size-overwritten": Double(overwritten) / n,
          "size-compacted": Double(compacted) / n, "compact": time * 1e3,
        ]
      }),
    MainWorkload(
      "memory", [Line("memory", "memory that the bulk load adds at most", .bytes)], rounds: 1,
      run: { peer, context, _ in
        let directory = context.options.directory + "/sizes"
        return ["memory": Double(try ChildProcess.number(["memory", peer.name, directory, "\(context.rows)"]))]
      }),
    MainWorkload(
      "commit-bytes", [Line("commit-bytes", "bytes written a single-row commit, 3 checkpoints and more", .bytes)],
      rounds: 1,
      prepare: { peer, context, _ in
        try peer.close()
        try peer.open(.unsynced)
      },
      run: { peer, context, _ in
        // As many commits as it takes to write three times the longest log there may be, up to 200,000.
        let before = ProcessCounters.now().written
        var count = 0
        repeat {
          for row in context.newRows(1000, for: peer) { try peer.insert(row) }
          count += 1000
        } while ProcessCounters.now().written - before < 7 * Tuning.logBytes
          && count < (context.options.isQuick ? 2000 : 200_000)
        return ["commit-bytes": Double(ProcessCounters.now().written - before) / Double(count)]
      }),
  ]
}

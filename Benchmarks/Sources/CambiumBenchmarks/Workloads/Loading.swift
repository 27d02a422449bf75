/// Bulk loads: a million rows in one durable transaction, indexes included.
func loadingWorkloads() -> [MainWorkload] {
  [
    MainWorkload(
      "load",
      [
        Line("load", "bulk load of aircraft, 2 indexes, durable", .rowsPerSecond),
        Line("load-bytes", "bytes written a row of it", .bytes),
      ],
      prepare: { peer, _, _ in try peer.create(.synced) },
      checkAfter: { peer, context in try peer.digest(context.rows) },
      run: { peer, context, _ in
        let before = ProcessCounters.now()
        let time = try seconds { try peer.load(context.data.aircraft[...]) }
        let written = ProcessCounters.now().written - before.written
        let rows = Double(context.rows)
        return ["load": rows / time, "load-bytes": Double(written) / rows]
      }),
    MainWorkload(
      "entries", [Line("entries", "bulk load of log entries, 2 indexes, durable", .rowsPerSecond)], rounds: 1,
      checkAfter: { peer, context in
        var answer = Answer()
        try peer.entries(from: 0, before: 1e12) { answer.addWhole($0) }
        return answer
      },
      run: { peer, context, _ in
        ["entries": Double(context.rows) / (try seconds { try peer.load(context.data.entries[...]) })]
      }),
    MainWorkload(
      "size", [Line("size", "bytes in the file for an aircraft and an entry, after load", .bytes)], rounds: 1,
      // Closed, so that no log is left beside the file.
      prepare: { peer, _, _ in
        try peer.close()
        try peer.open(.synced)
      },
      run: { peer, context, _ in ["size": Double(try peer.fileBytes()) / Double(context.rows)] }),
  ]
}

import Foundation
import Synchronization

/// Changes of the model, on a store of their own.
func migrationWorkloads(_ context: RunContext) -> [MainWorkload] {
  [
    MainWorkload(
      "migrate",
      [
        Line("attribute-added", "attribute added", .milliseconds),
        Line("attribute-renamed", "attribute renamed", .milliseconds),
        Line("attribute-dropped", "attribute dropped, its room freed", .milliseconds),
        Line("attribute-dropped-deferred", "attribute dropped, its room freed later where that can be", .milliseconds),
        Line("attribute-dropped-pass", "the same, with the pass that frees its room", .milliseconds),
        Line("index-created", "index created", .milliseconds),
        Line("index-created-deferred", "index created, filled later where that can be", .milliseconds),
        Line("index-created-pass", "the same, with the pass that fills it", .milliseconds),
        Line("entity-copied", "every row in a new shape, three indexes made", .milliseconds),
      ], rounds: 3,
      run: { peer, context, _ in
        let peer = try Program.peer(peer.name, directory: context.options.directory + "/migrate")
        try peer.create(.synced)
        try peer.load(context.data.aircraft[...])
        // What was loaded is in its pages before anything is changed, and has been read once.
        _ = try peer.fileBytes()
        try peer.firstRows(context.rows) { _ in }
        var result: [String: Double] = [:]
        for (line, change) in [
          ("attribute-added", SchemaChange.addAttribute), ("attribute-renamed", .renameAttribute),
          ("attribute-dropped-deferred", .dropAttributeDeferred), ("attribute-dropped", .dropAttribute),
          ("index-created", .createIndex), ("entity-copied", .copyEntity),
          ("index-created-deferred", .createIndexDeferred),
        ] {
          let time = 1e3 * (try seconds { try peer.change(change) })
          result[line] = time
          let pass = line.replacingOccurrences(of: "-deferred", with: "-pass")
          if pass != line { result[pass] = time + 1e3 * (try seconds { try peer.finishChanges() }) }
        }
        try peer.close()
        return result
      }),
    besidePass(context),
  ]
}

/// Reads and durable commits while what a migration put off is done, and without that: how long the slowest of a
/// hundred take.
private func besidePass(_ context: RunContext) -> MainWorkload {
  let ids = context.data.randomIDs(100_000, seed: 901)
  let commits = max(300, context.rows / 500)

  /// Commits rows one by one beside a thread that reads, until `isDone`; latencies in microseconds.
  func latencies(_ peer: any Peer, _ rows: [Aircraft], beside other: @escaping @Sendable () throws -> Void) throws -> (
    gets: Samples, commits: Samples
  ) {
    let reader = try peer.session()
    let writer = try peer.session()
    let isDone = Atomic<Bool>(false)
    let result = Mutex((gets: [Double](), commits: [Double]()))
    try onThreads(3) { i in
      var times: [Double] = []
      switch i {
      case 0:
        defer { isDone.store(true, ordering: .relaxed) }
        for row in rows { times.append(1e6 * (try seconds { try writer.insert(row) })) }
        result.withLock { $0.commits = times }
      case 1:
        var n = 0
        while !isDone.load(ordering: .relaxed) {
          // A hundred at a time, with a pause: the reader is not to take a processor for itself.
          for _ in 0..<100 {
            let id = ids[n % ids.count]
            times.append(1e6 * (try seconds { _ = try reader.hours(id: id) }))
            n += 1
          }
          usleep(1000)
        }
        result.withLock { $0.gets = times }
      default: try other()
      }
    }
    reader.close()
    writer.close()
    return result.withLock { (Samples(values: $0.gets), Samples(values: $0.commits)) }
  }

  return MainWorkload(
    "beside-pass",
    [
      Line("quiet-get-p99", "reads beside a thread that commits durably, 99%", .microseconds),
      Line("pass-get-p99", "the same while what a migration put off is done", .microseconds),
      Line("quiet-commit-p99", "its commits, 99%", .microseconds),
      Line("pass-commit-p99", "the same while what a migration put off is done", .microseconds),
    ], rounds: 3,
    run: { peer, context, _ in
      // Only who puts work off can do it beside others.
      guard peer.putsOffChanges else { throw NotSupported() }
      let peer = try Program.peer(peer.name, directory: context.options.directory + "/migrate")
      try peer.create(.synced)
      try peer.change(.addAttribute)
      try peer.load(context.data.aircraft[...])
      _ = try peer.fileBytes()
      try peer.firstRows(context.rows) { _ in }
      let quiet = try latencies(peer, context.newRows(commits, for: peer)) {}
      try peer.change(.dropNoteDeferred)
      try peer.change(.createIndexDeferred)
      nonisolated(unsafe) let unchecked = peer
      let busy = try latencies(peer, context.newRows(commits, for: peer)) { try unchecked.finishChanges() }
      try peer.close()
      return [
        "quiet-get-p99": quiet.gets.quantile(0.99), "pass-get-p99": busy.gets.quantile(0.99),
        "quiet-commit-p99": quiet.commits.quantile(0.99), "pass-commit-p99": busy.commits.quantile(0.99),
      ]
    })
}

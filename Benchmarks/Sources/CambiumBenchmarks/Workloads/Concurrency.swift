import Foundation
import Synchronization

/// Several threads at once.
func threadWorkloads(_ context: RunContext) -> [MainWorkload] {
  let writers = 8
  let perWriter = max(50, context.rows / 4000)
  let commits = max(200, context.rows / 1000)
  let random = context.data.randomIDs(100_000, seed: 900)

  func reopen(_ peer: any Peer, _ durability: CommitDurability) throws {
    try peer.close()
    try peer.open(durability)
  }

  func beside(_ name: String, _ title: String, _ durability: CommitDurability) -> MainWorkload {
    MainWorkload(
      name,
      [
        Line(name + "-gets", "reads of one thread beside \(title)", .perSecond),
        Line(name + "-commits", "that writer's commits", .perSecond),
      ],
      prepare: { peer, _, _ in try reopen(peer, durability) },
      checkAfter: { peer, context in
        try reopen(peer, .synced)
        return try peer.digest(context.rows)
      },
      run: { peer, context, _ in
        let rows = context.newRows(durability == .synced ? commits : commits * 10, for: peer)
        let reader = try peer.session()
        let writer = try peer.session()
        let isDone = Atomic<Bool>(false)
        let gets = Atomic<Int>(0)
        let ids = random
        // What is measured is what a reader and a writer do to each other, not how pages come from the file: what
        // is read has been read before, through the same session, by each peer.
        for id in ids { _ = try reader.hours(id: id) }
        let time = try seconds {
          try onThreads(2) { i in
            if i == 0 {
              defer { isDone.store(true, ordering: .relaxed) }
              for row in rows { try writer.insert(row) }
            } else {
              var n = 0
              var sum = 0.0
              while !isDone.load(ordering: .relaxed) {
                sum += try reader.hours(id: ids[n % ids.count])
                n += 1
              }
              gets.store(sum > 0 ? n : 0, ordering: .relaxed)
            }
          }
        }
        reader.close()
        writer.close()
        return [
          name + "-gets": Double(gets.load(ordering: .relaxed)) / time, name + "-commits": Double(rows.count) / time,
        ]
      })
  }

  return [
    MainWorkload(
      "group",
      [
        Line("group", "8 threads, each committing rows durably, in all", .perSecond),
        Line("group-syncs", "syncs a commit of these", .count),
      ],
      prepare: { peer, _, _ in try reopen(peer, .synced) },
      checkAfter: { peer, context in try peer.digest(context.rows) },
      run: { peer, context, _ in
        let rows = context.newRows(writers * perWriter, for: peer)
        let sessions = try (0..<writers).map { _ in try peer.session() }
        let before = ProcessCounters.now().syncs
        let time = try seconds {
          try onThreads(writers) { i in
            for row in rows[(i * perWriter)..<((i + 1) * perWriter)] { try sessions[i].insert(row) }
          }
        }
        let syncs = ProcessCounters.now().syncs - before
        for session in sessions { session.close() }
        let n = Double(writers * perWriter)
        return ["group": n / time, "group-syncs": Double(syncs) / n]
      }),
    beside("beside", "a writer that commits durably", .synced),
    beside("beside-unsynced", "a writer that commits without syncs", .unsynced),
  ]
}

import Foundation
import Synchronization

/// Requests of many tasks beside a heartbeat.
func serverWorkloads(_ data: Dataset, seconds length: Double) -> [Workload<any ServerPeer>] {
  func workload(_ id: String, _ title: String, tasks: Int, isSaving: Bool) -> Workload<any ServerPeer> {
    Workload(
      id,
      [
        Line(id, "\(title), all together", .perSecond),
        Line(id + "-99", "99% of the beats beside them take at most", .milliseconds),
        Line(id + "-most", "the longest beat", .milliseconds),
      ] + (isSaving ? [Line(id + "-syncs", "syncs a save", .count)] : []),
      prepare: { peer, _, _ in try peer.create(data.aircraft[...]) },
      run: { peer, _, _ in
        let before = ProcessCounters.now().syncs
        let load = ServerLoad(peer, data, isSaving: isSaving)
        let (count, beats, time) = try load.run(tasks: tasks, seconds: length)
        let expected = data.rows + (isSaving ? count : 0)
        guard try peer.count() == Answer(count: expected) else { throw LostSaves() }
        var values = [
          id: Double(count) / time, id + "-99": beats[min(beats.count - 1, beats.count * 99 / 100)],
          id + "-most": beats[beats.count - 1],
        ]
        if isSaving { values[id + "-syncs"] = Double(ProcessCounters.now().syncs - before) / Double(count) }
        return values
      })
  }
  return [
    workload("save64", "saves of 64 tasks, durable", tasks: 64, isSaving: true),
    workload("save2", "saves of 2 tasks, durable, back to back", tasks: 2, isSaving: true),
    workload("scan8", "scans of \(data.rows) aircraft by 8 tasks", tasks: 8, isSaving: false),
  ]
}

/// Not every save is there that was acknowledged, or one is that was not.
private struct LostSaves: Error {}

/// Tasks that make requests until the time is over.
private final class ServerLoad: Sendable {
  private let peer: any ServerPeer
  private let data: Dataset
  private let isSaving: Bool
  private let count = Atomic(0)
  private let isOver = Atomic(false)

  init(_ peer: any ServerPeer, _ data: Dataset, isSaving: Bool) {
    self.peer = peer
    self.data = data
    self.isSaving = isSaving
  }

  /// The number of requests, the milliseconds of the beats, ascending, and the seconds that all took.
  func run(tasks: Int, seconds length: Double) throws -> (count: Int, beats: [Double], time: Double) {
    let result = Mutex<Result<[Double], any Error>>(.success([]))
    let isDone = DispatchSemaphore(value: 0)
    let began = now()
    Task.detached { [self] in
      do {
        let beats = try await beats(besides: tasks, seconds: length)
        result.withLock { $0 = .success(beats) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
      isDone.signal()
    }
    isDone.wait()
    return (count.load(ordering: .relaxed), try result.withLock { try $0.get() }.sorted(), now() - began)
  }

  private func beats(besides tasks: Int, seconds length: Double) async throws -> [Double] {
    let heartbeat = Heartbeat()
    async let beats = heartbeat.beats()
    // The time is kept by a thread, because a task may get no turn.
    Thread.detachNewThread { [self] in
      Thread.sleep(forTimeInterval: length)
      isOver.store(true, ordering: .relaxed)
    }
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks { group.addTask { try await self.request() } }
        try await group.waitForAll()
      }
    } catch {
      heartbeat.end()
      throw error
    }
    heartbeat.end()
    return await beats
  }

  private func request() async throws {
    while !isOver.load(ordering: .relaxed) {
      let number = count.add(1, ordering: .relaxed).newValue
      if isSaving {
        try await peer.save(Aircraft(id: data.rows + number))
      } else {
        _ = try await peer.count(hoursAbove: Double(number % 1_000))
      }
    }
  }
}

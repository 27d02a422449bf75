import CambiumTesting

@testable import CambiumKernel

/// Cuts the power of workloads at their operations, opens what is left, and gathers what is wrong with it.
struct CrashRunner {
  struct Mode: Sendable, CustomStringConvertible {
    var durability: Durability
    var tearing: Tearing
    var description: String { "\(durability)" }

    static let all = [
      Mode(durability: .full, tearing: .byteRange), Mode(durability: .strict, tearing: .sector(bytes: 4096)),
      Mode(durability: .normal, tearing: .byteRange), Mode(durability: .strict, tearing: .sector(bytes: 512)),
    ]
  }

  let scenario: CrashScenario
  let mode: Mode
  let seed: UInt64
  /// About how many images to make.
  var budget: Int
  /// Stop at the first thing that is wrong.
  var stopsAtFirst = false
  /// Put between store and disk.
  var wrap: (SimulatedDisk) -> any StorageDevice = { $0 }

  private(set) var images = 0
  private(set) var states: Set<UInt64> = []
  private(set) var failures: [String] = []
  private var random: SplitMix64

  init(
    scenario: CrashScenario, mode: Mode, seed: UInt64, budget: Int, stopsAtFirst: Bool = false,
    wrap: @escaping (SimulatedDisk) -> any StorageDevice = { $0 }
  ) {
    self.scenario = scenario
    self.mode = mode
    self.seed = seed
    self.budget = budget
    self.stopsAtFirst = stopsAtFirst
    self.wrap = wrap
    random = SplitMix64(seed: seed ^ 0xC0FFEE)
  }

  private var isDone: Bool { failures.count >= (stopsAtFirst ? 1 : 5) }

  private mutating func fail(_ text: String) {
    failures.append("\(scenario), \(mode), seed \(seed): \(text)")
  }

  mutating func run() {
    let w = CrashWorkload(options: scenario.options(mode.durability), seed: seed, wrap: wrap)
    do { try scenario.run(w) } catch {
      fail("the workload itself threw \(error)")
      return
    }
    for problem in w.problems { fail(problem) }
    // Three quarters of the images are of the workload, the rest of processes that were killed and went on.
    cut(w.disk, w.history, from: 0, budget: budget * 3 / 4)
    let runs = max(1, budget / 4 / 40)
    for _ in 0..<runs where !isDone { killAndGoOn(w, budget: budget / 4 / runs) }
  }

  /// Cuts the power at points from `first` on, spread over all of them.
  mutating func cut(_ disk: SimulatedDisk, _ history: CrashHistory, from first: Int, budget: Int) {
    let last = disk.operationCount
    var points = Array(first...last)
    let perPoint = max(4, min(40, budget / points.count))
    let wanted = max(1, budget / perPoint)
    while points.count > wanted { points.remove(at: random.below(points.count)) }
    for point in points where !isDone { cut(disk, history, at: point, limit: perPoint) }
  }

  private mutating func cut(_ disk: SimulatedDisk, _ history: CrashHistory, at point: Int, limit: Int) {
    for image in disk.crashImages(at: point, limit: limit, tearing: mode.tearing, seed: random.next()) {
      images += 1
      let found = examine(image.bytes, history, at: point)
      switch found {
      case .wrong(let text): fail("\(image): \(text); \(story(disk, point))")
      case .right(let sequence, _) where random.oneIn(8):
        recoverAndCut(image.bytes, history, at: point, sequence, "\(image)")
      default: break
      }
      if isDone { return }
    }
  }

  private func story(_ disk: SimulatedDisk, _ point: Int) -> String {
    disk.story.prefix(point).suffix(8).joined(separator: "; ")
  }

  private enum Finding {
    case wrong(String)
    case right(sequence: UInt64, hash: UInt64)
    /// The store was never finished.
    case none
  }

  /// Opens a disk and compares what is there with what may be.
  private mutating func examine(
    _ bytes: [UInt8], _ history: CrashHistory, at point: Int, exactly: UInt64? = nil
  ) -> Finding {
    let device = MemoryDevice(copying: bytes, lock: ThreadLock())
    let environment = TestEnvironment(seed: random.next())
    let store: Store
    do {
      store = try Store.open(on: device, environment: environment, options: scenario.options(mode.durability))
    } catch {
      return history.mustExist(at: point) ? .wrong("opening threw \(error)") : .none
    }
    do {
      let snapshot = try store.snapshot()
      let hash = try StoreContent.hash(of: snapshot)
      if let wrong = history.judge(snapshot.sequence, hash, at: point) { return .wrong(wrong) }
      if let exactly, exactly != snapshot.sequence {
        return .wrong("a finished recovery found \(exactly), the next opening \(snapshot.sequence)")
      }
      if history.closed.contains(point), !store.superblock.isClean {
        return .wrong("the store was closed, and is not marked so")
      }
      let report = try store.check()
      if let problem = report.problems.first { return .wrong("check: \(problem)") }
      for commit in try store.retainedCommits() {
        let retained = try StoreContent.hash(of: store.snapshot(retained: commit.id))
        guard history.entries.contains(where: { $0.sequence == commit.sequence && $0.hash == retained }) else {
          return .wrong("the retained commit \(commit.sequence) is not what was committed")
        }
      }
      var state = ContentHash()
      state.add(hash)
      state.add(snapshot.sequence)
      state.add(store.superblock.publication)
      state.add(store.superblock.isClean ? 1 : 0)
      state.add(UInt64(store.superblock.pieces.count))
      state.add(store.log.length)
      states.insert(state.value)
      return .right(sequence: snapshot.sequence, hash: hash)
    } catch { return .wrong("reading threw \(error)") }
  }

  /// Recovers on a disk that fails as well: cuts the power during the recovery, and after a few more commits.
  private mutating func recoverAndCut(
    _ bytes: [UInt8], _ history: CrashHistory, at point: Int, _ sequence: UInt64, _ image: String
  ) {
    // What may be found before recovery is done, as a history of the new disk.
    var known = CrashHistory()
    for var entry in history.entries where entry.begun < point && entry.gone > point {
      entry.begun = -1
      entry.acknowledged = entry.acknowledged <= point ? 0 : .max
      known.entries.append(entry)
    }
    let w = CrashWorkload(
      killed: SimulatedDisk(bytes), history: known, options: scenario.options(mode.durability), seed: random.next(),
      wrap: wrap)
    do {
      try w.reopen()
      if random.oneIn(2) {
        for _ in 0..<(1 + random.below(6)) { try goOn(w) }
      }
    } catch {
      fail("after \(image): going on threw \(error)")
      return
    }
    for problem in w.problems { fail("after \(image): \(problem)") }
    for _ in 0..<4 where !isDone {
      let at = random.below(w.disk.operationCount + 1)
      cutOnce(w, at: at, "after \(image): ")
    }
  }

  private mutating func cutOnce(_ w: CrashWorkload, at point: Int, _ text: String) {
    for image in w.disk.crashImages(at: point, limit: 4, tearing: mode.tearing, seed: random.next()) {
      images += 1
      if case .wrong(let wrong) = examine(image.bytes, w.history, at: point) {
        fail("\(text)\(image): \(wrong); \(story(w.disk, point))")
        return
      }
    }
  }

  private func goOn(_ w: CrashWorkload) throws {
    if w.content.trees.isEmpty { try w.makeTrees() }
    if w.random.oneIn(6) { try w.checkpoint() }
    if scenario == .restoring, w.random.oneIn(3) { try w.restore() }
    try w.changeRows(1 + w.random.below(4), keys: 100, valueBytes: w.random.oneIn(6) ? 3000 : 200)
  }

  /// Kills the process somewhere, which loses nothing, reopens, goes on committing, and then cuts the power.
  private mutating func killAndGoOn(_ base: CrashWorkload, budget: Int) {
    let point = random.below(base.disk.operationCount + 1)
    let partialBytes = random.oneIn(2) ? random.below(5000) : 0
    let history = base.history.cut(at: point, wasWriting: partialBytes > 0)
    guard history.mustExist(at: point) else { return }
    let w = CrashWorkload(
      killed: base.disk.killed(at: point, partialBytes: partialBytes), history: history,
      options: scenario.options(mode.durability), seed: random.next(), wrap: wrap)
    do {
      try w.reopen()
      for _ in 0..<random.below(8) { try goOn(w) }
      if random.oneIn(3) {
        try w.close()
        if random.oneIn(2) { try w.reopen() }
      }
    } catch {
      fail("killed at \(point): going on threw \(error)")
      return
    }
    for problem in w.problems { fail("killed at \(point): \(problem)") }
    let last = w.disk.operationCount
    for _ in 0..<max(1, budget / 4) where !isDone {
      cutOnce(w, at: point + random.below(last - point + 1), "killed at \(point): ")
    }
  }
}

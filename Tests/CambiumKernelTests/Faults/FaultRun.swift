import CambiumTesting

@testable import CambiumKernel

/// What fails, and for how long.
enum IOFault: String, CaseIterable, Sendable {
  case read, readForGood, write, writeForGood, shortWrite, shortWriteForGood, sync, syncForGood, resize, resizeForGood
  case size, fullDisk

  /// The operations that it counts; nil: those that make the file longer.
  var kind: FaultDevice.Kind? {
    switch self {
    case .read, .readForGood: .read
    case .write, .writeForGood, .shortWrite, .shortWriteForGood: .write
    case .sync, .syncForGood: .sync
    case .resize, .resizeForGood: .resize
    case .size: .size
    case .fullDisk: nil
    }
  }

  var isForGood: Bool {
    switch self {
    case .readForGood, .writeForGood, .shortWriteForGood, .syncForGood, .resizeForGood: true
    default: false
    }
  }

  /// How much of the write of that number reaches the disk: nothing, some, or all of it, and then the error.
  func writtenBytes(_ number: Int) -> Int {
    switch self {
    case .shortWrite, .shortWriteForGood: [16, 700, .max][number % 3]
    default: 0
    }
  }
}

/// A workload in which the operation of one number fails, and what comes of it: during the fault, once it is gone,
/// after a power cut, and when the store is opened again.
struct FaultRun: CustomStringConvertible {
  let scenario: CrashScenario
  let mode: CrashRunner.Mode
  let fault: IOFault
  let number: Int
  let seed: UInt64

  private let filling: FillingDevice
  private let device: FaultDevice
  private let w: CrashWorkload
  private(set) var problems: [String] = []
  private(set) var isMet = false

  var description: String { "\(scenario), \(mode), \(fault) \(number)" }

  /// How many operations there are that can fail, per fault, when none does.
  static func counts(_ scenario: CrashScenario, _ mode: CrashRunner.Mode, seed: UInt64) throws -> [IOFault: Int] {
    let run = FaultRun(scenario, mode, .read, .max, seed)
    try scenario.run(run.w)
    var counts: [IOFault: Int] = [:]
    for fault in IOFault.allCases {
      counts[fault] = fault.kind.map { run.device.operationCount(of: $0) } ?? run.filling.growthCount
    }
    return counts
  }

  init(_ scenario: CrashScenario, _ mode: CrashRunner.Mode, _ fault: IOFault, _ number: Int, _ seed: UInt64) {
    self.scenario = scenario
    self.mode = mode
    self.fault = fault
    self.number = number
    self.seed = seed
    let disk = SimulatedDisk()
    let filling = FillingDevice(disk, fullAt: fault.kind == nil ? number : nil)
    let device = FaultDevice(filling)
    if let kind = fault.kind {
      device.plan(
        .init(kind, at: number, forGood: fault.isForGood, writtenBytes: fault.writtenBytes(number)))
    }
    self.filling = filling
    self.device = device
    w = CrashWorkload(disk: disk, options: scenario.options(mode.durability), seed: seed) { _ in device }
  }

  private mutating func fail(_ text: String) { problems.append("\(self): \(text)") }

  mutating func run() {
    do {
      do { try scenario.run(w) } catch let error as StoreError {
        met(error)
      } catch is CrashWorkload.Missing {
        // The scenario closed the store, which failed.
      }
      isMet = device.failureCount + filling.refusalCount > 0
      for problem in w.problems { fail(problem) }
      // Closing closes, whatever it meets.
      if let store = w.store, store.isClosed { w.kill() }
      if let store = w.store { try look(at: store) }
      cutThePower()
      openDuringTheFault()
      device.reset()
      filling.makeRoom()
      if w.store != nil, !isPoisoned { try goOn("with the same handle") }
      guard w.history.mustExist(at: w.point) else { return }
      w.kill()
      try w.reopen()
      try goOn("after opening again")
      try w.close()
      try w.reopen()
      try expectSound("at the end")
      for problem in w.problems { fail(problem) }
    } catch { fail("once the fault was gone: \(error)") }
  }

  private var isPoisoned: Bool {
    guard let store = w.store else { return false }
    store.lock.lock()
    defer { store.lock.unlock() }
    return store.isPoisoned
  }

  /// The error that the workload ended with.
  private mutating func met(_ error: StoreError) {
    if device.failureCount + filling.refusalCount == 0 { fail("without a fault: \(error)") }
    switch error {
    case .device, .poisoned: break
    case .deviceFull, .reserveExhausted:
      if fault != .fullDisk { fail("a full disk is reported: \(error)") }
    default: fail("met as \(error)")
    }
    // A commit that was refused does not exist; what a poisoned handle was about may be there.
    if let store = w.store, !isPoisoned, let last = w.history.entries.last, last.acknowledged == .max {
      if last.sequence > store.appendedSequence { w.history.entries.removeLast() }
    }
  }

  /// The handle, while the fault holds: views stay at what was acknowledged, a poisoned one writes nothing.
  private mutating func look(at store: Store) throws {
    do {
      let snapshot = try store.snapshot()
      let hash = try StoreContent.hash(of: snapshot)
      let entry = w.history.entries.last { $0.sequence == snapshot.sequence && $0.gone == .max }
      if entry?.hash != hash { fail("a view is not what was committed") }
      let isSynced = mode.durability == .full || mode.durability == .strict
      if isSynced, entry?.acknowledged == .max { fail("a view shows a commit that was not acknowledged") }
    } catch let error as StoreError {
      guard case .device = error, fault.isForGood || fault.kind == .read else {
        return fail("a view cannot be read: \(error)")
      }
    }
    guard isPoisoned else { return }
    let before = w.disk.operationCount
    let refusals = [
      Result { _ = try store.beginWrite() }, Result { try store.checkpoint() }, Result { try store.compact() },
      Result { _ = try store.maintain(pages: 1) }, Result { _ = try store.retain(reason: "r") },
      Result { try store.close() },
    ]
    for (n, refusal) in refusals.enumerated() {
      guard case .failure(let error) = refusal, error as? StoreError == .poisoned else {
        fail("a poisoned handle does not refuse call \(n): \(refusal)")
        continue
      }
    }
    if w.disk.operationCount != before { fail("a poisoned handle writes") }
  }

  /// The power is cut where the fault has left the disk.
  private mutating func cutThePower() {
    let point = w.point
    for image in w.disk.crashImages(at: point, limit: 3, tearing: mode.tearing, seed: seed &+ UInt64(number)) {
      do {
        let store = try Store.open(
          on: MemoryDevice(copying: image.bytes, lock: ThreadLock()), environment: TestEnvironment(seed: seed),
          options: w.options)
        let snapshot = try store.snapshot()
        let hash = try StoreContent.hash(of: snapshot)
        if let wrong = w.history.judge(snapshot.sequence, hash, at: point) { fail("\(image): \(wrong)") }
        let found = try store.check().problems
        if !found.isEmpty { fail("\(image): check: \(found)") }
      } catch { if w.history.mustExist(at: point) { fail("\(image): \(error)") } }
    }
  }

  /// A fault that holds for good meets the next opening, too.
  private mutating func openDuringTheFault() {
    guard fault.isForGood, device.failureCount > 0 else { return }
    do {
      _ = try Store.open(on: device, environment: TestEnvironment(seed: seed), options: w.options)
      fail("a device that does nothing is opened")
    } catch {
      guard case .device = error else { return fail("opening a device that does nothing: \(error)") }
    }
  }

  /// Everything works again.
  private mutating func goOn(_ text: String) throws {
    try expectSound(text)
    if w.content.trees.isEmpty { try w.makeTrees() }
    for _ in 0..<2 { try w.changeRows(3, keys: 60, valueBytes: 300) }
    try w.checkpoint()
    try w.changeRows(2, keys: 60, valueBytes: 3000)
    try expectSound(text)
  }

  private mutating func expectSound(_ text: String) throws {
    let store = try w.open()
    if try StoreContent.hash(of: store.snapshot()) != w.content.hash { fail("\(text): other content") }
    let found = try store.check().problems
    if !found.isEmpty { fail("\(text): check: \(found)") }
  }
}

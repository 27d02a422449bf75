import CambiumTesting

@testable import CambiumKernel
@testable import CambiumKernelTests

/// The input is a program of operations on a store, with faults of the device, kills and power cuts. What the store
/// holds is compared with sorted arrays; a store that nothing failed under may not refuse anything.
enum OperationsTarget {
  static func problem(_ input: FuzzInput) -> String? {
    let run = OperationsRun(input)
    do {
      try run.go()
    } catch {
      return "operation \(run.count), \(run.now): \(error)"
    }
    return nil
  }
}

/// One program, and the state that it has come to.
final class OperationsRun {
  struct Wrong: Error, CustomStringConvertible { let description: String }

  private var input: FuzzInput
  private let tearing: Tearing
  private let environment = TestEnvironment(seed: 3)
  private var options = StoreOptions()
  private var disk = SimulatedDisk()
  private var filling: FillingDevice
  private var device: FaultDevice
  private var store: Store?
  /// What the newest commit holds.
  private var content = StoreContent()
  private var history = CrashHistory()
  private var snapshots: [(Snapshot, StoreContent)] = []
  private var retained: [UInt64: StoreContent] = [:]
  private(set) var count = 0
  private(set) var now = "create"
  /// Faults met until an operation began.
  private var metBefore = 0
  /// Faults of devices that were replaced.
  private var metOnOthers = 0

  init(_ input: FuzzInput) {
    self.input = input
    let mode = CrashRunner.Mode.all[self.input.below(CrashRunner.Mode.all.count)]
    options.durability = mode.durability
    tearing = mode.tearing
    options.cacheBytes = 64 << 10
    options.deltaBytes = [64 << 10, 16 << 10, 256 << 10][self.input.below(3)]
    options.logBytes = [16 << 10, 64 << 10][self.input.below(2)]
    options.logValueLimit = 2000
    options.maxRecordBytes = 12 << 10
    filling = FillingDevice(disk)
    device = FaultDevice(filling)
  }

  private var point: Int { disk.operationCount }
  private var met: Int { metOnOthers + device.failureCount + filling.refusalCount }
  private var hasMetFault: Bool { met > metBefore }

  func go() throws {
    history.entries.append(CrashHistory.Entry(sequence: 0, hash: content.hash, content: content, begun: -1))
    store = try Store.create(on: device, environment: environment, options: options)
    history.acknowledge(upTo: 0, at: point)
    while !input.isAtEnd, count < 120 {
      count += 1
      metBefore = met
      try operation(Int(input.byte()) % 32)
    }
    now = "end"
    try repair()
    try check()
    try compareAll()
    try openStore().close()
    store = nil
    if let newest = history.newest { history.acknowledge(upTo: newest.sequence, at: point) }
    try reopen()
    try check()
  }

  private func openStore() throws -> Store {
    guard let store else { throw Wrong(description: "no store is open") }
    return store
  }

  private var isPoisoned: Bool {
    guard let store else { return true }
    store.lock.lock()
    defer { store.lock.unlock() }
    return store.isPoisoned
  }

  /// Lets an operation fail if a fault was met; a handle that is poisoned is opened again.
  private func tolerating(_ body: () throws -> Void) throws {
    do { try body() } catch let error as StoreError {
      guard hasMetFault else { throw Wrong(description: "without a fault: \(error)") }
      if isPoisoned { try poisoned() }
    }
  }

  /// What a poisoned handle does and does not do.
  private func poisoned() throws {
    if let store {
      let refused: StoreError = store.isClosed ? .closed : .poisoned
      guard case .failure(let error) = Result(catching: { try store.beginWrite() }), error as? StoreError == refused
      else { throw Wrong(description: "a poisoned store lets write") }
    }
    try reopen()
  }

  // MARK: Operations

  private func operation(_ code: Int) throws {
    switch code {
    case 0..<14:
      now = "transaction"
      try tolerating { try transaction() }
    case 14:
      now = "checkpoint"
      try tolerating {
        try openStore().checkpoint()
        noteDurable()
        if let newest = history.newest { history.acknowledge(upTo: newest.sequence, at: point) }
      }
    case 15:
      now = "maintain"
      let pages = 1 + input.below(8)
      try tolerating { _ = try openStore().maintain(pages: pages) }
      noteDurable()
    case 16, 17:
      now = "snapshot"
      if snapshots.count > 4 { snapshots.removeFirst() }
      // A view of the newest commit, which is visible: nobody waits for its sync.
      let snapshot = try openStore().snapshot()
      snapshots.append((snapshot, content))
    case 18:
      now = "look at a snapshot"
      guard !snapshots.isEmpty else { return }
      let (snapshot, then) = snapshots[input.below(snapshots.count)]
      try compare(snapshot, then)
    case 19:
      now = "drop a snapshot"
      guard !snapshots.isEmpty else { return }
      snapshots.remove(at: input.below(snapshots.count))
    case 20:
      now = "compaction"
      let budget = (1 + input.below(16)) << 14
      try tolerating { _ = try openStore().compactStep(bytes: budget) }
      noteDurable()
    case 21:
      now = "compact"
      var steps = 0
      try tolerating {
        try openStore().compact { _ in
          steps += 1
          return steps < 200
        }
      }
      noteDurable()
      if steps >= 200 { throw Wrong(description: "compaction does not end") }
    case 22:
      now = "close"
      try tolerating {
        let before = point
        try openStore().close()
        store = nil
        if point > before { history.closed.insert(point) }
        if let newest = history.newest { history.acknowledge(upTo: newest.sequence, at: point) }
      }
      try reopen()
    case 23:
      now = "kill"
      try reopen()
    case 24, 25:
      now = "power cut"
      try powerCut()
    case 26, 27: plan()
    case 28:
      now = "repair"
      try repair()
    case 29:
      now = "check"
      try check()
    case 30: try retain()
    default:
      now = "full disk"
      if input.byte() % 2 == 0 { filling.fillUp() } else { filling.makeRoom() }
    }
  }

  private func plan() {
    now = "plan a fault"
    let kind = FaultDevice.Kind(rawValue: input.below(6))
    let byte = input.byte()
    let index = Int(byte >> 2) + (kind.map { device.operationCount(of: $0) } ?? device.operationCount)
    device.plan(
      FaultDevice.Fault(
        kind, at: index, forGood: byte & 3 == 3, writtenBytes: byte & 1 == 1 ? Int(input.word()) : 0))
  }

  /// Takes all faults away.
  private func repair() throws {
    forgetFaults()
    metBefore = met
    if isPoisoned { try reopen() }
  }

  private func forgetFaults() {
    metOnOthers += device.failureCount
    device.reset()
    filling.makeRoom()
    disk.failSyncs(0)
  }

  private func check() throws {
    let before = met
    try tolerating {
      let problems = try openStore().check().problems
      if !problems.isEmpty, met == before { throw Wrong(description: "check: \(problems)") }
    }
  }

  private func retain() throws {
    now = "retain"
    let choice = input.byte()
    try tolerating {
      let store = try openStore()
      if choice % 3 == 0, let id = retained.keys.sorted().first {
        retained[id] = nil
        try store.release(retained: id)
      } else if choice % 3 == 1 {
        for commit in try store.retainedCommits() {
          guard let then = retained[commit.id] else { continue }
          try compare(try store.snapshot(retained: commit.id), then)
        }
      } else if retained.count < 4 {
        let then = content
        let id = try store.retain(reason: "r").id
        retained[id] = then
        if let newest = history.newest { history.acknowledge(upTo: newest.sequence, at: point) }
      }
    }
  }

  // MARK: Openings

  private func reopen() throws {
    snapshots = []
    store = nil
    let before = met
    do {
      let opened = try Store.open(on: device, environment: environment, options: options)
      store = opened
      let snapshot = try opened.snapshot()
      try adopt(snapshot.sequence, try StoreContent.hash(of: snapshot))
    } catch let error as StoreError {
      guard met > before else { throw Wrong(description: "opening threw \(error)") }
      store = nil
      forgetFaults()
      try reopen()
    }
  }

  private func adopt(_ sequence: UInt64, _ hash: UInt64) throws {
    if let wrong = history.reopened(sequence, hash, at: point) { throw Wrong(description: wrong) }
    guard let found = history.entries.last(where: { $0.sequence == sequence && $0.gone == .max }) else {
      throw Wrong(description: "an unknown commit \(sequence)")
    }
    content = found.content
  }

  /// Cuts the power some operations ago, and looks at what is left; may go on with it.
  private func powerCut() throws {
    let last = point
    let at = last - min(last, Int(input.byte()) / 2)
    let choice = input.byte()
    let images = disk.crashImages(at: at, limit: 3, tearing: tearing, seed: UInt64(choice))
    // The first has lost all that could be lost, the second nothing, the third some.
    let which = Int(choice >> 1) % 3
    var image: CrashImage?
    for (n, each) in images.enumerated() where n <= which { image = each }
    guard let image else { return }
    guard history.mustExist(at: at) else { return }
    let cut = SimulatedDisk(image: image)
    let opened = try Store.open(on: cut, environment: environment, options: options)
    let snapshot = try opened.snapshot()
    let hash = try StoreContent.hash(of: snapshot)
    if let wrong = history.judge(snapshot.sequence, hash, at: at) { throw Wrong(description: "\(image): \(wrong)") }
    let problems = try opened.check().problems
    if !problems.isEmpty { throw Wrong(description: "\(image): check: \(problems)") }
    guard choice % 2 == 0 else { return }
    // That it was found, and that opening for writing has returned, makes it durable on the new disk.
    var known = CrashHistory()
    for var entry in history.entries where entry.begun < at && entry.gone > at {
      entry.begun = -1
      entry.acknowledged = entry.acknowledged <= at ? 0 : .max
      known.entries.append(entry)
    }
    history = known
    snapshots = []
    retained = [:]
    metOnOthers = met
    disk = cut
    filling = FillingDevice(disk)
    device = FaultDevice(filling)
    store = nil
    try reopen()
  }

  private func noteDurable() {
    guard let store else { return }
    store.lock.lock()
    let durable = store.durableSequence
    let visible = store.visibleSequence
    store.lock.unlock()
    history.acknowledge(upTo: options.durability == .normal ? durable : visible, at: point)
  }

  // MARK: Comparing

  private func compare(_ view: TreeView, _ content: StoreContent) throws {
    try tolerating {
      let before = met
      let hash = try StoreContent.hash(of: view)
      if hash != content.hash, met == before { throw Wrong(description: "a view is not what was committed") }
    }
  }

  private func compareAll() throws {
    try compare(try openStore().snapshot(), content)
    for (snapshot, then) in snapshots { try compare(snapshot, then) }
  }

  // MARK: Transactions

  private func transaction() throws {
    let t = try openStore().beginWrite()
    var next = content
    var savepoints: [(Savepoint, StoreContent)] = []
    let steps = 1 + input.below(24)
    do {
      for _ in 0..<steps where !input.isAtEnd { try step(t, &next, &savepoints) }
    } catch {
      t.rollBack()
      throw error
    }
    if input.below(8) == 7 {
      t.rollBack()
      return
    }
    let sequence = t.sequence + 1
    history.begin(sequence, next, at: point)
    do {
      let got = try t.commit()
      if got == t.sequence, got != sequence {
        history.entries.removeLast()
        if next.hash != content.hash { throw Wrong(description: "a commit of changes changed nothing") }
        return
      }
      if got != sequence { throw Wrong(description: "commit \(sequence) was made as \(got)") }
    } catch let error as StoreError {
      // Refused, it does not exist; after a failed write or sync only the next opening knows.
      if !isPoisoned { history.entries.removeLast() }
      throw error
    }
    content = next
    noteDurable()
  }

  private static let lengths = [0, 3, 60, 200, 700, 1999, 2001, 2600, 9000, 30_000]

  private func key(_ kind: TreeKind) -> [UInt8] {
    let byte = input.byte()
    if kind == .integer {
      return modelKey(byte & 1 == 0 ? UInt64(byte) : UInt64(input.byte()) << UInt64(byte >> 2))
    }
    switch byte & 3 {
    case 0: return Array("k\(byte)".utf8)
    case 1: return Array("a shared prefix of keys/\(input.byte())".utf8)
    case 2: return input.take(Int(byte >> 4))
    default: return [UInt8](repeating: byte >> 6, count: Int(input.byte()) * (byte & 4 == 0 ? 1 : 4))
    }
  }

  private func value() -> [UInt8] {
    let byte = input.byte()
    let count = Self.lengths[Int(byte) % (byte < 200 ? 5 : Self.lengths.count)]
    return (0..<count).map { byte &+ UInt8(truncatingIfNeeded: $0) }
  }

  private func put(_ t: WriteTransaction, _ c: inout StoreContent, _ id: TreeID, _ key: [UInt8], _ value: [UInt8])
    throws
  {
    if c.trees[id]?.kind == .integer { try t.put(id, integerKey(key), value) } else { try t.put(id, key, value) }
    c.trees[id]?.entries.put(key, value)
  }

  private func delete(_ t: WriteTransaction, _ c: inout StoreContent, _ id: TreeID, _ key: [UInt8]) throws {
    let isInteger = c.trees[id]?.kind == .integer
    let there = isInteger ? try t.delete(id, integerKey(key)) : try t.delete(id, key)
    if there != c.trees[id]?.entries.delete(key) { throw Wrong(description: "delete answers \(there)") }
  }

  private func step(
    _ t: WriteTransaction, _ c: inout StoreContent, _ savepoints: inout [(Savepoint, StoreContent)]
  ) throws {
    let code = Int(input.byte()) % 20
    let ids = c.trees.keys.sorted()
    if ids.isEmpty || (code == 0 && ids.count < 6) {
      let kind: TreeKind = input.byte() & 1 == 0 ? .integer : .bytes
      c.trees[try t.createTree(kind)] = .init(kind: kind)
      return
    }
    let id = ids[input.below(ids.count)]
    guard let tree = c.trees[id] else { return }
    switch code {
    case 1..<8: try put(t, &c, id, key(tree.kind), value())
    case 8, 9: try delete(t, &c, id, key(tree.kind))
    case 10:
      let key = key(tree.kind)
      let found = tree.kind == .integer ? try t.value(id, integerKey(key)) : try t.value(id, key)
      if found != tree.entries.value(key) { throw Wrong(description: "a value is not the one that was put") }
    case 11:
      // Many rows at once: outgrows the record, or the memory for changes.
      let first = UInt64(input.byte()) << 4
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: first), count: 20 + input.below(150))
      for n in 0..<(UInt64(input.byte()) << 1) {
        let key = tree.kind == .integer ? modelKey(first + n) : Array("row \(first + n)".utf8)
        try put(t, &c, id, key, bytes)
      }
    case 12:
      let first = tree.entries.entries.isEmpty ? 0 : Int(input.byte()) * tree.entries.entries.count / 256
      for entry in tree.entries.entries[first...].prefix(input.below(256)) { try delete(t, &c, id, entry.key) }
    case 13: savepoints.append((t.savepoint(), c))
    case 14:
      guard !savepoints.isEmpty else { return }
      let n = input.below(savepoints.count)
      try t.rollBack(to: savepoints[n].0)
      c = savepoints[n].1
      savepoints.removeLast(savepoints.count - n - 1)
    case 15:
      try t.dropTree(id)
      c.trees[id] = nil
    case 16:
      let (index, change) = (UInt32(input.below(3)), Int64(input.byte()) - 100)
      try t.addToCounter(id, index, change)
      c.trees[id]?.counters[index, default: 0] += change
    case 17:
      if try t.count(id) != UInt64(tree.entries.entries.count) { throw Wrong(description: "the count is wrong") }
      for index in UInt32(0)..<3 where try t.counter(id, index) != tree.counters[index] ?? 0 {
        throw Wrong(description: "a counter is wrong")
      }
    default: try walk(t, id, tree)
    }
  }

  /// Seeks a key and walks to and fro.
  private func walk(_ t: WriteTransaction, _ id: TreeID, _ tree: StoreContent.Tree) throws {
    let key = key(tree.kind)
    let entries = tree.entries.entries
    let cursor = try t.cursor(id)
    var i = tree.entries.lowerBound(key)
    var isThere = tree.kind == .integer ? try cursor.seek(integerKey(key)) : try cursor.seek(key)
    var steps = input.byte()
    for _ in 0..<8 {
      if isThere != entries.indices.contains(i) { throw Wrong(description: "a cursor ends elsewhere") }
      guard isThere else { return }
      let found = tree.kind == .integer ? modelKey(cursor.integerKey) : [UInt8](cursor.key)
      if found != entries[i].key { throw Wrong(description: "a cursor is at another key") }
      if try cursor.value() != entries[i].value { throw Wrong(description: "a cursor has another value") }
      isThere = steps & 1 == 0 ? try cursor.next() : try cursor.previous()
      i += steps & 1 == 0 ? 1 : -1
      steps >>= 1
    }
  }
}

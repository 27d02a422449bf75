import CambiumTesting

@testable import CambiumKernel

/// A store on a simulated disk, driven by a scenario, with a history of what it must hold.
final class CrashWorkload {
  private(set) var disk: SimulatedDisk
  /// What the store writes to: the disk, or a wrapper around it.
  private(set) var device: any StorageDevice
  private let wrap: (SimulatedDisk) -> any StorageDevice
  var options: StoreOptions
  let environment: TestEnvironment
  private(set) var store: Store? {
    didSet { if let spareBytes { store?.spareBytes = spareBytes } }
  }
  /// What the file may be longer than its content asks for, if not as much as ever.
  var spareBytes: UInt64?
  var random: SplitMix64
  var history = CrashHistory()
  var content = StoreContent()
  /// Called after each commit and checkpoint, and before each reopening.
  var onDurable: (Store) throws -> Void = { _ in }
  var beforeReopen: () -> Void = {}
  /// What went wrong while the workload ran.
  private(set) var problems: [String] = []

  init(
    disk: SimulatedDisk = SimulatedDisk(), options: StoreOptions, seed: UInt64,
    wrap: @escaping (SimulatedDisk) -> any StorageDevice = { $0 }
  ) {
    self.disk = disk
    self.options = options
    self.wrap = wrap
    device = wrap(disk)
    environment = TestEnvironment(seed: seed)
    random = SplitMix64(seed: seed)
  }

  /// A workload that goes on where a process was killed.
  convenience init(
    killed disk: SimulatedDisk, history: CrashHistory, options: StoreOptions, seed: UInt64,
    wrap: @escaping (SimulatedDisk) -> any StorageDevice = { $0 }
  ) {
    self.init(disk: disk, options: options, seed: seed, wrap: wrap)
    self.history = history
  }

  var point: Int { disk.operationCount }

  struct Missing: Error {}

  func open() throws -> Store {
    guard let store else { throw Missing() }
    return store
  }

  // MARK: Steps

  func create() throws {
    history.entries.append(
      CrashHistory.Entry(sequence: 0, hash: content.hash, content: content, begun: -1))
    store = try Store.create(on: device, environment: environment, options: options)
    history.acknowledge(upTo: 0, at: point)
  }

  /// Commits what `body` does to the store and to the content.
  func commit(_ body: (WriteTransaction, inout StoreContent) throws -> Void) throws {
    let t = try open().beginWrite()
    var next = content
    do { try body(t, &next) } catch {
      t.rollBack()
      throw error
    }
    let sequence = t.sequence + 1
    history.begin(sequence, next, at: point)
    let got = try t.commit()
    if got == t.sequence {
      // Nothing was changed.
      history.entries.removeLast()
      return
    }
    if got != sequence { problems.append("commit \(sequence) was made as \(got)") }
    content = next
    noteDurable()
    try onDurable(open())
  }

  // MARK: Retained commits

  /// Retains the newest commit, and releases one if there are many.
  func retain() throws {
    let commit = try open().retain(reason: "round \(history.entries.count)")
    if commit.sequence != history.newest?.sequence { problems.append("another commit was retained") }
    noteDurable()
    if let newest = history.newest { history.acknowledge(upTo: newest.sequence, at: point) }
    let all = try open().retainedCommits()
    if all.count > 3 { try open().release(retained: random.pick(all).id) }
  }

  /// Goes back to a retained commit, with some changes.
  func restore(
    isRolledBack: Bool = false, _ body: (WriteTransaction, inout StoreContent) throws -> Void = { _, _ in }
  ) throws {
    let all = try open().retainedCommits()
    guard !all.isEmpty else { return }
    let commit = random.pick(all)
    guard var next = history.entries.last(where: { $0.sequence == commit.sequence && $0.gone == .max })?.content else {
      problems.append("an unknown commit \(commit.sequence) is retained")
      return
    }
    let keeps = random.oneIn(3)
    let t = try open().beginWrite(restoring: commit.id, keepsRetained: keeps)
    let sequence: UInt64
    do {
      if try StoreContent.hash(of: t) != next.hash { problems.append("a restoring transaction sees something else") }
      let newest = try t.newest()
      if try StoreContent.hash(of: newest) != content.hash { problems.append("what is given up is something else") }
      sequence = newest.sequence + 1
      try body(t, &next)
    } catch {
      t.rollBack()
      throw error
    }
    if isRolledBack { return t.rollBack() }
    history.begin(sequence, next, at: point)
    let got = try t.commit()
    if got != sequence { problems.append("going back was made as \(got), not \(sequence)") }
    content = next
    noteDurable()
    if try open().retainedCommits().contains(where: { $0.id == commit.id }) != keeps {
      problems.append("a retained commit was kept or released against the wish")
    }
    try onDurable(open())
  }

  /// Acknowledges what the store says is durable.
  func noteDurable() {
    guard let store else { return }
    store.lock.lock()
    let durable = store.durableSequence
    let visible = store.visibleSequence
    store.lock.unlock()
    let isSynced = options.durability == .full || options.durability == .strict
    history.acknowledge(upTo: isSynced ? visible : durable, at: point)
  }

  func checkpoint() throws {
    try open().checkpoint()
    noteDurable()
    // At any durability, this says that everything is durable.
    if let newest = history.newest { history.acknowledge(upTo: newest.sequence, at: point) }
    try onDurable(open())
  }

  /// Writes rows anew in their pages, as they are: at once, or so many pages at a time, with commits in between.
  func convert(pagesAtOnce: Int?) throws {
    guard let tree = tree(.integer) else { return }
    let conversion = ValueConversion(tree, from: UInt64(random.below(300)), maximum: 1 + random.below(400)) {
      (_, bytes, value) throws(StoreError) in
      value.set(bytes)
      return true
    }
    guard let pagesAtOnce else {
      if try open().convert({ _ in conversion }) == nil { problems.append("nothing was converted") }
      noteDurable()
      return try onDurable(open())
    }
    try checkpoint()
    let t = try open().beginWrite()
    try open().requireSession()
    try open().beginCheckpoint(conversion: conversion)
    t.rollBack()
    while try open().maintain(pages: pagesAtOnce) {
      noteDurable()
      if random.oneIn(2) { try changeRows(2, keys: 600, valueBytes: 200) }
    }
    noteDurable()
    try onDurable(open())
  }

  func close() throws {
    let before = disk.operationCount
    try open().close()
    store = nil
    // A store that nothing was done with is closed without a write: the mark that it was opened with need not be
    // durable (its process may have been killed before the sync), and nobody was told so.
    if disk.operationCount > before { history.closed.insert(point) }
    if let newest = history.newest { history.acknowledge(upTo: newest.sequence, at: point) }
  }

  /// Ends the process without closing; nothing written is lost.
  func kill() { store = nil }

  func reopen() throws {
    beforeReopen()
    store = nil
    let skipping = device as? SyncSkippingDevice
    skipping?.isOpening = true
    defer { skipping?.isOpening = false }
    // Nothing goes on with it before it is known what it holds: reading that may fail.
    let opened = try Store.open(on: device, environment: environment, options: options)
    let snapshot = try opened.snapshot()
    let hash = try StoreContent.hash(of: snapshot)
    if let wrong = history.reopened(snapshot.sequence, hash, at: point) {
      problems.append("reopened at point \(point): \(wrong)")
    }
    guard let found = history.entries.last(where: { $0.sequence == snapshot.sequence && $0.gone == .max }) else {
      throw Missing()
    }
    content = found.content
    store = opened
  }

  // MARK: Random changes

  func tree(_ kind: TreeKind) -> TreeID? {
    content.trees.filter { $0.value.kind == kind }.keys.min()
  }

  func value(_ count: Int) -> [UInt8] {
    let fill = UInt8(truncatingIfNeeded: random.next())
    return (0..<count).map { fill &+ UInt8(truncatingIfNeeded: $0 &* 7) }
  }

  func makeTrees() throws {
    try commit { t, c in
      for kind in [TreeKind.integer, .bytes, .bytes] { c.trees[try t.createTree(kind)] = .init(kind: kind) }
    }
  }

  /// Puts or deletes some rows, with entries in the other trees, as tables with indexes do.
  func changeRows(_ count: Int, keys: Int, valueBytes: Int) throws {
    try commit { t, c in
      for _ in 0..<count { try self.change(t, &c, UInt64(self.random.below(keys)), self.random.below(valueBytes + 1)) }
    }
  }

  func change(_ t: WriteTransaction, _ c: inout StoreContent, _ key: UInt64, _ valueBytes: Int) throws {
    for (id, tree) in c.trees.sorted(by: { $0.key < $1.key }) {
      if random.oneIn(4) { continue }
      switch tree.kind {
      case .integer:
        if random.oneIn(5) {
          let there = try t.delete(id, key)
          if there != c.trees[id]?.entries.delete(modelKey(key)) { problems.append("delete answers wrong") }
        } else {
          let bytes = value(valueBytes)
          try t.put(id, key, bytes)
          c.trees[id]?.entries.put(modelKey(key), bytes)
        }
      case .bytes:
        let name = Array("index/\(key % 17)/\(key)".utf8)
        if random.oneIn(5) {
          let there = try t.delete(id, name)
          if there != c.trees[id]?.entries.delete(name) { problems.append("delete answers wrong") }
        } else {
          let bytes = value(random.below(12))
          try t.put(id, name, bytes)
          c.trees[id]?.entries.put(name, bytes)
        }
      }
      if random.oneIn(6) {
        let index = UInt32(random.below(3))
        try t.addToCounter(id, index, Int64(key) - 3)
        c.trees[id]?.counters[index, default: 0] += Int64(key) - 3
      }
    }
  }
}

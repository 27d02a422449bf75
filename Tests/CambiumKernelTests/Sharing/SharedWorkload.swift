import CambiumTesting

@testable import CambiumKernel

/// Several engines on one simulated disk, each standing for a process, that take turns step by step: they commit, take
/// checkpoints, spill, compact, hold snapshots, are suspended, close, and are killed at any of their calls. After each
/// step every engine must show what was committed.
final class SharedWorkload {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// A process.
  final class Engine {
    let handle: SharedHandle
    let store: Store
    var views: [(view: Snapshot, hash: UInt64)] = []
    var isSuspended = false

    /// Whether it was killed, or has to be, since a sync failed.
    var hasEnded: Bool { handle.isDead || store.isPoisoned }

    init(handle: SharedHandle, store: Store) {
      self.handle = handle
      self.store = store
    }
  }

  let shared: SharedDisk
  let options: StoreOptions
  var random: SplitMix64
  var history = CrashHistory()
  var content = StoreContent()
  var engines: [Engine?]
  var reader: Engine?
  /// What was done, for messages.
  private(set) var story: [String] = []
  private(set) var deaths = 0
  /// Whether the reader looks at the store before each call of the others that changes anything.
  var readsInBetween = false
  private(set) var looks = 0
  /// What others do before each read of the process that only reads, from its opening on.
  var readerHook: (@Sendable (UInt64) -> Void)?
  /// Whether syncs fail now and then: then every process is told, at its next one.
  var failsSyncs = false
  /// How many calls the next process that opens the store has before it is killed.
  private var callsWhileOpening: Int?
  /// The one that is opening the store, or the last that did.
  private var opening: SharedHandle?
  private var problem: (any Error)?
  private var made: UInt64 = 0

  init(options: StoreOptions, engines count: Int, seed: UInt64) {
    shared = SharedDisk()
    self.options = options
    random = SplitMix64(seed: seed)
    engines = Array(repeating: nil, count: count)
  }

  var point: Int { shared.disk.operationCount }

  // MARK: Processes

  private func environment() -> TestEnvironment {
    made += 1
    return TestEnvironment(seed: random.next() ^ made)
  }

  func create() throws {
    history.entries.append(CrashHistory.Entry(sequence: 0, hash: content.hash, content: content, begun: -1))
    try Store.create(on: shared.disk, environment: environment(), options: options).close()
    history.acknowledge(upTo: 0, at: point)
  }

  /// The engine at a place, opened if it is not there.
  func engine(_ i: Int) throws -> Engine {
    if let engine = engines[i] { return engine }
    let handle = shared.open()
    opening = handle
    if let calls = callsWhileOpening { handle.kill(afterCalls: calls, partialBytes: calls % 3 == 0 ? 5000 : 0) }
    callsWhileOpening = nil
    if readsInBetween {
      // One thread does all of it.
      nonisolated(unsafe) let workload = self
      handle.beforeChanges { workload.lookInBetween() }
    }
    let engine = Engine(
      handle: handle, store: try Store.open(on: handle, environment: environment(), options: options))
    engines[i] = engine
    try compare(engine, "opened")
    return engine
  }

  /// The process that only reads.
  func openReader() throws -> Engine {
    if let reader { return reader }
    var options = options
    options.isReadOnly = true
    let handle = shared.open()
    handle.beforeReads(readerHook)
    let made = Engine(handle: handle, store: try Store.open(on: handle, environment: environment(), options: options))
    reader = made
    return made
  }

  /// Ends an engine without closing it.
  func kill(_ i: Int) {
    engines[i]?.handle.kill()
    engines[i] = nil
  }

  // MARK: What must hold

  /// Compares a new view of an engine with what was committed. What was under way in a process that was killed may be
  /// there or not, and stays so.
  func compare(_ engine: Engine, _ text: String) throws {
    let view = try engine.store.snapshot()
    let hash = try StoreContent.hash(of: view)
    if let newest = history.newest, newest.acknowledged < .max {
      guard view.sequence == newest.sequence else {
        throw Failure(description: "\(text): shows commit \(view.sequence), not \(newest.sequence)")
      }
    }
    if let wrong = history.reopened(view.sequence, hash, at: point + 1) {
      throw Failure(description: "\(text): \(wrong)")
    }
    guard let found = history.entries.last(where: { $0.sequence == view.sequence && $0.gone == .max }) else {
      throw Failure(description: "\(text): shows an unknown commit \(view.sequence)")
    }
    content = found.content
  }

  /// What another process sees in the middle of a step: something that was committed, and all that was acknowledged.
  func compareBetween(_ engine: Engine) throws {
    let acknowledged = history.entries.last { $0.acknowledged < .max && $0.gone == .max }?.sequence ?? 0
    let view = try engine.store.snapshot()
    let hash = try StoreContent.hash(of: view)
    guard view.sequence >= acknowledged else {
      throw Failure(description: "in between: shows commit \(view.sequence), not \(acknowledged)")
    }
    guard history.entries.contains(where: { $0.sequence == view.sequence && $0.hash == hash && $0.gone == .max })
    else { throw Failure(description: "in between: the content at commit \(view.sequence) is not what was committed") }
    // Whoever shows it has made it durable.
    history.acknowledge(upTo: view.sequence, at: point)
  }

  private func lookInBetween() {
    guard let reader, problem == nil, random.oneIn(2) else { return }
    looks += 1
    do {
      try compareBetween(reader)
      if random.oneIn(8) {
        let view = try reader.store.snapshot()
        reader.views.append((view, try StoreContent.hash(of: view)))
      }
      if random.oneIn(20) { try compareViews(reader) }
      if random.oneIn(20) { reader.views = [] }
    } catch { problem = error }
  }

  /// Commits, publishes and compacts so much that no room of the log is what it was.
  func overtake() throws {
    for n in 0..<24 {
      try step(n % engines.count, "overtakes") { engine in
        try changeRows(engine, 20, keys: 300, valueBytes: n % 6 == 5 ? 3000 : 200)
        if n % 4 == 3 { try engine.store.checkpoint() }
        if n % 8 == 7 { _ = try engine.store.compactStep(bytes: 1 << 17) }
      }
    }
  }

  private func compareViews(_ engine: Engine) throws {
    for (view, hash) in engine.views {
      guard try StoreContent.hash(of: view) == hash else { throw Failure(description: "a held view has changed") }
    }
  }

  // MARK: Steps

  /// Does `body` with one engine; if that process is killed meanwhile, the others find out what has become of it.
  func step(_ i: Int, _ text: String, _ body: (Engine) throws -> Void) throws {
    story.append("\(point): engine \(i) \(text)")
    var hasFailed = false
    do {
      let engine = try engine(i)
      try body(engine)
    } catch let error as StoreError {
      guard engines[i].map({ $0.hasEnded || $0.store.isClosed }) ?? (failsSyncs || opening?.isDead ?? false) else {
        throw error
      }
      hasFailed = true
    }
    if let problem { throw problem }
    if !hasFailed, engines[i]?.store.isClosed ?? false { engines[i] = nil }
    if hasFailed || engines[i]?.hasEnded ?? false { try settleDeath(of: i) }
  }

  /// Lets another process find out what has become of what one did that was killed.
  private func settleDeath(of i: Int) throws {
    story.append("\(point): engine \(i) was killed")
    deaths += 1
    kill(i)
    // It may be killed as well, and is then opened anew.
    for _ in 0..<4 {
      let other = (i + 1) % engines.count
      do {
        let engine = try engine(other)
        if engine.isSuspended {
          try engine.store.resume()
          engine.isSuspended = false
          engine.views = []
        }
        return try compare(engine, "after the death of \(i)")
      } catch let error as StoreError {
        // What fails while it is opened is tried again.
        guard engines[other].map({ $0.hasEnded }) ?? failsSyncs else { throw error }
        deaths += 1
        kill(other)
      }
    }
  }

  func commit(_ engine: Engine, _ body: (WriteTransaction, inout StoreContent) throws -> Void) throws {
    let t = try engine.store.beginWrite()
    guard t.sequence == history.newest?.sequence else {
      throw Failure(description: "a transaction began at \(t.sequence), not at \(history.newest?.sequence ?? 0)")
    }
    var next = content
    do { try body(t, &next) } catch {
      t.rollBack()
      throw error
    }
    history.begin(t.sequence + 1, next, at: point - 1)
    if try t.commit() == t.sequence {
      history.entries.removeLast()
      return
    }
    content = next
    history.acknowledge(upTo: t.sequence + 1, at: point)
  }

  /// Goes back to a retained commit, if there is one.
  private func restore(_ engine: Engine) throws {
    guard let commit = try engine.store.retainedCommits().randomElement(using: &random) else { return }
    guard let then = history.entries.last(where: { $0.sequence == commit.sequence && $0.gone == .max }) else {
      throw Failure(description: "an unknown commit \(commit.sequence) is retained")
    }
    let t = try engine.store.beginWrite(restoring: commit.id, keepsRetained: random.oneIn(2))
    var next = then.content
    let sequence: UInt64
    do {
      sequence = try t.newest().sequence + 1
      guard try StoreContent.hash(of: t) == next.hash else {
        throw Failure(description: "the retained commit \(commit.sequence) is not what was committed")
      }
      if random.oneIn(2) { try change(t, &next, 3, 3000) }
    } catch {
      t.rollBack()
      throw error
    }
    history.begin(sequence, next, at: point - 1)
    _ = try t.commit()
    content = next
    history.acknowledge(upTo: sequence, at: point)
  }

  func makeTrees(_ engine: Engine) throws {
    try commit(engine) { t, c in
      for kind in [TreeKind.integer, .bytes] { c.trees[try t.createTree(kind)] = .init(kind: kind) }
    }
  }

  func changeRows(_ engine: Engine, _ count: Int, keys: Int, valueBytes: Int) throws {
    try commit(engine) { t, c in
      for _ in 0..<count { try change(t, &c, UInt64(random.below(keys)), random.below(valueBytes + 1)) }
    }
  }

  private func change(_ t: WriteTransaction, _ c: inout StoreContent, _ key: UInt64, _ valueBytes: Int) throws {
    for (id, tree) in c.trees.sorted(by: { $0.key < $1.key }) where !random.oneIn(4) {
      let fill = UInt8(truncatingIfNeeded: random.next())
      let bytes = (0..<(tree.kind == .integer ? valueBytes : random.below(12))).map {
        fill &+ UInt8(truncatingIfNeeded: $0 &* 7)
      }
      let isDeleted = random.oneIn(5)
      switch tree.kind {
      case .integer:
        if isDeleted {
          try t.delete(id, key)
          _ = c.trees[id]?.entries.delete(modelKey(key))
        } else {
          try t.put(id, key, bytes)
          c.trees[id]?.entries.put(modelKey(key), bytes)
        }
      case .bytes:
        let name = Array("index/\(key % 17)/\(key)".utf8)
        if isDeleted {
          try t.delete(id, name)
          _ = c.trees[id]?.entries.delete(name)
        } else {
          try t.put(id, name, bytes)
          c.trees[id]?.entries.put(name, bytes)
        }
      }
      if random.oneIn(6) {
        try t.addToCounter(id, UInt32(key % 3), 1)
        c.trees[id]?.counters[UInt32(key % 3), default: 0] += 1
      }
    }
  }

  /// Does something by chance. With `killing`, the process may be killed at one of its calls.
  func randomStep(killing: Bool) throws {
    let i = random.below(engines.count)
    let dies = killing && random.oneIn(4)
    if dies {
      if let engine = engines[i] {
        engine.handle.kill(afterCalls: random.below(24), partialBytes: random.oneIn(2) ? random.below(9000) : 0)
      } else {
        callsWhileOpening = random.below(60)
      }
    }
    if failsSyncs, random.oneIn(12) { shared.disk.failSyncs() }
    if engines[i]?.isSuspended ?? false {
      try step(i, "resumes") { engine in
        try engine.store.resume()
        engine.isSuspended = false
        try compare(engine, "resumed")
        for (view, hash) in engine.views {
          do {
            guard try StoreContent.hash(of: view) == hash else { throw Failure(description: "an old view has changed") }
          } catch let error as StoreError {
            if error != .snapshotExpired { throw error }
          }
        }
        engine.views = []
      }
      return
    }
    switch random.below(22) {
    case 0..<9:
      try step(i, "commits") {
        try changeRows($0, 1 + random.below(6), keys: 120, valueBytes: random.oneIn(6) ? 3000 : 200)
      }
    case 9:
      try step(i, "commits much") { try changeRows($0, 150, keys: 400, valueBytes: 150) }
    case 10:
      try step(i, "spills") { try changeRows($0, 500, keys: 900, valueBytes: 150) }
    case 11:
      try step(i, "takes a checkpoint") { try $0.store.checkpoint() }
    case 12:
      try step(i, "maintains") { _ = try $0.store.maintain(pages: 1 + random.below(8)) }
    case 13:
      try step(i, "rolls back") { engine in
        let t = try engine.store.beginWrite()
        var unused = content
        for _ in 0..<20 { try change(t, &unused, UInt64(random.below(200)), 2500) }
        t.rollBack()
      }
    case 14, 15:
      try step(i, "takes a view") { engine in
        let view = try engine.store.snapshot()
        engine.views.append((view, try StoreContent.hash(of: view)))
      }
    case 16:
      try step(i, "looks at its views") { engine in
        try compareViews(engine)
        if random.oneIn(2) { engine.views = [] }
      }
    case 17:
      try step(i, "compacts") { _ = try $0.store.compactStep(bytes: 1 << 16) }
    case 18:
      try step(i, "is suspended") { engine in
        try engine.store.suspend()
        engine.isSuspended = true
      }
    case 19:
      try step(i, "retains") { engine in
        if try engine.store.retainedCommits().count > 2 {
          try engine.store.release(retained: try engine.store.retainedCommits()[0].id)
        }
        _ = try engine.store.retain(reason: "a step")
      }
    case 20:
      try step(i, "goes back") { try restore($0) }
    default:
      try step(i, "closes") { engine in
        engine.views = []
        try engine.store.close()
      }
    }
    for (other, engine) in engines.enumerated() {
      guard let engine, !engine.isSuspended, random.oneIn(2) else { continue }
      try compareOther(other, engine)
    }
    if let reader, random.oneIn(2) {
      try compare(reader, "the reader")
      try compareViews(reader)
      if random.oneIn(4) { reader.views = [] }
      if random.oneIn(4) {
        let view = try reader.store.snapshot()
        reader.views.append((view, try StoreContent.hash(of: view)))
      }
    }
  }

  private func compareOther(_ other: Int, _ engine: Engine) throws {
    do {
      try compare(engine, "engine \(other)")
      try compareViews(engine)
    } catch let error as StoreError {
      // It was to be killed at some call, and this was it.
      guard engine.hasEnded else { throw error }
      try settleDeath(of: other)
    }
  }
}

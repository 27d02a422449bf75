import CambiumKernel

/// Random operations on trees, transactions, savepoints, snapshots, checkpoints and reopenings, compared with sorted
/// arrays.
///
/// It also runs under Embedded Swift: see Tests/Embedded. So it has typed throws, and a closure in place of `#expect`.
public struct RandomRun {
  var random: SplitMix64
  let variant: Int
  /// The disk of the store.
  public let device = MemoryDevice()
  let environment: any StoreEnvironment
  var options = StoreOptions()
  var store: Store
  var model: [TreeID: (kind: TreeKind, tree: ModelTree)] = [:]
  var retained: [UInt64: [TreeID: (kind: TreeKind, tree: ModelTree)]] = [:]
  var snapshots: [(snapshot: Snapshot, model: [TreeID: (kind: TreeKind, tree: ModelTree)])] = []

  private let fail: (_ what: String, _ line: Int) -> Void

  /// Makes an empty store, with options that depend on the variant, which is a number from 0 to 3.
  ///
  /// - Parameter fail: Takes note of what does not hold, and of the line that found it.
  public init(
    seed: UInt64, variant: Int, environment: any StoreEnvironment,
    fail: @escaping (_ what: String, _ line: Int) -> Void
  ) throws(StoreError) {
    self.fail = fail
    random = SplitMix64(seed: seed)
    self.variant = variant
    self.environment = environment
    options.cacheBytes = 1 << 17
    options.bufferBytes = [64 << 10, 1024, 64 << 10, 4096][variant]
    options.logBytes = [1 << 14, 1 << 16, 1 << 18, 1 << 16][variant]
    options.deltaBytes = [1 << 16, 1 << 18, 1 << 22, 1 << 15][variant]
    options.logValueLimit = 2000
    options.durability = [.full, .normal, .full, .strict][variant]
    store = try Store.create(on: device, environment: environment, options: options)
  }

  private func expect(_ holds: Bool, _ what: String = "does not agree with the model", line: Int = #line) {
    if !holds { fail(what, line) }
  }

  mutating func randomKey(_ kind: TreeKind) -> [UInt8] {
    if kind == .integer {
      return modelKey(random.oneIn(10) ? random.next() : UInt64(random.below(3000)))
    }
    switch random.below(4) {
    case 0: return Array("k\(random.below(2000))".utf8)
    case 1: return Array("shared prefix \(random.below(50))/\(random.below(50))".utf8)
    case 2: return (0..<random.below(6)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    default: return Array(repeating: UInt8(random.below(4)), count: random.below(random.oneIn(10) ? 1024 : 30))
    }
  }

  mutating func randomValue() -> [UInt8] {
    let n: Int
    switch random.below(40) {
    case 0: n = random.below(60_000)
    case 1: n = random.below(6000)
    case 2, 3, 4, 5: n = 0
    default: n = random.below(200)
    }
    let fill = UInt8(truncatingIfNeeded: random.next())
    return (0..<n).map { fill &+ UInt8(truncatingIfNeeded: $0) }
  }

  /// Runs about so many operations.
  public mutating func go(operations: Int) throws(StoreError) {
    var done = 0
    while done < operations {
      switch random.below(100) {
      case 0:
        try store.close()
        snapshots = []
        store = try Store.open(on: device, environment: environment, options: options)
      case 1:
        // Left without closing: recovered from the log.
        snapshots = []
        store = try Store.open(on: device, environment: environment, options: options)
      case 2: try store.checkpoint()
      case 3: _ = try store.maintain(pages: 1 + random.below(50))
      case 4, 5: snapshots.append((try store.snapshot(), model))
      case 6 where !snapshots.isEmpty: snapshots.remove(at: random.below(snapshots.count))
      case 7:
        if let (snapshot, then) = snapshots.last { try compare(snapshot, then) }
      case 8:
        try compare(try store.snapshot(), model)
      case 9:
        // It has to come to an end, also while snapshots hold what it would free.
        var steps = 0
        try store.compact { _ in
          steps += 1
          return steps < 5000
        }
        expect(steps < 5000)
      case 10 where random.oneIn(2): retained[try store.retain(reason: "").id] = model
      case 11 where !retained.isEmpty:
        let id = random.pick(retained.keys.sorted())
        let view = try store.snapshot(retained: id)
        if let then = retained[id] { try compare(view, then) }
        if retained.count > 3 || random.oneIn(4) {
          try store.release(retained: id)
          retained[id] = nil
        }
      case 12 where !retained.isEmpty: try restore(random.pick(retained.keys.sorted()))
      default: done += try transaction()
      }
      if snapshots.count > 6 { snapshots.removeFirst() }
    }
    try compare(try store.snapshot(), model)
    let report = try store.check()
    expect(report.problems.isEmpty, "\(report.problems.count) problems")
    try store.close()
    store = try Store.open(on: device, environment: environment, options: options)
    try compare(try store.snapshot(), model)
    expect(try store.check().problems.isEmpty)
  }

  /// Goes back to a retained commit, perhaps with changes.
  mutating func restore(_ id: UInt64) throws(StoreError) {
    guard let then = retained[id] else { return }
    let before = model
    let keeps = random.oneIn(3)
    let t = try store.beginWrite(restoring: id, keepsRetained: keeps)
    try compare(try t.newest(), before)
    model = then
    _ = try change(t, count: random.oneIn(3) ? 0 : 1 + random.below(random.oneIn(10) ? 900 : 20))
    if random.oneIn(6) {
      t.rollBack()
      model = before
      return
    }
    try t.commit()
    if !keeps { retained[id] = nil }
    try compare(try store.snapshot(), model)
    let report = try store.check()
    expect(report.problems.isEmpty, "\(report.problems.count) problems")
  }

  /// A random transaction; answers how many operations it had.
  mutating func transaction() throws(StoreError) -> Int {
    let before = model
    let t = try store.beginWrite()
    let count = try change(t, count: random.oneIn(20) ? 200 + random.below(2000) : 1 + random.below(12))
    if random.oneIn(8) {
      t.rollBack()
      model = before
    } else {
      try t.commit()
    }
    return count
  }

  private mutating func change(_ t: WriteTransaction, count: Int) throws(StoreError) -> Int {
    var savepoints: [(Savepoint, [TreeID: (kind: TreeKind, tree: ModelTree)])] = []
    let ascending = random.oneIn(10)
    for step in 0..<count {
      if model.isEmpty || random.oneIn(300), model.count < 8 {
        let kind: TreeKind = random.oneIn(2) ? .integer : .bytes
        model[try t.createTree(kind)] = (kind, ModelTree())
        continue
      }
      let id = random.pick(Array(model.keys).sorted())
      guard let kind = model[id]?.kind else { continue }
      switch random.below(40) {
      case 0: savepoints.append((t.savepoint(), model))
      case 1 where !savepoints.isEmpty:
        let n = random.below(savepoints.count)
        try t.rollBack(to: savepoints[n].0)
        model = savepoints[n].1
        savepoints.removeLast(savepoints.count - n - 1)
      case 2 where random.oneIn(200):
        try t.dropTree(id)
        model[id] = nil
      case 3...9:
        let key = randomKey(kind)
        expect(try value(t, id, kind, key) == model[id]?.tree.value(key))
      case 10...18:
        let key = randomKey(kind)
        let there = kind == .integer ? try t.delete(id, integerKey(key)) : try t.delete(id, key)
        expect(there == model[id]?.tree.delete(key))
      case 19: try compareSome(t, id, kind)
      default:
        let key =
          ascending && kind == .integer
          ? modelKey(1 << 40 + UInt64(model[id]?.tree.entries.count ?? 0)) : randomKey(kind)
        let value = randomValue()
        if kind == .integer { try t.put(id, integerKey(key), value) } else { try t.put(id, key, value) }
        model[id]?.tree.put(key, value)
      }
      if step % 97 == 0, let tree = model[id]?.tree { expect(try t.count(id) == UInt64(tree.entries.count)) }
    }
    return count
  }

  func value(_ view: TreeView, _ id: TreeID, _ kind: TreeKind, _ key: [UInt8]) throws(StoreError) -> [UInt8]? {
    kind == .integer ? try view.value(id, integerKey(key)) : try view.value(id, key)
  }

  /// Walks from a random place in both directions.
  mutating func compareSome(_ view: TreeView, _ id: TreeID, _ kind: TreeKind) throws(StoreError) {
    guard let tree = model[id]?.tree else { return }
    let key = randomKey(kind)
    let cursor = try view.cursor(id)
    var i = tree.lowerBound(key)
    var valid = kind == .integer ? try cursor.seek(integerKey(key)) : try cursor.seek(key)
    for _ in 0..<20 {
      expect(valid == (i < tree.entries.count && i >= 0))
      guard valid, i >= 0, i < tree.entries.count else { return }
      expect((kind == .integer ? modelKey(cursor.integerKey) : Array(cursor.key)) == tree.entries[i].key)
      expect(try cursor.value() == tree.entries[i].value)
      if random.oneIn(3) {
        valid = try cursor.previous()
        i -= 1
      } else {
        valid = try cursor.next()
        i += 1
      }
    }
  }

  func compare(_ view: TreeView, _ model: [TreeID: (kind: TreeKind, tree: ModelTree)]) throws(StoreError) {
    expect(view.trees() == model.keys.sorted())
    for (id, (kind, tree)) in model {
      expect(view.kind(of: id) == kind)
      expect(try view.count(id) == UInt64(tree.entries.count))
      let cursor = try view.cursor(id)
      var valid = try cursor.seekFirst()
      var wrong = 0
      for entry in tree.entries {
        guard valid else {
          wrong += 1
          break
        }
        let key = kind == .integer ? modelKey(cursor.integerKey) : Array(cursor.key)
        if key != entry.key { wrong += 1 }
        if try cursor.value() != entry.value { wrong += 1 }
        valid = try cursor.next()
      }
      expect(wrong == 0 && !valid)
      valid = try cursor.seekLast()
      for entry in tree.entries.reversed() {
        guard valid else {
          wrong += 1
          break
        }
        if (kind == .integer ? modelKey(cursor.integerKey) : Array(cursor.key)) != entry.key { wrong += 1 }
        valid = try cursor.previous()
      }
      expect(wrong == 0 && !valid)
    }
  }
}

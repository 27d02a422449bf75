import CambiumTesting
import Testing

@testable import CambiumKernel

/// Leaves made anew by copying what lies between changes, against a dictionary.
@Suite struct LeafPatchTests {
  private static let pageSize = 4096
  private static let tree = TreeID(rawValue: 20)

  /// How the keys and values of a leaf are made.
  private enum Shape: CaseIterable {
    case integers, denseIntegers, index, fixedIndex, textKeys, emptyValues
  }

  private static func key(_ n: UInt64, _ shape: Shape) -> [UInt8] {
    var bytes: [UInt8] = Array("prefix/".utf8)
    for i in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: n >> UInt64(56 - 8 * i))) }
    if shape != .fixedIndex { bytes += [UInt8](repeating: 7, count: Int(n % 5)) }
    return shape == .textKeys ? Array("key \(1_000_000 + n) \(String(repeating: "x", count: Int(n % 4)))".utf8) : bytes
  }

  private static func value(_ random: inout SplitMix64, _ shape: Shape) -> [UInt8] {
    switch shape {
    case .index, .fixedIndex, .emptyValues: []
    case .integers, .denseIntegers, .textKeys: random.bytes(random.below(60))
    }
  }

  /// A leaf of the first entries of `model` that fit a page, whose numbers are taken out of it and answered.
  private static func page(
    _ model: [UInt64: [UInt8]], _ shape: Shape, to out: UnsafeMutableRawPointer
  ) -> (numbers: [UInt64], stored: Int) {
    let kind: TreeKind = shape == .integers || shape == .denseIntegers ? .integer : .bytes
    var run = EntryRun(kind: kind, isLeaf: true, pageSize: pageSize)
    var sizer = PageSizer(kind: kind, isLeaf: true)
    var numbers: [UInt64] = []
    var layout = PageLayout()
    for n in model.keys.sorted() {
      let value = model[n] ?? []
      value.withUnsafeBytes { v in
        if kind == .integer {
          run.append(TreeKey(n), value: v, isStub: false)
        } else {
          key(n, shape).withUnsafeBytes { run.append(TreeKey($0), value: v, isStub: false) }
        }
      }
      sizer.add(run, numbers.count, first: 0)
      if roundUp(sizer.layout.size, to: 16) > pageSize { break }
      layout = sizer.layout
      numbers.append(n)
    }
    let stored = PageEncoder.encode(
      run, 0..<numbers.count, layout: layout, level: 0, tree: tree, generation: 3, to: out)
    return (numbers, stored)
  }

  private static func content(_ p: UnsafeRawPointer, _ shape: Shape) -> [[UInt8]: [UInt8]] {
    var found: [[UInt8]: [UInt8]] = [:]
    if shape == .integers || shape == .denseIntegers {
      let leaf = IntegerLeaf(p)
      for i in 0..<leaf.count { found[integer(leaf.key(i))] = Array(leaf.value(i)) }
      return found
    }
    let leaf = BytesLeaf(p)
    for i in 0..<leaf.count {
      let key = [UInt8](unsafeUninitializedCapacity: leaf.keyLength(i)) { buffer, count in
        if let base = buffer.baseAddress { count = leaf.copyKey(i, to: UnsafeMutableRawPointer(base)) }
      }
      found[key] = Array(leaf.value(i))
    }
    return found
  }

  private static func integer(_ n: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: n >> UInt64(56 - 8 * $0)) }
  }

  @Test(arguments: 0..<6)
  func agreesWithAModel(_ number: Int) {
    let shape = Shape.allCases[number]
    let kind: TreeKind = shape == .integers || shape == .denseIntegers ? .integer : .bytes
    let old = UnsafeMutableRawPointer.allocate(byteCount: Self.pageSize + 16, alignment: 16)
    let new = UnsafeMutableRawPointer.allocate(byteCount: Self.pageSize + 16, alignment: 16)
    defer {
      old.deallocate()
      new.deallocate()
    }
    let patch = LeafPatch(pageSize: Self.pageSize, inlineLimit: Self.pageSize / 4)
    var patched = 0
    var batchedLeaves = 0
    for seed in 0..<60 as Range<UInt64> {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      var model: [UInt64: [UInt8]] = [:]
      let spread = shape == .denseIntegers ? 1 : [2, 300, 70_000][random.below(3)]
      var n = UInt64(random.below(1000))
      let count = 20 + random.below(2500)
      for _ in 0..<count {
        model[n] = Self.value(&random, shape)
        n += UInt64(1 + random.below(spread))
      }
      let (numbers, _) = Self.page(model, shape, to: old)
      let end = numbers.last ?? 0
      var expected: [UInt64: [UInt8]] = [:]
      for n in numbers { expected[n] = model[n] }
      // Changes, of which those behind `high` do not concern the leaf.
      let table = DeltaTable(largestChunk: Arena.usualLargest)
      let list = table.makeList(Self.tree, kind)
      let high = end + UInt64(1 + random.below(20))
      var sequence: UInt64 = 0
      var concerned: Set<UInt64> = []
      // Keys without values come in a batch as well, alone or with a list that is older.
      let batch = ChangeBatch()
      let batched = shape == .index || shape == .fixedIndex ? [0, 0.5, 1][random.below(3)] : 0
      let changes = 1 + random.below(25)
      for change in 0..<changes {
        let isBatched = Double(change) >= Double(changes) * (1 - batched)
        if !isBatched { sequence += 1 }
        let n = random.oneIn(3) ? UInt64(random.below(Int(high) + 50)) : numbers[random.below(numbers.count)]
        let value: [UInt8]? = random.oneIn(3) ? nil : Self.value(&random, shape)
        let bytes = kind == .integer ? [] : Self.key(n, shape)
        bytes.withUnsafeBytes { k in
          (value ?? []).withUnsafeBytes { v in
            if isBatched {
              #expect(batch.add(k, isPut: value != nil) != nil)
              return
            }
            _ = table.add(
              list, sequence: sequence, key: kind == .integer ? TreeKey(n) : TreeKey(k), value: v,
              op: value == nil ? .delete : .put, effect: 0)
          }
        }
        if n < high {
          expected[n] = value
          concerned.insert(n)
        }
      }
      batch.sort()
      var stream = ChangeStream(
        sequence > 0 ? [(list, 0 as UInt64, sequence)] : [], batch: batch.isEmpty ? nil : BatchCursor([batch]))
      stream.begin()
      if !batch.isEmpty { batchedLeaves += 1 }
      var bound = KeySlot()
      defer { bound.deallocate() }
      if kind == .integer {
        bound.set(TreeKey(high))
      } else {
        Self.key(high, shape).withUnsafeBytes { bound.set(TreeKey($0)) }
      }
      // Keys of texts are not in the order of their numbers only if their numbers have different lengths: they have
      // not.
      guard
        let made = patch.make(UnsafeRawPointer(old), kind, stream, high: bound.key, generation: 9, to: new)
      else { continue }
      let stored = made.page.count
      patched += 1
      let page = UnsafeRawPointer(new)
      #expect(stored <= Self.pageSize && stored == roundUp(page.pageLength, to: 16))
      #expect(PageCheck.isSound(page, stored: stored), "seed \(CrashTests.seed &+ seed)")
      #expect(page.pageGeneration == 9 && page.pageTree == Self.tree && page.pageLevel == 0)
      var wanted: [[UInt8]: [UInt8]] = [:]
      for (n, value) in expected { wanted[kind == .integer ? Self.integer(n) : Self.key(n, shape)] = value }
      #expect(Self.content(page, shape) == wanted, "seed \(CrashTests.seed &+ seed)")
      #expect(made.count == expected.count && made.growth == Int64(expected.count - numbers.count))
      #expect(made.changeCount == concerned.count)
    }
    #expect(patched > 10, "only \(patched) of 60 leaves were patched")
    #expect(shape != .index && shape != .fixedIndex || batchedLeaves > 20)
  }

  /// Keys of a page that do not ascend come from a damaged file only. Whatever becomes of them, nothing is written
  /// beyond the page, and what is made is a page.
  @Test func staysWithinLeavesOutOfOrder() {
    let canary = 64 << 10
    let old = UnsafeMutableRawPointer.allocate(byteCount: Self.pageSize + 16, alignment: 16)
    let new = UnsafeMutableRawPointer.allocate(byteCount: Self.pageSize + 16 + canary, alignment: 16)
    defer {
      old.deallocate()
      new.deallocate()
    }
    let patch = LeafPatch(pageSize: Self.pageSize, inlineLimit: Self.pageSize / 4)
    var refused = 0
    for seed in 0..<300 as Range<UInt64> {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      let shape = random.oneIn(2) ? Shape.index : .textKeys
      var model: [UInt64: [UInt8]] = [:]
      for n in 0..<UInt64(2000) { model[n * 7] = Self.value(&random, shape) }
      let (numbers, _) = Self.page(model, shape, to: old)
      let leaf = BytesLeaf(UnsafeRawPointer(old))
      let heads = UnsafeMutableRawBufferPointer(start: old + leaf.headsOffset, count: leaf.count * leaf.width)
      for _ in 0..<(1 + random.below(40)) where heads.count > 1 {
        heads.swapAt(random.below(heads.count), random.below(heads.count))
      }
      #expect(PageCheck.isSound(UnsafeRawPointer(old), stored: UnsafeRawPointer(old).pageLength))
      let table = DeltaTable(largestChunk: Arena.usualLargest)
      let list = table.makeList(Self.tree, .bytes)
      for sequence in 1...UInt64(40) {
        let value = random.oneIn(4) ? nil : Self.value(&random, shape)
        Self.key(numbers[random.below(numbers.count)] + UInt64(random.below(2)), shape).withUnsafeBytes { k in
          (value ?? []).withUnsafeBytes { v in
            _ = table.add(
              list, sequence: sequence, key: TreeKey(k), value: v, op: value == nil ? .delete : .put, effect: 0)
          }
        }
      }
      var stream = ChangeStream([(list, 0, 40)])
      stream.begin()
      let behind = new + Self.pageSize + 16
      behind.initializeMemory(as: UInt8.self, repeating: 0xEE, count: canary)
      if let made = patch.make(UnsafeRawPointer(old), .bytes, stream, high: nil, generation: 9, to: new) {
        #expect(PageCheck.isSound(UnsafeRawPointer(new), stored: made.page.count), "seed \(CrashTests.seed &+ seed)")
      } else {
        refused += 1
      }
      let rest = UnsafeRawBufferPointer(start: behind, count: canary)
      #expect(rest.allSatisfy { $0 == 0xEE }, "seed \(CrashTests.seed &+ seed)")
    }
    #expect(refused > 20)
  }
}

import CambiumTesting
import Testing

@testable import CambiumKernel

/// Searches in leaves of byte keys, whose first step is a guess, against a look at all keys.
@Suite struct ByteSearchTests {
  /// How the keys of a leaf are spread.
  private enum Shape: CaseIterable {
    case even, random, skewed, oneHead, fewHeads, texts, short
  }

  private static func keys(_ shape: Shape, _ count: Int, _ random: inout SplitMix64) -> [[UInt8]] {
    func bytes(_ n: UInt64, _ width: Int) -> [UInt8] {
      (0..<width).map { UInt8(truncatingIfNeeded: n >> UInt64(8 * (width - 1 - $0))) }
    }
    var keys = Set<[UInt8]>()
    for i in 0..<count {
      switch shape {
      case .even: keys.insert([1, 2] + bytes(UInt64(i) * 1_000_003, 8))
      case .random: keys.insert(bytes(random.next(), 8) + bytes(UInt64(i), 2))
      // Half of them at the lower end, the others ever further apart.
      case .skewed: keys.insert(bytes(i % 2 == 0 ? UInt64(i) : 1 << UInt64(16 + i % 47), 8))
      case .oneHead: keys.insert([UInt8](repeating: 9, count: 12) + bytes(UInt64(i), 2))
      case .fewHeads: keys.insert(bytes(UInt64(i % 5) << 40, 8) + bytes(random.next(), 3))
      case .texts: keys.insert(Array("N\(String(random.next() % 1_000_000, radix: 36))".utf8))
      case .short: keys.insert(bytes(UInt64(i) * 3, 2))
      }
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  @Test(arguments: [1, 2, 15, 16, 17, 60, 150])
  func aSearchFindsWhatALookAtAllKeysFinds(count: Int) throws {
    var random = SplitMix64(seed: 22)
    let page = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 64)
    defer { page.deallocate() }
    for shape in Shape.allCases {
      let keys = Self.keys(shape, count, &random)
      var run = EntryRun(kind: .bytes, isLeaf: true, pageSize: 4096)
      var sizer = PageSizer(kind: .bytes, isLeaf: true)
      var stored = 0
      for (i, key) in keys.enumerated() {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        key.withUnsafeBytes { run.append(TreeKey($0), value: nothing, isStub: false) }
        sizer.add(run, i, first: 0)
        if roundUp(sizer.layout.size, to: 16) > 4096 { break }
        stored += 1
      }
      sizer = PageSizer(kind: .bytes, isLeaf: true)
      for i in 0..<stored { sizer.add(run, i, first: 0) }
      _ = PageEncoder.encode(
        run, 0..<stored, layout: sizer.layout, level: 0, tree: TreeID(rawValue: 20), generation: 3, to: page)
      let leaf = BytesLeaf(page)
      #expect(BytesLeaf.isSound(page))
      var wanted = Array(keys[0..<stored])
      for key in keys[0..<stored] {
        wanted.append(key + [0])
        wanted.append(Array(key.dropLast()))
        var next = key
        next[next.count - 1] &+= 1
        wanted.append(next)
        wanted.append(random.bytes(Int(random.next() % 14)))
      }
      wanted.append([])
      for key in wanted {
        let place = keys[0..<stored].firstIndex { !$0.lexicographicallyPrecedes(key) } ?? stored
        let isThere = place < stored && keys[place] == key
        let (index, found) = key.withUnsafeBytes { leaf.lowerBound(TreeKey($0)) }
        #expect(index == place && found == isThere, "\(shape), \(stored) keys, \(key)")
        // Whatever the page above makes of it.
        for share: UInt64 in [0, 1, 9_000, 1 << 15, 65_000, 65_535] {
          let told = KeyShare(of: share, from: 0, to: 1 << 16)
          let (index, found) = key.withUnsafeBytes { leaf.lowerBound(TreeKey($0), share: told) }
          #expect(index == place && found == isThere, "\(shape), \(stored) keys, \(key), \(share)")
        }
      }
    }
  }

  @Test func sharesArePlaces() throws {
    #expect(KeyShare.unknown.place(among: 10) == nil)
    #expect(KeyShare(of: 4, from: 5, to: 9).place(among: 10) == nil)
    #expect(KeyShare(of: 9, from: 5, to: 9).place(among: 10) == nil)
    #expect(KeyShare(of: 5, from: 5, to: 5).place(among: 10) == nil)
    #expect(KeyShare(of: 5, from: 5, to: 9).place(among: 0) == nil)
    for (low, high) in [(UInt64(0), UInt64.max), (7, 1007), (.max - 5, .max), (1 << 40, 3 << 40), (0, 1)] {
      for count in [1, 2, 100, 40_000, 65_535] {
        var last = 0
        for part in 0..<UInt64(8) {
          let key = low + (high - low) / 8 * part
          let place = try #require(KeyShare(of: key, from: low, to: high).place(among: count))
          #expect(place >= last && place < count)
          // Right to an eighth, and not at one end.
          if high - low > 1000 { #expect(abs(place - count * Int(part) / 8) <= count / 64 + 1) }
          last = place
        }
      }
    }
  }

  /// Evenly spread keys are found near the place that the page above tells, behind beginnings that all share too.
  @Test(arguments: [0, 3, 11]) func aPageTellsWhereInALeafAKeyLies(_ shared: Int) throws {
    let store = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(), options: StoreOptions())
    var random = SplitMix64(seed: 23)
    let t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    var keys: [[UInt8]] = []
    for i in 0..<20_000 {
      keys.append([UInt8](repeating: 77, count: shared) + random.bytes(6) + [UInt8(i & 255), UInt8(i >> 8)])
      try t.put(tree, keys[i], [])
    }
    try t.commit()
    try store.checkpoint()
    let view = try store.snapshot()
    let state = try #require(view.generation.trees[tree])
    #expect(state.level == 1)
    let slot = store.cache.slots.enter(0)
    defer { store.cache.slots.leave(slot) }
    let inner = BytesInner(try store.cache.page(state.root, tree: tree, level: 1))
    var (told, off, entries) = (0, 0, 0)
    for key in keys {
      try key.withUnsafeBytesTyped { (bytes) throws(StoreError) in
        let key = TreeKey(bytes)
        let i = inner.child(key)
        let leaf = BytesLeaf(try store.cache.page(inner.ref(i), tree: tree, level: 0))
        guard let place = inner.share(of: key, child: i).place(among: leaf.count) else { return }
        told += 1
        off += abs(place - leaf.lowerBound(key).index)
        entries += leaf.count
      }
    }
    // All but those of the first and the last leaf.
    #expect(told > keys.count - 3 * keys.count / inner.count)
    #expect(off * 20 < entries, "off by \(off / max(1, told)) of \(entries / max(1, told))")
  }
}

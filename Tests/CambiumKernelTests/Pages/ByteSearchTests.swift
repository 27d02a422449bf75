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
      }
    }
  }
}

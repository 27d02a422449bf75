import CambiumTesting
import Testing

@testable import CambiumKernel

/// Pages whose keys are out of order come from a damaged file only, with a checksum that holds. Nothing is written
/// beyond a page for their sake.
@Suite struct DisorderTests {
  private static let pageSize = 4096
  private static let tree = TreeID(rawValue: 20)

  /// Lends `body` a leaf under construction, and room for another with bytes behind it that must stay as they are.
  private static func withPages(
    _ body: (_ old: UnsafeMutableRawPointer, _ new: UnsafeMutableRawPointer) -> Void
  ) -> Bool {
    let canary = 256 << 10
    let old = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 16)
    let new = UnsafeMutableRawPointer.allocate(byteCount: pageSize + 16 + canary, alignment: 16)
    defer {
      old.deallocate()
      new.deallocate()
    }
    old.zero(pageSize)
    (new + pageSize + 16).initializeMemory(as: UInt8.self, repeating: 0xEE, count: canary)
    body(old, new)
    return UnsafeRawBufferPointer(start: new + pageSize + 16, count: canary).allSatisfy { $0 == 0xEE }
  }

  /// A search among heads begins where evenly spread ones would be, and goes on in steps that grow: among heads that go
  /// up and down greater keys come out before lesser ones.
  @Test func headsThatGoUpAndDown() {
    var goneBack = 0
    for seed in 0..<40 as Range<UInt64> {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      var (wentBack, isMade) = (false, false)
      let isWithin = Self.withPages { Self.patchDisorder($0, to: $1, &random, &wentBack, &isMade) }
      #expect(isWithin, "seed \(CrashTests.seed &+ seed)")
      #expect(!(wentBack && isMade), "seed \(CrashTests.seed &+ seed)")
      if wentBack { goneBack += 1 }
    }
    #expect(goneBack > 10)
  }

  private static func patchDisorder(
    _ old: UnsafeMutableRawPointer, to new: UnsafeMutableRawPointer, _ random: inout SplitMix64, _ wentBack: inout Bool,
    _ isMade: inout Bool
  ) {
    let count = 300
    let length = PageHeader.size + count * 8
    PageHeader.write(
      to: old, kind: .bytesLeaf, level: 0, count: count, tree: tree, generation: 1, length: length,
      flags: PageHeader.flagNoValues | PageHeader.flagFixedKeys, width: 8, prefix: 0, fixed: 0, countWidth: 0)
    let run = 1 + random.below(6)
    for i in 0..<count {
      let isHuge = i == count - 1 || i > 0 && i / run % 2 == 0
      let head: UInt64 = isHuge ? UInt64.max - 1000 + UInt64(i) : UInt64(1 + random.below(9))
      old.storeBytes(of: head.bigEndian, toByteOffset: PageHeader.size + i * 8, as: UInt64.self)
    }
    let page = UnsafeRawPointer(old)
    #expect(PageCheck.isSound(page, stored: roundUp(length, to: 16)))
    let batch = ChangeBatch()
    var place = 0
    for n in 0..<100 as Range<UInt64> {
      let key = (0..<8).map { UInt8(truncatingIfNeeded: (n &* (UInt64.max / 101) &+ 7) >> UInt64(56 - 8 * $0)) }
      #expect(batch.add(key, isPut: true) != nil)
      let found = key.withUnsafeBytes { BytesLeaf(page).lowerBound(TreeKey($0)).index }
      wentBack = wentBack || found < place
      place = found
    }
    batch.sort()
    var stream = ChangeStream([], batch: BatchCursor([batch]))
    stream.begin()
    let patch = LeafPatch(pageSize: pageSize, inlineLimit: pageSize / 4)
    isMade = patch.make(page, .bytes, stream, high: nil, generation: 9, to: new) != nil
  }

  /// Numbers that a leaf counts beyond the greatest there is would ascend, and be searched as if they did not.
  @Test func numbersBeyondTheGreatest() {
    let isWithin = Self.withPages { (old, new) in
      let count = 301
      let length = IntegerLeaf.keysOffset + count * 10
      PageHeader.write(
        to: old, kind: .integerLeaf, level: 0, count: count, tree: Self.tree, generation: 1, length: length,
        flags: 0, width: 8, prefix: 0, fixed: 0, countWidth: 0)
      let base: UInt64 = 1 << 63
      old.put(base, 32)
      for i in 0..<count {
        let step: UInt64 = i < 151 ? (0 &- base) + UInt64(i) : i < 202 ? UInt64(i - 151) : 1_000_000 + UInt64(i)
        old.put(step, IntegerLeaf.keysOffset + i * 8)
      }
      let page = UnsafeRawPointer(old)
      #expect(!PageCheck.isSound(page, stored: roundUp(length, to: 16)))
      // Whoever read such a page all the same is not harmed either.
      let table = DeltaTable(largestChunk: Arena.usualLargest)
      let list = table.makeList(Self.tree, .integer)
      for j in 0..<60 as Range<UInt64> {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        _ = table.add(
          list, sequence: j + 1, key: TreeKey(base + 600_000 + j * 5_000), value: nothing, op: .put, effect: 1)
      }
      var stream = ChangeStream([(list, 0, 1000)])
      stream.begin()
      let patch = LeafPatch(pageSize: Self.pageSize, inlineLimit: Self.pageSize / 4)
      #expect(patch.make(page, .integer, stream, high: nil, generation: 9, to: new) == nil)
    }
    #expect(isWithin)
  }

  @Test func separatorsBeyondTheGreatest() {
    _ = Self.withPages { (old, _) in
      let count = 3
      let length = IntegerInner.keysOffset + (count - 1) * 8 + count * (PageRef.size + 1)
      PageHeader.write(
        to: old, kind: .integerInner, level: 1, count: count, tree: Self.tree, generation: 1, length: length,
        flags: 0, width: 8, prefix: 0, fixed: 0, countWidth: 1)
      old.put(1 << 63 as UInt64, 40)
      for (i, step) in [UInt64(5), 9].enumerated() { old.put(step, IntegerInner.keysOffset + i * 8) }
      #expect(PageCheck.isSound(UnsafeRawPointer(old), stored: roundUp(length, to: 16)))
      old.put((1 << 63) + 5 as UInt64, IntegerInner.keysOffset)
      old.put((1 << 63) + 9 as UInt64, IntegerInner.keysOffset + 8)
      #expect(!PageCheck.isSound(UnsafeRawPointer(old), stored: roundUp(length, to: 16)))
    }
  }
}

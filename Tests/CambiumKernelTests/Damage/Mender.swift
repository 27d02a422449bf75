import CambiumTesting

@testable import CambiumKernel

/// Makes the checksums of a damaged store right again, up to the superblock: what a wrong writer, or malice, would
/// make.
struct Mender {
  private(set) var bytes: [UInt8]
  let seed: UInt64
  private var pages: [(address: Int, length: Int, location: UInt64, checksum: UInt64)] = []
  private var records: [(address: Int, length: Int)] = []
  private let logSeed: UInt64

  init(_ whole: [UInt8]) throws {
    bytes = whole
    var options = DamageStore.options
    options.isReadOnly = true
    let store = try Store.open(on: MemoryDevice(copying: whole), environment: TestEnvironment(), options: options)
    seed = store.storeSeed
    logSeed = store.logSeed
    var found: [PageRef] = store.directoryPages
    func walk(_ tree: TreeID, _ kind: TreeKind, _ ref: PageRef, _ level: UInt8) throws {
      found.append(ref)
      if level == 0 { return }
      let slot = store.cache.slots.enter(0)
      let page = try store.cache.page(ref, tree: tree, level: level)
      let children = (0..<page.pageCount).map {
        kind == .integer ? IntegerInner(page).ref($0) : BytesInner(page).ref($0)
      }
      store.cache.slots.leave(slot)
      for child in children { try walk(tree, kind, child, level - 1) }
    }
    for (id, state) in store.current.trees.sorted(by: { $0.key < $1.key }) where !state.root.isNone {
      try walk(id, state.kind, state.root, state.level)
    }
    for ref in found { pages.append((Int(ref.address), ref.length, ref.location, ref.checksum)) }
    let scanner = LogScanner(device: store.device, superblock: store.superblock)
    for record in try ScannedLog(scanner).records { records.append((Int(record.address), record.header.length)) }
  }

  /// Places that a mutation may fall into: pages, records, the superblock.
  var places: [Range<Int>] {
    pages.map { $0.address..<$0.address + $0.length } + records.map { $0.address..<$0.address + $0.length }
      + Superblock.offsets.map { Int($0)..<Int($0) + 700 }
  }

  /// Where the inner pages lie.
  var innerPages: [Range<Int>] {
    pages.filter { page in
      let kind = PageKind(rawValue: bytes.withUnsafeBytes { ($0.start + page.address).pageKind })
      return kind == .integerInner || kind == .bytesInner
    }.map { $0.address..<$0.address + $0.length }
  }

  /// Writes `new` at `offset`, and mends everything above.
  mutating func mutate(at offset: Int, _ new: [UInt8]) {
    for (i, byte) in new.enumerated() where offset + i < bytes.count { bytes[offset + i] = byte }
    if offset < Superblock.regionSize { return mendSuperblock() }
    if let i = pages.firstIndex(where: { ($0.address..<$0.address + $0.length).contains(offset) }) { mendPage(i) }
    if let i = records.firstIndex(where: { ($0.address..<$0.address + $0.length).contains(offset) }) { mendRecords(i) }
  }

  /// Writes `new` at `offset`, and mends nothing.
  mutating func overwrite(at offset: Int, _ new: [UInt8]) {
    for (i, byte) in new.enumerated() where offset + i < bytes.count { bytes[offset + i] = byte }
  }

  /// Where bytes stand in a page, the first of them.
  func find(_ pattern: [UInt8], in part: Range<Int>? = nil) -> Int? {
    for page in pages {
      let range = page.address..<page.address + page.length
      if let part, !part.overlaps(range) { continue }
      for at in range.lowerBound..<max(range.lowerBound, range.upperBound - pattern.count + 1)
      where bytes[at] == pattern[0] && bytes[at..<at + pattern.count].elementsEqual(pattern) { return at }
    }
    return nil
  }

  /// Whether a page lies there.
  func reaches(_ range: Range<Int>) -> Bool {
    pages.contains { ($0.address..<$0.address + $0.length).overlaps(range) }
  }

  private mutating func mendSuperblock() {
    for offset in Superblock.offsets {
      let start = Int(offset)
      let content = Superblock.copySize - 8
      let magic = bytes.withUnsafeBytes { $0.start.u64(start) }
      let sum = bytes.withUnsafeBytes {
        Checksum.of(
          UnsafeRawBufferPointer(rebasing: $0[start..<start + content]), seed: Checksum.mix(magic, UInt64(start)))
      }
      put(sum, at: start + content)
    }
  }

  private mutating func mendPage(_ i: Int) {
    let page = pages[i]
    let sum = bytes.withUnsafeBytes {
      PageHeader.sum(
        $0.start + page.address, count: page.length, seed: PageRef.seed(store: seed, location: page.location))
    }
    put(sum, at: page.address)
    if sum == page.checksum { return }
    pages[i].checksum = sum
    // Wherever the page is referred to: in a page above, or the superblock.
    var pattern = ByteWriter()
    pattern.u64(page.location)
    pattern.u64(page.checksum)
    for (n, above) in pages.enumerated() where n != i {
      var isChanged = false
      for at in above.address..<max(above.address, above.address + above.length - 15)
      where bytes[at] == pattern.bytes[0] && Array(bytes[at..<at + 16]) == pattern.bytes {
        put(sum, at: at + 8)
        isChanged = true
      }
      if isChanged { mendPage(n) }
    }
    for at in 0..<Superblock.regionSize - 16
    where bytes[at] == pattern.bytes[0] && Array(bytes[at..<at + 16]) == pattern.bytes {
      put(sum, at: at + 8)
    }
    mendSuperblock()
  }

  /// Mends the records from `first` on, which name each other.
  private mutating func mendRecords(_ first: Int) {
    for i in first..<records.count {
      let r = records[i]
      if i > first { put(bytes.withUnsafeBytes { $0.start.u64(records[i - 1].address + 8) }, at: r.address + 16) }
      let sum = bytes.withUnsafeBytes {
        LogRecordHeader.sum($0.start + r.address, length: r.length, seed: logSeed, address: UInt64(r.address))
      }
      put(sum, at: r.address + 8)
    }
  }

  private mutating func put(_ value: UInt64, at offset: Int) {
    for i in 0..<8 { bytes[offset + i] = UInt8(truncatingIfNeeded: value >> UInt64(8 * i)) }
  }
}

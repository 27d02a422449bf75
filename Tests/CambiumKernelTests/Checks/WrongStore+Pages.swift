import CambiumTesting

@testable import CambiumKernel

extension Forge {
  /// The page that a reference names.
  func page(_ ref: PageRef) -> [UInt8]? {
    let all = bytes
    guard let start = Int(exactly: ref.address), start + ref.length <= all.count else { return nil }
    return Array(all[start..<start + ref.length])
  }
}

extension WrongStore {
  static let first = TreeID(rawValue: 16)
  static let second = TreeID(rawValue: 17)
  /// With one entry.
  static let single = TreeID(rawValue: 19)

  /// Two trees of integer keys and one of byte keys, large values, and a value that looks like a reference to one.
  private static func makeTrees() throws -> [UInt8] {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 31), options: StoreUse.options)
    let t = try store.beginWrite()
    _ = try t.createTree(.integer)
    _ = try t.createTree(.integer)
    _ = try t.createTree(.bytes)
    try t.put(t.createTree(.integer), UInt64(0), [9])
    for key in UInt64(0)..<20 {
      try t.put(first, key, [1, UInt8(key)])
      try t.put(second, key, [2, UInt8(key)])
    }
    for key in UInt64(100)..<103 { try t.put(first, key, [UInt8](repeating: UInt8(key), count: 3000)) }
    try t.put(first, 200, Forge.bytes(UInt64(1)) + Forge.bytes(UInt64(3000)))
    for key in 0..<900 { try t.put(TreeID(rawValue: 18), Array("a name that is long enough \(1000 + key)".utf8), [3]) }
    try t.put(first, 201, Forge.bytes(UInt64(1)) + Forge.bytes(UInt64(3000)) + [0])
    try t.commit()
    try store.close()
    return device.contents()
  }

  /// Pages that are not what they should be.
  static func pages() throws -> [WrongStore] {
    let whole = try makeTrees()
    let right = StoreUse.read.verdict(whole)
    var list = [
      WrongStore("a right store of four trees", .read, right, whole),
      WrongStore("the same, checked", .check, StoreUse.check.verdict(whole), whole),
      WrongStore("the same, written to", .write, StoreUse.write.verdict(whole), whole),
    ]
    var forge = try Forge(whole)
    guard let one = forge.directory.trees[first], let two = forge.directory.trees[second],
      let names = forge.directory.trees[TreeID(rawValue: 18)], names.level == 1
    else { throw Forge.Missing() }
    let address = two.root.address
    list.append(
      WrongStore("a page that the file ends in", .read, .refused(.page(tree: second))) {
        ShortReadingDevice(whole) { offset, _ in offset == address }
      })
    try forge.replace(Forge.bytes(two.root), with: Forge.bytes(one.root))
    list.append(WrongStore("a tree with another's root", .read, .refused(.page(tree: second)), forge.bytes))

    // A leaf of one entry that is longer than a page.
    forge = try Forge(whole)
    var page = [UInt8](repeating: 0, count: 40 + 2 + 8000)
    page.withUnsafeMutableBytes { b in
      guard let p = b.baseAddress else { return }
      PageHeader.write(
        to: p, kind: .integerLeaf, level: 0, count: 1, tree: second, generation: 1, length: b.count, flags: 0,
        width: 0, prefix: 0, fixed: 0, countWidth: 0)
      p.put(UInt16(8000), 40)
    }
    let long = forge.append(page: page)
    try forge.replace(Forge.bytes(two.root), with: Forge.bytes(long))
    list.append(WrongStore("a page that is too long", .read, .refused(.page(tree: second)), forge.bytes))

    // Separators all alike: going on from one leaf leads to the same leaf.
    forge = try Forge(whole)
    guard let root = forge.page(names.root) else { throw Forge.Missing() }
    let parts = root.withUnsafeBytes { b -> [Range<Int>] in
      let inner = BytesInner(b.start)
      return [inner.headsOffset..<inner.restEnds, inner.restsOffset..<inner.restsOffset + inner.restsLength]
    }
    for part in parts where !part.isEmpty {
      try forge.mutate(
        at: Int(names.root.address) + part.lowerBound, [UInt8](repeating: 0x31, count: part.count))
    }
    list.append(
      WrongStore("separators that are all the same", .read, .refused(.page(tree: TreeID(rawValue: 18))), forge.bytes))
    list.append(try leaf(whole, "heads of three bytes", width: 3, fixed: 0))
    list.append(try leaf(whole, "rests beyond its end", width: 2, fixed: 100))
    list.append(try leaf(whole, "references, and no values", width: 2, fixed: 0, flags: PageHeader.flagStubs))

    // A tree that is said to have the other kind of keys.
    let described = [two.kind.rawValue, two.level, 0, 0] + Forge.bytes(two.root)
    guard let last = forge.directory.trees[single] else { throw Forge.Missing() }
    let entry = [last.kind.rawValue, last.level, 0, 0] + Forge.bytes(last.root)
    forge = try Forge(whole)
    try forge.replace(entry, with: [TreeKind.bytes.rawValue] + entry[1...])
    for use in [StoreUse.lookUp, .read, .check, .write, .compact] {
      list.append(
        WrongStore("a tree of another kind, \(use)", use, .refused(.page(tree: single)), forge.bytes))
    }

    // Inner pages above the one leaf of a tree.
    func inner(_ name: String, _ use: StoreUse, _ page: [UInt8]) throws {
      var forge = try Forge(whole)
      let ref = forge.append(page: page)
      try forge.replace(
        described, with: [page[8] == PageKind.integerInner.rawValue ? 1 : 2, 1, 0, 0] + Forge.bytes(ref))
      list.append(WrongStore("an inner page \(name)", use, .refused(.page(tree: second)), forge.bytes))
    }
    func header(_ kind: PageKind, _ count: Int, _ length: Int, width: Int) -> [UInt8] {
      var page = [UInt8](repeating: 0, count: length)
      page.withUnsafeMutableBytes { b in
        guard let p = b.baseAddress else { return }
        PageHeader.write(
          to: p, kind: kind, level: 1, count: count, tree: second, generation: 1, length: length, flags: 0,
          width: width, prefix: 0, fixed: 0, countWidth: 1)
      }
      return page
    }
    // The reference stands where it would be looked for.
    var none = header(.integerInner, 0, 64, width: 8)
    none.replaceSubrange(40..<56, with: Forge.bytes(two.root))
    try inner("without children", .lookUp, none)
    var odd = header(.integerInner, 1, 65, width: 3)
    odd.replaceSubrange(48..<64, with: Forge.bytes(two.root))
    odd[64] = 20
    try inner("with separators of three bytes", .read, odd)
    // Two separators: the second one ends before it begins.
    var rests = header(.bytesInner, 3, 32 + 4 + 48 + 3 + 2 + 4, width: 0)
    rests[32] = 4
    forge = try Forge(whole)
    let child = Forge.bytes(forge.append(page: bytesLeaf(second, width: 2, fixed: 0)))
    for i in 0..<3 { rests.replaceSubrange(36 + i * 16..<52 + i * 16, with: child) }
    let overlapping = Forge.bytes(forge.append(page: rests))
    try forge.replace(described, with: [TreeKind.bytes.rawValue, 1, 0, 0] + overlapping)
    list.append(
      WrongStore("separators that overlap", .read, .refused(.page(tree: second)), forge.bytes))
    return try list + [endlessTree(whole), strayPage()]
  }

  /// A tree of byte keys that is one leaf with one key, and no values.
  private static func leaf(_ whole: [UInt8], _ name: String, width: Int, fixed: Int, flags: UInt8 = 0) throws
    -> WrongStore
  {
    var forge = try Forge(whole)
    let tree = TreeID(rawValue: 18)
    guard let old = forge.directory.trees[tree] else { throw Forge.Missing() }
    let page = bytesLeaf(tree, width: width, fixed: fixed, flags: flags)
    let head = [old.kind.rawValue, old.level, 0, 0] + Forge.bytes(old.root)
    try forge.replace(head, with: [old.kind.rawValue, 0, 0, 0] + Forge.bytes(forge.append(page: page)))
    return WrongStore("a leaf with \(name)", .read, .refused(.page(tree: tree)), forge.bytes)
  }

  private static func bytesLeaf(_ tree: TreeID, width: Int, fixed: Int, flags: UInt8 = 0) -> [UInt8] {
    var page = [UInt8](repeating: 64, count: PageHeader.size + width + (flags == 0 ? 0 : 1))
    page.withUnsafeMutableBytes { b in
      guard let p = b.baseAddress else { return }
      PageHeader.write(
        to: p, kind: .bytesLeaf, level: 0, count: 1, tree: tree, generation: 1, length: b.count,
        flags: flags | PageHeader.flagNoValues | PageHeader.flagFixedKeys, width: width, prefix: 0, fixed: fixed,
        countWidth: 0)
    }
    return page
  }

  /// Inner pages that refer to the one below them many times over: a walk of all of them never ends.
  private static func endlessTree(_ whole: [UInt8]) throws -> WrongStore {
    var forge = try Forge(whole)
    guard let two = forge.directory.trees[second] else { throw Forge.Missing() }
    var ref = two.root
    let children = 16
    for level in UInt8(1)...20 {
      var page = [UInt8](repeating: 0, count: 48 + (children - 1) + children * 17)
      page.withUnsafeMutableBytes { b in
        guard let p = b.baseAddress else { return }
        PageHeader.write(
          to: p, kind: .integerInner, level: level, count: children, tree: second, generation: 1, length: b.count,
          flags: 0, width: 1, prefix: 0, fixed: 0, countWidth: 1)
        for i in 0..<children - 1 { p.put(UInt8(i + 1), 48 + i) }
        for i in 0..<children { ref.write(to: p, 48 + children - 1 + i * 16) }
      }
      ref = forge.append(page: page)
    }
    // The level stands before the reference in the directory.
    let old = [two.kind.rawValue, two.level, 0, 0] + Forge.bytes(two.root)
    try forge.replace(old, with: [two.kind.rawValue, 20, 0, 0] + Forge.bytes(ref))
    let problem = StoreUse.Verdict.refused(.page(tree: second))
    return WrongStore("a tree without end", .check, problem, forge.bytes)
  }

  /// Bytes in a segment of pages that look like a page longer than one, where no page is reached any more.
  private static func strayPage() throws -> WrongStore {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 32), options: StoreUse.options)
    var t = try store.beginWrite()
    _ = try t.createTree(.bytes)
    for key in 0..<30_000 { try t.put(first, Array("name \(key)".utf8), [UInt8](repeating: 1, count: 150)) }
    try t.commit()
    try store.checkpoint()
    t = try store.beginWrite()
    for key in 0..<30_000 where key % 10 == 0 { try t.delete(first, Array("name \(key)".utf8)) }
    try t.commit()
    try store.close()
    let whole = device.contents()
    var forge = try Forge(whole)
    var options = StoreUse.options
    options.isReadOnly = true
    let reader = try Store.open(on: MemoryDevice(copying: whole), environment: TestEnvironment(), options: options)
    var page = [UInt8](repeating: 0, count: 64)
    page.withUnsafeMutableBytes { b in
      guard let p = b.baseAddress else { return }
      PageHeader.write(
        to: p, kind: .bytesLeaf, level: 0, count: 1, tree: first, generation: .max, length: 32 + 60_000,
        flags: PageHeader.flagNoValues | PageHeader.flagFixedKeys, width: 0, prefix: 60_000, fixed: 0, countWidth: 0)
    }
    // At the head of every segment with room for it that nothing reaches there.
    var isDone = false
    for s in reader.space.table.segments where s.kind == .pages && s.length > 80_000 {
      let at = Int(s.address) + SegmentHeader.size
      if forge.mender.reaches(at..<at + 64) { continue }
      try forge.mutate(at: at, page)
      isDone = true
    }
    guard isDone else { throw Forge.Missing() }
    return WrongStore("a page that is none, and too long", .compact, StoreUse.compact.verdict(whole), forge.bytes)
  }

  /// Large values that are not what they should be.
  static func values() throws -> [WrongStore] {
    let whole = try makeTrees()
    var list: [WrongStore] = []
    func stub(_ id: UInt64, _ length: UInt64) -> [UInt8] { Forge.bytes(id) + Forge.bytes(length) }
    func change(
      _ name: String, _ place: StorePlace, _ change: (inout Forge) throws -> Void
    ) throws {
      var forge = try Forge(whole)
      try change(&forge)
      list.append(WrongStore(name, .read, .refused(place), forge.bytes))
    }
    let forge = try Forge(whole)
    let entries = try extents(whole)
    guard entries.count == 3, let leaf = forge.directory.trees[.extents]?.root else { throw Forge.Missing() }
    let place = { (id: UInt64) in StorePlace.extent(value: id) }
    let address = entries[1].address
    list.append(
      WrongStore("an extent that the file ends in", .read, .refused(place(2))) {
        ShortReadingDevice(whole) { offset, _ in offset == address }
      })
    try change("an identifier that wraps around", .record) {
      try $0.replace(stub(2, 3000), with: stub(2 + Extents.highestID, 3000))
    }
    try change("a value that has no extents", place(0)) { try $0.replace(stub(2, 3000), with: stub(0, 3000)) }
    try change("a value longer than its extents", place(2)) { try $0.replace(stub(2, 3000), with: stub(2, 3001)) }
    try change("two extents that changed places", place(2)) { f in
      try f.replace(entries[1].encoded, with: entries[2].encoded)
    }
    try change("an extent that says it is shorter", place(2)) { f in
      let short = try f.extent(entries[1].address, count: 2900)
      try f.replace(entries[1].encoded, with: short.encoded)
      try f.replace(stub(2, 3000), with: stub(2, 2900))
    }
    try change("an extent longer than a segment", place(2)) { f in
      let count = UInt32(1 << 20) + 100
      let content = Forge.bytes(Extents.key(2, 0)) + Forge.bytes(count) + [0, 0, 0, 0]
      let at = f.append(content + [UInt8](repeating: 5, count: Int(count)))
      try f.replace(entries[1].encoded, with: f.extent(at, count: count).encoded)
      try f.replace(stub(2, 3000), with: stub(2, UInt64(count)))
    }
    try change("a reference that is too long", .page(tree: first)) { f in
      guard let root = f.directory.trees[first]?.root, let page = f.page(root) else { throw Forge.Missing() }
      let (at, i) = page.withUnsafeBytes { b in
        (IntegerLeaf(b.start).bitmapOffset, IntegerLeaf(b.start).lowerBound(201))
      }
      try f.mutate(at: Int(root.address) + at + i / 8, [page[at + i / 8] | 1 << UInt8(i % 8)])
    }
    try change("an entry of an extent that is too short", place(2)) { f in
      // The ends of the values stand behind the keys.
      guard let page = f.page(leaf) else { throw Forge.Missing() }
      let at = page.withUnsafeBytes { IntegerLeaf($0.start).endsOffset }
      try f.mutate(at: Int(leaf.address) + at + 2, [39, 0])
      // The next one begins earlier then: it takes the byte.
    }
    return list
  }

  private static func extents(_ whole: [UInt8]) throws -> [Extent] {
    let store = try Store.open(
      on: MemoryDevice(copying: whole), environment: TestEnvironment(), options: StoreUse.options)
    let cursor = try store.snapshot().cursor(.extents)
    var found: [Extent] = []
    var more = try cursor.seekFirst()
    while more {
      if let value = try cursor.value(), let extent = value.withUnsafeBytes({ Extent($0) }) { found.append(extent) }
      more = try cursor.next()
    }
    return found
  }

  /// Stores that read well, and whose accounts are wrong.
  static func reports() throws -> [WrongStore] {
    let whole = try makeTrees()
    var list: [WrongStore] = []
    var forge = try Forge(whole)
    guard let one = forge.directory.trees[first], let two = forge.directory.trees[second],
      let segment = forge.directory.segments.first(where: {
        $0.kind == .pages && $0.dead == 0 && $0.address <= two.root.address
          && two.root.address < $0.address + UInt64($0.used)
      }), let page = forge.page(two.root), let leaf = forge.page(one.root)
    else { throw Forge.Missing() }

    // A page outside of every segment, and the accounts as if that were right.
    let moved = forge.append(page: page)
    try forge.replace(Forge.bytes(two.root), with: Forge.bytes(moved))
    var s = segment
    s.live -= UInt32(two.root.length)
    try forge.replace(Forge.bytes(segment), with: Forge.bytes(s))
    list.append(WrongStore("a page in no segment", .check, .refused(.page(tree: second)), forge.bytes))

    // The used part of the segment ends before a page; the account of live bytes is as it was.
    forge = try Forge(whole)
    s = segment
    s.used = s.live
    try forge.replace(Forge.bytes(segment), with: Forge.bytes(s))
    list.append(WrongStore("pages behind what is used", .check, .refused(.directory), forge.bytes))

    forge = try Forge(whole)
    var bytes = forge.bytes
    bytes[Int(Superblock.offset(slot: forge.superblock.slot, copy: 1)) + 300] ^= 1
    list.append(WrongStore("one copy of the superblock", .check, .refused(.superblock), bytes))

    // An entry that becomes a reference to a value that another entry has.
    let shared = leaf.withUnsafeBytes { b -> Int in
      let l = IntegerLeaf(b.start)
      return l.bitmapOffset + l.lowerBound(200) / 8
    }
    let bit = UInt8(1 << (leaf.withUnsafeBytes { IntegerLeaf($0.start).lowerBound(200) } % 8))
    forge = try Forge(whole)
    try forge.mutate(at: Int(one.root.address) + shared, [leaf[shared] ^ bit])
    try forge.largeValues(first, 4)
    list.append(WrongStore("a value of two entries", .check, .refused(.extent(value: 1)), forge.bytes))

    // An entry that is none any more: its value belongs to nobody.
    let index = leaf.withUnsafeBytes { IntegerLeaf($0.start).lowerBound(101) }
    let at = leaf.withUnsafeBytes { IntegerLeaf($0.start).bitmapOffset } + index / 8
    forge = try Forge(whole)
    try forge.mutate(at: Int(one.root.address) + at, [leaf[at] & ~(1 << UInt8(index % 8))])
    try forge.largeValues(first, 2)
    list.append(WrongStore("a value of no entry", .check, .refused(.extent(value: 2)), forge.bytes))

    forge = try Forge(whole)
    let (sequence, next) = (Forge.bytes(forge.directory.sequence), forge.directory.nextValueID)
    try forge.replace(sequence + Forge.bytes(next), with: sequence + Forge.bytes(next - 1))
    list.append(WrongStore("a next value that is there", .check, .refused(.directory), forge.bytes))
    return list
  }
}

extension Forge {
  /// An entry for an extent as it stands in the file, whatever its head says.
  fileprivate func extent(_ address: UInt64, count: UInt32) throws -> Extent {
    let all = bytes
    let range = Int(address)..<Int(address) + Extent.headerSize + Int(count)
    guard range.upperBound <= all.count else { throw Missing() }
    let sum = Array(all[range]).withUnsafeBytes {
      Checksum.of($0, seed: Extents.seed(store: mender.seed, address: address))
    }
    return Extent(address: address, count: count, checksum: sum)
  }

  /// Sets the directory's count of large values of a tree.
  fileprivate mutating func largeValues(_ tree: TreeID, _ count: UInt64) throws {
    guard let state = directory.trees[tree] else { throw Missing() }
    let figures = { (n: UInt64) in
      Forge.bytes(state.count) + Forge.bytes(state.pages) + Forge.bytes(state.bytes) + Forge.bytes(n)
    }
    try replace(figures(state.largeValues), with: figures(count))
  }
}

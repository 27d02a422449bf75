import CambiumTesting

@testable import CambiumKernel

/// A store made wrong on purpose, and what has to come of its use.
struct WrongStore {
  let name: String
  let use: StoreUse
  let device: () -> any StorageDevice
  let expected: StoreUse.Verdict

  init(_ name: String, _ use: StoreUse, _ expected: StoreUse.Verdict, _ bytes: [UInt8]) {
    self.init(name, use, expected) { MemoryDevice(copying: bytes, capacityBytes: 32 << 20) }
  }

  init(
    _ name: String, _ use: StoreUse, _ expected: StoreUse.Verdict, device: @escaping () -> any StorageDevice
  ) {
    self.name = name
    self.use = use
    self.expected = expected
    self.device = device
  }

  /// What comes of it, if that is something else than it has to be.
  func difference() -> String? {
    let found = use.verdict(on: device())
    return found == expected ? nil : "\(name): \(found), and has to be \(expected)"
  }

  /// All of them, with stores that are right between them.
  static func all() throws -> [WrongStore] {
    try superblocks() + logs() + operations() + directories() + pages() + values() + reports()
  }

  // MARK: Superblock

  private static func superblocks() throws -> [WrongStore] {
    let whole = try StartUpCaseTests.image(closed: true)
    let right = StoreUse.read.verdict(whole)
    var list = [
      WrongStore("a right store, closed", .read, right, whole),
      WrongStore("zeros", .read, .refused(nil), [UInt8](repeating: 0, count: 70_000)),
    ]
    list.append(
      WrongStore("a file that has no bytes to give", .read, .refused(nil)) {
        ShortReadingDevice(whole) { offset, _ in offset == 0 }
      })
    var forge = try Forge(whole)
    var other = forge.superblock
    other.publication += 2
    other.directory = .none
    forge.write(other, slot: other.slot ^ 1)
    list.append(WrongStore("a superblock in the other slot", .read, right, forge.bytes))
    forge = try Forge(whole)
    forge.superblock { s in
      var empty = s.pieces[0]
      empty.end = empty.start
      s.pieces = [LogPiece](repeating: empty, count: Superblock.maxPieces) + s.pieces
    }
    other = forge.superblock
    other.publication -= 1
    forge.write(other, slot: other.slot)
    list.append(WrongStore("17 pieces of log", .open, .refused(.superblock), forge.bytes))
    // The last number of a publication in one slot, the right superblock in the other.
    forge = try Forge(whole)
    forge.superblock { $0.publication += $0.publication & 1 + 2 }
    let before = forge.bytes
    other = forge.superblock
    other.publication = .max
    forge.write(other, slot: 1)
    list.append(WrongStore("the last publication", .write, StoreUse.write.verdict(before), forge.bytes))
    forge = try Forge(whole)
    forge.superblock { $0.durableSequence = 0 }
    list.append(WrongStore("a directory newer than what was durable", .open, .refused(.superblock), forge.bytes))
    return list
  }

  // MARK: Directory

  private static func directories() throws -> [WrongStore] {
    let whole = try StartUpCaseTests.image(closed: true)
    var list: [WrongStore] = []
    for part in [0, 1] {
      let forge = try Forge(whole)
      let index = forge.superblock.directory
      let chunk = try PageRef(forge.page(index).map { Array($0[32...]) } ?? [])
      let address = part == 0 ? index.address : chunk.address
      list.append(
        WrongStore("a directory that the file ends in, \(part)", .open, .refused(.directory)) {
          ShortReadingDevice(whole) { offset, _ in offset == address }
        })
    }
    var forge = try Forge(whole)
    let index = forge.superblock.directory
    if var page = forge.page(index) {
      page = Array(page[..<48]) + [0]
      page.withUnsafeMutableBytes { $0.baseAddress?.put(UInt16(49), PageHeader.lengthOffset) }
      let ref = forge.append(page: page)
      forge.superblock { $0.directory = ref }
      list.append(WrongStore("an index with a part of a reference", .open, .refused(.directory), forge.bytes))
    }
    forge = try Forge(whole)
    var short = [UInt8](repeating: 0, count: 16)
    short[8] = PageKind.directory.rawValue
    let ref = forge.append(page: short)
    forge.superblock { $0.directory = ref }
    list.append(WrongStore("a directory of 16 bytes", .open, .refused(.directory), forge.bytes))

    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 22), options: StoreUse.options)
    let t = try store.beginWrite()
    for _ in 0..<2 { try t.put(t.createTree(.integer), UInt64(1), [1]) }
    try t.commit()
    _ = try store.retain(reason: "kept")
    try store.close()
    forge = try Forge(device.contents())
    // Its identifier stands 76 bytes before the reason.
    guard let reason = forge.mender.find(Array("kept".utf8)) else { throw Forge.Missing() }
    try forge.mutate(at: reason - 76, Forge.bytes(UInt64.max))
    list.append(WrongStore("the last retained commit", .write, .refused(.directory), forge.bytes))
    forge = try Forge(device.contents())
    let kind = [TreeKind.integer.rawValue, 0, 0, 0]
    try forge.replace(Forge.bytes(UInt32(17)) + kind, with: Forge.bytes(UInt32(16)) + kind)
    list.append(WrongStore("a tree that is listed twice", .open, .refused(.directory), forge.bytes))
    forge = try Forge(device.contents())
    guard var last = forge.directory.segments.last else { throw Forge.Missing() }
    let old = Forge.bytes(last)
    last.start = .max
    last.units = 2
    try forge.replace(old, with: Forge.bytes(last))
    list.append(WrongStore("a segment behind the last unit", .open, .refused(.directory), forge.bytes))
    return list
  }
}

extension PageRef {
  fileprivate init(_ bytes: [UInt8]) throws {
    guard bytes.count >= PageRef.size else { throw Forge.Missing() }
    self = bytes.withUnsafeBytes { PageRef($0.start, 0) }
  }
}

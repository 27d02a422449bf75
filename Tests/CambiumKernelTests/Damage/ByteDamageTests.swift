import CambiumTesting
import Foundation
import Testing

@testable import CambiumKernel

/// Every byte of a small, cleanly closed store of every page kind is changed, and the file is cut at every length: what
/// is read then is the same, or a typed error that names a place; never other data, a trap or a hang.
///
/// All bytes are tried at full length, one in `CAMBIUM_SHARE` if that is set, every 97th otherwise;
/// `CAMBIUM_DAMAGE_STEP` sets another step.
@Suite struct ByteDamageTests {
  static let step =
    ProcessInfo.processInfo.environment["CAMBIUM_DAMAGE_STEP"].flatMap(Int.init) ?? (isFullLength ? share : 97)

  static var options: StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 1 << 16
    return options
  }

  static let integers = TreeID(rawValue: 16)
  static let bytes = TreeID(rawValue: 17)

  /// Leaves and inner pages of both kinds, a directory, extents, and an empty log.
  static func makeStore() throws -> [UInt8] {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 9), options: options)
    let t = try store.beginWrite()
    _ = try t.createTree(.integer)
    _ = try t.createTree(.bytes)
    for i in 0..<120 {
      try t.put(integers, UInt64(i * 5), Array(repeating: UInt8(i), count: 60))
      try t.put(
        bytes, Array("some key \(i * 77 % 120) of the tree of bytes, long enough for several pages".utf8), [UInt8(i)])
    }
    try t.put(integers, 7, (0..<3000).map { UInt8(truncatingIfNeeded: $0) })
    try t.commit()
    try store.close()
    return device.contents()
  }

  struct Contents: Equatable {
    var entries: [[UInt8]] = []
    var counts: [UInt64] = []
  }

  /// Everything that a store holds, read through both directions of a cursor.
  static func read(_ file: [UInt8], readOnly: Bool) throws -> Contents {
    var options = options
    options.isReadOnly = readOnly
    let store = try Store.open(on: MemoryDevice(copying: file), environment: TestEnvironment(seed: 4), options: options)
    let view = try store.snapshot()
    var contents = Contents()
    for tree in view.trees() {
      contents.counts.append(try view.count(tree))
      let cursor = try view.cursor(tree)
      var more = try cursor.seekFirst()
      while more {
        contents.entries.append(view.kind(of: tree) == .integer ? modelKey(cursor.integerKey) : Array(cursor.key))
        contents.entries.append(try cursor.value() ?? [])
        more = try cursor.next()
      }
    }
    return contents
  }

  /// Whether an error is one that damage may give, and says where.
  static func isReport(_ error: any Error) -> Bool {
    guard let error = error as? StoreError else { return false }
    switch error {
    case .corrupt, .notAStore, .unsupportedFormat: return !error.description.isEmpty
    default: return false
    }
  }

  @Test func everyChangedByteIsHarmlessOrReported() throws {
    let file = try Self.makeStore()
    let whole = try Self.read(file, readOnly: true)
    #expect(whole.entries.count == 2 * 241 && whole.counts == [121, 120])
    var reported = 0
    var harmless = 0
    for offset in stride(from: 0, to: file.count, by: Self.step) {
      for change in [UInt8(0x01), 0x80, 0xFF] {
        var damaged = file
        damaged[offset] ^= change
        do {
          let contents = try Self.read(damaged, readOnly: offset % 2 == 0)
          harmless += 1
          if contents != whole { Issue.record("other data after byte \(offset) was changed by \(change)") }
        } catch {
          reported += 1
          if !Self.isReport(error) { Issue.record("byte \(offset) changed by \(change): \(error)") }
        }
      }
    }
    print("damage: \(reported) changes reported, \(harmless) harmless, of \(file.count) bytes in steps of \(Self.step)")
    #expect(reported > harmless / 20)
  }

  @Test func everyTruncationIsHarmlessOrReported() throws {
    let file = try Self.makeStore()
    let whole = try Self.read(file, readOnly: true)
    for length in stride(from: 0, to: file.count, by: Self.step) {
      do {
        let contents = try Self.read(Array(file[..<length]), readOnly: length % 2 == 0)
        if contents != whole { Issue.record("other data after the file was cut to \(length) bytes") }
      } catch {
        if !Self.isReport(error) { Issue.record("cut to \(length) bytes: \(error)") }
      }
    }
  }

  /// Garbage over any 8 KiB of the file: all data, or an error. If it takes the end of a log that was not closed, what
  /// it took may be missing, because nothing is left to prove it.
  @Test(arguments: [true, false]) func garbageOverAnyEightKiBIsHarmlessOrReported(_ closed: Bool) throws {
    let image = try StartUpCaseTests.image(closed: closed)
    let records = closed ? [] : try StartUpCaseTests.log(image).outcome.records.map(\.address)
    var random = SplitMix64(seed: 6)
    let garbage = random.bytes(8192)
    var (whole, reported) = (0, 0)
    for start in stride(from: -7680, to: image.count, by: isFullLength ? 512 : 1536) {
      var damaged = image
      let range = max(0, start)..<min(image.count, start + 8192)
      damaged.replaceSubrange(range, with: garbage.prefix(range.count))
      for readOnly in [true, false] {
        var options = Self.options
        options.isReadOnly = readOnly
        do {
          let store = try Store.open(
            on: MemoryDevice(copying: damaged), environment: TestEnvironment(seed: 4), options: options)
          let view = try store.snapshot()
          let count = try view.count(StartUpCaseTests.tree)
          let before = records.prefix { $0 + 200 <= range.lowerBound }.count
          let isEnd = records.last.map { range.contains(Int($0) + 50) } ?? false
          let isAllowed = count == 29 || isEnd && (29 - records.count + before...29).contains(Int(count))
          #expect(isAllowed, "\(count) of 29 rows are left with garbage in \(range)")
          for key in 1...count {
            #expect(try view.value(StartUpCaseTests.tree, key) == Array(repeating: UInt8(key), count: 100))
          }
          whole += 1
        } catch {
          reported += 1
          #expect(Self.isReport(error), "garbage in \(range): \(error)")
        }
      }
    }
    #expect(whole > 10 && reported > 5)
  }

  /// Every page of a store can be told from damage without the page above it: by its own checksum, and its place.
  @Test func pagesAreVerifiedWithoutTheirParents() throws {
    let file = try DamageStore(isClosed: true).bytes
    let mender = try Mender(file)
    let pages = mender.places.filter { $0.lowerBound >= Superblock.regionSize }
    #expect(pages.count >= 8)
    func isWhole(_ bytes: [UInt8], at address: Int) -> Bool {
      bytes.withUnsafeBytes { b in
        let p = b.start + address
        let count = roundUp(p.pageLength, to: 16)
        guard count >= PageHeader.size, address + count <= b.count else { return false }
        let ref = PageRef(address: UInt64(address), length: count, checksum: 0)
        let sum = PageHeader.sum(p, count: count, seed: PageRef.seed(store: mender.seed, location: ref.location))
        return sum == p.pageChecksum
      }
    }
    for page in pages {
      #expect(isWhole(file, at: page.lowerBound))
      for offset in stride(from: page.lowerBound, to: page.upperBound, by: 37) {
        var damaged = file
        damaged[offset] ^= 4
        #expect(!isWhole(damaged, at: page.lowerBound), "byte \(offset)")
      }
    }
  }

  /// `check()` finds what reading finds: every page and extent that is reached is verified.
  @Test func checkReportsDamagedPages() throws {
    let file = try Self.makeStore()
    var found = 0
    for offset in stride(from: 16384, to: file.count, by: Self.step * 7) {
      var damaged = file
      damaged[offset] ^= 0x10
      guard
        let store = try? Store.open(
          on: MemoryDevice(copying: damaged), environment: TestEnvironment(seed: 4), options: Self.options)
      else { continue }
      let isReadable = (try? Self.read(damaged, readOnly: true)) != nil
      let problems = try store.check().problems
      // Reading needs no header of a log segment, and no copy of the superblock but one.
      let isNeeded = problems.contains { $0.place != .log && $0.place != .superblock }
      #expect(isReadable == !isNeeded, "byte \(offset): \(problems)")
      if !problems.isEmpty { found += 1 }
    }
    #expect(found > 0)
  }
}

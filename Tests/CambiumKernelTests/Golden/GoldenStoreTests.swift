import CambiumKernel
import CambiumTesting
import Foundation
import Testing

/// Stores that were written once and are kept: what a later version has to read, byte for byte the same file.
///
/// `closed-2.store` was closed; `log-2.store` was left with a log. `CAMBIUM_WRITE_GOLDEN=1` writes them anew, which is
/// right only for a new format version, under new names. Those of format 1 are refused by their number
/// (`StartUpCaseTests`).
@Suite struct GoldenStoreTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  static func bytes(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: folder.appendingPathComponent(name + ".store")))
  }

  static var options: StoreOptions {
    var options = StoreOptions()
    options.logBytes = 1 << 16
    options.logValueLimit = 4000
    return options
  }

  static func text(_ i: Int) -> [UInt8] { Array("entry \(i * 7919 % 1000) of the golden store".utf8) }

  static func large(_ n: Int) -> [UInt8] { (0..<n).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

  /// What the stores hold: two trees of each kind, values inline, moved out, and written out, deletions, a dropped tree.
  static func write(_ device: MemoryDevice, closing: Bool) throws {
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 42), options: options)
    var t = try store.beginWrite()
    let integers = try t.createTree(.integer)
    let bytes = try t.createTree(.bytes)
    let dropped = try t.createTree(.integer)
    for i in 0..<1000 {
      try t.put(integers, UInt64(i * 3), text(i))
      try t.put(bytes, Array("key \(i)".utf8), i % 2 == 0 ? [] : [UInt8(truncatingIfNeeded: i)])
      try t.put(dropped, UInt64(i), [1])
    }
    try t.commit()
    try store.checkpoint()
    t = try store.beginWrite()
    try t.put(integers, 5000, large(3000))
    try t.put(integers, 5001, large(50_000))
    for i in 0..<500 { try t.delete(bytes, Array("key \(i)".utf8)) }
    try t.dropTree(dropped)
    try t.addToCounter(integers, 2, 77)
    try t.commit()
    if closing {
      try store.close()
    } else {
      try store.checkpoint()
      t = try store.beginWrite()
      try t.put(bytes, Array("only in the log".utf8), [9])
      try t.delete(integers, 0)
      try t.commit()
    }
  }

  /// The fuzzer of whole files begins with a small store of this format, closed and with a log.
  @Test func theFuzzerBeginsWithStoresOfThisFormat() throws {
    let folder = Self.folder.appendingPathComponent("../../Fuzz/Corpus/open")
    for closed in [true, false] {
      let file = folder.appendingPathComponent(closed ? "closed" : "log")
      if ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"] == "1" {
        try Data(StartUpCaseTests.image(closed: closed)).write(to: file)
      }
      #expect(try StartUpCaseTests.rows(Array(Data(contentsOf: file))) == 29)
    }
  }

  @Test(arguments: ["closed-2", "log-2"]) func isReadable(_ name: String) throws {
    let file = Self.folder.appendingPathComponent(name + ".store")
    if ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"] == "1" {
      let device = MemoryDevice()
      try Self.write(device, closing: name == "closed-2")
      try Data(device.contents()).write(to: file)
    }
    let device = MemoryDevice(copying: try Self.bytes(name))
    for readOnly in [true, false] {
      var options = Self.options
      options.isReadOnly = readOnly
      let store = try Store.open(on: device, environment: TestEnvironment(seed: 7), options: options)
      let view = try store.snapshot()
      let isLog = name == "log-2"
      #expect(view.trees().map(\.rawValue) == [16, 17])
      let integers = TreeID(rawValue: 16)
      let bytes = TreeID(rawValue: 17)
      #expect(try view.count(integers) == (isLog ? 1001 : 1002))
      #expect(try view.count(bytes) == (isLog ? 501 : 500))
      #expect(try view.counter(integers, 2) == 77)
      for i in 0..<1000 {
        #expect(try view.value(integers, UInt64(i * 3)) == (isLog && i == 0 ? nil : Self.text(i)))
        let value: [UInt8]? = i < 500 ? nil : i % 2 == 0 ? [] : [UInt8(truncatingIfNeeded: i)]
        #expect(try view.value(bytes, Array("key \(i)".utf8)) == value)
      }
      #expect(try view.value(integers, 5000) == Self.large(3000))
      #expect(try view.value(integers, 5001) == Self.large(50_000))
      #expect(try view.value(bytes, Array("only in the log".utf8)) == (isLog ? [9] : nil))
      #expect(try store.check().problems.isEmpty)
    }
  }
}

import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumSystem

/// What has to hold at any size, on a real file of more than a gigabyte. Takes about 20 seconds in an optimised build,
/// and 2 GB of room: runs only where `CAMBIUM_LARGE` is set (to a directory for the file, or to 1).
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["CAMBIUM_LARGE"] != nil))
struct LargeStoreTests {
  static let rows: UInt64 = 10_000_000

  /// Ten million rows in one transaction, and a scan of them all, in 96 MiB; then the store is left with a log and
  /// opened, which reads that log, the superblock, and the directory.
  @Test func tenMillionRowsInOneTransaction() throws {
    let environment = SystemEnvironment()
    var options = StoreOptions()
    options.cacheBytes = 16 << 20
    options.deltaBytes = 16 << 20
    try Self.withDirectory { directory in
      let path = directory + "/large.store"
      _ = try FileDevice.create(at: path) { (device) throws(StoreError) in
        try Store.format(device, environment: environment, options: options)
      }
      let before = try Self.peakMemory()
      var tree = TreeID(rawValue: 0)
      let statistics: StoreStatistics
      do {
        let store = try Store.open(
          on: FileDevice(path: path, access: .readWrite), environment: environment, options: options)
        var t = try store.beginWrite()
        tree = try t.createTree(.integer)
        var row = [UInt8](repeating: 7, count: 150)
        for key in 0..<Self.rows {
          row[Int(key % 150)] &+= 1
          try t.put(tree, key, row)
        }
        try t.commit()
        let cursor = try store.snapshot().cursor(tree)
        var expected: UInt64 = 0
        var more = try cursor.seekFirst()
        while more {
          if cursor.integerKey != expected { break }
          expected += 1
          more = try cursor.next()
        }
        #expect(expected == Self.rows && !more)
        let after = try Self.peakMemory()
        print("10,000,000 rows in one transaction and a scan: \(after >> 20) MiB at most, \(before >> 20) MiB before")
        #expect(after <= 96 << 20)
        // Left without closing, with a log that is nearly full.
        for key in 0..<UInt64(20_000) {
          t = try store.beginWrite()
          try t.put(tree, key &* 7919 % Self.rows, row)
          try t.commit()
          if try store.statistics().logBytes > UInt64(options.logBytes) * 3 / 4 { break }
        }
        statistics = try store.statistics()
      }
      #expect(statistics.fileBytes > 1 << 30)
      options.durability = .full
      var device = CountingDevice(try FileDevice(path: path, access: .readWrite))
      var store = try Store.open(on: device, environment: environment, options: options)
      let most = statistics.logSegmentBytes + 128 << 10 + UInt64(statistics.segments) * 48
      print(
        "opening \(statistics.fileBytes) bytes in \(statistics.segments) segments read \(device.counts.readBytes) bytes;",
        "log \(statistics.logSegmentBytes), allowed \(most)")
      #expect(device.counts.readBytes <= most)
      #expect(try store.snapshot().count(tree) == Self.rows)
      try store.close()
      device = CountingDevice(try FileDevice(path: path, access: .readWrite))
      store = try Store.open(on: device, environment: environment, options: options)
      print("opening it after it was closed read \(device.counts.readBytes) bytes")
      #expect(device.counts.readBytes <= most)
      try store.close()
    }
  }

  /// Bytes that the process has held resident at most.
  static func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    let kilobytes = try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    return kilobytes << 10
  }

  private static func withDirectory(_ body: (String) throws -> Void) throws {
    guard let place = ProcessInfo.processInfo.environment["CAMBIUM_LARGE"], place.hasPrefix("/") else {
      return try withTemporaryDirectory(body)
    }
    let directory = place + "/cambium-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory)
  }
}

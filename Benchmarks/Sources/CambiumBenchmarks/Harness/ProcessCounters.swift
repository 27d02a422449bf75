import CLMDB
import Foundation
import Synchronization

/// What the operating system counts for this process.
struct ProcessCounters {
  /// Bytes given to write calls (`wchar`): `write_bytes` counts whole folios of the page cache.
  var written: Int
  /// Calls of fsync and fdatasync.
  var syncs: Int

  static func now() -> ProcessCounters {
    ProcessCounters(written: field("/proc/self/io", "wchar:"), syncs: syncCount.load(ordering: .relaxed))
  }

  /// The most memory that the process has held resident, in bytes.
  static func peakMemory() -> Int { field("/proc/self/status", "VmHWM:") * 1024 }

  /// The memory that the allocator has given out, in bytes.
  static func allocatedMemory() -> Int {
    let info = mallinfo2()
    return Int(info.uordblks) + Int(info.hblkhd)
  }

  private static func field(_ path: String, _ name: String) -> Int {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
    for line in text.split(separator: "\n") where line.hasPrefix(name) {
      return Int(line.dropFirst(name.count).split(whereSeparator: { $0 == " " || $0 == "\t" }).first ?? "") ?? 0
    }
    return 0
  }
}

private let syncCount = Atomic<Int>(0)

private typealias SyncCall = @convention(c) (Int32) -> Int32

private func next(_ name: String) -> SyncCall? {
  // RTLD_NEXT
  dlsym(UnsafeMutableRawPointer(bitPattern: -1), name).map { unsafeBitCast($0, to: SyncCall.self) }
}

private let nextDataSync = next("fdatasync")
private let nextSync = next("fsync")

/// Stands before the C library's, for every peer alike, and counts. The kernel keeps no count of its own per process.
@c(fdatasync)
public func countedDataSync(_ file: Int32) -> Int32 {
  syncCount.add(1, ordering: .relaxed)
  return nextDataSync?(file) ?? -1
}

/// As ``countedDataSync(_:)``.
@c(fsync)
public func countedSync(_ file: Int32) -> Int32 {
  syncCount.add(1, ordering: .relaxed)
  return nextSync?(file) ?? -1
}

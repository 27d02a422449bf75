import CambiumSystem
import Foundation

/// What is set alike for all peers.
enum Tuning {
  /// Memory for pages: SQLite's `cache_size`, Cambium's `cacheBytes`. LMDB has only the system's page cache.
  static let cacheBytes = 256 << 20
  /// Length of log at which a checkpoint begins: SQLite's `wal_autocheckpoint` (in pages), Cambium's `logBytes`.
  static let logBytes = 16 << 20
  /// Memory-mapped reads of SQLite; address space of LMDB.
  static let mapBytes = 16 << 30
  /// How many threads one call may use: SQLite's `threads`, Cambium's `maximumThreads`, which is all processors unless
  /// set.
  static let threads = SystemEnvironment().processorCount()
}

/// Bytes of a file, or of the files in a folder; 0 if there is nothing.
func fileSize(_ path: String) -> UInt64 {
  var isFolder: ObjCBool = false
  guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return 0 }
  if isFolder.boolValue {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.reduce(0) { $0 + fileSize(path + "/" + $1) }
  }
  let attributes = try? FileManager.default.attributesOfItem(atPath: path)
  return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
}

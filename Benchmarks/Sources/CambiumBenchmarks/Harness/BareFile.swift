import Foundation
import Glibc

/// Files without a store.
enum BareFile {
  /// How many writes of 512 bytes into room that is there already, each with a sync, a second allows: what no store
  /// that keeps its promises can surpass with one thread.
  static func syncsPerSecond(in directory: String, count: Int = 300) throws -> Double {
    let path = directory + "/bare"
    let file = Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { throw ChildProcess.Failure(text: "cannot open \(path)") }
    defer {
      Glibc.close(file)
      unlink(path)
    }
    let zeros = [UInt8](repeating: 0, count: 1 << 20)
    pwrite(file, zeros, zeros.count, 0)
    fdatasync(file)
    let time = seconds {
      for i in 0..<count {
        pwrite(file, zeros, 512, i * 512)
        fdatasync(file)
      }
    }
    return Double(count) / time
  }

  /// Forgets what the system's page cache holds of the files that begin with `path`, or lie in the folder of that name.
  static func evict(_ path: String) {
    var paths = [path, path + "-wal", path + "-shm"]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { paths.append(path + "/" + name) }
    for path in paths {
      let file = Glibc.open(path, O_RDONLY)
      if file < 0 { continue }
      fdatasync(file)
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
      Glibc.close(file)
    }
  }
}

import CambiumKernel
import Foundation

@testable import CambiumSystem

/// Runs `body` with a new directory, which is removed afterwards.
func withTemporaryDirectory<R>(_ body: (String) throws -> R) throws -> R {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url.path)
}

func names(in directory: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
}

/// Calls `body` and returns what it throws.
func thrown(_ body: () throws(StoreError) -> Void) -> StoreError? {
  do throws(StoreError) {
    try body()
    return nil
  } catch { return error }
}

extension StorageDevice {
  func write(_ bytes: [UInt8], at offset: UInt64) throws(StoreError) {
    var failure: StoreError?
    bytes.withUnsafeBytes { raw in
      do throws(StoreError) { try write(raw, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  func bytes(at offset: UInt64, _ count: Int) throws(StoreError) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
    defer { buffer.deallocate() }
    let read = try read(at: offset, into: buffer)
    return [UInt8](buffer[..<read])
  }

  func everything() throws(StoreError) -> [UInt8] { try bytes(at: 0, Int(size())) }
}

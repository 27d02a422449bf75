import CambiumKernel
import CambiumSystem

extension StoreFiles {
  /// Copies a file that cannot be written as it lies. What is at the beginning of a store's file changes whenever
  /// something that it leads to is used again, so the copy is whole if that has stayed the same.
  static func copyBytes(of path: String, to target: FileDevice, _ progress: (BackupProgress) -> Bool) throws -> Bool {
    let source = try source(path)
    defer { source.close() }
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { chunk.deallocate() }
    for _ in 0..<10 {
      let head = try beginning(of: source)
      let total = try source.size()
      try target.resize(to: 0)
      var offset: UInt64 = 0
      while offset < total {
        let got = try source.read(at: offset, into: chunk)
        if got == 0 { break }
        try target.write(UnsafeRawBufferPointer(rebasing: chunk[0..<got]), at: offset)
        offset += UInt64(got)
        if !progress(BackupProgress(copiedBytes: min(offset, total), totalBytes: total)) { return false }
      }
      if try beginning(of: source) == head { return true }
    }
    throw CambiumError(
      .persistentStoreSave,
      "each time the store was copied, others had saved into it meanwhile; try again when less is saved, or back it up "
        + "where it is open for writing", underlying: [StoreError.busy])
  }

  static func beginning(of device: FileDevice) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let got = try bytes.withUnsafeMutableBytes { (buffer) throws(StoreError) in try device.read(at: 0, into: buffer) }
    return Array(bytes.prefix(got))
  }
}

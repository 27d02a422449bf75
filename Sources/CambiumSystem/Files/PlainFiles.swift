import CambiumKernel

/// Whole small files and folders: what models are kept in.
public enum PlainFiles {
  /// The names in a folder, in no order, without `.` and `..`; `nil` if the path is no folder.
  public static func names(inFolder path: String) -> [String]? {
    let calls = FileCalls.system
    var status = FileStatus()
    guard let path = try? checkedPath(path), calls.pathStatus(path, &status) >= 0, status.isDirectory else {
      return nil
    }
    return calls.names(path) { $0 != "." && $0 != ".." }
  }

  /// The content of a file; `nil` if there is none.
  ///
  /// - Throws: `StoreError.device` if it cannot be read, `StoreError.misuse` if it is longer than `limit` bytes.
  public static func bytes(ofFile path: String, limit: Int) throws(StoreError) -> [UInt8]? {
    let device: FileDevice
    do throws(StoreError) {
      device = try FileDevice(path: path, access: .readOnly, sharing: .cooperative)
    } catch {
      if error.meansNoSuchFile { return nil }
      throw error
    }
    defer { device.close() }
    guard let size = Int(exactly: try device.size()), size <= limit || isPlanted(.plainFileLimitIgnored) else {
      throw .misuse("the file is longer than a file of its kind is")
    }
    var bytes = [UInt8](repeating: 0, count: size)
    var failure: StoreError?
    let count = bytes.withUnsafeMutableBytes { buffer in
      do throws(StoreError) { return try device.read(at: 0, into: buffer) } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    bytes.removeLast(size - count)
    return bytes
  }

  /// Writes a file whole or not at all, in place of what has its name.
  ///
  /// - Throws: `StoreError.device`.
  public static func replace(_ path: String, with bytes: [UInt8]) throws(StoreError) {
    let calls = FileCalls.system
    let path = try checkedPath(path)
    let newPath = path + ".new"
    _ = calls.unlink(newPath)
    let file = calls.open(newPath, .creating)
    if file < 0 { throw .device(operation: .open, offset: 0, code: Int32(truncatingIfNeeded: -file)) }
    var result = bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count, let start = buffer.baseAddress {
        let result = calls.write(file, start + done, buffer.count - done, Int64(done))
        if result > 0 {
          done += result
        } else if !ErrorCode.meansInterrupted(Int32(truncatingIfNeeded: -result)) {
          return result < 0 ? result : -Int(ErrorCode.writeStalled)
        }
      }
      return 0
    }
    if result >= 0 { result = calls.sync(file) }
    _ = calls.close(file)
    if result >= 0 { result = calls.rename(newPath, path) }
    if result < 0 {
      _ = calls.unlink(newPath)
      throw .device(operation: .write, offset: 0, code: Int32(truncatingIfNeeded: -result))
    }
  }

  /// Removes a file, if there is one.
  public static func remove(_ path: String) throws(StoreError) {
    let result = FileCalls.system.unlink(try checkedPath(path))
    guard result < 0, !ErrorCode.meansMissing(Int32(truncatingIfNeeded: -result)) else { return }
    throw .device(operation: .write, offset: 0, code: Int32(truncatingIfNeeded: -result))
  }

  /// Makes a folder, unless there is one; the one that it lies in must exist.
  ///
  /// - Throws: `StoreError.device`.
  public static func makeFolder(_ path: String) throws(StoreError) {
    if names(inFolder: path) != nil { return }
    let result = FileCalls.system.makeDirectory(try checkedPath(path))
    if result < 0 { throw .device(operation: .open, offset: 0, code: Int32(truncatingIfNeeded: -result)) }
  }
}

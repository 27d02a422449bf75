#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(WASILibc)
  import WASILibc
#elseif os(Windows)
  import ucrt
#endif

/// A file that is read from its beginning to its end, a piece at a time, so that its length costs no memory.
final class InputFile {
  /// The length in bytes when it was opened.
  let length: Int
  private let path: String
  private let descriptor: Int32

  /// Opens the file at `path`.
  init(path: String) throws(DataError) {
    self.path = path
    #if os(Windows)
      descriptor = _open(path, _O_RDONLY | _O_BINARY)
      guard descriptor >= 0 else { throw Self.failure(path) }
      length = Int(_lseeki64(descriptor, 0, SEEK_END))
      _lseeki64(descriptor, 0, SEEK_SET)
    #else
      descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw Self.failure(path) }
      length = Int(lseek(descriptor, 0, SEEK_END))
      lseek(descriptor, 0, SEEK_SET)
    #endif
  }

  deinit {
    #if os(Windows)
      _close(descriptor)
    #else
      close(descriptor)
    #endif
  }

  /// The next bytes, at most `count`; none at the end.
  func read(_ count: Int) throws(DataError) -> [UInt8] {
    let result = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      #if os(Windows)
        filled = Int(_read(descriptor, buffer.baseAddress, UInt32(count)))
      #else
        repeat { filled = platformRead(descriptor, buffer.baseAddress, count) } while filled < 0 && errno == EINTR
      #endif
      if filled < 0 { failed = true }
      filled = max(filled, 0)
    }
    if failed { throw Self.failure(path) }
    return result
  }

  private var failed = false

  private static func failure(_ path: String) -> DataError {
    DataError(description: "\(path) cannot be read: \(String(cString: strerror(errno)))")
  }
}

#if !os(Windows)
  /// The system's `read`, which the method of that name hides.
  private func platformRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
  }
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#elseif os(Windows)
  import ucrt
#endif

/// The messages of standard input and output.
///
///     0        8              8 + length
///     ├────────┼──────────────┤
///     │ length │ JSON, UTF-8  │      the length little-endian
package struct StandardStreams {
  /// What was read.
  package enum Input: Equatable {
    case message([UInt8])
    /// The other side has nothing more to say.
    case end
    /// The input ended in the middle of a message, failed, or announces more than any message has.
    case cutOff
  }

  /// The declaration that a macro is attached to is in the message; nobody writes one of this size.
  static let lengthMax: UInt64 = 1 << 28
  private static let chunkBytes = 1 << 16

  package init() {
    #if os(Windows)
      _ = _setmode(0, _O_BINARY)
      _ = _setmode(1, _O_BINARY)
    #endif
  }

  package mutating func read() -> Input {
    guard let header = bytes(8) else { return .cutOff }
    if header.isEmpty { return .end }
    guard let length = Self.length(header), length <= Self.lengthMax, let count = Int(exactly: length) else {
      return .cutOff
    }
    guard let body = bytes(count), body.count == count else { return .cutOff }
    return .message(body)
  }

  package mutating func write(_ message: [UInt8]) -> Bool {
    let frame = Self.header(message.count) + message
    var written = 0
    while written < frame.count {
      let count = frame[written...].withUnsafeBytes { put($0) }
      guard count > 0 else { return false }
      written += count
    }
    return true
  }

  static func header(_ count: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } }

  static func length(_ header: [UInt8]) -> UInt64? {
    guard header.count == 8 else { return nil }
    return header.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// So many bytes, fewer at the end of the input; `nil` if reading failed. Grows with what comes, so that a length
  /// that is no length costs no memory.
  private func bytes(_ count: Int) -> [UInt8]? {
    var result: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
    while result.count < count {
      let wanted = min(chunk.count, count - result.count)
      let got = chunk.withUnsafeMutableBytes { get(UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted])) }
      guard got >= 0, got <= wanted else { return nil }
      if got == 0 { break }
      result += chunk[..<got]
    }
    return result
  }

  /// Reads into a buffer once, again if a signal came between.
  private func get(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if os(Windows)
      return Int(_read(0, buffer.baseAddress, UInt32(truncatingIfNeeded: buffer.count)))
    #else
      while true {
        #if canImport(Darwin)
          let count = Darwin.read(0, buffer.baseAddress, buffer.count)
        #elseif canImport(Glibc)
          let count = Glibc.read(0, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
          let count = Musl.read(0, buffer.baseAddress, buffer.count)
        #else
          let count = Android.read(0, buffer.baseAddress, buffer.count)
        #endif
        if count >= 0 || errno != EINTR { return count }
      }
    #endif
  }

  private func put(_ buffer: UnsafeRawBufferPointer) -> Int {
    #if os(Windows)
      return Int(_write(1, buffer.baseAddress, UInt32(truncatingIfNeeded: buffer.count)))
    #else
      while true {
        #if canImport(Darwin)
          let count = Darwin.write(1, buffer.baseAddress, buffer.count)
        #elseif canImport(Glibc)
          let count = Glibc.write(1, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
          let count = Musl.write(1, buffer.baseAddress, buffer.count)
        #else
          let count = Android.write(1, buffer.baseAddress, buffer.count)
        #endif
        if count >= 0 || errno != EINTR { return count }
      }
    #endif
  }
}

/// Ends the process.
package func exitProcess(_ status: Int32) -> Never { exit(status) }

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

/// Where messages for developers go.
public enum StandardError {
  /// Writes a line, all at once, so that lines of several threads do not mix. Failures are ignored. Thread-safe.
  public static func write(line text: String) {
    let line = Array((text + "\n").utf8)
    line.withUnsafeBytes { bytes in
      #if os(Windows)
        _ = _write(2, bytes.baseAddress, UInt32(bytes.count))
      #else
        _ = write(2, bytes.baseAddress, bytes.count)
      #endif
    }
  }

  #if !os(Windows)
    private static func write(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
      #if canImport(Glibc)
        Glibc.write(file, bytes, count)
      #elseif canImport(Musl)
        Musl.write(file, bytes, count)
      #elseif canImport(Android)
        Android.write(file, bytes, count)
      #elseif canImport(Darwin)
        Darwin.write(file, bytes, count)
      #elseif canImport(WASILibc)
        WASILibc.write(file, bytes, count)
      #endif
    }
  #endif
}

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

/// Ends the process; what was printed is written out first.
func leave(_ status: ExitStatus) -> Never {
  exit(status.rawValue)
}

/// Whether standard error is a terminal, so that progress may be redrawn on it.
func standardErrorIsTerminal() -> Bool {
  #if os(Windows)
    return _isatty(2) != 0
  #else
    return isatty(2) == 1
  #endif
}

/// Writes bytes to standard output; answers the system's error code if that fails. What `print` has buffered comes
/// later.
func writeStandardOutput(_ bytes: [UInt8]) -> Int32? {
  var done = 0
  while done < bytes.count {
    let written = bytes.withUnsafeBytes { all in
      // Never beyond the array: `done` is less than its count.
      let rest = UnsafeRawBufferPointer(rebasing: all[done...])
      #if os(Windows)
        return Int(_write(1, rest.baseAddress, UInt32(clamping: rest.count)))
      #else
        return write(1, rest.baseAddress, rest.count)
      #endif
    }
    if written > 0 {
      done += written
    } else if written < 0, errno != EINTR {
      return errno
    }
  }
  return nil
}

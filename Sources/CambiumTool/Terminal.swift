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

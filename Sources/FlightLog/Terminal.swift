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

/// Whether standard output is a terminal, on which a line can be drawn again.
func standardOutputIsTerminal() -> Bool {
  #if os(Windows)
    return _isatty(1) != 0
  #else
    return isatty(1) == 1
  #endif
}

/// Prints, and shows it at once.
func say(_ text: String, terminator: String = "\n") {
  print(text, terminator: terminator)
  fflush(nil)
}

/// Ends the process.
func leave(_ status: Int32) -> Never { exit(status) }

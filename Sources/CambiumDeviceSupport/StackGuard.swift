#if hasFeature(Embedded) && os(none)
  // The compiler puts this word behind local arrays, and calls __stack_chk_fail if a function finds it changed. The
  // option `-disable-stack-protector` leaves both out.
  //
  // `nonisolated(unsafe)`: no thread changes it.
  @_silgen_name("__stack_chk_guard")
  nonisolated(unsafe) var stackGuard: UInt = 0x5AFE_57AC

  @_cdecl("__stack_chk_fail")
  func stackCheckFailed() {
    // Nothing may run on with a broken stack. A watchdog resets the device.
    while true {}
  }
#endif

#if hasFeature(Embedded) && os(none)
  /// The random bits that Embedded Swift seeds hash tables with.
  ///
  /// Swift calls `arc4random_buf`, which this module defines. Set ``source`` to the device's own generator before the
  /// first set or dictionary is made. The identifiers of stores come from `StoreEnvironment.randomBits()`, not from
  /// here.
  public enum DeviceRandom {
    // One thread alone sets this, before anything is hashed.
    /// A function that returns 64 random bits. Without one, every start of the program has the same bits. Whoever
    /// chooses the keys of a hash table can then make it slow.
    public nonisolated(unsafe) static var source: (@convention(c) () -> UInt64)?

    private nonisolated(unsafe) static var state: UInt64 = 0

    static func next() -> UInt64 {
      if let source { return source() }
      state &+= 0x9E37_79B9_7F4A_7C15
      var bits = state
      bits = (bits ^ (bits &>> 30)) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ (bits &>> 27)) &* 0x94D0_49BB_1331_11EB
      return bits ^ (bits &>> 31)
    }
  }

  @_cdecl("arc4random_buf")
  func arc4randomBuf(_ memory: UnsafeMutableRawPointer, _ count: UInt) {
    var (bits, left) = (UInt64(0), 0)
    for place in 0..<Int(bitPattern: count) {
      if left == 0 { (bits, left) = (DeviceRandom.next(), 8) }
      memory.storeBytes(of: UInt8(truncatingIfNeeded: bits), toByteOffset: place, as: UInt8.self)
      (bits, left) = (bits &>> 8, left &- 1)
    }
  }
#endif

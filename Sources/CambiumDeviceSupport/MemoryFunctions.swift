// memcpy, memmove, memset and memcmp, and what ARM's ABI calls them.
//
// An optimizer that recognizes a loop as a copy replaces it with a call of `memcpy`, which in `memcpy` never ends. It
// may not do that to volatile stores, so all stores below are volatile. CI also looks at the calls in the machine code.
//
// wasm32 needs none of them but memcmp, because the compiler uses the instructions memory.copy and memory.fill.

#if hasFeature(Embedded) && os(none)
  #if !arch(wasm32)
    import _Volatile

    @inline(__always)
    private func put(_ byte: UInt8, _ address: UInt) {
      VolatileMappedRegister<UInt8>(unsafeBitPattern: address).store(byte)
    }

    @inline(__always)
    private func put(_ word: UInt32, _ address: UInt) {
      VolatileMappedRegister<UInt32>(unsafeBitPattern: address).store(word)
    }

    /// Copies from the first byte to the last.
    @inline(never)
    func copyForward(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) {
      var (to, from, left) = (UInt(bitPattern: to), from, count)
      while left > 0, to & 3 != 0 {
        put(from.load(as: UInt8.self), to)
        (to, from, left) = (to &+ 1, from + 1, left &- 1)
      }
      while left >= 16 {
        let first = from.loadUnaligned(as: UInt32.self)
        let second = from.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
        let third = from.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        let fourth = from.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
        put(first, to)
        put(second, to &+ 4)
        put(third, to &+ 8)
        put(fourth, to &+ 12)
        (to, from, left) = (to &+ 16, from + 16, left &- 16)
      }
      while left >= 4 {
        put(from.loadUnaligned(as: UInt32.self), to)
        (to, from, left) = (to &+ 4, from + 4, left &- 4)
      }
      while left > 0 {
        put(from.load(as: UInt8.self), to)
        (to, from, left) = (to &+ 1, from + 1, left &- 1)
      }
    }

    /// Copies from the last byte to the first.
    @inline(never)
    private func copyBackward(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) {
      let (to, from) = (UInt(bitPattern: to), from)
      var left = count
      while left > 0, (to &+ left) & 3 != 0 {
        left &-= 1
        put(from.load(fromByteOffset: Int(bitPattern: left), as: UInt8.self), to &+ left)
      }
      while left >= 4 {
        left &-= 4
        put(from.loadUnaligned(fromByteOffset: Int(bitPattern: left), as: UInt32.self), to &+ left)
      }
      while left > 0 {
        left &-= 1
        put(from.load(fromByteOffset: Int(bitPattern: left), as: UInt8.self), to &+ left)
      }
    }

    /// Copies between places that may overlap.
    @inline(never)
    func move(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) {
      // The distance wraps around if `to` lies before `from`.
      if UInt(bitPattern: to) &- UInt(bitPattern: from) < count {
        copyBackward(to, from, count)
      } else {
        copyForward(to, from, count)
      }
    }

    @inline(never)
    func fill(_ to: UnsafeMutableRawPointer, _ byte: UInt8, _ count: UInt) {
      var (to, left) = (UInt(bitPattern: to), count)
      while left > 0, to & 3 != 0 {
        put(byte, to)
        (to, left) = (to &+ 1, left &- 1)
      }
      let word = UInt32(byte) &* 0x0101_0101
      while left >= 4 {
        put(word, to)
        (to, left) = (to &+ 4, left &- 4)
      }
      while left > 0 {
        put(byte, to)
        (to, left) = (to &+ 1, left &- 1)
      }
    }

    @_cdecl("memcpy")
    func memcpySymbol(
      _ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt
    ) -> UnsafeMutableRawPointer {
      copyForward(to, from, count)
      return to
    }

    @_cdecl("memmove")
    func memmoveSymbol(
      _ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt
    ) -> UnsafeMutableRawPointer {
      move(to, from, count)
      return to
    }

    @_cdecl("memset")
    func memsetSymbol(_ to: UnsafeMutableRawPointer, _ byte: CInt, _ count: UInt) -> UnsafeMutableRawPointer {
      fill(to, UInt8(truncatingIfNeeded: byte), count)
      return to
    }
  #endif

  @_cdecl("memcmp")
  func memcmpSymbol(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: UInt) -> CInt {
    var place: UInt = 0
    // Unequal words are compared byte by byte, because their first byte decides.
    while place &+ 4 <= count {
      let offset = Int(bitPattern: place)
      if a.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        != b.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      {
        break
      }
      place &+= 4
    }
    while place < count {
      let offset = Int(bitPattern: place)
      let (x, y) = (a.load(fromByteOffset: offset, as: UInt8.self), b.load(fromByteOffset: offset, as: UInt8.self))
      if x != y { return CInt(x) &- CInt(y) }
      place &+= 1
    }
    return 0
  }

  #if arch(arm)
    // The run-time ABI of ARM has names of its own, by the alignment that the compiler knows of. These take the count
    // before the byte, and return nothing.

    @_cdecl("__aeabi_memcpy")
    func aeabiMemcpy(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) {
      copyForward(to, from, count)
    }

    @_cdecl("__aeabi_memcpy4")
    func aeabiMemcpy4(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) {
      copyForward(to, from, count)
    }

    @_cdecl("__aeabi_memcpy8")
    func aeabiMemcpy8(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) {
      copyForward(to, from, count)
    }

    @_cdecl("__aeabi_memmove")
    func aeabiMemmove(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) { move(to, from, count) }

    @_cdecl("__aeabi_memmove4")
    func aeabiMemmove4(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) { move(to, from, count) }

    @_cdecl("__aeabi_memmove8")
    func aeabiMemmove8(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: UInt) { move(to, from, count) }

    @_cdecl("__aeabi_memset")
    func aeabiMemset(_ to: UnsafeMutableRawPointer, _ count: UInt, _ byte: CInt) {
      fill(to, UInt8(truncatingIfNeeded: byte), count)
    }

    @_cdecl("__aeabi_memset4")
    func aeabiMemset4(_ to: UnsafeMutableRawPointer, _ count: UInt, _ byte: CInt) {
      fill(to, UInt8(truncatingIfNeeded: byte), count)
    }

    @_cdecl("__aeabi_memset8")
    func aeabiMemset8(_ to: UnsafeMutableRawPointer, _ count: UInt, _ byte: CInt) {
      fill(to, UInt8(truncatingIfNeeded: byte), count)
    }

    @_cdecl("__aeabi_memclr")
    func aeabiMemclr(_ to: UnsafeMutableRawPointer, _ count: UInt) { fill(to, 0, count) }

    @_cdecl("__aeabi_memclr4")
    func aeabiMemclr4(_ to: UnsafeMutableRawPointer, _ count: UInt) { fill(to, 0, count) }

    @_cdecl("__aeabi_memclr8")
    func aeabiMemclr8(_ to: UnsafeMutableRawPointer, _ count: UInt) { fill(to, 0, count) }
  #endif
#endif

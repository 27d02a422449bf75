// Atomic operations on 64 bits, for cores that have none: those of ARM's M profile, and RISC-V of 32 bits.
//
// These are plain loads and stores, which an interrupt may cut in two. A program without an operating system has one
// thread, and uses a store from that thread alone, never from an interrupt handler. So nothing meets them half-way.

#if hasFeature(Embedded) && os(none) && _pointerBitWidth(_32) && !arch(wasm32)
  @_cdecl("__atomic_load_8")
  func atomicLoad8(_ place: UnsafeMutablePointer<UInt64>, _ order: CInt) -> UInt64 { place.pointee }

  @_cdecl("__atomic_store_8")
  func atomicStore8(_ place: UnsafeMutablePointer<UInt64>, _ value: UInt64, _ order: CInt) { place.pointee = value }

  @_cdecl("__atomic_exchange_8")
  func atomicExchange8(_ place: UnsafeMutablePointer<UInt64>, _ value: UInt64, _ order: CInt) -> UInt64 {
    let former = place.pointee
    place.pointee = value
    return former
  }

  @_cdecl("__atomic_compare_exchange_8")
  func atomicCompareExchange8(
    _ place: UnsafeMutablePointer<UInt64>, _ expected: UnsafeMutablePointer<UInt64>, _ desired: UInt64,
    _ success: CInt, _ failure: CInt
  ) -> Bool {
    let former = place.pointee
    guard former == expected.pointee else {
      expected.pointee = former
      return false
    }
    place.pointee = desired
    return true
  }

  @_cdecl("__atomic_fetch_add_8")
  func atomicAdd8(_ place: UnsafeMutablePointer<UInt64>, _ value: UInt64, _ order: CInt) -> UInt64 {
    let former = place.pointee
    place.pointee = former &+ value
    return former
  }

  @_cdecl("__atomic_fetch_sub_8")
  func atomicSubtract8(_ place: UnsafeMutablePointer<UInt64>, _ value: UInt64, _ order: CInt) -> UInt64 {
    let former = place.pointee
    place.pointee = former &- value
    return former
  }

  @_cdecl("__atomic_fetch_and_8")
  func atomicAnd8(_ place: UnsafeMutablePointer<UInt64>, _ value: UInt64, _ order: CInt) -> UInt64 {
    let former = place.pointee
    place.pointee = former & value
    return former
  }

  @_cdecl("__atomic_fetch_or_8")
  func atomicOr8(_ place: UnsafeMutablePointer<UInt64>, _ value: UInt64, _ order: CInt) -> UInt64 {
    let former = place.pointee
    place.pointee = former | value
    return former
  }
#endif

import CambiumKernel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

extension SystemEnvironment {
  /// What huge pages measure on the processors that this is made for; elsewhere the advice is merely of no use.
  private static let hugePage = 2 << 20

  /// Memory of the operating system, on Linux with the advice to back large pieces by huge pages: filling fresh memory
  /// then takes a sixth of the time, and reading at random a sixth less.
  public func allocateMemory(byteCount: Int) -> UnsafeMutableRawPointer {
    let isHuge = byteCount >= Self.hugePage
    let start = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: isHuge ? Self.hugePage : 128)
    #if os(Linux) || os(Android)
      // Advice: if it is refused, the memory is as good as any.
      if isHuge { _ = madvise(start, byteCount, MADV_HUGEPAGE) }
    #endif
    return start
  }

  /// Gives memory back.
  public func freeMemory(_ start: UnsafeMutableRawPointer, byteCount: Int) { start.deallocate() }
}

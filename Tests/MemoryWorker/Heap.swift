// Counts the heap of this process. The functions below take the place of the C library's own, which they call: the
// linker gives them its names (see Package.swift), because the compiler refuses a function called `malloc`. The
// language's runtime calls them as well. Sizes are those that the library gives, rounding included, without its
// headers.
//
// The process has one thread while it counts. The variables need no initializer to run, because memory is asked for
// before any of this program runs. Exclusive access is not checked at run time, because the check may ask for memory.

#if canImport(Glibc)
  import Glibc

  @_silgen_name("__libc_malloc") private func libraryAllocate(_ count: Int) -> UnsafeMutableRawPointer?
  @_silgen_name("__libc_calloc") private func libraryClear(_ count: Int, _ size: Int) -> UnsafeMutableRawPointer?
  @_silgen_name("__libc_realloc") private func libraryResize(
    _ p: UnsafeMutableRawPointer?, _ count: Int
  ) -> UnsafeMutableRawPointer?
  @_silgen_name("__libc_memalign") private func libraryAlign(_ to: Int, _ count: Int) -> UnsafeMutableRawPointer?
  @_silgen_name("__libc_free") private func libraryFree(_ p: UnsafeMutableRawPointer?)
  @_silgen_name("malloc_usable_size") private func size(of p: UnsafeMutableRawPointer?) -> Int

  /// Bytes that are allocated now, since the process began.
  @exclusivity(unchecked) nonisolated(unsafe) private var live = 0
  /// The most bytes that were allocated at any time since the last ``Heap/begin()``.
  @exclusivity(unchecked) nonisolated(unsafe) private var peak = 0

  @inline(__always)
  private func take(_ p: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    live &+= size(of: p)
    if live > peak { peak = live }
    return p
  }

  /// Takes the place of `malloc`.
  @_cdecl("heap_malloc") public func countedMalloc(_ count: Int) -> UnsafeMutableRawPointer? {
    take(libraryAllocate(count))
  }

  /// Takes the place of `calloc`.
  @_cdecl("heap_calloc") public func countedCalloc(_ count: Int, _ size: Int) -> UnsafeMutableRawPointer? {
    take(libraryClear(count, size))
  }

  /// Takes the place of `realloc`.
  @_cdecl("heap_realloc") public func countedRealloc(_ p: UnsafeMutableRawPointer?, _ count: Int)
    -> UnsafeMutableRawPointer?
  {
    live &-= size(of: p)
    return take(libraryResize(p, count))
  }

  /// Takes the place of `aligned_alloc`.
  @_cdecl("heap_aligned_alloc") public func countedAlign(_ to: Int, _ count: Int) -> UnsafeMutableRawPointer? {
    take(libraryAlign(to, count))
  }

  /// Takes the place of `posix_memalign`.
  @_cdecl("heap_posix_memalign") public func countedPosixAlign(
    _ out: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ to: Int, _ count: Int
  ) -> Int32 {
    out.pointee = take(libraryAlign(to, count))
    return out.pointee == nil ? 12 : 0
  }

  /// Takes the place of `free`.
  @_cdecl("heap_free") public func countedFree(_ p: UnsafeMutableRawPointer?) {
    live &-= size(of: p)
    libraryFree(p)
  }

  /// The heap of this process.
  enum Heap {
    nonisolated(unsafe) private static var base = 0

    /// Counts from here on.
    static func begin() {
      base = live
      peak = live
    }

    /// Bytes that were allocated since ``begin()`` and are not freed.
    static var liveBytes: Int { live - base }
    /// The most of these at any time since ``begin()``, or since ``restartPeak()``.
    static var peakBytes: Int { peak - base }
    /// Looks for the most from here on.
    static func restartPeak() { peak = live }
  }
#endif

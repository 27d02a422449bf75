import Synchronization

/// Has memory brought to the processor for who asks for it soon.
enum MemoryTouch {
  /// Loads a word that nobody looks at: what does not depend on it goes on meanwhile. The address is that of a whole
  /// word.
  @inline(__always)
  static func touch(_ address: UnsafeRawPointer) {
    _ = address.assumingMemoryBound(to: Atomic<UInt>.self).pointee.load(ordering: .relaxed)
  }
}

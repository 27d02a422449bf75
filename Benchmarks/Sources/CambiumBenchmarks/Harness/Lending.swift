extension ArraySlice {
  /// Lends each element without a copy of it: what a row's texts cost to count is nobody's work that is measured.
  @inline(__always)
  func forEachLent<E: Error>(_ body: (borrowing Element) throws(E) -> Void) throws(E) {
    try withUnsafeBufferPointer { (elements) throws(E) in
      for i in elements.indices { try body(elements[i]) }
    }
  }
}

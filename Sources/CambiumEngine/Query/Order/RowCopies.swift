/// Copies of rows' bytes, one behind the other.
struct RowCopies {
  private var bytes: [UInt8] = []
  /// Where each copy ends.
  private var ends: [Int] = []

  var count: Int { ends.count }
  /// How many bytes all copies have.
  var byteCount: Int { bytes.count }

  mutating func add(_ row: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: row)
    ends.append(bytes.count)
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  /// Lends the bytes of copy `number`.
  func withBytes<R>(
    _ number: Int, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let range = (number == 0 ? 0 : ends[number - 1])..<ends[number]
    return try bytes.withUnsafeBytesEngine { (b) throws(EngineError) in
      try body(UnsafeRawBufferPointer(rebasing: b[range]))
    }
  }
}

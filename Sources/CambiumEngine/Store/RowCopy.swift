import CambiumKernel

/// A copy of a row, in plain memory that serves one row after the other: nothing is counted for who reads it.
final class RowCopy {
  private var base = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 16)
  /// The memory that it takes, in bytes.
  private(set) var capacity = 512
  private var count = 0

  deinit { base.deallocate() }

  /// The row, good until another is copied, or nobody keeps the copy any more.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Copies a row, which does not lie in this memory.
  func set(_ row: UnsafeRawBufferPointer) {
    if row.count > capacity {
      capacity = max(capacity * 2, row.count)
      base.deallocate()
      base = .allocate(byteCount: capacity, alignment: 16)
    }
    count = row.count
    if let start = row.baseAddress { base.copyMemory(from: start, byteCount: count) }
  }
}

import CambiumKernel

extension TreeView {
  /// Tells `body` every row of a tree in order, some at a time: they are copied, and nothing of the view is open while
  /// `body` runs, so that it may write as much as it likes, through the same view too. What it writes to the same tree
  /// behind the rows it was told is seen. Begins at row `first`, and ends after `maximum` rows; answers the row to go
  /// on at, nil at the end. O(rows).
  @discardableResult
  func eachRowInChunks(
    _ tree: TreeID, from first: UInt64 = 0, maximum: Int = .max,
    _ body: (UInt64, UnsafeRawBufferPointer) throws(EngineError) -> Void
  ) throws(EngineError) -> UInt64? {
    let chunkBytes = 1 << 19
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chunkBytes + 65536)
    var rows: [(number: UInt64, end: Int)] = []
    var next: UInt64? = first
    var left = maximum
    while let start = next, left > 0 {
      bytes.removeAll(keepingCapacity: true)
      rows.removeAll(keepingCapacity: true)
      next = nil
      try storing { () throws(StoreError) in
        let cursor = try cursor(tree)
        var more = try cursor.seek(start)
        while more {
          let number = cursor.integerKey
          if bytes.count > chunkBytes || rows.count == left {
            next = number
            return
          }
          _ = try cursor.withValue { (b) throws(StoreError) in bytes.append(contentsOf: b) }
          rows.append((number, bytes.count))
          more = try cursor.next()
        }
      }
      left -= rows.count
      try bytes.withUnsafeBytesEngine { (all) throws(EngineError) in
        var start = 0
        for row in rows {
          try body(row.number, UnsafeRawBufferPointer(rebasing: all[start..<row.end]))
          start = row.end
        }
      }
    }
    return next
  }
}

/// A ``RecordLayout`` that somebody else keeps: for reading record after record without counting references.
///
/// Whoever uses one sees to it that the layout lives as long.
public struct BorrowedLayout: @unchecked Sendable {
  // Unchecked: nothing changes the table between the layout's `init` and `deinit`.
  @usableFromInline let table: UnsafeMutablePointer<RecordTable>

  /// Borrows a layout.
  @inlinable
  public init(_ layout: RecordLayout) { table = layout.table }

  init(table: UnsafeMutablePointer<RecordTable>) { self.table = table }
}

extension RecordView {
  /// Looks at a record whose layout is kept elsewhere. Throws as the initialiser that takes a ``RecordLayout``.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeRawBufferPointer, layout: BorrowedLayout) throws(StoreError) {
    try self.init(bytes, table: layout.table)
  }
}

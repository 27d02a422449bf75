/// Rows in the order that a fetch asks for, and their bytes, as far as there are copies.
struct SortedRows {
  /// The objects, packed.
  var references: ArraySlice<UInt64>
  /// Copies of all rows, and the number of each row's copy; nil if rows have to be read once more.
  var copies: (bytes: RowCopies, numbers: ArraySlice<UInt32>)?

  /// The rows behind the first `offset` ones, `limit` at most.
  func part(offset: Int, limit: Int) -> SortedRows {
    SortedRows(
      references: references.dropFirst(offset).prefix(limit),
      copies: copies.map { ($0.bytes, $0.numbers.dropFirst(offset).prefix(limit)) })
  }
}

import CambiumKernel

/// Gathers rows with the keys of an order, and puts them in that order. Of a row it keeps a word for each key and the
/// object's reference; with a limit, it keeps no more than about twice as many rows as are wanted.
///
/// Rows have to come in ascending order of their numbers, which decide between rows with equal keys.
final class RowSorter {
  private let sort: [EngineSort]
  private let columns: [SortColumn]
  /// How many rows are wanted; nil for all.
  private let wanted: Int?
  @exclusivity(unchecked) private var references: [UInt64] = []
  /// Copies of the rows' bytes, which save reading rows once more; nil if they would take too much memory.
  @exclusivity(unchecked) private var copies: RowCopies?

  /// Rows of more bytes than that are read once more when their order is known.
  private static let mostCopied = 1 << 22

  /// - Parameter copiesRows: Whether rows are to be lent when they are in order.
  init(_ view: EntityView, _ sort: [EngineSort], _ layout: EntityLayout, wanted: Int?, copiesRows: Bool) {
    self.sort = sort
    self.wanted = wanted
    columns = sort.map { SortColumn($0, layout, view) }
    copies = copiesRows && wanted == nil ? RowCopies() : nil
  }

  /// How many different values are kept of the keys that are no numbers.
  var valueCount: Int { columns.reduce(0) { $0 + $1.valueCount } }

  /// How many rows are kept.
  var count: Int { references.count }

  /// Takes a row in, unless it comes behind as many as are wanted. Returns whether rows were given up, so that
  /// ``lastNumber`` has changed.
  func take(_ row: borrowing RowReader) throws(EngineError) -> Bool {
    guard let first = try columns[0].word(of: row, isOnlyKey: columns.count == 1) else { return false }
    columns[0].append(first)
    for i in 1..<max(1, columns.count) { columns[i].append(try columns[i].word(of: row)) }
    references.append(PackedReference.pack(row.reference))
    if copies != nil {
      copies?.add(row.record.bytes)
      if copies?.byteCount ?? 0 > Self.mostCopied { copies = nil }
    }
    guard let wanted, references.count >= 64, references.count / 2 >= wanted else {
      if references.count == UInt32.max { throw .unsupported("more than 4,294,967,294 rows cannot be put in order") }
      return false
    }
    giveUp(behind: wanted)
    return true
  }

  /// The first key of the last row that is wanted, as ``SortColumn/lastNumber`` has it.
  var lastNumber: UInt64? { columns[0].lastNumber }

  /// The indices of the rows, in order.
  private func order() -> [UInt32] {
    var order: [UInt32] = []
    order.reserveCapacity(references.count)
    for i in references.indices { order.append(UInt32(truncatingIfNeeded: i)) }
    for i in columns.indices.reversed() {
      RadixSort.sort(&order, by: columns[i].ranks(), ascending: sort[i].isAscending)
    }
    return order
  }

  /// Gives up the rows that are not among the first `wanted` ones. Those that stay are still in the order in which
  /// they came.
  private func giveUp(behind wanted: Int) {
    var rows = Array(order().prefix(max(1, wanted)))
    guard let last = rows.last else { return }
    rows.sort()
    for column in columns { column.keep(rows, last: last) }
    references = rows.map { references[Int($0)] }
  }

  /// All rows that are kept, in order.
  func finish() -> SortedRows {
    let order = order()
    return SortedRows(
      references: order.map { references[Int($0)] }[...], copies: copies.map { ($0, order[...]) })
  }
}

import CambiumKernel

/// A row that was looked up to be lent.
@usableFromInline
enum RowLoan: ~Copyable {
  /// There is none.
  case none
  /// There may be one, but it cannot be lent where it lies: it is large, or what a transaction sees.
  case elsewhere
  /// Of an earlier layout: it has to be projected. The value is to be given back.
  case stale(LentValue)
  /// Where it lies. The value is to be given back.
  case row(RowReader, LentValue)
}

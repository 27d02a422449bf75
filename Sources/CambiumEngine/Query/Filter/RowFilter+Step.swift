import CambiumKernel

extension RowFilter {
  /// What a step asks.
  enum Op: UInt8 {
    /// An integer within a range, both ends included; null is not.
    case integer
    /// A double, float or date within a range of ordered bits, both ends included; null is not.
    case real
    case date
    case boolean
    case isNull
    /// Equal to text of ASCII characters only.
    case text
    /// Beginning with such text.
    case prefix
    /// Among the values of a list.
    case member
    /// Any other comparison of columns, and of values behind to-one relationships, by a program.
    case computed
    /// A condition of the object at the other end of a to-one relationship.
    case destination
    /// The number of objects that a to-many relationship leads to.
    case count
    /// Whatever else there is, asked of the evaluator.
    case slow
  }

  /// A condition, and where to go on when it holds or not: at another step, or at an answer. Plain memory, so that
  /// nothing is counted or copied for a row.
  struct Step {
    var op: Op
    /// How many fields lead to the value: 1 in the row itself, 2 in a composite of it, more by `way`.
    var depth: UInt8 = 1
    var outer: Int32 = 0
    var leaf: Int32 = 0
    /// Where the fields that lead to the value begin in `ways`.
    var way: Int32 = 0
    /// Index into `predicates`, `texts`, `lists`, `programs`, `memos` or `counts`, by the kind of step.
    var extra: Int32 = 0
    /// Of a number or date of the row itself.
    var fixed: FixedField?
    var low: UInt64 = 0
    var high: UInt64 = 0
    /// The bytes of a text in `characters`.
    var start: Int32 = 0
    var count: Int32 = 0
    var whenTrue: Int32 = 0
    var whenFalse: Int32 = 0

    /// Whether it is about a number or date between `low` and `high`.
    var isRange: Bool { op == .integer || op == .real || op == .date }
  }
}

import CambiumKernel

/// What is known so far of a group's numbers: as ``GroupAggregate``, but plain memory, for numbers and dates that are
/// read from rows as they lie.
struct GroupNumbers {
  /// Where an aggregate's numbers lie in rows of a layout.
  struct Source {
    enum Kind: UInt8 {
      /// Of each row there is one, whatever is in it.
      case row
      /// Only whether there is a value is asked.
      case any
      case integer, real, date
    }

    var kind: Kind
    var function: GroupFunction
    /// The field of the composite, if it is an element of one; else -1.
    var outer = -1
    var leaf = 0
    /// The place, if that is the same in all rows of the layout.
    var fixed: FixedField?
    /// How the type of the numbers writes them.
    var type = AttributeType.integer64

    /// The place of what an aggregate is of; nil if values have to be read for it.
    init?(_ function: GroupFunction, of argument: Expression, _ layout: EntityLayout, _ reader: PathReader) {
      self.function = function
      switch function {
      case .count, .sum, .average, .minimum, .maximum: break
      default: return nil
      }
      switch argument {
      case .evaluatedObject where function == .count: kind = .row
      case .keyPath(let path):
        guard let (field, attribute) = reader.field(path, layout), field.depth <= 2 else { return nil }
        switch attribute.type {
        case _ where function == .count: kind = .any
        case .integer16, .integer32, .integer64: kind = .integer
        case .double, .float: kind = .real
        case .date where !function.takesNumbers: kind = .date
        default: return nil
        }
        type = attribute.type
        leaf = field.leaf
        if field.depth == 2 {
          outer = field[0]
        } else if kind != .any {
          fixed = FixedField(BorrowedLayout(layout.record), field.leaf)
        }
      default: return nil
      }
    }
  }

  private var count: Int64 = 0
  private var integers: Int128 = 0
  private var doubles = 0.0
  private var least: Int64 = 0
  private var extreme = 0.0

  /// Takes in what a row has.
  @inline(__always)
  mutating func add(_ source: UnsafeMutablePointer<Source>, _ record: RecordView) throws(StoreError) {
    if let field = source.pointee.fixed {
      if record.isNull(field) { return }
      if source.pointee.kind == .integer {
        add(record.int64(field), source.pointee.function)
      } else {
        add(record.double(field), source.pointee.function)
      }
      return
    }
    if source.pointee.kind == .row {
      count &+= 1
      return
    }
    var parent = record
    if source.pointee.outer >= 0 {
      guard let inner = try record.nested(at: source.pointee.outer) else { return }
      parent = inner
    }
    let leaf = source.pointee.leaf
    switch source.pointee.kind {
    case .row: count &+= 1
    case .any: if try !parent.isNull(leaf) { count &+= 1 }
    case .integer: if let value = try parent.int64(at: leaf) { add(value, source.pointee.function) }
    case .real: if let value = try parent.double(at: leaf) { add(value, source.pointee.function) }
    case .date: if let value = try parent.date(at: leaf) { add(value, source.pointee.function) }
    }
  }

  @inline(__always)
  private mutating func add(_ value: Int64, _ function: GroupFunction) {
    switch function {
    case .minimum: if count == 0 || value < least { least = value }
    case .maximum: if count == 0 || value > least { least = value }
    default: integers &+= Int128(value)
    }
    count &+= 1
  }

  @inline(__always)
  private mutating func add(_ value: Double, _ function: GroupFunction) {
    switch function {
    case .minimum: if count == 0 || KeyEncoder.orderedBits(value) < KeyEncoder.orderedBits(extreme) { extreme = value }
    case .maximum: if count == 0 || KeyEncoder.orderedBits(value) > KeyEncoder.orderedBits(extreme) { extreme = value }
    default: doubles += value
    }
    count &+= 1
  }

  /// The aggregate of what was taken in.
  func value(_ source: Source) -> Value {
    var found = Value.null
    if count > 0 {
      switch source.kind {
      case .integer: found = .integer(least)
      case .real: found = source.type == .float ? .float(Float(extreme)) : .double(extreme)
      case .date: found = .date(extreme)
      default: break
      }
    }
    let sum = source.kind == .integer ? GroupSum(integers) : GroupSum(doubles)
    return GroupAggregate(source.function, count: count, sum: sum, extreme: found).value
  }
}

import CambiumKernel

/// A value while an expression is computed: plain memory, so that nothing is counted or copied for a row.
struct Register {
  enum Kind: UInt8 {
    case null, boolean, integer, double, date
    /// Text whose bytes lie in the row, or in the program's own memory.
    case text
    /// An object, as a packed reference.
    case reference
    /// The program cannot tell: the evaluator decides for this row.
    case unknown
    /// The cache does not have the value behind a relationship yet: the caller reads it and runs the program again.
    case missing
  }

  var kind: Kind
  /// How many bytes a text has.
  var count: UInt32 = 0
  /// An integer, 0 or 1 for a boolean, the bits of a double or date, or the address of a text.
  var bits: UInt64 = 0

  static var null: Register { Register(kind: .null) }
  static var unknown: Register { Register(kind: .unknown) }

  @inline(__always)
  init(kind: Kind, count: UInt32 = 0, bits: UInt64 = 0) {
    self.kind = kind
    self.count = count
    self.bits = bits
  }

  init(_ flag: Bool) { self.init(kind: .boolean, bits: flag ? 1 : 0) }

  @inline(__always)
  init(_ integer: Int64) { self.init(kind: .integer, bits: UInt64(bitPattern: integer)) }

  @inline(__always)
  init(_ double: Double) { self.init(kind: .double, bits: double.bitPattern) }

  init(date: Double) { self.init(kind: .date, bits: date.bitPattern) }

  init(text: UnsafeRawBufferPointer) {
    self.init(
      kind: .text, count: UInt32(truncatingIfNeeded: text.count),
      bits: UInt64(UInt(bitPattern: text.baseAddress)))
  }

  @inline(__always) var integer: Int64 { Int64(bitPattern: bits) }
  @inline(__always) var double: Double { Double(bitPattern: bits) }

  /// The bytes of a text.
  @inline(__always)
  var text: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: bits)), count: Int(count))
  }

  /// Whether this is a boolean or an integer.
  @inline(__always) var isWhole: Bool { kind == .integer || kind == .boolean }

  /// A boolean or number as a double; nil for anything else.
  @inline(__always)
  var nearestDouble: Double? {
    switch kind {
    case .boolean, .integer: return Double(integer)
    case .double: return double
    default: return nil
    }
  }

  /// The value that the evaluator would have; nil if it has to be asked, as it has to for text that is not plain
  /// ASCII.
  var value: Value? {
    switch kind {
    case .null: return .null
    case .boolean: return .boolean(bits != 0)
    case .integer: return .integer(integer)
    case .double: return .double(double)
    case .date: return .date(double)
    case .reference: return .reference(PackedReference.unpack(bits))
    case .text where text.isASCII: return .string(String(decoding: text, as: UTF8.self))
    case .text, .unknown, .missing: return nil
    }
  }

  // MARK: Comparing

  /// How two values compare.
  enum Order: UInt8 {
    case less, equal, greater
    /// One of them is null, or they are of kinds that do not compare.
    case none
    /// The evaluator has to be asked.
    case unknown

    init(_ order: ValueOrdering) { self = order == .less ? .less : order == .equal ? .equal : .greater }

    @inline(__always)
    init<T: Comparable>(_ a: T, _ b: T) { self = a < b ? .less : a == b ? .equal : .greater }
  }

  /// As ``Value/compare(to:)``, texts with upper and lower case alike if `folds`.
  @inline(__always)
  static func order(_ a: Register, _ b: Register, folds: Bool) -> Order {
    if a.kind == .integer, b.kind == .integer { return Order(a.integer, b.integer) }
    return otherOrder(a, b, folds: folds)
  }

  @inline(never)
  private static func otherOrder(_ a: Register, _ b: Register, folds: Bool) -> Order {
    if a.kind == .unknown || b.kind == .unknown { return .unknown }
    switch (a.kind, b.kind) {
    case (.text, .text): return AsciiText.order(a.text, b.text, folds: folds)
    case (.double, .double), (.date, .date): return Order(orderDoubles(a.double, b.double))
    case (.reference, .reference): return Order(a.bits, b.bits)
    case (.boolean, .boolean), (.boolean, .integer), (.integer, .boolean): return Order(a.integer, b.integer)
    case (.integer, .double), (.boolean, .double): return Order(orderIntegerDouble(a.integer, b.double))
    case (.double, .integer), (.double, .boolean): return Order(orderIntegerDouble(b.integer, a.double).reversed)
    default: return .none
    }
  }
}

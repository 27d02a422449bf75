import CambiumKernel

/// The operators and functions that programs compute. Each gives what the evaluator gives, or `unknown`.
extension Register {
  /// As ``ArithmeticOperator/apply(_:_:)`` of integers.
  @inline(__always)
  static func compute(_ operation: RegisterProgram.Operation, _ a: Int64, _ b: Int64) -> Register {
    let result: (partialValue: Int64, overflow: Bool)
    switch operation {
    case .add: result = a.addingReportingOverflow(b)
    case .subtract: result = a.subtractingReportingOverflow(b)
    case .multiply: result = a.multipliedReportingOverflow(by: b)
    case .divide:
      if b == 0 { return .null }
      result = a.dividedReportingOverflow(by: b)
    default:
      if b == 0 { return .null }
      return Register(b == -1 ? 0 : a % b)
    }
    if result.overflow, !isPlanted(.programIgnoresOverflow) { return .unknown }
    return Register(result.partialValue)
  }

  /// As ``ArithmeticOperator/apply(_:_:)``.
  @inline(never)
  static func compute(_ operation: RegisterProgram.Operation, _ a: Register, _ b: Register) -> Register {
    if a.kind == .unknown || b.kind == .unknown { return .unknown }
    if a.isWhole, b.isWhole { return compute(operation, a.integer, b.integer) }
    if a.kind == .date || b.kind == .date { return computeDates(operation, a, b) }
    guard let x = a.nearestDouble, let y = b.nearestDouble else { return .null }
    switch operation {
    case .add: return Register(x + y)
    case .subtract: return Register(x - y)
    case .multiply: return Register(x * y)
    case .divide: return y == 0 ? .null : Register(x / y)
    default: return y == 0 ? .null : Register(x - truncated(x / y) * y)
    }
  }

  /// As ``Value/rounded(_:)`` towards zero.
  private static func truncated(_ double: Double) -> Double {
    double.magnitude < 0x1p52 ? Double(Int64(double)) : double
  }

  /// The lesser or the greater one of two values, of equal ones the first; the other one where one is null.
  static func extreme(_ order: Order, _ a: Register, _ b: Register) -> Register {
    if a.kind == .unknown || b.kind == .unknown { return .unknown }
    if a.kind == .null { return b }
    if b.kind == .null { return a }
    let found = Self.order(b, a, folds: false)
    return found == .unknown ? .unknown : found == order ? b : a
  }

  private static func computeDates(
    _ operation: RegisterProgram.Operation, _ a: Register, _ b: Register
  ) -> Register {
    switch (operation, a.kind, b.kind) {
    case (.subtract, .date, .date): return Register(a.double - b.double)
    case (.add, .date, _):
      guard let seconds = b.nearestDouble else { return .null }
      return Register(date: a.double + seconds)
    case (.add, _, .date):
      guard let seconds = a.nearestDouble else { return .null }
      return Register(date: seconds + b.double)
    case (.subtract, .date, _):
      guard let seconds = b.nearestDouble else { return .null }
      return Register(date: a.double - seconds)
    default: return .null
    }
  }

  /// As ``Value/arithmeticNegation``.
  var negated: Register {
    switch kind {
    case .unknown: return .unknown
    case .boolean, .integer: return Self.compute(.subtract, 0, integer)
    case .double: return Register(-double)
    default: return .null
    }
  }

  /// As ``Value/absolute``.
  var absolute: Register {
    switch kind {
    case .unknown: return .unknown
    case .boolean, .integer: return integer < 0 ? negated : Register(integer)
    case .double: return Register(double.magnitude)
    default: return .null
    }
  }

  /// How many scalars a text has: as many as bytes, if it is plain ASCII.
  var length: Register {
    switch kind {
    case .unknown: return .unknown
    case .text: return text.isASCII ? Register(Int64(text.count)) : .unknown
    default: return .null
    }
  }

  // MARK: Answers

  init(_ answer: AsciiText.Answer) {
    self = answer == .unknown ? .unknown : Register(answer == .yes)
  }

  /// True for the answer yes.
  @inline(__always) var isYes: Bool { kind == .boolean && bits != 0 }

  /// True for the answer no.
  @inline(__always) var isNo: Bool { kind == .boolean && bits == 0 }
}

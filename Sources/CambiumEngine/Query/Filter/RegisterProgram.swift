import CambiumKernel

/// An expression of a row's own columns as steps on registers: data, and no code that is made for each expression. Plain memory,
/// which whoever made it frees.
///
/// It gives what the evaluator gives (`Specs/07-predicates.md`), or says that it does not know: of sums that 64 bits do not hold,
/// and of text that is not plain ASCII.
struct RegisterProgram {
  enum Operation: UInt8 {
    case loadInteger, loadBoolean, loadDouble, loadDate, loadText
    case add, subtract, multiply, divide
    case negate, absolute, length
  }

  struct Instruction {
    var operation: Operation
    var target: UInt8
    /// The registers of the operands.
    var a: UInt8 = 0
    var b: UInt8 = 0
    /// The field of a composite of the row, or -1; and the field in it, or in the row.
    var outer: Int32 = -1
    var leaf: Int32 = 0
    /// The same where the place of a number or date is known.
    var place: FixedPlace?
  }

  /// So many registers and instructions there are at most.
  static let most = 64

  let instructions: UnsafeMutablePointer<Instruction>
  let count: Int
  let registers: UnsafeMutablePointer<Register>
  /// The register of the result.
  let result: Int

  init(_ instructions: [Instruction], _ registers: [Register], result: Int) {
    self.instructions = .allocate(capacity: max(1, instructions.count))
    for (i, instruction) in instructions.enumerated() { (self.instructions + i).initialize(to: instruction) }
    count = instructions.count
    self.registers = .allocate(capacity: max(1, registers.count))
    for (i, register) in registers.enumerated() { (self.registers + i).initialize(to: register) }
    self.result = result
  }

  func deallocate() {
    instructions.deallocate()
    registers.deallocate()
  }

  /// Computes all registers for a record.
  func run(_ record: RecordView) throws(StoreError) {
    var i = 0
    while i < count {
      let step = instructions + i
      i &+= 1
      let target = registers + Int(step.pointee.target)
      if step.pointee.operation.rawValue <= Operation.loadText.rawValue {
        if let place = step.pointee.place {
          switch place.find(in: record) {
          case .null:
            target.pointee = .null
            continue
          case .bits(let bits):
            target.pointee = Register(kind: kind(of: step.pointee.operation), bits: bits)
            continue
          case .unknown: break
          }
        }
        target.pointee = try load(step, record)
        continue
      }
      let a = registers[Int(step.pointee.a)]
      switch step.pointee.operation {
      case .add, .subtract, .multiply, .divide:
        target.pointee = compute(step.pointee.operation, a, registers[Int(step.pointee.b)])
      case .negate: target.pointee = negated(a)
      case .absolute: target.pointee = absolute(a)
      default: target.pointee = length(a)
      }
    }
  }

  @inline(__always)
  private func kind(of operation: Operation) -> Register.Kind {
    operation == .loadInteger ? .integer : operation == .loadDouble ? .double : .date
  }

  @inline(never)
  private func load(
    _ step: UnsafeMutablePointer<Instruction>, _ record: RecordView
  ) throws(StoreError) -> Register {
    var parent = record
    if step.pointee.outer >= 0 {
      guard let inner = try record.nested(at: Int(step.pointee.outer)) else { return .null }
      parent = inner
    }
    let leaf = Int(step.pointee.leaf)
    switch step.pointee.operation {
    case .loadInteger:
      guard let value = try parent.int64(at: leaf) else { return .null }
      return Register(value)
    case .loadBoolean:
      guard let value = try parent.boolean(at: leaf) else { return .null }
      return Register(value)
    case .loadDouble:
      guard let value = try parent.double(at: leaf) else { return .null }
      return Register(value)
    case .loadDate:
      guard let value = try parent.date(at: leaf) else { return .null }
      return Register(date: value)
    default:
      guard let value = try parent.utf8(at: leaf) else { return .null }
      return Register(text: value)
    }
  }

  /// As ``ArithmeticOperator/apply(_:_:)``.
  @inline(__always)
  private func compute(_ operation: Operation, _ a: Register, _ b: Register) -> Register {
    if a.isWhole, b.isWhole {
      let (x, y) = (a.integer, b.integer)
      let result: (partialValue: Int64, overflow: Bool)
      switch operation {
      case .add: result = x.addingReportingOverflow(y)
      case .subtract: result = x.subtractingReportingOverflow(y)
      case .multiply: result = x.multipliedReportingOverflow(by: y)
      default:
        if y == 0 { return .null }
        result = x.dividedReportingOverflow(by: y)
      }
      if result.overflow, !isPlanted(.programIgnoresOverflow) { return .unknown }
      return Register(result.partialValue)
    }
    return computeOthers(operation, a, b)
  }

  @inline(never)
  private func computeOthers(_ operation: Operation, _ a: Register, _ b: Register) -> Register {
    if a.kind == .unknown || b.kind == .unknown { return .unknown }
    if a.kind == .date || b.kind == .date { return computeDates(operation, a, b) }
    guard let x = a.nearestDouble, let y = b.nearestDouble else { return .null }
    switch operation {
    case .add: return Register(x + y)
    case .subtract: return Register(x - y)
    case .multiply: return Register(x * y)
    default: return y == 0 ? .null : Register(x / y)
    }
  }

  private func computeDates(_ operation: Operation, _ a: Register, _ b: Register) -> Register {
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
  private func negated(_ a: Register) -> Register {
    switch a.kind {
    case .unknown: return .unknown
    case .boolean, .integer: return compute(.subtract, Register(Int64(0)), a)
    case .double: return Register(-a.double)
    default: return .null
    }
  }

  /// As ``Value/absolute``.
  private func absolute(_ a: Register) -> Register {
    switch a.kind {
    case .unknown: return .unknown
    case .boolean, .integer: return a.integer < 0 ? compute(.subtract, Register(Int64(0)), a) : Register(a.integer)
    case .double: return Register(a.double.magnitude)
    default: return .null
    }
  }

  /// How many scalars a text has: as many as bytes, if it is plain ASCII.
  private func length(_ a: Register) -> Register {
    switch a.kind {
    case .unknown: return .unknown
    case .text: return a.text.isASCII ? Register(Int64(a.text.count)) : .unknown
    default: return .null
    }
  }
}

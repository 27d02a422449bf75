import CambiumKernel

/// An expression or comparison as steps on registers. The steps are data; no code is generated. The owner must call
/// `deallocate()`.
///
/// It gives what the evaluator gives (`Specs/07-predicates.md`), or says that it does not know: of sums that 64 bits
/// do not hold, and of text that is not plain ASCII. Nothing in it can fail, so that all parts may be computed
/// whether they are needed or not.
struct RegisterProgram {
  enum Operation: UInt8 {
    case loadInteger, loadBoolean, loadDouble, loadDate, loadText, loadReference
    /// Loads a value behind a to-one relationship from a cache.
    case loadKnown
    case add, subtract, multiply, divide, remainder
    /// The lesser and the greater one of two values; the other one of null.
    case least, greatest
    case negate, absolute, length
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// Between the registers at `b` and behind it.
    case between
    /// Equal to one of `count` registers from `b` on.
    case member
    case beginsWith, endsWith, contains
    /// Part of the text at `b`.
    case part
    /// As the pattern of `count` bytes at `start` has it.
    case like
    case not, and, or
    /// The register at `a` or at `b`, by the one at `condition`.
    case select

    /// True for what gives one of its operands.
    var isChoice: Bool { self == .select || self == .least || self == .greatest }

    var isLoad: Bool { rawValue <= Operation.loadKnown.rawValue }
  }

  struct Instruction {
    var operation: Operation
    var target: UInt8
    /// The registers of the operands.
    var a: UInt8 = 0
    var b: UInt8 = 0
    var condition: UInt8 = 0
    /// Whether upper and lower case are alike.
    var folds = false
    /// For a load: the field of a composite in the row, or -1.
    var outer: Int32 = -1
    /// For a load: the field in that composite, or in the row.
    var leaf: Int32 = 0
    /// For `like`: where the pattern begins in `characters`. For `loadKnown`: the index of the cache in `known`.
    var start: Int32 = 0
    /// For `member`: the number of registers. For `like`: the bytes of the pattern.
    var count: Int32 = 0
    /// For a load of a number or date: its place in the row's bytes, if it is fixed.
    var place: FixedPlace?
  }

  /// So many registers there are at most.
  static let most = 64

  let instructions: UnsafeMutablePointer<Instruction>
  let count: Int
  let registers: UnsafeMutablePointer<Register>
  /// The bytes of constant texts and patterns.
  let characters: UnsafeMutablePointer<UInt8>
  /// The caches of values behind to-one relationships, one for each path.
  let known: UnsafeMutablePointer<KnownRegisters>
  let knownCount: Int
  /// The register of the result.
  let result: Int

  func deallocate() {
    instructions.deallocate()
    registers.deallocate()
    characters.deallocate()
    for i in 0..<knownCount { known[i].deallocate() }
    known.deallocate()
  }

  /// Computes the result for a record. It is of kind `missing` if something behind a relationship has to be read
  /// first, and noted in `known` at the place that is its `count`.
  func run(_ record: RecordView) throws(StoreError) -> Register {
    var i = 0
    while i < count {
      let step = instructions + i
      i &+= 1
      let target = registers + Int(step.pointee.target)
      if step.pointee.operation.isLoad {
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
        if step.pointee.operation == .loadKnown {
          guard let reference = try record.reference(at: Int(step.pointee.leaf)) else {
            target.pointee = .null
            continue
          }
          target.pointee = known[Int(step.pointee.start)][reference]
          if target.pointee.kind == .missing {
            return Register(kind: .missing, count: UInt32(truncatingIfNeeded: step.pointee.start))
          }
          continue
        }
        target.pointee = try load(step, record)
        continue
      }
      let (a, b) = (registers[Int(step.pointee.a)], registers[Int(step.pointee.b)])
      switch step.pointee.operation {
      case .add, .subtract, .multiply, .divide, .remainder: target.pointee = compute(step.pointee.operation, a, b)
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
        target.pointee = compare(step.pointee.operation, a, b, folds: step.pointee.folds)
      default: target.pointee = computeOther(step, a, b)
      }
    }
    return registers[result]
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
    case .loadReference:
      guard let value = try parent.reference(at: leaf) else { return .null }
      return Register(kind: .reference, bits: value)
    default:
      guard let value = try parent.utf8(at: leaf) else { return .null }
      return Register(text: value)
    }
  }

  /// Computes the rare operations.
  @inline(never)
  private func computeOther(
    _ step: UnsafeMutablePointer<Instruction>, _ a: Register, _ b: Register
  ) -> Register {
    let folds = step.pointee.folds
    switch step.pointee.operation {
    case .least: return Register.extreme(.less, a, b)
    case .greatest: return Register.extreme(.greater, a, b)
    case .negate: return a.negated
    case .absolute: return a.absolute
    case .length: return a.length
    case .between:
      let low = compare(.greaterOrEqual, a, b, folds: folds)
      if !low.isYes { return low }
      return compare(.lessOrEqual, a, registers[Int(step.pointee.b) &+ 1], folds: folds)
    case .member:
      for i in 0..<Int(step.pointee.count) {
        let answer = compare(.equal, a, registers[Int(step.pointee.b) &+ i], folds: folds)
        if !answer.isNo { return answer }
      }
      return Register(false)
    case .like:
      guard a.kind == .text else { return a.kind == .unknown ? .unknown : Register(false) }
      let pattern = UnsafeRawBufferPointer(
        start: characters + Int(step.pointee.start), count: Int(step.pointee.count))
      return Register(AsciiText.matches(a.text, pattern, folds: folds))
    case .not: return a.kind == .unknown ? .unknown : Register(!a.isYes)
    case .and: return a.isNo || b.isNo ? Register(false) : a.isYes && b.isYes ? Register(true) : .unknown
    case .or: return a.isYes || b.isYes ? Register(true) : a.isNo && b.isNo ? Register(false) : .unknown
    case .select:
      let condition = registers[Int(step.pointee.condition)]
      return condition.kind == .unknown ? .unknown : condition.isYes ? a : b
    default: return test(step.pointee.operation, a, b, folds: folds)
    }
  }

  private func test(_ operation: Operation, _ a: Register, _ b: Register, folds: Bool) -> Register {
    if a.kind == .unknown || b.kind == .unknown { return .unknown }
    guard a.kind == .text, b.kind == .text else { return Register(false) }
    switch operation {
    case .beginsWith: return Register(AsciiText.hasPrefix(a.text, b.text, folds: folds))
    case .endsWith: return Register(AsciiText.hasSuffix(a.text, b.text, folds: folds))
    case .contains: return Register(AsciiText.contains(a.text, b.text, folds: folds))
    default: return Register(AsciiText.contains(b.text, a.text, folds: folds))
    }
  }

  @inline(__always)
  private func compare(_ operation: Operation, _ a: Register, _ b: Register, folds: Bool) -> Register {
    let order = Register.order(a, b, folds: folds)
    switch order {
    case .less: return Register(operation == .less || operation == .lessOrEqual || operation == .notEqual)
    case .equal:
      return Register(operation == .equal || operation == .lessOrEqual || operation == .greaterOrEqual)
    case .greater: return Register(operation == .greater || operation == .greaterOrEqual || operation == .notEqual)
    case .unknown: return .unknown
    case .none:
      // Null equals null and nothing else; the others do not hold.
      let areEqual = a.kind == .null && b.kind == .null
      return Register(operation == .equal ? areEqual : operation == .notEqual ? !areEqual : false)
    }
  }

  /// As ``ArithmeticOperator/apply(_:_:)``.
  @inline(__always)
  private func compute(_ operation: Operation, _ a: Register, _ b: Register) -> Register {
    if a.kind == .integer, b.kind == .integer { return Register.compute(operation, a.integer, b.integer) }
    return Register.compute(operation, a, b)
  }
}

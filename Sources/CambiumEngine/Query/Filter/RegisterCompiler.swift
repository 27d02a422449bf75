import CambiumKernel

/// Lays expressions of a row's own columns out as steps on registers. What it does not know (decimals, most functions, anything
/// that reads other rows, text that is not plain ASCII) is left to the evaluator.
struct RegisterCompiler {
  private let reader: PathReader
  private let layout: EntityLayout
  private var instructions: [RegisterProgram.Instruction] = []
  private var registers: [Register] = []
  /// The bytes of constant texts, and of a pattern in front of them.
  private var characters: [UInt8] = []
  private var patternCount = 0
  /// Registers whose texts begin at an offset in `characters`.
  private var texts: [(register: Int, start: Int)] = []

  /// Expressions inside of each other beyond which the evaluator is asked, and constants in a list.
  private static let mostDepth = 16
  private static let mostElements = 16

  init(_ reader: PathReader, _ layout: EntityLayout) {
    self.reader = reader
    self.layout = layout
  }

  // MARK: Comparisons

  /// The program of a comparison; nil if the evaluator has to be asked.
  static func compile(_ c: Comparison, _ reader: PathReader, _ layout: EntityLayout) -> ComparisonProgram? {
    guard c.modifier == .direct, c.comparator != .matches else { return nil }
    var compiler = RegisterCompiler(reader, layout)
    return compiler.compile(c)
  }

  private mutating func compile(_ c: Comparison) -> ComparisonProgram? {
    let test: ComparisonProgram.Test
    var right = 0
    var count = 1
    if c.comparator == .like {
      guard case .constant(.string(let text)) = c.right, let pattern = AsciiText.pattern(text) else { return nil }
      characters = pattern
      patternCount = pattern.count
    }
    guard let left = add(c.left, depth: 0) else { return nil }
    switch c.comparator {
    case .equal: test = .equal
    case .notEqual: test = .notEqual
    case .less: test = .less
    case .lessOrEqual: test = .lessOrEqual
    case .greater: test = .greater
    case .greaterOrEqual: test = .greaterOrEqual
    case .beginsWith: test = .beginsWith
    case .endsWith: test = .endsWith
    case .contains: test = .contains
    case .like: test = .like
    case .matches: return nil
    case .between:
      guard case .constant(.list(let bounds)) = c.right, bounds.count == 2, let low = add(bounds) else { return nil }
      (test, right) = (.between, low)
    case .in:
      if case .constant(.list(let elements)) = c.right {
        guard elements.count <= Self.mostElements, let first = add(elements) else { return nil }
        (test, right, count) = (.member, first, elements.count)
      } else {
        test = .part
      }
    }
    if test != .between, test != .member, test != .like {
      guard let register = add(c.right, depth: 0) else { return nil }
      right = register
    }
    let (program, memory) = finish(result: left)
    return ComparisonProgram(
      program: program, test: test, left: left, right: right, count: count,
      folds: c.options.contains(.caseInsensitive), characters: memory, patternCount: patternCount)
  }

  /// Constants in registers that follow one another; answers the first.
  private mutating func add(_ constants: [Value]) -> Int? {
    let first = registers.count
    for constant in constants where add(constant: constant) == nil { return nil }
    return first
  }

  // MARK: Expressions

  /// The program of an expression that is computed; nil if the evaluator has to be asked. The memory is that of its texts.
  static func compile(
    _ expression: Expression, _ reader: PathReader, _ layout: EntityLayout
  ) -> (program: RegisterProgram, characters: UnsafeMutablePointer<UInt8>)? {
    var compiler = RegisterCompiler(reader, layout)
    // What is not computed keeps its type as a value, which registers do not tell: floats are doubles there.
    guard let result = compiler.add(expression, depth: 0), let last = compiler.instructions.last,
      Int(last.target) == result, last.operation.rawValue > RegisterProgram.Operation.loadText.rawValue
    else { return nil }
    return compiler.finish(result: result)
  }

  private mutating func finish(
    result: Int
  ) -> (program: RegisterProgram, characters: UnsafeMutablePointer<UInt8>) {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, characters.count))
    for (i, byte) in characters.enumerated() { (memory + i).initialize(to: byte) }
    for (register, start) in texts {
      registers[register].bits = UInt64(UInt(bitPattern: UnsafeRawPointer(memory + start)))
    }
    return (RegisterProgram(instructions, registers, result: result), memory)
  }

  /// Adds what computes an expression; answers its register.
  private mutating func add(_ expression: Expression, depth: Int) -> Int? {
    guard depth <= Self.mostDepth, registers.count < RegisterProgram.most else { return nil }
    switch expression {
    case .constant(let value): return add(constant: value)
    case .keyPath(let path): return load(path)
    case .arithmetic(let operation, let a, let b): return arithmetic(operation, a, b, depth)
    case .negated(let inner): return unary(.negate, inner, depth)
    case .function(let name, let arguments):
      let function: PredicateFunction
      let ordered: [Expression]
      do throws(PredicateError) { (function, ordered) = try PredicateFunction.resolve(name, arguments) } catch {
        // The evaluator says so of each row.
        return nil
      }
      switch function {
      case .absolute: return unary(.absolute, ordered[0], depth)
      case .length: return unary(.length, ordered[0], depth)
      case .noIndex: return add(ordered[0], depth: depth + 1)
      default:
        guard let operation = function.arithmetic else { return nil }
        return arithmetic(operation, ordered[0], ordered[1], depth)
      }
    default: return nil
    }
  }

  private mutating func arithmetic(
    _ operation: ArithmeticOperator, _ a: Expression, _ b: Expression, _ depth: Int
  ) -> Int? {
    let instruction: RegisterProgram.Operation
    switch operation {
    case .add: instruction = .add
    case .subtract: instruction = .subtract
    case .multiply: instruction = .multiply
    case .divide: instruction = .divide
    case .power: return nil
    }
    guard let x = add(a, depth: depth + 1), let y = add(b, depth: depth + 1) else { return nil }
    return append(RegisterProgram.Instruction(operation: instruction, target: 0, a: UInt8(x), b: UInt8(y)))
  }

  private mutating func unary(_ operation: RegisterProgram.Operation, _ a: Expression, _ depth: Int) -> Int? {
    guard let x = add(a, depth: depth + 1) else { return nil }
    return append(RegisterProgram.Instruction(operation: operation, target: 0, a: UInt8(x)))
  }

  private mutating func load(_ path: String) -> Int? {
    guard let (field, attribute) = reader.field(path, layout), field.depth <= 2 else { return nil }
    let operation: RegisterProgram.Operation
    switch attribute.type {
    case .integer16, .integer32, .integer64: operation = .loadInteger
    case .boolean: operation = .loadBoolean
    case .double, .float: operation = .loadDouble
    case .date: operation = .loadDate
    case .string: operation = .loadText
    default: return nil
    }
    var instruction = RegisterProgram.Instruction(operation: operation, target: 0)
    instruction.leaf = Int32(truncatingIfNeeded: field.leaf)
    if field.depth == 2 { instruction.outer = Int32(truncatingIfNeeded: field[0]) }
    if operation != .loadText, operation != .loadBoolean {
      instruction.place = FixedPlace(
        BorrowedLayout(layout.record), outer: field.depth == 2 ? field[0] : nil, field.leaf)
    }
    return append(instruction)
  }

  private mutating func append(_ instruction: RegisterProgram.Instruction) -> Int? {
    guard let register = append(Register.null) else { return nil }
    var instruction = instruction
    instruction.target = UInt8(register)
    instructions.append(instruction)
    return register
  }

  private mutating func add(constant: Value) -> Int? {
    switch constant {
    case .null: return append(.null)
    case .boolean(let flag): return append(Register(flag))
    case .integer(let integer): return append(Register(integer))
    case .double(let double): return append(Register(double))
    case .float(let float): return append(Register(Double(float)))
    case .date(let date): return append(Register(date: date))
    case .string(let text):
      let bytes = Array(text.utf8)
      guard bytes.count <= 1 << 16, !bytes.contains(where: { $0 >= 0x80 }) else { return nil }
      guard let register = append(Register(kind: .text, count: UInt32(bytes.count))) else { return nil }
      texts.append((register, characters.count))
      characters += bytes
      return register
    default: return nil
    }
  }

  private mutating func append(_ register: Register) -> Int? {
    guard registers.count < RegisterProgram.most else { return nil }
    registers.append(register)
    return registers.count - 1
  }
}

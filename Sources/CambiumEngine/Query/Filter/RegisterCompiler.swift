import CambiumKernel

/// Lays expressions out as steps on registers: of a row's own columns, and of values behind to-one relationships. It
/// leaves to the evaluator what it does not know: decimals, most functions, to-many relationships, and constants that
/// are not plain ASCII.
struct RegisterCompiler {
  private let reader: PathReader
  private let layout: EntityLayout
  private var instructions: [RegisterProgram.Instruction] = []
  private var registers: [Register] = []
  /// The bytes of constant texts and patterns.
  private var characters: [UInt8] = []
  /// Registers whose texts begin at an offset in `characters`.
  private var texts: [(register: Int, start: Int)] = []
  /// The paths through to-one relationships. The path at an index belongs to the program's cache at that index.
  private(set) var paths: [String] = []
  /// The registers of the paths that are loaded already.
  private var loaded: [String: Int] = [:]

  /// Expressions inside of each other beyond which the evaluator is asked, and constants in a list.
  private static let mostDepth = 16
  private static let mostElements = 16
  /// The bytes of the longest constant text or pattern.
  private static let longestText = 1 << 16

  init(_ reader: PathReader, _ layout: EntityLayout) {
    self.reader = reader
    self.layout = layout
  }

  /// The program of a comparison, and the paths of what it knows; nil if the evaluator has to be asked.
  static func compile(
    _ comparison: Comparison, _ reader: PathReader, _ layout: EntityLayout
  ) -> (program: RegisterProgram, paths: [String])? {
    var compiler = RegisterCompiler(reader, layout)
    guard let result = compiler.add(comparison, depth: 0) else { return nil }
    return (compiler.finish(result: result), compiler.paths)
  }

  /// The program of an expression that is computed, likewise.
  static func compile(
    _ expression: Expression, _ reader: PathReader, _ layout: EntityLayout
  ) -> (program: RegisterProgram, paths: [String])? {
    var compiler = RegisterCompiler(reader, layout)
    // A column or constant must keep its type, and a register does not know it: it holds a float as a double.
    guard let result = compiler.add(expression, depth: 0), let last = compiler.instructions.last,
      Int(last.target) == result, !last.operation.isLoad, !last.operation.isChoice
    else { return nil }
    return (compiler.finish(result: result), compiler.paths)
  }

  private mutating func finish(result: Int) -> RegisterProgram {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, characters.count))
    for (i, byte) in characters.enumerated() { (memory + i).initialize(to: byte) }
    for (register, start) in texts {
      registers[register].bits = UInt64(UInt(bitPattern: UnsafeRawPointer(memory + start)))
    }
    let steps = UnsafeMutablePointer<RegisterProgram.Instruction>.allocate(capacity: max(1, instructions.count))
    for (i, instruction) in instructions.enumerated() { (steps + i).initialize(to: instruction) }
    let room = UnsafeMutablePointer<Register>.allocate(capacity: max(1, registers.count))
    for (i, register) in registers.enumerated() { (room + i).initialize(to: register) }
    let known = UnsafeMutablePointer<KnownRegisters>.allocate(capacity: max(1, paths.count))
    for i in paths.indices { (known + i).initialize(to: KnownRegisters()) }
    return RegisterProgram(
      instructions: steps, count: instructions.count, registers: room, characters: memory, known: known,
      knownCount: paths.count, result: result)
  }

  // MARK: Predicates

  /// Adds what decides a predicate; answers the register of the answer.
  private mutating func add(_ predicate: Predicate, depth: Int) -> Int? {
    guard depth <= Self.mostDepth else { return nil }
    switch predicate {
    case .true: return add(constant: .boolean(true))
    case .false: return add(constant: .boolean(false))
    case .not(let inner):
      guard let a = add(inner, depth: depth + 1) else { return nil }
      return append(.not, a)
    case .and(let parts): return add(parts, .and, depth: depth + 1)
    case .or(let parts): return add(parts, .or, depth: depth + 1)
    case .comparison(let comparison): return add(comparison, depth: depth + 1)
    }
  }

  private mutating func add(_ parts: [Predicate], _ operation: RegisterProgram.Operation, depth: Int) -> Int? {
    guard var answer = add(constant: .boolean(operation == .and)) else { return nil }
    for part in parts {
      guard let next = add(part, depth: depth), let both = append(operation, answer, next) else { return nil }
      answer = both
    }
    return answer
  }

  private mutating func add(_ c: Comparison, depth: Int) -> Int? {
    guard c.modifier == .direct, let left = add(c.left, depth: depth) else { return nil }
    let operation: RegisterProgram.Operation
    switch c.comparator {
    case .equal: operation = .equal
    case .notEqual: operation = .notEqual
    case .less: operation = .less
    case .lessOrEqual: operation = .lessOrEqual
    case .greater: operation = .greater
    case .greaterOrEqual: operation = .greaterOrEqual
    case .beginsWith: operation = .beginsWith
    case .endsWith: operation = .endsWith
    case .contains: operation = .contains
    case .between, .in, .like, .matches: return addSpecial(c, left, depth)
    }
    guard let right = add(c.right, depth: depth) else { return nil }
    return append(operation, left, right, folds: c.options.contains(.caseInsensitive))
  }

  private mutating func addSpecial(_ c: Comparison, _ left: Int, _ depth: Int) -> Int? {
    let folds = c.options.contains(.caseInsensitive)
    switch (c.comparator, c.right) {
    case (.between, .constant(.list(let bounds))):
      guard bounds.count == 2, let low = add(bounds) else { return nil }
      return append(.between, left, low, folds: folds)
    case (.in, .constant(.list(let elements))):
      guard elements.count <= Self.mostElements, let first = add(elements) else { return nil }
      return append(.member, left, elements.isEmpty ? left : first, folds: folds, count: elements.count)
    case (.in, let right):
      guard let text = add(right, depth: depth) else { return nil }
      return append(.part, left, text, folds: folds)
    case (.like, .constant(.string(let text))):
      guard text.utf8.count <= Self.longestText, let pattern = AsciiText.pattern(text) else { return nil }
      let start = characters.count
      characters += pattern
      return append(.like, left, folds: folds, start: start, count: pattern.count)
    default: return nil
    }
  }

  /// Constants in registers that follow one another; answers the first.
  private mutating func add(_ constants: [Value]) -> Int? {
    let first = registers.count
    for constant in constants where add(constant: constant) == nil { return nil }
    return first
  }

  // MARK: Expressions

  /// Adds what computes an expression; answers its register.
  private mutating func add(_ expression: Expression, depth: Int) -> Int? {
    guard depth <= Self.mostDepth, registers.count < RegisterProgram.most else { return nil }
    switch expression {
    case .constant(let value): return add(constant: value)
    case .keyPath(let path):
      if let known = loaded[path] { return known }
      let register = load(path)
      loaded[path] = register
      return register
    case .arithmetic(let operation, let a, let b): return arithmetic(operation, a, b, depth)
    case .negated(let inner): return unary(.negate, inner, depth)
    case .ternary(let condition, let then, let otherwise):
      guard let answer = add(condition, depth: depth + 1), let a = add(then, depth: depth + 1),
        let b = add(otherwise, depth: depth + 1)
      else { return nil }
      return append(.select, a, b, condition: answer)
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
      case .modulus: return binary(.remainder, ordered, depth)
      case .minimum where ordered.count == 2: return binary(.least, ordered, depth)
      case .maximum where ordered.count == 2: return binary(.greatest, ordered, depth)
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
    return append(instruction, x, y)
  }

  private mutating func binary(
    _ operation: RegisterProgram.Operation, _ operands: [Expression], _ depth: Int
  ) -> Int? {
    guard let x = add(operands[0], depth: depth + 1), let y = add(operands[1], depth: depth + 1) else { return nil }
    return append(operation, x, y)
  }

  private mutating func unary(_ operation: RegisterProgram.Operation, _ a: Expression, _ depth: Int) -> Int? {
    guard let x = add(a, depth: depth + 1) else { return nil }
    return append(operation, x)
  }

  private mutating func load(_ path: String) -> Int? {
    if let field = reader.toOneField(path, layout) { return load(path, behind: field) }
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
      let place = FixedPlace(BorrowedLayout(layout.record), outer: field.depth == 2 ? field[0] : nil, field.leaf)
      // A damaged catalogue may say otherwise than the layout. Reading the field as a whole tells then.
      if let place, place.isInteger == (operation == .loadInteger) { instruction.place = place }
    }
    return append(instruction)
  }

  /// Loads the object of a to-one relationship, or what lies behind it, if that is one value that a register holds.
  private mutating func load(_ path: String, behind field: Int) -> Int? {
    do throws(SchemaError) {
      let resolved = try reader.view.store.schema.resolve(keyPath: path, from: layout.entity.id)
      if resolved.steps.count == 1 {
        var instruction = RegisterProgram.Instruction(operation: .loadReference, target: 0)
        instruction.leaf = Int32(truncatingIfNeeded: field)
        return append(instruction)
      }
      guard !resolved.isToMany, resolved.traversesRelationship else { return nil }
      switch resolved.type {
      case .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .string: break
      default: return nil
      }
    } catch {
      // The evaluator meets the error again.
      return nil
    }
    var instruction = RegisterProgram.Instruction(operation: .loadKnown, target: 0)
    instruction.leaf = Int32(truncatingIfNeeded: field)
    instruction.start = Int32(truncatingIfNeeded: paths.count)
    paths.append(path)
    return append(instruction)
  }

  private mutating func append(
    _ operation: RegisterProgram.Operation, _ a: Int, _ b: Int = 0, condition: Int = 0, folds: Bool = false,
    start: Int = 0, count: Int = 0
  ) -> Int? {
    append(
      RegisterProgram.Instruction(
        operation: operation, target: 0, a: UInt8(truncatingIfNeeded: a), b: UInt8(truncatingIfNeeded: b),
        condition: UInt8(truncatingIfNeeded: condition), folds: folds, start: Int32(truncatingIfNeeded: start),
        count: Int32(truncatingIfNeeded: count)))
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
    case .reference(let reference):
      let packed = PackedReference.pack(reference)
      guard PackedReference.unpack(packed) == reference else { return nil }
      return append(Register(kind: .reference, bits: packed))
    case .string(let text):
      guard text.utf8.count <= Self.longestText else { return nil }
      let bytes = Array(text.utf8)
      guard !bytes.contains(where: { $0 >= 0x80 }) else { return nil }
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

import CambiumKernel

extension RowFilter {
  // MARK: Making ready

  /// Lays the steps of a predicate out, each after those that it leads to.
  struct Maker {
    let reader: PathReader
    let layout: EntityLayout
    var steps: [Step] = []
    var characters: [UInt8] = []
    /// By condition of an element that lies deeper than in a composite of the row, the fields that lead to it.
    var ways: [Int32] = []
    var predicates: [Predicate] = []
    var texts: [String] = []
    var lists: [MemberTable] = []
    /// By program, the comparison that it decides, or leaves to the evaluator.
    var fallbacks: [Predicate] = []
    var programs: [ValueProgram] = []
    var destinations: [DestinationCondition] = []
    var counts: [CountTest] = []

    /// The number of caches that a filter may have of destinations, and as many of values behind relationships: the
    /// evaluator is asked about others, so that no predicate takes memory without bound.
    private static let mostCaches = 16
    private var knownPaths = 0

    init(reader: PathReader, layout: EntityLayout) {
      self.reader = reader
      self.layout = layout
    }

    /// Adds the steps of a predicate; answers where to begin.
    mutating func add(_ predicate: Predicate, _ yes: Int32, _ no: Int32, depth: Int) -> Int32 {
      // Deeper ones are refused by the evaluator, in its own words.
      guard depth < Predicate.depthLimit else { return addSlow(predicate, yes, no) }
      if leavesAllToEvaluator { return addSlow(predicate, yes, no) }
      if let condition = DestinationCondition(predicate, of: layout.entity),
        let added = add(condition, yes, no)
      {
        return added
      }
      switch predicate {
      case .true: return yes
      case .false: return no
      case .and(let parts):
        var next = yes
        for part in cheapestFirst(parts).reversed() { next = add(part, next, no, depth: depth + 1) }
        return next
      case .or(let parts):
        var next = no
        for part in cheapestFirst(parts).reversed() { next = add(part, yes, next, depth: depth + 1) }
        return next
      case .not(let inner): return add(inner, no, yes, depth: depth + 1)
      case .comparison(var comparison) where comparison.modifier == .none:
        // It holds where the same with ANY does not.
        comparison.modifier = .any
        return add(.comparison(comparison), no, yes, depth: depth + 1)
      case .comparison(let comparison):
        return add(comparison, yes, no) ?? addCount(comparison, yes, no) ?? addComputed(comparison, yes, no)
          ?? addSlow(predicate, yes, no)
      }
    }

    /// Adds a condition of the object at the other end of a to-one relationship; nil if rows of the layout do not
    /// have it.
    private mutating func add(_ condition: DestinationCondition, _ yes: Int32, _ no: Int32) -> Int32? {
      guard destinations.count < Self.mostCaches, let field = layout.fieldByName[condition.relationship.name] else {
        return nil
      }
      var step = Step(op: .destination)
      step.leaf = Int32(truncatingIfNeeded: field)
      step.extra = Int32(truncatingIfNeeded: destinations.count)
      destinations.append(condition)
      return add(step, yes, no)
    }

    private mutating func addCount(_ comparison: Comparison, _ yes: Int32, _ no: Int32) -> Int32? {
      let made =
        CountTest(comparison, layout.entity, reader) ?? CountTest(all: comparison, layout.entity, reader)
      guard let test = made else { return nil }
      var step = Step(op: .count)
      step.extra = Int32(truncatingIfNeeded: counts.count)
      counts.append(test)
      return add(step, yes, no)
    }

    private mutating func addComputed(_ comparison: Comparison, _ yes: Int32, _ no: Int32) -> Int32? {
      guard let program = ValueProgram(comparison, reader, layout),
        knownPaths + program.pathCount <= Self.mostCaches
      else { return nil }
      knownPaths += program.pathCount
      var step = Step(op: .computed)
      step.extra = Int32(truncatingIfNeeded: programs.count)
      programs.append(program)
      fallbacks.append(.comparison(comparison))
      return add(step, yes, no)
    }

    /// Puts parts that follow one another and cannot fail on sound rows in order, the cheapest first: their order
    /// makes no difference to the answer. What the evaluator is asked stays where it is.
    private func cheapestFirst(_ parts: [Predicate]) -> [Predicate] {
      if parts.count < 2 { return parts }
      var ordered: [Predicate] = []
      var together: [(cost: Int, index: Int)] = []
      func takeTogether() {
        together.sort { $0 < $1 }
        for (_, index) in together { ordered.append(parts[index]) }
        together.removeAll(keepingCapacity: true)
      }
      for index in parts.indices {
        if let cost = cost(parts[index]) {
          together.append((cost, index))
        } else {
          takeTogether()
          ordered.append(parts[index])
        }
      }
      takeTogether()
      return ordered
    }

    /// What a comparison that becomes a single step takes, roughly; nil for all others.
    private func cost(_ part: Predicate) -> Int? {
      if let condition = DestinationCondition(part, of: layout.entity) { return condition.isSafe ? 20 : nil }
      guard case .comparison(let comparison) = part else { return nil }
      // Making a list ready takes longer than it is worth to know.
      if comparison.comparator == .in { return listed(comparison) == nil ? nil : 6 }
      var trial = Maker(reader: reader, layout: layout)
      guard trial.add(comparison, RowFilter.yes, RowFilter.no) != nil else {
        guard let program = ValueProgram(comparison, reader, layout) else { return nil }
        return program.readsElsewhere ? 18 : 14
      }
      guard trial.steps.count == 1, let step = trial.steps.first else { return nil }
      // Ranges and equal texts are told from a row's bytes before anything else, and few rows pass them.
      var cost = step.isRange ? 0 : step.op == .text ? 2 : 4
      if step.depth > 1 { cost += 1 }
      if step.whenFalse != RowFilter.no { cost += 6 }
      return cost
    }

    private mutating func addSlow(_ predicate: Predicate, _ yes: Int32, _ no: Int32) -> Int32 {
      var step = Step(op: .slow)
      step.extra = Int32(truncatingIfNeeded: predicates.count)
      predicates.append(predicate)
      return add(step, yes, no)
    }

    private mutating func add(_ step: Step, _ yes: Int32, _ no: Int32) -> Int32 {
      var step = step
      step.whenTrue = yes
      step.whenFalse = no
      if yes >= 0, steps[Int(yes)].whenFalse == no, var both = together(step, steps[Int(yes)]) {
        both.whenTrue = steps[Int(yes)].whenTrue
        both.whenFalse = no
        step = both
      }
      steps.append(step)
      return Int32(truncatingIfNeeded: steps.count - 1)
    }

    /// One step for two that both have to hold and are about ranges of the same field; nil for others.
    private func together(_ step: Step, _ next: Step) -> Step? {
      guard step.isRange, next.op == step.op, step.depth == next.depth, step.depth <= 2, step.outer == next.outer,
        step.leaf == next.leaf
      else { return nil }
      var both = next
      if step.op == .integer {
        both.low = UInt64(bitPattern: max(Int64(bitPattern: step.low), Int64(bitPattern: next.low)))
        both.high = UInt64(bitPattern: min(Int64(bitPattern: step.high), Int64(bitPattern: next.high)))
      } else {
        both.low = max(step.low, next.low)
        both.high = min(step.high, next.high)
      }
      return both
    }

    private mutating func add(_ c: Comparison, _ yes: Int32, _ no: Int32) -> Int32? {
      guard c.modifier == .direct, c.options.isEmpty else { return nil }
      if c.comparator == .in {
        guard let (list, field, type) = listed(c), let table = MemberTable(list, type) else { return nil }
        var step = step(.member, field)
        step.extra = Int32(truncatingIfNeeded: lists.count)
        lists.append(table)
        return add(step, yes, no)
      }
      let path: String
      let constant: Value
      let comparator: Comparator
      switch (c.left, c.right) {
      case (.keyPath(let p), .constant(let v)): (path, constant, comparator) = (p, v, c.comparator)
      case (.constant(let v), .keyPath(let p)):
        guard let mirrored = c.comparator.mirrored else { return nil }
        (path, constant, comparator) = (p, v, mirrored)
      default: return nil
      }
      if constant.isNull, comparator == .equal || comparator == .notEqual,
        let field = reader.toOneField(path, layout, isWhole: true)
      {
        var step = Step(op: .isNull)
        step.leaf = Int32(truncatingIfNeeded: field)
        return comparator == .equal ? add(step, yes, no) : add(step, no, yes)
      }
      guard let (field, attribute) = reader.field(path, layout) else { return nil }
      switch (comparator, constant) {
      case (.equal, .null): return add(step(.isNull, field), yes, no)
      case (.notEqual, .null): return add(step(.isNull, field), no, yes)
      case (.between, .list(let bounds)):
        guard bounds.count == 2, let low = single(.greaterOrEqual, bounds[0], field, attribute.type),
          let high = single(.lessOrEqual, bounds[1], field, attribute.type)
        else { return nil }
        if case .step(let first) = low, case .step(let second) = high, let both = together(first, second) {
          return add(both, yes, no)
        }
        return add(low, add(high, yes, no), no)
      default: return single(comparator, constant, field, attribute.type).map { add($0, yes, no) }
      }
    }

    /// The list that a field is compared with, if it is.
    private func listed(_ c: Comparison) -> (list: [Value], field: FieldPath, type: AttributeType)? {
      guard c.modifier == .direct, c.options.isEmpty, c.comparator == .in, case .keyPath(let path) = c.left,
        case .constant(.list(let list)) = c.right, let (field, attribute) = reader.field(path, layout),
        MemberTable.holds(attribute.type)
      else { return nil }
      return (list, field, attribute.type)
    }

    /// A condition, or its reverse, or none that any row meets.
    private enum Condition {
      case step(Step)
      case reverse(Step)
      case never
    }

    private mutating func add(_ condition: Condition, _ yes: Int32, _ no: Int32) -> Int32 {
      switch condition {
      case .step(let step): return add(step, yes, no)
      case .reverse(let step): return add(step, no, yes)
      case .never: return no
      }
    }

    private mutating func step(_ op: Op, _ field: FieldPath) -> Step {
      var step = Step(op: op)
      step.depth = UInt8(truncatingIfNeeded: field.depth)
      step.leaf = Int32(truncatingIfNeeded: field.leaf)
      if field.depth == 1, step.isRange {
        step.fixed = FixedField(BorrowedLayout(layout.record), field.leaf)
      }
      if field.depth >= 2 { step.outer = Int32(truncatingIfNeeded: field[0]) }
      if field.depth > 2 {
        step.way = Int32(truncatingIfNeeded: ways.count)
        for i in 0..<(field.depth - 1) { ways.append(Int32(truncatingIfNeeded: field[i])) }
      }
      return step
    }

    private mutating func single(
      _ comparator: Comparator, _ constant: Value, _ field: FieldPath, _ type: AttributeType
    ) -> Condition? {
      switch comparator {
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: break
      case .beginsWith:
        guard type == .string, case .string(let text) = constant else { return nil }
        return self.text(.prefix, text, field).map { .step($0) }
      default: return nil
      }
      switch (type, constant) {
      case (.integer16, .integer(let v)), (.integer32, .integer(let v)), (.integer64, .integer(let v)):
        return integer(.integer, comparator, v, field)
      case (.boolean, .boolean(let flag)): return integer(.boolean, comparator, flag ? 1 : 0, field)
      case (.double, .double(let v)), (.float, .double(let v)): return real(.real, comparator, v, field)
      case (.float, .float(let v)), (.double, .float(let v)): return real(.real, comparator, Double(v), field)
      case (.double, .integer(let v)), (.float, .integer(let v)):
        guard let exact = exactInt64(Double(v)), exact == v else { return nil }
        return real(.real, comparator, Double(v), field)
      case (.date, .date(let v)): return real(.date, comparator, v, field)
      case (.string, .string(let text)):
        guard comparator == .equal || comparator == .notEqual, let step = self.text(.text, text, field) else {
          return nil
        }
        return comparator == .equal ? .step(step) : .reverse(step)
      default: return nil
      }
    }

    /// A condition on text, of ASCII characters only; nil for other ones.
    private mutating func text(_ op: Op, _ text: String, _ field: FieldPath) -> Step? {
      let bytes = Array(text.utf8)
      guard !bytes.contains(where: { $0 >= 0x80 }), let start = Int32(exactly: characters.count),
        let count = Int32(exactly: bytes.count)
      else { return nil }
      var step = step(op, field)
      step.start = start
      step.count = count
      step.extra = Int32(truncatingIfNeeded: texts.count)
      characters += bytes
      texts.append(text)
      return step
    }

    /// The integers that stand in the relation to `v`.
    private mutating func integer(_ op: Op, _ comparator: Comparator, _ v: Int64, _ field: FieldPath) -> Condition {
      var step = step(op, field)
      var low = Int64.min
      var high = Int64.max
      switch comparator {
      case .equal, .notEqual: (low, high) = (v, v)
      case .less:
        if v == .min { return .never }
        high = v - 1
      case .lessOrEqual: high = v
      case .greater:
        if v == .max { return .never }
        low = v + 1
      default: low = v
      }
      step.low = UInt64(bitPattern: low)
      step.high = UInt64(bitPattern: high)
      return comparator == .notEqual ? .reverse(step) : .step(step)
    }

    /// The numbers that stand in the relation to `v`, in the order of ``orderDoubles(_:_:)``: not-a-number equals
    /// itself and comes first.
    private mutating func real(_ op: Op, _ comparator: Comparator, _ v: Double, _ field: FieldPath) -> Condition {
      var step = step(op, field)
      let bits = KeyEncoder.orderedBits(v)
      step.high = .max
      switch comparator {
      case .equal, .notEqual: (step.low, step.high) = (bits, bits)
      case .less:
        if bits == 0 { return .never }
        step.high = bits - 1
      case .lessOrEqual: step.high = bits
      case .greater:
        if bits == .max { return .never }
        step.low = bits + 1
      default: step.low = bits
      }
      return comparator == .notEqual ? .reverse(step) : .step(step)
    }
  }
}

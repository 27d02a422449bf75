import CambiumKernel

/// A checked predicate made ready for the rows of one layout: comparisons of a number, date or boolean, with `nil`, of text
/// for equality or its beginning, and with a list are asked of the encoded row in place; whether there is an object at the end
/// of a relationship, of the rows there; whatever else there is, of the evaluator. All answer alike
/// (``Predicate/evaluate(variables:now:value:)`` has the rules).
final class RowFilter {
  fileprivate enum Op: UInt8 {
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
    case slow
  }

  /// A condition, and where to go on when it holds or not: at another step, or at an answer. Plain memory, so that nothing
  /// is counted or copied for a row.
  fileprivate struct Step {
    var op: Op
    /// How many fields lead to the value: 1 in the row itself, 2 in a composite of it, more by `path`.
    var depth: UInt8 = 1
    var outer: Int32 = 0
    var leaf: Int32 = 0
    /// Index into `paths`, `predicates`, `texts` or `lists`.
    var path: Int32 = 0
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

  fileprivate static let yes: Int32 = -1
  fileprivate static let no: Int32 = -2

  private let reader: PathReader
  private let layout: EntityLayout
  private let steps: UnsafeMutablePointer<Step>
  private let characters: UnsafeMutablePointer<UInt8>
  private let paths: [FieldPath]
  private let predicates: [Predicate]
  /// By predicate, what asks it of the rows at the other end of a relationship, if that is all it is about.
  private let tests: [RelatedTest?]
  private let texts: [String]
  private let lists: UnsafeMutablePointer<MemberTable>
  private let listCount: Int
  /// The steps, to be followed without counting references. Good as long as the filter is.
  let program: Program
  /// What rows have to meet before anything else, if that is a range of a number or date.
  let firstRange: FixedRange?
  /// What they have to meet next, if that is the text of a field of theirs or of a composite. Good as long as the filter is.
  let firstText: TextEquality?

  init(_ predicate: Predicate, _ layout: EntityLayout, _ reader: PathReader) {
    self.reader = reader
    self.layout = layout
    var maker = Maker(reader: reader, layout: layout)
    let entry = maker.add(predicate, Self.yes, Self.no, depth: 0)
    steps = .allocate(capacity: max(1, maker.steps.count))
    for (i, step) in maker.steps.enumerated() { (steps + i).initialize(to: step) }
    characters = .allocate(capacity: max(1, maker.characters.count))
    for (i, byte) in maker.characters.enumerated() { (characters + i).initialize(to: byte) }
    paths = maker.paths
    predicates = maker.predicates
    tests = maker.predicates.map { RelatedTest($0, layout.entity, reader.view) }
    texts = maker.texts
    listCount = maker.lists.count
    lists = .allocate(capacity: max(1, listCount))
    for (i, list) in maker.lists.enumerated() { (lists + i).initialize(to: list) }
    program = Program(steps: steps, characters: UnsafeRawPointer(characters), lists: lists, entry: entry)
    let record = BorrowedLayout(layout.record)
    var at = entry
    var range: FixedRange?
    if at >= 0, steps[Int(at)].whenFalse == Self.no {
      let step = steps[Int(at)]
      if let field = step.fixed {
        range = FixedRange(record, field, low: step.low, high: step.high)
      } else if step.depth == 2, step.isRange {
        range = FixedRange(record, outer: Int(step.outer), Int(step.leaf), low: step.low, high: step.high)
      }
      if range != nil { at = step.whenTrue }
    }
    var text: TextEquality?
    if at >= 0, steps[Int(at)].op == .text, steps[Int(at)].whenFalse == Self.no, steps[Int(at)].depth <= 2 {
      let step = steps[Int(at)]
      text = TextEquality(
        record, outer: step.depth == 2 ? Int(step.outer) : nil, Int(step.leaf),
        UnsafeRawBufferPointer(start: characters + Int(step.start), count: Int(step.count)))
    }
    firstText = text
    firstRange = range
  }

  /// Whether a part is asked of the evaluator, which may read other rows.
  var isSlow: Bool { !predicates.isEmpty }

  deinit {
    steps.deallocate()
    characters.deallocate()
    for i in 0..<listCount { lists[i].deallocate() }
    lists.deallocate()
  }

  /// Whether the predicate holds for a record of the layout.
  func matches(_ record: RecordView, _ reference: ObjectReference) throws(EngineError) -> Bool {
    let at: Int32
    do throws(StoreError) { at = try program.run(record, from: program.entry) } catch { throw .store(error) }
    return at < 0 ? at == Self.yes : try finish(at, record, reference)
  }

  /// Goes on from a step that ``Program/run(_:from:)`` could not decide.
  @inline(never)
  func finish(_ first: Int32, _ record: RecordView, _ reference: ObjectReference) throws(EngineError) -> Bool {
    // A step leads only to steps that were made before it, so that this ends.
    var at = first
    while at >= 0 {
      let step = steps[Int(at)]
      let holds: Bool
      if step.op == .slow {
        if let test = tests[Int(step.extra)] {
          holds = try test.holds(for: reference)
        } else {
          holds = try reader.matches(predicates[Int(step.extra)], record, layout, reference)
        }
      } else {
        do throws(StoreError) {
          let parent =
            step.depth > 2
            ? try paths[Int(step.path)].parent(in: record)
            : step.depth == 2 ? try record.nested(at: Int(step.outer)) : record
          if let parent {
            switch try program.test(steps + Int(at), in: parent) {
            case .yes: holds = true
            case .no: holds = false
            case .unknown: holds = self.holds(step, try parent.string(at: Int(step.leaf)) ?? "")
            }
          } else {
            holds = program.holdsForNull(steps + Int(at))
          }
        } catch { throw .store(error) }
      }
      at = holds ? step.whenTrue : step.whenFalse
      if at >= 0 {
        do throws(StoreError) { at = try program.run(record, from: at) } catch { throw .store(error) }
      }
    }
    return at == Self.yes
  }

  /// Whether a condition on text holds that the bytes as they lie do not tell.
  private func holds(_ step: Step, _ text: String) -> Bool {
    switch step.op {
    case .text: return text == texts[Int(step.extra)]
    case .prefix: return FoldedText(text, []).hasPrefix(FoldedText(texts[Int(step.extra)], []))
    default: return FoldedText(text, []).bytes.withUnsafeBytes { lists[Int(step.extra)].contains($0) }
    }
  }

  /// The steps of a filter, as plain memory that the filter keeps.
  struct Program {
    fileprivate let steps: UnsafeMutablePointer<Step>
    fileprivate let characters: UnsafeRawPointer
    fileprivate let lists: UnsafeMutablePointer<MemberTable>
    let entry: Int32

    fileprivate enum Answer {
      case yes, no, unknown
    }

    /// The answer (see ``isYes(_:)``), or the step for which the filter is needed.
    @inline(__always)
    func run(_ record: RecordView, from first: Int32) throws(StoreError) -> Int32 {
      var at = first
      while at >= 0 {
        let step = steps + Int(at)
        var answer = Answer.unknown
        if let fixed = step.pointee.fixed {
          answer = test(step, fixed, in: record)
        } else if step.pointee.depth == 1 {
          answer = try test(step, in: record)
        } else if step.pointee.depth == 2 {
          if let parent = try record.nested(at: Int(step.pointee.outer)) {
            answer = try test(step, in: parent)
          } else {
            answer = step.pointee.op == .slow ? .unknown : holdsForNull(step) ? .yes : .no
          }
        }
        switch answer {
        case .yes: at = step.pointee.whenTrue
        case .no: at = step.pointee.whenFalse
        case .unknown: return at
        }
      }
      return at
    }

    static func isYes(_ answer: Int32) -> Bool { answer == RowFilter.yes }

    /// Whether a condition holds where there is no value.
    @inline(__always)
    fileprivate func holdsForNull(_ step: UnsafeMutablePointer<Step>) -> Bool {
      switch step.pointee.op {
      case .isNull: return true
      case .member: return lists[Int(step.pointee.extra)].includesNull
      default: return false
      }
    }

    /// The same for a field whose place is known.
    @inline(__always)
    private func test(_ step: UnsafeMutablePointer<Step>, _ field: FixedField, in record: RecordView) -> Answer {
      if record.isNull(field) { return .no }
      if step.pointee.op == .integer {
        let value = record.int64(field)
        return value >= Int64(bitPattern: step.pointee.low) && value <= Int64(bitPattern: step.pointee.high)
          ? .yes : .no
      }
      let bits = KeyEncoder.orderedBits(record.double(field))
      return bits >= step.pointee.low && bits <= step.pointee.high ? .yes : .no
    }

    @inline(__always)
    fileprivate func test(_ step: UnsafeMutablePointer<Step>, in view: RecordView) throws(StoreError) -> Answer {
      let leaf = Int(step.pointee.leaf)
      switch step.pointee.op {
      case .integer:
        guard let value = try view.int64(at: leaf) else { return .no }
        return value >= Int64(bitPattern: step.pointee.low) && value <= Int64(bitPattern: step.pointee.high)
          ? .yes : .no
      case .boolean:
        guard let value = try view.boolean(at: leaf) else { return .no }
        let number: Int64 = value ? 1 : 0
        return number >= Int64(bitPattern: step.pointee.low) && number <= Int64(bitPattern: step.pointee.high)
          ? .yes : .no
      case .real:
        guard let value = try view.double(at: leaf) else { return .no }
        let bits = KeyEncoder.orderedBits(value)
        return bits >= step.pointee.low && bits <= step.pointee.high ? .yes : .no
      case .date:
        guard let value = try view.date(at: leaf) else { return .no }
        let bits = KeyEncoder.orderedBits(value)
        return bits >= step.pointee.low && bits <= step.pointee.high ? .yes : .no
      case .isNull: return try view.isNull(leaf) ? .yes : .no
      case .text:
        guard let value = try view.utf8(at: leaf) else { return .no }
        let wanted = UnsafeRawBufferPointer(
          start: characters + Int(step.pointee.start), count: Int(step.pointee.count))
        if value.count <= wanted.count { return value.count == wanted.count && hasPrefix(value, wanted) ? .yes : .no }
        // Other bytes can be the same text only if they are no plain ASCII; each such character takes at least two bytes
        // for one, so that there are more of them.
        return value.isASCII ? .no : .unknown
      case .prefix:
        guard let value = try view.utf8(at: leaf) else { return .no }
        let wanted = UnsafeRawBufferPointer(
          start: characters + Int(step.pointee.start), count: Int(step.pointee.count))
        return begins(value, wanted)
      case .member: return try isMember(lists + Int(step.pointee.extra), leaf, in: view)
      case .slow: return .unknown
      }
    }

    /// Whether text begins with ASCII characters: not known where other ones come in, which may become such ones in the
    /// normal form, or join with the one before them.
    private func begins(_ value: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer) -> Answer {
      for i in wanted.indices {
        guard i < value.count else { return .no }
        if value[i] >= 0x80 { return .unknown }
        // What it may join with is no such character either.
        if value[i] != wanted[i] { return .no }
      }
      return value.count > wanted.count && value[wanted.count] >= 0x80 ? .unknown : .yes
    }

    private func isMember(
      _ list: UnsafeMutablePointer<MemberTable>, _ leaf: Int, in view: RecordView
    ) throws(StoreError) -> Answer {
      let holds: Bool
      switch list.pointee.kind {
      case .integer:
        guard let value = try view.int64(at: leaf) else { return list.pointee.includesNull ? .yes : .no }
        holds = list.pointee.contains(UInt64(bitPattern: value))
      case .real:
        guard let value = try view.double(at: leaf) else { return list.pointee.includesNull ? .yes : .no }
        holds = list.pointee.contains(KeyEncoder.orderedBits(value))
      case .date:
        guard let value = try view.date(at: leaf) else { return list.pointee.includesNull ? .yes : .no }
        holds = list.pointee.contains(KeyEncoder.orderedBits(value))
      case .text:
        guard let value = try view.utf8(at: leaf) else { return list.pointee.includesNull ? .yes : .no }
        guard value.isASCII else { return .unknown }
        holds = list.pointee.contains(value)
      }
      return holds ? .yes : .no
    }
  }

  // MARK: Making ready

  /// Lays the steps of a predicate out, each after those that it leads to.
  private struct Maker {
    let reader: PathReader
    let layout: EntityLayout
    var steps: [Step] = []
    var characters: [UInt8] = []
    var paths: [FieldPath] = []
    var predicates: [Predicate] = []
    var texts: [String] = []
    var lists: [MemberTable] = []

    init(reader: PathReader, layout: EntityLayout) {
      self.reader = reader
      self.layout = layout
    }

    /// Adds the steps of a predicate; answers where to begin.
    mutating func add(_ predicate: Predicate, _ yes: Int32, _ no: Int32, depth: Int) -> Int32 {
      // Deeper ones are refused by the evaluator, in its own words.
      guard depth < Predicate.depthLimit else { return addSlow(predicate, yes, no) }
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
      case .comparison(let comparison): return add(comparison, yes, no) ?? addSlow(predicate, yes, no)
      }
    }

    /// Parts that lie together and are decided on the encoded row, the cheapest first: on sound rows they cannot fail, so that
    /// their order makes no difference. What is asked of the evaluator stays where it is.
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
      guard case .comparison(let comparison) = part else { return nil }
      // Making a list ready takes longer than it is worth to know.
      if comparison.comparator == .in { return listed(comparison) == nil ? nil : 6 }
      var trial = Maker(reader: reader, layout: layout)
      guard trial.add(comparison, RowFilter.yes, RowFilter.no) != nil, trial.steps.count == 1,
        let step = trial.steps.first, step.depth <= 2
      else { return nil }
      // Ranges and equal texts are told from a row's bytes before anything else, and few rows pass them.
      var cost = step.isRange ? 0 : step.op == .text ? 2 : 4
      if step.depth == 2 { cost += 1 }
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
      steps.append(step)
      return Int32(truncatingIfNeeded: steps.count - 1)
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
      guard let (field, attribute) = reader.field(path, layout) else { return nil }
      switch (comparator, constant) {
      case (.equal, .null): return add(step(.isNull, field), yes, no)
      case (.notEqual, .null): return add(step(.isNull, field), no, yes)
      case (.between, .list(let bounds)):
        guard bounds.count == 2, let low = single(.greaterOrEqual, bounds[0], field, attribute.type),
          let high = single(.lessOrEqual, bounds[1], field, attribute.type)
        else { return nil }
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
      if field.depth == 2 { step.outer = Int32(truncatingIfNeeded: field[0]) }
      if field.depth > 2 {
        step.path = Int32(truncatingIfNeeded: paths.count)
        paths.append(field)
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

    /// The numbers that stand in the relation to `v`, in the order of ``orderDoubles(_:_:)``: not-a-number equals itself
    /// and comes first.
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

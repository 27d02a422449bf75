import CambiumKernel

/// A checked predicate made ready for the rows of one layout. Steps ask the encoded row in place about plain
/// comparisons with constants, and programs about other comparisons. A condition of the object at the other end of a
/// to-one relationship is asked once for each such object. The evaluator answers everything else, and every row for
/// which a step is undecided. All answer alike (``Predicate/evaluate(variables:now:value:)`` has the rules).
final class RowFilter {
  static let yes: Int32 = -1
  static let no: Int32 = -2

  private let reader: PathReader
  private let layout: EntityLayout
  private let steps: UnsafeMutablePointer<Step>
  private let characters: UnsafeMutablePointer<UInt8>
  private let ways: UnsafeMutablePointer<Int32>
  private let predicates: [Predicate]
  /// By program, the comparison for the rows of which it cannot tell.
  private let fallbacks: [Predicate]
  private let computed: [ValueProgram]
  private let destinations: [DestinationTest]
  private let counts: [CountTest]
  /// By predicate, what asks it of the rows at the other end of a relationship, if that is all it is about.
  private let tests: [RelatedTest?]
  private let texts: [String]
  private let lists: UnsafeMutablePointer<MemberTable>
  private let listCount: Int
  private let programs: UnsafeMutablePointer<RegisterProgram>
  private let memos: UnsafeMutablePointer<DestinationMemo>
  /// Whether a part may read other rows.
  let readsElsewhere: Bool
  /// The steps, to be followed without counting references. Good as long as the filter is.
  let program: Program
  /// The first condition of the filter, if it is a range of a number or date, or says that a field is null or
  /// not.
  let firstRange: FixedRange?
  /// What they have to meet next, if that is the text of a field of theirs or of a composite. Good as long as the
  /// filter is.
  let firstText: TextEquality?

  init(_ predicate: Predicate, _ layout: EntityLayout, _ reader: PathReader) {
    self.reader = reader
    self.layout = layout
    var maker = Maker(reader: reader, layout: layout)
    // All rows of a layout are of one entity.
    let entry = maker.add(predicate.specialized(for: layout.entity.id), Self.yes, Self.no, depth: 0)
    steps = .allocate(capacity: max(1, maker.steps.count))
    for (i, step) in maker.steps.enumerated() { (steps + i).initialize(to: step) }
    characters = .allocate(capacity: max(1, maker.characters.count))
    for (i, byte) in maker.characters.enumerated() { (characters + i).initialize(to: byte) }
    ways = .allocate(capacity: max(1, maker.ways.count))
    for (i, field) in maker.ways.enumerated() { (ways + i).initialize(to: field) }
    predicates = maker.predicates
    tests = maker.predicates.map { RelatedTest($0, layout.entity, reader) }
    texts = maker.texts
    listCount = maker.lists.count
    lists = .allocate(capacity: max(1, listCount))
    for (i, list) in maker.lists.enumerated() { (lists + i).initialize(to: list) }
    fallbacks = maker.fallbacks
    programs = .allocate(capacity: max(1, maker.programs.count))
    computed = maker.programs
    for (i, program) in computed.enumerated() { (programs + i).initialize(to: program.steps) }
    counts = maker.counts
    destinations = maker.destinations.map { DestinationTest($0.predicate, reader.view) }
    readsElsewhere =
      !predicates.isEmpty || !destinations.isEmpty || !counts.isEmpty || computed.contains { $0.readsElsewhere }
    memos = .allocate(capacity: max(1, destinations.count))
    for (i, condition) in maker.destinations.enumerated() {
      (memos + i).initialize(to: DestinationMemo(whenNull: condition.whenNull))
    }
    program = Program(
      steps: steps, characters: UnsafeRawPointer(characters), ways: ways, lists: lists, programs: programs,
      memos: memos, entry: entry)
    let record = BorrowedLayout(layout.record)
    var at = entry
    var range: FixedRange?
    if at >= 0, steps[Int(at)].op == .isNull, steps[Int(at)].depth == 1 {
      let step = steps[Int(at)]
      if step.whenFalse == Self.no {
        range = FixedRange(record, nullOf: Int(step.leaf), isNull: true)
        at = step.whenTrue
      } else if step.whenTrue == Self.no {
        range = FixedRange(record, nullOf: Int(step.leaf), isNull: false)
        at = step.whenFalse
      }
    } else if at >= 0, steps[Int(at)].whenFalse == Self.no {
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

  deinit {
    steps.deallocate()
    characters.deallocate()
    ways.deallocate()
    for i in 0..<listCount { lists[i].deallocate() }
    lists.deallocate()
    programs.deallocate()
    for i in destinations.indices { memos[i].deallocate() }
    memos.deallocate()
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
      switch step.op {
      case .slow:
        if let test = tests[Int(step.extra)] {
          holds = try test.holds(for: reference)
        } else {
          holds = try reader.matches(predicates[Int(step.extra)], record, layout, reference)
        }
      case .computed:
        let result = try computed[Int(step.extra)].result(record, reference)
        holds =
          result.kind == .unknown
          ? try reader.matches(fallbacks[Int(step.extra)], record, layout, reference) : result.isYes
      case .count: holds = try counts[Int(step.extra)].holds(for: reference)
      case .destination: holds = try ask(step, record)
      default:
        do throws(StoreError) {
          if let parent = try program.parent(steps + Int(at), in: record) {
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

  /// Asks a condition of the object that a row leads to, and notes the answer for the rows that lead to the same one.
  private func ask(_ step: Step, _ record: RecordView) throws(EngineError) -> Bool {
    let memo = memos + Int(step.extra)
    let reference = try storing { () throws(StoreError) in try record.reference(at: Int(step.leaf)) }
    guard let reference else { return memo.pointee.whenNull }
    let holds = try destinations[Int(step.extra)].holds(for: reference, whenNull: memo.pointee.whenNull)
    memo.pointee.learn(reference, holds)
    return holds
  }

  /// Whether a condition on text holds that the bytes as they lie do not tell.
  private func holds(_ step: Step, _ text: String) -> Bool {
    switch step.op {
    case .text: return text == texts[Int(step.extra)]
    case .prefix: return FoldedText(text, []).hasPrefix(FoldedText(texts[Int(step.extra)], []))
    default: return FoldedText(text, []).bytes.withUnsafeBytes { lists[Int(step.extra)].contains($0) }
    }
  }

}

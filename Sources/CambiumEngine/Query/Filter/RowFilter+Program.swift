import CambiumKernel

extension RowFilter {
  /// The steps of a filter, as plain memory that the filter keeps.
  struct Program {
    let steps: UnsafeMutablePointer<Step>
    let characters: UnsafeRawPointer
    let ways: UnsafeMutablePointer<Int32>
    let lists: UnsafeMutablePointer<MemberTable>
    let programs: UnsafeMutablePointer<RegisterProgram>
    let memos: UnsafeMutablePointer<DestinationMemo>
    let entry: Int32

    typealias Answer = AsciiText.Answer

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
        } else if let parent = try parent(step, in: record) {
          answer = try test(step, in: parent)
        } else {
          answer = holdsForNull(step) ? .yes : .no
        }
        switch answer {
        case .yes: at = step.pointee.whenTrue
        case .no: at = step.pointee.whenFalse
        case .unknown: return at
        }
      }
      return at
    }

    /// The record that has the field of a step; nil if a composite on the way is null.
    @inline(__always)
    func parent(_ step: UnsafeMutablePointer<Step>, in record: RecordView) throws(StoreError) -> RecordView? {
      if step.pointee.depth == 1 { return record }
      guard var parent = try record.nested(at: Int(step.pointee.outer)) else { return nil }
      if step.pointee.depth == 2 { return parent }
      let way = ways + Int(step.pointee.way)
      for i in 1..<(Int(step.pointee.depth) - 1) {
        guard let inner = try parent.nested(at: Int(way[i])) else { return nil }
        parent = inner
      }
      return parent
    }

    static func isYes(_ answer: Int32) -> Bool { answer == RowFilter.yes }

    /// Whether a condition holds where there is no value.
    @inline(__always)
    func holdsForNull(_ step: UnsafeMutablePointer<Step>) -> Bool {
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
    func test(_ step: UnsafeMutablePointer<Step>, in view: RecordView) throws(StoreError) -> Answer {
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
        // Other bytes can be the same text only if they are no plain ASCII; each such character takes at least two
        // bytes for one, so that there are more of them.
        return value.isASCII ? .no : .unknown
      case .prefix:
        guard let value = try view.utf8(at: leaf) else { return .no }
        let wanted = UnsafeRawBufferPointer(
          start: characters + Int(step.pointee.start), count: Int(step.pointee.count))
        return begins(value, wanted)
      case .member: return try isMember(lists + Int(step.pointee.extra), leaf, in: view)
      case .computed: return try compute(step, in: view)
      case .destination:
        let memo = memos + Int(step.pointee.extra)
        guard let reference = try view.reference(at: leaf) else { return memo.pointee.whenNull ? .yes : .no }
        return memo.pointee.answer(reference)
      case .count, .slow: return .unknown
      }
    }

    /// Whether text begins with ASCII characters: not known where other ones come in, which may become such ones in
    /// the normal form, or join with the one before them.
    private func begins(_ value: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer) -> Answer {
      for i in wanted.indices {
        guard i < value.count else { return .no }
        if value[i] >= 0x80 { return .unknown }
        // What it may join with is no such character either.
        if value[i] != wanted[i] { return .no }
      }
      return value.count > wanted.count && value[wanted.count] >= 0x80 ? .unknown : .yes
    }

    @inline(never)
    private func compute(_ step: UnsafeMutablePointer<Step>, in view: RecordView) throws(StoreError) -> Answer {
      let answer = try programs[Int(step.pointee.extra)].run(view)
      if answer.kind == .missing || answer.kind == .unknown, !isPlanted(.unknownTakenForNo) { return .unknown }
      return Answer(answer.isYes)
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
}

import CambiumKernel

/// A regular expression made ready for whole matches, after Thompson and Pike: every place that the expression can be
/// at is followed at once, so that a text takes at most (its length) times (the size of the program), whatever the
/// expression.
struct RegularExpression: Sendable {
  /// How large a program may become: repetitions are written out.
  static let sizeLimit = 10_000

  private enum Step: Sendable {
    case scalar(UInt32)
    case set(Int)
    case anchor(RegexAnchor)
    /// Goes on at both places.
    case split(Int, Int)
    case jump(Int)
    case match
  }

  private let steps: [Step]
  private let sets: [ScalarSet]

  /// Reads a pattern; `options` are those of the comparison, by which the text is folded.
  ///
  /// - Throws: ``PredicateError`` of kind `syntax` or `unsupported`, or `tooDeep` for a pattern too large.
  init(_ pattern: String, _ options: ComparisonOptions) throws(PredicateError) {
    #if CAMBIUM_NO_PREDICATES
      throw .leftOut
    #else
      var parser = RegexParser(pattern, options)
      var maker = Maker()
      try maker.add(try parser.parse())
      maker.steps.append(.match)
      steps = maker.steps
      sets = maker.sets
    #endif
  }

  // MARK: Making

  private struct Maker {
    var steps: [Step] = []
    var sets: [ScalarSet] = []
    /// How many nodes may still be written: nodes without a step count as well, or repeating them would take forever.
    private var left = RegularExpression.sizeLimit

    private mutating func charge(_ cost: Int) throws(PredicateError) {
      left -= cost
      guard left >= 0 else {
        throw PredicateError(
          .tooDeep, "MATCHES",
          "the regular expression is too large when its repetitions are written out; use '*' or '+'")
      }
    }

    mutating func add(_ node: RegexNode) throws(PredicateError) {
      try charge(1)
      switch node {
      case .empty: break
      case .scalar(let scalar): steps.append(.scalar(scalar))
      case .set(let set):
        // A class costs as much as it has parts.
        try charge(set.ranges.count + set.named.count)
        steps.append(.set(sets.count))
        sets.append(set)
      case .anchor(let anchor): steps.append(.anchor(anchor))
      case .sequence(let parts): for part in parts { try add(part) }
      case .choice(let choices):
        var jumps: [Int] = []
        for index in choices.indices {
          guard index + 1 < choices.count else {
            try add(choices[index])
            continue
          }
          let split = steps.count
          steps.append(.split(split + 1, 0))
          try add(choices[index])
          jumps.append(steps.count)
          steps.append(.jump(0))
          steps[split] = .split(split + 1, steps.count)
        }
        for jump in jumps { steps[jump] = .jump(steps.count) }
      case .repeated(let inner, let minimum, let maximum):
        for _ in 0..<minimum { try add(inner) }
        guard let maximum else {
          let split = steps.count
          steps.append(.split(split + 1, 0))
          try add(inner)
          steps.append(.jump(split))
          steps[split] = .split(split + 1, steps.count)
          return
        }
        var splits: [Int] = []
        for _ in minimum..<max(minimum, maximum) {
          splits.append(steps.count)
          steps.append(.split(steps.count + 1, 0))
          try add(inner)
        }
        for split in splits { steps[split] = .split(split + 1, steps.count) }
      }
    }
  }

  // MARK: Matching

  /// Whether the expression describes the whole of a text that was folded by its options.
  func matches(_ text: FoldedText) -> Bool {
    let scalars = text.scalars
    var now = Places(steps.count)
    var next = Places(steps.count)
    var pending: [Int] = []
    follow(0, &now, &pending, scalars, 0)
    for place in scalars.indices {
      if now.list.isEmpty { return false }
      let scalar = scalars[place]
      for step in now.list {
        switch steps[step] {
        case .scalar(let wanted) where wanted == scalar: follow(step + 1, &next, &pending, scalars, place + 1)
        case .set(let set) where sets[set].contains(scalar): follow(step + 1, &next, &pending, scalars, place + 1)
        default: break
        }
      }
      swap(&now, &next)
      next.removeAll()
    }
    return now.list.contains { step in
      if case .match = steps[step] { return true }
      return false
    }
  }

  /// The steps that have been reached at a place of the text, each once.
  private struct Places {
    var list: [Int] = []
    /// The round in which each step was added last.
    private var rounds: [Int]
    private var round = 1

    init(_ count: Int) { rounds = [Int](repeating: 0, count: count) }

    mutating func insert(_ step: Int) -> Bool {
      if rounds[step] == round { return false }
      rounds[step] = round
      return true
    }

    mutating func removeAll() {
      list.removeAll(keepingCapacity: true)
      round += 1
    }
  }

  /// Adds the steps that are reached from one without taking a character.
  @inline(never)
  private func follow(
    _ first: Int, _ places: inout Places, _ pending: inout [Int], _ scalars: [UInt32], _ place: Int
  ) {
    pending.append(first)
    while let step = pending.popLast() {
      guard places.insert(step) else { continue }
      switch steps[step] {
      case .jump(let target): pending.append(target)
      case .split(let a, let b):
        pending.append(b)
        pending.append(a)
      case .anchor(let anchor): if holds(anchor, scalars, place) { pending.append(step + 1) }
      case .scalar, .set, .match: places.list.append(step)
      }
    }
  }

  private func holds(_ anchor: RegexAnchor, _ scalars: [UInt32], _ place: Int) -> Bool {
    switch anchor {
    case .start: return place == 0
    case .end: return place == scalars.count
    case .endOrLastLineEnd:
      let left = scalars.count - place
      if left == 0 { return true }
      if left == 1 {
        return isLineEnd(scalars[place]) && !(place > 0 && scalars[place] == 0x0A && scalars[place - 1] == 0x0D)
      }
      return left == 2 && scalars[place] == 0x0D && scalars[place + 1] == 0x0A
    case .wordBoundary, .noWordBoundary:
      let before = place > 0 && isWordScalar(scalars[place - 1])
      let after = place < scalars.count && isWordScalar(scalars[place])
      return (before != after) == (anchor == .wordBoundary)
    }
  }
}

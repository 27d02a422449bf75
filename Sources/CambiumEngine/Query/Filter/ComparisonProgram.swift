import CambiumKernel

/// A comparison of expressions of a row's own columns, made ready: registers, and what is asked of them. Plain memory, which
/// whoever made it frees.
struct ComparisonProgram {
  enum Test: UInt8 {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// Between the registers at `right` and behind it.
    case between
    /// Equal to one of `count` registers from `right` on.
    case member
    case beginsWith, endsWith, contains
    /// Part of the text at `right`.
    case part
    /// As the pattern in `characters` has it.
    case like
  }

  let program: RegisterProgram
  let test: Test
  /// The registers that are compared.
  let left: Int
  let right: Int
  let count: Int
  /// Whether upper and lower case are alike.
  let folds: Bool
  /// The texts of constants, and a pattern of `patternCount` bytes in front of them.
  let characters: UnsafeMutablePointer<UInt8>
  let patternCount: Int

  func deallocate() {
    program.deallocate()
    characters.deallocate()
  }

  /// Whether the comparison holds for a record.
  func holds(_ record: RecordView) throws(StoreError) -> AsciiText.Answer {
    try program.run(record)
    let a = program.registers[left]
    switch test {
    case .equal: return equal(a, program.registers[right])
    case .notEqual:
      switch equal(a, program.registers[right]) {
      case .yes: return .no
      case .no: return .yes
      case .unknown: return .unknown
      }
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return ordered(a, program.registers[right], test)
    case .between:
      let low = ordered(a, program.registers[right], .greaterOrEqual)
      if low != .yes { return low }
      return ordered(a, program.registers[right &+ 1], .lessOrEqual)
    case .member:
      for i in 0..<count {
        let answer = equal(a, program.registers[right &+ i])
        if answer != .no { return answer }
      }
      return .no
    default: return text(a)
    }
  }

  @inline(__always)
  private func equal(_ a: Register, _ b: Register) -> AsciiText.Answer {
    if a.kind == .unknown || b.kind == .unknown { return .unknown }
    if a.kind == .null || b.kind == .null { return AsciiText.Answer(a.kind == b.kind) }
    let order = Register.order(a, b, folds: folds)
    return order == .unknown ? .unknown : AsciiText.Answer(order == .equal)
  }

  @inline(__always)
  private func ordered(_ a: Register, _ b: Register, _ test: Test) -> AsciiText.Answer {
    let order = Register.order(a, b, folds: folds)
    switch order {
    case .unknown: return .unknown
    case .none: return .no
    case .less: return AsciiText.Answer(test == .less || test == .lessOrEqual)
    case .equal: return AsciiText.Answer(test == .lessOrEqual || test == .greaterOrEqual)
    case .greater: return AsciiText.Answer(test == .greater || test == .greaterOrEqual)
    }
  }

  private func text(_ a: Register) -> AsciiText.Answer {
    if a.kind == .unknown { return .unknown }
    guard a.kind == .text else { return .no }
    if test == .like {
      return AsciiText.matches(
        a.text, UnsafeRawBufferPointer(start: characters, count: patternCount), folds: folds)
    }
    let b = program.registers[right]
    if b.kind == .unknown { return .unknown }
    guard b.kind == .text else { return .no }
    switch test {
    case .beginsWith: return AsciiText.hasPrefix(a.text, b.text, folds: folds)
    case .endsWith: return AsciiText.hasSuffix(a.text, b.text, folds: folds)
    case .contains: return AsciiText.contains(a.text, b.text, folds: folds)
    default: return AsciiText.contains(b.text, a.text, folds: folds)
    }
  }
}

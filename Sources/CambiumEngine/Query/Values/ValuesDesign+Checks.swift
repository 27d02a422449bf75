import CambiumKernel

// What is said of groups is checked as what is said of objects, with slots in place of key paths.
extension ValuesDesign {
  /// Something made of slots in its normal form, as a checker that knows their types gives it.
  func checked<Checked>(
    _ check: (PredicateChecker) throws(PredicateError) -> Checked
  ) throws(EngineError) -> Checked {
    var checker = rules.checker
    for (slot, known) in known.enumerated() { checker.scope.append(("\(slot)", known.side)) }
    do throws(PredicateError) { return try check(checker) } catch {
      var error = error
      error.construct = spelled(error.construct)
      throw .predicate(error)
    }
  }

  /// The text of something made of slots, with what they were called instead of their numbers. Literals stay as they
  /// are.
  private func spelled(_ text: String) -> String {
    var result: [UInt8] = []
    var digits: [UInt8]?
    var isQuoted = false
    var isEscaped = false
    func flush() {
      guard let name = digits else { return }
      digits = nil
      if let slot = Int(String(decoding: name, as: UTF8.self)), known.indices.contains(slot) {
        result += Array(known[slot].spelling.description.utf8)
      } else {
        result.append(UInt8(ascii: "$"))
        result += name
      }
    }
    for byte in text.utf8 {
      if digits != nil, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
        digits?.append(byte)
        continue
      }
      flush()
      if !isQuoted, byte == UInt8(ascii: "$") {
        digits = []
        continue
      }
      if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
      result.append(byte)
    }
    flush()
    return String(decoding: result, as: UTF8.self)
  }
}

extension GroupFunction {
  /// What is known of the aggregate of values of which something is known.
  func side(of argument: PredicateChecker.Side) -> PredicateChecker.Side {
    typealias Side = PredicateChecker.Side
    switch self {
    case .count: return Side(.integer64)
    case .sum: return Side(PredicateChecker.joined(argument.type, .integer64))
    case .average, .median:
      guard let type = argument.type, type != .undefined else { return Side(nil) }
      if type == .decimal { return Side(.decimal) }
      // The middle one of an odd number of values is one of them.
      return self == .average ? Side(.double) : Side(type.isReal ? .double : nil)
    case .standardDeviation: return Side(.double)
    case .minimum, .maximum, .mode:
      var side = argument.element
      side.constant = nil
      side.isTyped = side.type != nil
      return side
    }
  }
}

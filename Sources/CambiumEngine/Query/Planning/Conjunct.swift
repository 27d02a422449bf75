/// A condition that has to hold besides others, and, if it compares a key path with a constant, what it says of the
/// path.
struct Conjunct {
  let predicate: Predicate
  /// The condition with the key path on its left side; nil if it is anything else.
  let about: (path: String, comparator: Comparator, value: Value)?
  /// Whether texts are compared as they are.
  let isPlain: Bool

  init(_ predicate: Predicate) {
    self.predicate = predicate
    guard case .comparison(let c) = predicate, c.modifier == .direct else {
      (about, isPlain) = (nil, false)
      return
    }
    isPlain = c.options.subtracting(.normalized).isEmpty
    switch (c.left, c.right) {
    case (.keyPath(let path), .constant(let value)): about = (path, c.comparator, value)
    case (.constant(.string(let text)), .keyPath(let path)) where c.comparator == .in:
      about = (path, .contains, .string(text))
    case (.constant(let value), .keyPath(let path)): about = c.comparator.mirrored.map { (path, $0, value) }
    default: about = nil
    }
  }

  /// The conditions of which a predicate says that all have to hold; nil if one of them never does.
  static func all(of predicate: Predicate) -> [Conjunct]? {
    var found: [Conjunct] = []
    return gather(predicate, into: &found) && !contradict(found) ? found : nil
  }

  /// Whether two conditions want different numbers or texts of the same path.
  private static func contradict(_ all: [Conjunct]) -> Bool {
    // Of more conditions than anybody writes, each pair would take too long.
    if all.count < 2 || all.count > 64 { return false }
    var wanted: [(path: String, value: Value)] = []
    for conjunct in all where conjunct.isPlain {
      guard let about = conjunct.about, about.comparator == .equal else { continue }
      switch about.value {
      case .integer, .string: break
      default: continue
      }
      for other in wanted where other.path == about.path {
        if let order = other.value.compare(to: about.value), order != .equal { return true }
      }
      wanted.append((about.path, about.value))
    }
    return false
  }

  private static func gather(_ predicate: Predicate, into found: inout [Conjunct]) -> Bool {
    switch predicate {
    case .true: return true
    case .false: return false
    case .and(let parts):
      for part in parts where !gather(part, into: &found) { return false }
      return true
    case .or(let parts) where parts.count == 1: return gather(parts[0], into: &found)
    case .not(let inner): return gather(not: inner, into: &found)
    case .comparison(let c) where c.modifier == .direct && c.comparator != .matches:
      if case .constant(let left) = c.left, case .constant(let right) = c.right { return c.holds(left, right) }
      found.append(Conjunct(predicate))
      return true
    default:
      found.append(Conjunct(predicate))
      return true
    }
  }

  /// Takes the reverse of a predicate apart. `!=` is the reverse of `==`, whatever is compared; other comparisons
  /// have none, because of null.
  private static func gather(not predicate: Predicate, into found: inout [Conjunct]) -> Bool {
    switch predicate {
    case .true: return false
    case .false: return true
    case .not(let inner): return gather(inner, into: &found)
    case .or(let parts):
      for part in parts where !gather(not: part, into: &found) { return false }
      return true
    case .and(let parts) where parts.count == 1: return gather(not: parts[0], into: &found)
    case .comparison(var c) where c.modifier == .direct && (c.comparator == .equal || c.comparator == .notEqual):
      c.comparator = c.comparator == .equal ? .notEqual : .equal
      found.append(Conjunct(.comparison(c)))
      return true
    default:
      found.append(Conjunct(.not(predicate)))
      return true
    }
  }

  /// Whether the condition does not hold where the path gives null.
  var excludesNull: Bool {
    guard let about else { return false }
    switch (about.comparator, about.value) {
    case (.notEqual, .null): return true
    case (.notEqual, _): return false
    case (_, .null): return about.comparator != .equal && about.comparator != .in
    case (.in, .list(let list)):
      for value in list where value.isNull { return false }
      return true
    case (.in, .string), (.contains, .string): return true
    case (.in, _), (.contains, _): return false
    default: return true
    }
  }

  /// Whether `other`, a condition of a partial index, holds wherever this one does. No means: not that one can see.
  func implies(_ other: Conjunct) -> Bool {
    if predicate == other.predicate { return true }
    guard let mine = about, let theirs = other.about, mine.path == theirs.path, isPlain else { return false }
    if theirs.comparator == .notEqual, theirs.value.isNull { return excludesNull }
    switch (mine.comparator, mine.value) {
    // The order with upper and lower case alike is another one.
    case (.between, _) where !other.isPlain, (.greater, _) where !other.isPlain,
      (.greaterOrEqual, _) where !other.isPlain,
      (.less, _) where !other.isPlain, (.lessOrEqual, _) where !other.isPlain:
      return false
    case (.equal, .list), (.equal, .composite), (.equal, .null): return false
    case (.equal, _): return other.holds(for: mine.value)
    case (.in, .list(let list)):
      for value in list where value.isNull || !other.holds(for: value) { return false }
      return true
    case (.between, .list(let bounds)) where bounds.count == 2:
      return other.isAbove(bounds[0], orEqual: true) || other.isBelow(bounds[1], orEqual: true)
    case (.greater, _): return other.isAbove(mine.value, orEqual: false)
    case (.greaterOrEqual, _): return other.isAbove(mine.value, orEqual: true)
    case (.less, _): return other.isBelow(mine.value, orEqual: false)
    case (.lessOrEqual, _): return other.isBelow(mine.value, orEqual: true)
    default: return false
    }
  }

  /// Whether the condition holds where the path gives a value.
  private func holds(for value: Value) -> Bool {
    do throws(PredicateEvaluationError<Never>) {
      return try predicate.evaluate { (_: ObjectReference?, _: String) throws(Never) in value }
    } catch { return false }
  }

  /// Whether this is a lower bound that all values above `bound` are above of.
  private func isAbove(_ bound: Value, orEqual: Bool) -> Bool {
    guard let about, let order = bound.compare(to: about.value) else { return false }
    switch about.comparator {
    case .greaterOrEqual: return order != .less
    case .greater: return order == .greater || (order == .equal && !orEqual)
    default: return false
    }
  }

  private func isBelow(_ bound: Value, orEqual: Bool) -> Bool {
    guard let about, let order = bound.compare(to: about.value) else { return false }
    switch about.comparator {
    case .lessOrEqual: return order != .greater
    case .less: return order == .less || (order == .equal && !orEqual)
    default: return false
    }
  }
}

import CambiumEngine

// Joins conditions so that what has no say disappears, and so that indexes see plain conjunctions.
extension CambiumEngine.Predicate {
  /// All of some conditions.
  static func all(_ parts: [EnginePredicate]) -> EnginePredicate {
    var flat: [EnginePredicate] = []
    for part in parts {
      switch part {
      case .true: continue
      case .false: return .false
      case .and(let inner): flat += inner
      default: flat.append(part)
      }
    }
    // `a != NULL AND a > 1` is `a > 1`.
    var kept: [EnginePredicate] = []
    for (index, part) in flat.enumerated() {
      let others = flat.indices.lazy.filter { $0 != index }.map { flat[$0] }
      if let path = part.presentPath, others.contains(where: { $0.requires(path) }) { continue }
      kept.append(part)
    }
    return kept.count == 1 ? kept[0] : kept.isEmpty ? .true : .and(kept)
  }

  /// At least one of some conditions.
  static func any(_ parts: [EnginePredicate]) -> EnginePredicate {
    var flat: [EnginePredicate] = []
    for part in parts {
      switch part {
      case .false: continue
      case .true: return .true
      case .or(let inner): flat += inner
      default: flat.append(part)
      }
    }
    return flat.count == 1 ? flat[0] : flat.isEmpty ? .false : .or(flat)
  }

  /// One condition or another, depending on a third.
  static func choice(_ test: EnginePredicate, _ a: EnginePredicate, _ b: EnginePredicate) -> EnginePredicate {
    switch (test, a, b) {
    case (.true, _, _): return a
    case (.false, _, _): return b
    case (_, .true, _): return any([test, b])
    case (_, .false, _): return all([test.reversed(), b])
    case (_, _, .true): return any([test.reversed(), a])
    case (_, _, .false): return all([test, a])
    default: return any([all([test, a]), all([test.reversed(), b])])
    }
  }

  /// The reverse, if asked for.
  func reversed(_ isReversed: Bool = true) -> EnginePredicate {
    guard isReversed else { return self }
    switch self {
    case .true: return .false
    case .false: return .true
    case .not(let inner): return inner
    case .comparison(var comparison) where comparison.modifier == .direct:
      // The others have no reverse: neither `a < 1` nor `a >= 1` holds where `a` is null.
      switch comparison.comparator {
      case .equal: comparison.comparator = .notEqual
      case .notEqual: comparison.comparator = .equal
      default: return .not(self)
      }
      return .comparison(comparison)
    default: return .not(self)
    }
  }

  /// The path that the condition says to have a value, if it says nothing else.
  private var presentPath: String? {
    guard case .comparison(let comparison) = self, comparison.modifier == .direct, comparison.comparator == .notEqual,
      case .keyPath(let path) = comparison.left, comparison.right == .constant(.null)
    else { return nil }
    return path
  }

  /// Whether the condition holds only where there is a value at the path, because it compares it, or what it leads to,
  /// with a value that is not null.
  private func requires(_ path: String) -> Bool {
    guard case .comparison(let comparison) = self, comparison.modifier == .direct,
      case .keyPath(let other) = comparison.left, case .constant(let value) = comparison.right, !value.isNull,
      other == path || other.hasPrefix(path + ".")
    else { return false }
    switch comparison.comparator {
    case .notEqual: return false
    case .in:
      if case .list(let values) = value { return !values.contains { $0.isNull } }
      return true
    default: return true
    }
  }
}

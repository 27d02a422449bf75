import CambiumEngine

/// Compares rows of values that Cambium and SQLite gave.
enum GroupDifference {
  /// Describes the difference between two lists of groups, which have no order; nil if there is none.
  ///
  /// - Parameter isPart: Whether `found` may lack groups, as it does if Cambium was asked for a limited number of them.
  static func text(_ found: [[Value]], _ expected: [[Value]], keys: Int, isPart: Bool = false) -> String? {
    var known: [[Value]: [Value]] = [:]
    for row in expected { known[Array(row[..<keys])] = row }
    if found.count != expected.count, !isPart { return "\(found.count) groups instead of \(expected.count)" }
    for row in found {
      guard let other = known.removeValue(forKey: Array(row[..<keys])) else {
        return "SQLite has no group \(row[..<keys].map { $0.formatText })"
      }
      for (ours, theirs) in zip(row, other) where !isSame(ours, theirs) {
        return "group \(row[..<keys].map { $0.formatText }): \(ours.formatText) instead of \(theirs.formatText)"
      }
    }
    return nil
  }

  /// Doubles may differ in their last digits, because sums of them depend on the order in which they are added.
  private static func isSame(_ a: Value, _ b: Value) -> Bool {
    guard case .double(let x) = a, case .double(let y) = b else { return a == b }
    return x == y || abs(x - y) <= 1e-9 * max(abs(x), abs(y))
  }
}

extension TwinTables {
  /// A value as SQLite has it.
  func plain(_ value: Value) throws -> Value {
    switch value {
    case .date(let seconds): return .double(seconds)
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    case .reference(let reference):
      guard let name = store.schema.entity(id: reference.entity)?.name,
        let id = try table(name).idOfRow[reference.row]
      else { throw OracleError("there is no object \(reference)") }
      return .integer(Int64(id))
    default: return value
    }
  }
}

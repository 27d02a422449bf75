import CambiumKernel

/// A checked predicate made ready for the rows of one layout: comparisons of a number, date or boolean, with `nil`, and of
/// text for equality are asked of the encoded row in place; whatever else there is, of the evaluator. Both answer alike
/// (``Predicate/evaluate(variables:value:)`` has the rules).
final class RowFilter {
  private indirect enum Node {
    case constant(Bool)
    case all([Node])
    case any([Node])
    case not(Node)
    /// Within a range, both ends included; null is not.
    case integer(FieldPath, Int64, Int64)
    case double(FieldPath, Comparator, Double)
    case date(FieldPath, Comparator, Double)
    case boolean(FieldPath, Int64, Int64)
    case isNull(FieldPath)
    /// Equal to text of ASCII characters only.
    case text(FieldPath, [UInt8], String)
    case slow(Predicate)
  }

  private let root: Node
  private let reader: PathReader
  private let layout: EntityLayout

  init(_ predicate: Predicate, _ layout: EntityLayout, _ reader: PathReader) {
    self.reader = reader
    self.layout = layout
    root = Self.node(predicate, layout, reader, depth: 0)
  }

  /// Whether the predicate holds for a record of the layout.
  func matches(_ record: RecordView, _ reference: ObjectReference) throws(EngineError) -> Bool {
    try holds(root, record, reference)
  }

  private func holds(
    _ node: borrowing Node, _ record: RecordView, _ reference: ObjectReference
  ) throws(EngineError) -> Bool {
    do throws(StoreError) {
      switch node {
      case .integer(let path, let low, let high):
        guard let value = try record.int64(at: path) else { return false }
        return value >= low && value <= high
      case .boolean(let path, let low, let high):
        guard let value = try record.boolean(at: path) else { return false }
        return (value ? 1 : 0) >= low && (value ? 1 : 0) <= high
      case .double(let path, let comparator, let constant):
        guard let value = try record.double(at: path) else { return comparator == .notEqual }
        return Self.compare(value, comparator, constant)
      case .date(let path, let comparator, let constant):
        guard let value = try record.date(at: path) else { return comparator == .notEqual }
        return Self.compare(value, comparator, constant)
      case .isNull(let path): return try record.isNull(path)
      case .text(let path, let ascii, let text):
        guard let value = try record.utf8(at: path) else { return false }
        if value.count == ascii.count, ascii.withUnsafeBytes({ compareKeys(value, $0) }) == 0 { return true }
        // Other bytes can be the same text only if they are no plain ASCII.
        if !value.contains(where: { $0 >= 0x80 }) { return false }
        return try record.string(at: path) == text
      case .constant(let value): return value
      case .all, .any, .not, .slow: break
      }
    } catch { throw .store(error) }
    switch node {
    case .all(let parts):
      for part in parts where try !holds(part, record, reference) { return false }
      return true
    case .any(let parts):
      for part in parts where try holds(part, record, reference) { return true }
      return false
    case .not(let inner): return try !holds(inner, record, reference)
    case .slow(let predicate): return try reader.matches(predicate, record, layout, reference)
    default: return false
    }
  }

  private static func compare(_ value: Double, _ comparator: Comparator, _ constant: Double) -> Bool {
    let order = orderDoubles(value, constant)
    switch comparator {
    case .equal: return order == .equal
    case .notEqual: return order != .equal
    case .less: return order == .less
    case .lessOrEqual: return order != .greater
    case .greater: return order == .greater
    default: return order != .less
    }
  }

  // MARK: Making ready

  private static func node(
    _ predicate: Predicate, _ layout: EntityLayout, _ reader: PathReader, depth: Int
  ) -> Node {
    // Deeper ones are refused by the evaluator, in its own words.
    guard depth < Predicate.depthLimit else { return .slow(predicate) }
    switch predicate {
    case .true: return .constant(true)
    case .false: return .constant(false)
    case .and(let parts): return .all(parts.map { node($0, layout, reader, depth: depth + 1) })
    case .or(let parts): return .any(parts.map { node($0, layout, reader, depth: depth + 1) })
    case .not(let inner): return .not(node(inner, layout, reader, depth: depth + 1))
    case .comparison(let comparison): return node(comparison, layout, reader) ?? .slow(predicate)
    }
  }

  private static func node(_ c: Comparison, _ layout: EntityLayout, _ reader: PathReader) -> Node? {
    guard c.modifier == .direct, c.options.isEmpty else { return nil }
    let path: String
    let constant: Value
    let comparator: Comparator
    switch (c.left, c.right) {
    case (.keyPath(let p), .constant(let v)): (path, constant, comparator) = (p, v, c.comparator)
    case (.constant(let v), .keyPath(let p)):
      guard let mirrored = mirror(c.comparator) else { return nil }
      (path, constant, comparator) = (p, v, mirrored)
    default: return nil
    }
    guard let (field, attribute) = reader.field(path, layout) else { return nil }
    switch (comparator, constant) {
    case (.equal, .null): return .isNull(field)
    case (.notEqual, .null): return .not(.isNull(field))
    case (.between, .list(let bounds)):
      guard bounds.count == 2, let low = single(.greaterOrEqual, bounds[0], field, attribute.type),
        let high = single(.lessOrEqual, bounds[1], field, attribute.type)
      else { return nil }
      return .all([low, high])
    default: return single(comparator, constant, field, attribute.type)
    }
  }

  private static func mirror(_ comparator: Comparator) -> Comparator? {
    switch comparator {
    case .equal, .notEqual: return comparator
    case .less: return .greater
    case .lessOrEqual: return .greaterOrEqual
    case .greater: return .less
    case .greaterOrEqual: return .lessOrEqual
    default: return nil
    }
  }

  private static func single(_ comparator: Comparator, _ constant: Value, _ field: FieldPath, _ type: AttributeType)
    -> Node?
  {
    switch comparator {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: break
    default: return nil
    }
    switch (type, constant) {
    case (.integer16, .integer(let v)), (.integer32, .integer(let v)), (.integer64, .integer(let v)):
      return range(comparator, v).map { .integer(field, $0.0, $0.1) }
        ?? (comparator == .notEqual ? .not(.integer(field, v, v)) : .constant(false))
    case (.boolean, .boolean(let flag)):
      let v: Int64 = flag ? 1 : 0
      return range(comparator, v).map { .boolean(field, $0.0, $0.1) }
        ?? (comparator == .notEqual ? .not(.boolean(field, v, v)) : .constant(false))
    case (.double, .double(let v)), (.float, .double(let v)): return .double(field, comparator, v)
    case (.float, .float(let v)), (.double, .float(let v)): return .double(field, comparator, Double(v))
    case (.double, .integer(let v)), (.float, .integer(let v)):
      guard let exact = exactInt64(Double(v)), exact == v else { return nil }
      return .double(field, comparator, Double(v))
    case (.date, .date(let v)): return .date(field, comparator, v)
    case (.string, .string(let text)):
      let bytes = Array(text.utf8)
      guard comparator == .equal || comparator == .notEqual, !bytes.contains(where: { $0 >= 0x80 }) else { return nil }
      return comparator == .equal ? .text(field, bytes, text) : .not(.text(field, bytes, text))
    default: return nil
    }
  }

  /// The integers that stand in the relation to `v`; nil if there are none, or not in a row.
  private static func range(_ comparator: Comparator, _ v: Int64) -> (Int64, Int64)? {
    switch comparator {
    case .equal: return (v, v)
    case .less: return v == .min ? nil : (.min, v - 1)
    case .lessOrEqual: return (.min, v)
    case .greater: return v == .max ? nil : (v + 1, .max)
    case .greaterOrEqual: return (v, .max)
    default: return nil
    }
  }
}

/// Where a text of a row, or of a composite in it, lies in most records: found with a few loads.
///
/// Where a record is of another shape, it is looked at as a whole.
public struct TextPlace: Sendable {
  private let outer: VariablePlace?
  private let place: VariablePlace
  private let path: FieldPath

  /// Works out the place of a field; nil if it is not a text, or there is more than one composite on the way.
  public init?(_ path: FieldPath, in layout: RecordLayout) {
    self.path = path
    var table = layout.table
    if path.depth == 2 {
      guard let outer = VariablePlace(table, path[0]), let nested = table.pointee.slots[path[0]].nested else {
        return nil
      }
      self.outer = outer
      table = nested
    } else {
      outer = nil
    }
    guard path.depth <= 2, let place = VariablePlace(table, path.leaf),
      table.pointee.slots[path.leaf].tag == .string
    else { return nil }
    self.place = place
  }

  /// The string in a record of the layout, as ``RecordView/string(at:)-(FieldPath)`` tells it.
  @inline(__always)
  fileprivate func string(in record: RecordView) throws(StoreError) -> String? {
    var (base, count) = (record.base, record.count)
    if let outer {
      switch outer.find(base, count) {
      case .null: return nil
      case .bytes(let start, let length): (base, count) = (start, length)
      case .unknown: return try record.string(at: path)
      }
    }
    switch place.find(base, count) {
    case .null: return nil
    case .bytes(let start, let length):
      let utf8 = UnsafeRawBufferPointer(start: start, count: length)
      if let short = ShortText.string(utf8) { return short }
      if utf8.isASCII || utf8.isWellFormedUTF8 { return String(wellFormed: utf8) }
    case .unknown: break
    }
    // Also for the error.
    return try record.string(at: path)
  }
}

extension RecordView {
  /// The string at a place, or `nil` for null. Throws `StoreError.corrupt` on ill-formed UTF-8.
  public func string(at place: TextPlace) throws(StoreError) -> String? { try place.string(in: self) }
}

/// Names an object of a store: the entity that its row belongs to, and the row.
///
/// This is the value of a to-one relationship and of an object ID. The entity is the object's own, not the
/// relationship's destination, which may be an ancestor of it.
public struct ObjectReference: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The stable identifier of the entity (``EntitySchema/id``).
  public let entity: UInt32
  /// The row in the entity's hierarchy. Rows are never used again.
  public let row: UInt64

  /// Names the object in `row` of `entity`.
  public init(entity: UInt32, row: UInt64) {
    self.entity = entity
    self.row = row
  }

  /// `entity/row`, both decimal.
  public var description: String { "\(entity)/\(row)" }

  /// Reads the form that ``description`` writes; `nil` for anything else.
  public init?(_ text: String) {
    var entity: UInt64 = 0
    var row: UInt64 = 0
    var seenSlash = false
    var digits = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "/"), !seenSlash, digits > 0 {
        seenSlash = true
        digits = 0
        continue
      }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      let base = seenSlash ? row : entity
      let (product, overflow) = base.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(byte &- UInt8(ascii: "0")))
      if overflow || carry { return nil }
      if seenSlash { row = sum } else { entity = sum }
      digits += 1
    }
    guard seenSlash, digits > 0, let entityID = UInt32(exactly: entity) else { return nil }
    self.init(entity: entityID, row: row)
  }

  /// Orders by entity, then row.
  public static func < (a: ObjectReference, b: ObjectReference) -> Bool { (a.entity, a.row) < (b.entity, b.row) }
}

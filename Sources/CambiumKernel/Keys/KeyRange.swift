/// The keys from ``lower`` up to, not including, ``upper``.
public struct KeyRange: Equatable, Sendable {
  /// The first key of the range.
  public var lower: [UInt8]
  /// The first key after the range; `nil` if the range has no end.
  public var upper: [UInt8]?
  /// Whether every key in the range matches. If not (keys were cut before the prefix ended), rows have to be compared.
  public var isExact: Bool

  /// Makes a range.
  public init(lower: [UInt8], upper: [UInt8]?, isExact: Bool = true) {
    self.lower = lower
    self.upper = upper
    self.isExact = isExact
  }

  /// The keys that begin with the bytes of a prefix: all entries with the same values in their first parts.
  public init(prefix: [UInt8]) {
    self.init(lower: prefix, upper: KeyRange.upperBound(ofPrefix: prefix))
  }

  /// The keys of a relationship's tree that lead from a row.
  public init(rowsOf row: UInt64) {
    var prefix: [UInt8] = []
    RowIDKey(row).withBytes { prefix.append(contentsOf: $0) }
    self.init(prefix: prefix)
  }

  /// The smallest key that is greater than all keys which begin with `prefix`; `nil` if there is none, because every
  /// byte of the prefix is 0xFF.
  public static func upperBound(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 != 0xFF }) else { return nil }
    var bound = isPlanted(.prefixBoundKeepsTail) ? prefix : Array(prefix[...last])
    bound[last] &+= 1
    return bound
  }

  /// The keys whose next part is a string that begins with `prefix`, after the parts that `leading` holds.
  ///
  /// Strings are compared in normalisation form C, scalar by scalar: every string for which `hasPrefix` answers yes is
  /// in the range. Swift's `hasPrefix` compares whole characters, and leaves out some that are in it (a letter that a
  /// mark follows which does not compose with it); who wants that answers it from the string.
  public init(strings prefix: String, after leading: borrowing KeyEncoder = KeyEncoder(), descending: Bool = false) {
    var encoder = leading.copy()
    var prefix = prefix
    prefix.withUTF8 { utf8 in
      StringNormalization.withNormalForm(of: UnsafeRawBufferPointer(utf8)) {
        encoder.append(prefix: $0, tag: KeyTag.string, descending: descending)
      }
    }
    self.init(prefix: encoder.bytes)
    isExact = !encoder.isInexact
  }

  /// The keys whose next part is bytes that begin with `prefix`, after the parts that `leading` holds.
  public init(bytes prefix: [UInt8], after leading: borrowing KeyEncoder = KeyEncoder(), descending: Bool = false) {
    var encoder = leading.copy()
    prefix.withUnsafeBytes { encoder.append(prefix: $0, tag: KeyTag.bytes, descending: descending) }
    self.init(prefix: encoder.bytes)
    isExact = !encoder.isInexact
  }
}

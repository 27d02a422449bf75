/// Names a tree of a store. Identifiers are never used again, not even after the tree was dropped.
public struct TreeID: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number as stored.
  public let rawValue: UInt32

  /// Wraps a stored number.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Orders by number.
  public static func < (a: TreeID, b: TreeID) -> Bool { a.rawValue < b.rawValue }
}

/// What the keys of a tree are.
public enum TreeKind: UInt8, Sendable {
  /// 64-bit unsigned integers.
  case integer = 1
  /// Byte strings in lexicographic order.
  case bytes = 2
}

extension TreeID {
  /// The kernel's own tree of large values: value id and extent number to extent.
  static let extents = TreeID(rawValue: 1)
  /// Identifiers below this one are the kernel's.
  static let firstFree: UInt32 = 16
}

/// What a store holds, as plain sorted arrays: the model that random tests compare a store with.
public struct ModelTree: Equatable, Sendable {
  /// Sorted by key.
  public var entries: [(key: [UInt8], value: [UInt8])] = []

  /// An empty tree.
  public init() {}

  /// Whether the entries are the same.
  public static func == (a: ModelTree, b: ModelTree) -> Bool {
    a.entries.count == b.entries.count
      && zip(a.entries, b.entries).allSatisfy { $0.key == $1.key && $0.value == $1.value }
  }

  /// The order of keys.
  public static func less(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }

  /// The first entry whose key is not less than `key`.
  public func lowerBound(_ key: [UInt8]) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if Self.less(entries[middle].key, key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The value of a key.
  public func value(_ key: [UInt8]) -> [UInt8]? {
    let i = lowerBound(key)
    return i < entries.count && entries[i].key == key ? entries[i].value : nil
  }

  /// Puts a value under a key.
  public mutating func put(_ key: [UInt8], _ value: [UInt8]) {
    let i = lowerBound(key)
    if i < entries.count, entries[i].key == key {
      entries[i].value = value
    } else {
      entries.insert((key, value), at: i)
    }
  }

  /// Deletes a key; answers whether it was there.
  public mutating func delete(_ key: [UInt8]) -> Bool {
    let i = lowerBound(key)
    guard i < entries.count, entries[i].key == key else { return false }
    entries.remove(at: i)
    return true
  }
}

/// An integer key as the model orders it.
public func modelKey(_ key: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: key >> UInt64(56 - 8 * $0)) }
}

/// The integer of a model key.
public func integerKey(_ key: [UInt8]) -> UInt64 { key.reduce(0) { $0 << 8 | UInt64($1) } }

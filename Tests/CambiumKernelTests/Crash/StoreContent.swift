import CambiumTesting

@testable import CambiumKernel

/// What a store holds, as the crash tests know it: trees with their entries and counters.
struct StoreContent: Sendable {
  struct Tree: Sendable {
    var kind: TreeKind
    var entries = ModelTree()
    var counters: [UInt32: Int64] = [:]
  }

  /// Counters that are compared.
  static let counters: Range<UInt32> = 0..<3

  var trees: [TreeID: Tree] = [:]

  /// A hash of everything, the same as ``hash(of:)`` of a view with this content.
  var hash: UInt64 {
    var sum = ContentHash()
    for (id, tree) in trees.sorted(by: { $0.key < $1.key }) {
      sum.add(UInt64(id.rawValue) << 8 | UInt64(tree.kind.rawValue))
      sum.add(UInt64(tree.entries.entries.count))
      for index in Self.counters { sum.add(UInt64(bitPattern: tree.counters[index] ?? 0)) }
      for entry in tree.entries.entries {
        entry.key.withUnsafeBytes { sum.add($0) }
        entry.value.withUnsafeBytes { sum.add($0) }
      }
    }
    return sum.value
  }

  /// Reads everything that `view` sees.
  static func hash(of view: TreeView) throws -> UInt64 {
    var sum = ContentHash()
    for id in view.trees() {
      guard let kind = view.kind(of: id) else { throw StoreError.noSuchTree(id) }
      sum.add(UInt64(id.rawValue) << 8 | UInt64(kind.rawValue))
      sum.add(try view.count(id))
      for index in Self.counters { sum.add(UInt64(bitPattern: try view.counter(id, index))) }
      let cursor = try view.cursor(id)
      var more = try cursor.seekFirst()
      while more {
        if kind == .integer {
          modelKey(cursor.integerKey).withUnsafeBytes { sum.add($0) }
        } else {
          Array(cursor.key).withUnsafeBytes { sum.add($0) }
        }
        try (cursor.value() ?? []).withUnsafeBytes { sum.add($0) }
        more = try cursor.next()
      }
    }
    return sum.value
  }
}

/// A hash for telling contents apart; not the store's own.
struct ContentHash {
  private(set) var value: UInt64 = 0x5851_F42D_4C95_7F2D

  mutating func add(_ word: UInt64) {
    let product = (value ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    value = product.high ^ product.low &+ 0x9E37_79B9_7F4A_7C15
  }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(UInt64(bytes.count))
    var i = 0
    while i + 8 <= bytes.count {
      add(bytes.loadUnaligned(fromByteOffset: i, as: UInt64.self))
      i += 8
    }
    var last: UInt64 = 0
    while i < bytes.count {
      last = last << 8 | UInt64(bytes[i])
      i += 1
    }
    add(last)
  }
}

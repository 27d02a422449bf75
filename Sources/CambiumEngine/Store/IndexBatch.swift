import CambiumKernel

/// Changes to one index, constraint or relationship tree that a transaction has gathered and not made yet.
///
/// Rows come in the order of their making, keys in any order. Made one by one, keys of a large transaction would touch
/// every page of the tree again and again; sorted, they touch each once.
final class IndexBatch {
  private struct Entry {
    /// The first bytes of the key as a big-endian number: decides most comparisons.
    var head: UInt64
    var offset: UInt32
    var count: UInt16
    /// How long the key is without the row, where the key has to be unique; else 0.
    var uniqueCount: UInt16
    var isPut: Bool
    var isExact: Bool
  }

  /// Two rows may have the same values under a constraint: to be looked at when all is written.
  struct Suspect {
    var maker: KeyMaker
    var prefix: [UInt8]
    var row: UInt64
    var isExact: Bool
  }

  let tree: TreeID
  private let maker: KeyMaker?
  // Exclusive access is not checked at run time, since the checks would take longer than adding an entry; no method calls
  // out while it changes one of these.
  @exclusivity(unchecked) private var entries: [Entry] = []
  @exclusivity(unchecked) private var bytes: [UInt8] = []

  init(_ tree: TreeID, _ maker: KeyMaker?) {
    self.tree = tree
    self.maker = maker
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Adds a change. `uniqueCount` is the length of what has to be unique, 0 if nothing has. Answers how much memory the
  /// change takes; nil if it cannot be held: the key is longer than
  /// any page takes.
  @inline(__always)
  func add(_ key: [UInt8], isPut: Bool, uniqueCount: Int = 0, isExact: Bool = true) -> Int? {
    // Keys are at most a quarter of a page, and batches are made long before they are 4 GiB.
    guard let offset = UInt32(exactly: bytes.count), let count = UInt16(exactly: key.count) else { return nil }
    bytes.append(contentsOf: key)
    entries.append(
      Entry(
        head: key.withUnsafeBytes(Self.head), offset: offset, count: count,
        uniqueCount: UInt16(truncatingIfNeeded: uniqueCount), isPut: isPut, isExact: isExact))
    return key.count &+ MemoryLayout<Entry>.stride
  }

  @inline(__always)
  private static func head(_ key: UnsafeRawBufferPointer) -> UInt64 {
    if key.count >= 8 { return UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) }
    var head: UInt64 = 0
    for i in 0..<key.count { head |= UInt64(key[i]) &<< UInt64(56 &- 8 &* i) }
    return head
  }

  /// Makes the changes, in the order of their keys. Adds to `suspects` what may hurt a constraint by what the tree holds
  /// now: whatever does at the end is among the suspects of some batch, since the later of two rows finds the other.
  func apply(to transaction: WriteTransaction, _ suspects: inout [Suspect]) throws(StoreError) {
    if entries.isEmpty { return }
    var entries: [Entry] = []
    swap(&entries, &self.entries)
    var bytes: [UInt8] = []
    swap(&bytes, &self.bytes)
    var found: [Suspect] = []
    var result: Result<Void, StoreError> = .success(())
    bytes.withUnsafeBytes { bytes in
      if entries.count > 1 { Self.sort(&entries, bytes) }
      do throws(StoreError) {
        if let maker, maker.isUnique { try check(entries, bytes, maker, transaction, &found) }
        for i in entries.indices {
          let key = Self.key(entries[i], bytes)
          if entries[i].isPut {
            try transaction.put(tree, key, UnsafeRawBufferPointer(start: nil, count: 0))
          } else {
            try transaction.delete(tree, key)
          }
        }
      } catch { result = .failure(error) }
    }
    suspects += found
    try result.get()
    // The memory serves the next batch, unless it is much.
    if self.entries.isEmpty, bytes.count < 1 << 16 {
      entries.removeAll(keepingCapacity: true)
      bytes.removeAll(keepingCapacity: true)
      self.entries = entries
      self.bytes = bytes
    }
  }

  @inline(__always)
  private static func key(_ entry: Entry, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let start = Int(entry.offset)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start &+ Int(entry.count)])
  }

  /// Sorts by key, and leaves of the changes of each key the last.
  private static func sort(_ entries: inout [Entry], _ bytes: UnsafeRawBufferPointer) {
    entries.sort { a, b in
      if a.head != b.head { return a.head < b.head }
      let order = compareKeys(key(a, bytes), key(b, bytes))
      return order == 0 ? a.offset < b.offset : order < 0
    }
    var kept = 0
    for i in entries.indices {
      if kept > 0, entries[kept - 1].head == entries[i].head,
        compareKeys(key(entries[kept - 1], bytes), key(entries[i], bytes)) == 0
      {
        entries[kept - 1] = entries[i]
      } else {
        entries[kept] = entries[i]
        kept += 1
      }
    }
    entries.removeLast(entries.count - kept)
  }

  private func check(
    _ entries: [Entry], _ bytes: UnsafeRawBufferPointer, _ maker: KeyMaker, _ transaction: WriteTransaction,
    _ suspects: inout [Suspect]
  ) throws(StoreError) {
    let cursor = try transaction.count(tree) > 0 ? try transaction.cursor(tree) : nil
    var previous: UnsafeRawBufferPointer?
    for i in entries.indices where entries[i].isPut && entries[i].uniqueCount > 0 {
      let key = Self.key(entries[i], bytes)
      let prefix = UnsafeRawBufferPointer(rebasing: key[..<Int(entries[i].uniqueCount)])
      var isSuspect = false
      if let previous, previous.count == prefix.count, hasPrefix(previous, prefix) { isSuspect = true }
      previous = prefix
      if !isSuspect, let cursor {
        var more = try cursor.seek(prefix)
        while more, !isSuspect, hasPrefix(cursor.key, prefix) {
          isSuspect = compareKeys(cursor.key, key) != 0
          more = try cursor.next()
        }
      }
      if isSuspect {
        suspects.append(
          Suspect(
            maker: maker, prefix: Array(prefix), row: try KeyDecoder.rowID(atEndOf: key).id,
            isExact: entries[i].isExact))
      }
    }
  }
}

/// Goes through the entries of a spatial index (``KeyPlace``) in the order of the curve, over stretches that whoever
/// looks at them does not want: what is sought next mostly lies on the same page, where it is sought without leaving
/// it.
///
/// It sees the view as it was when it was made; what its transaction writes later, it does not see. One thread at a
/// time uses it.
public struct PlaceCursor: ~Copyable {
  private let view: TreeView
  private let tree: TreeID
  /// Keeps the pages that it reads, as far as they are a transaction's own.
  private let hold: PageHold?
  private var base: BaseCursor
  /// Where changes lie over the pages.
  private let merged: Cursor?
  /// A key, and behind it the beginning of the one that is sought.
  private let buffer: UnsafeMutableRawPointer

  /// A place and the id of a row take 35 bytes: whatever has more than these is no key of an index of places.
  private static let mostBytes = 56
  private static let targetBytes = 9
  /// How many entries are passed over one by one before a distant one is sought among changes.
  private static let patience = 4

  init(_ view: TreeView, _ access: TreeAccess, _ merged: Cursor?, _ base: consuming BaseCursor) {
    self.view = view
    hold = view.makeHold()
    self.merged = merged
    self.base = base
    tree = access.id
    buffer = .allocate(byteCount: Self.mostBytes + 16, alignment: 8)
  }

  deinit { buffer.deallocate() }

  /// Tells `body` the entries from a code on, until it answers nil: the place and the row. It answers the least code
  /// that it wants next; one that is not beyond the place's own means the next entry. O(log n) for the first and each
  /// that is sought, less where it is near, O(1) for the others.
  ///
  /// - Throws: What reading throws, `StoreError.corrupt` if an entry is no place of a row, what `body` throws.
  public mutating func forEach(
    from code: UInt64, _ body: (KeyPlace, UInt64) throws(StoreError) -> UInt64?
  ) throws(StoreError) {
    if let merged { return try forEach(merged, from: code, body) }
    try seek(code)
    // What was sought last: entries before it would lead back, and round and round.
    var least = code
    while let page = base.leafPage {
      try view.requireOpen()
      let leaf = BytesLeaf(page)
      guard leaf.prefix <= Self.mostBytes else { throw Self.noPlace }
      leaf.copyPrefix(to: buffer)
      var i = base.index
      var isSought = false
      while i < leaf.count {
        guard leaf.keyLength(i) <= Self.mostBytes else { throw Self.noPlace }
        let key = UnsafeRawBufferPointer(start: buffer, count: leaf.copyTail(i, to: buffer))
        let place = try KeyPlace(atStartOf: key)
        guard place.code >= least else { throw Self.outOfOrder }
        guard let next = try body(place, try KeyDecoder.rowID(atEndOf: key).id) else { return }
        i &+= 1
        if next <= place.code { continue }
        least = next
        i = max(i, leaf.lowerBound(target(next)).index)
        if i < leaf.count { continue }
        try view.requireOpen()
        try seek(next)
        isSought = true
        break
      }
      if !isSought { try base.skipLeaf() }
    }
  }

  /// The same where changes lie over the pages.
  private func forEach(
    _ cursor: Cursor, from code: UInt64, _ body: (KeyPlace, UInt64) throws(StoreError) -> UInt64?
  ) throws(StoreError) {
    var more = try cursor.seek(target(code).buffer)
    var least = code
    while more {
      let key = cursor.key
      let place = try KeyPlace(atStartOf: key)
      guard place.code >= least else { throw Self.outOfOrder }
      guard let next = try body(place, try KeyDecoder.rowID(atEndOf: key).id) else { return }
      more = try cursor.next()
      if next <= place.code { continue }
      least = next
      var passed = 0
      while more, try KeyPlace(atStartOf: cursor.key).code < next {
        passed &+= 1
        more = passed < Self.patience ? try cursor.next() : try cursor.seek(target(next).buffer)
      }
    }
  }

  private mutating func seek(_ code: UInt64) throws(StoreError) { try base.seek(target(code)) }

  /// The beginning of the least key of a place with a code, good until the next one is asked for.
  private func target(_ code: UInt64) -> TreeKey {
    let bytes = buffer + Self.mostBytes
    bytes.storeBytes(of: KeyPlace.tag, as: UInt8.self)
    bytes.storeBytes(of: code.bigEndian, toByteOffset: 1, as: UInt64.self)
    return TreeKey(UnsafeRawBufferPointer(start: bytes, count: Self.targetBytes))
  }

  private static var noPlace: StoreError {
    .corrupt(place: .key, offset: 0, detail: "a key of a spatial index is longer than places are")
  }

  private static var outOfOrder: StoreError {
    .corrupt(place: .key, offset: 0, detail: "places are out of order")
  }
}

extension TreeView {
  /// What goes through the places of a spatial index.
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``.
  public final func places(_ tree: TreeID) throws(StoreError) -> PlaceCursor {
    let access = try access(tree, .bytes)
    return PlaceCursor(
      self, access, access.hasDelta ? try cursor(tree) : nil,
      BaseCursor(
        tree: access.id, kind: .bytes, root: access.root, level: access.level, cache: core.cache,
        pageSize: core.pageSize, hint: hint))
  }
}

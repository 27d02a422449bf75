/// A leaf that was made anew of an old one, in one go.
struct PatchedLeaf {
  /// The page; none if the old one has to be taken apart.
  let page: UnsafeMutableRawBufferPointer
  /// Its entries.
  let count: Int
  /// How many more than in the old one.
  let growth: Int64
  /// Changes that fall into it, those of keys that it lacks and that are deleted included.
  let changeCount: Int

  static var takenApart: PatchedLeaf {
    PatchedLeaf(page: UnsafeMutableRawBufferPointer(start: nil, count: 0), count: 0, growth: 0, changeCount: 0)
  }
}

/// Makes a leaf anew of the old one and the changes that fall into it, without taking it apart: what lies between two
/// changes is copied as a whole.
///
///     old leaf    | entries 0..<a        | a | entries a+1..<b      | entries b..<count |
///     new leaf    | entries 0..<a copied | v | entries copied       | k | copied        |
///                                         `- a's new value           `- a new key in front of b
///
/// Only for leaves that stay of a good size: those that grow beyond a page, or become small, are taken apart, so that
/// they are split, or joined with their neighbours. The page's common prefix and the width of its heads stay as they
/// are.
final class LeafPatch {
  /// Entries of the old leaf that stay as they are, or one that a change brings.
  private struct Piece {
    var from = 0
    var to = 0
    var change: MergeChange?
  }

  private let pageSize: Int
  private let inlineLimit: Int
  @exclusivity(unchecked) private var pieces: [Piece] = []
  @exclusivity(unchecked) private var changeCount = 0
  /// Entries of the new leaf.
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var growth: Int64 = 0

  init(pageSize: Int, inlineLimit: Int) {
    self.pageSize = pageSize
    self.inlineLimit = inlineLimit
  }

  /// Writes the new leaf to `out`, which has room for a page, and answers it; nil if the leaf has to be taken apart.
  /// Takes nothing from `changes`, which stand at the first one that falls into the leaf.
  func make(
    _ page: UnsafeRawPointer, _ kind: TreeKind, _ changes: ChangeStream, high: TreeKey?, generation: UInt64,
    to out: UnsafeMutableRawPointer
  ) -> PatchedLeaf? {
    if page.pageFlags & PageHeader.flagStubs != 0 || !changes.canBeCopied { return nil }
    let length: Int?
    if kind == .integer {
      let leaf = IntegerLeaf(page)
      guard
        gather(
          leaf.count, changes, high, find: { (leaf.lowerBound($0.head), nil) }, isSame: { leaf.key($0) == $1.head })
      else { return nil }
      length = write(leaf, to: out)
    } else {
      let leaf = BytesLeaf(page)
      guard gather(leaf.count, changes, high, find: { leaf.lowerBound($0) }, isSame: { _, _ in false }) else {
        return nil
      }
      length = write(leaf, to: out)
    }
    guard let length else { return nil }
    // What the header says of kind, level, tree, flags, prefix and fixed length stays.
    out.put(UInt16(truncatingIfNeeded: count), PageHeader.countOffset)
    out.put(generation, PageHeader.generationOffset)
    out.put(UInt16(truncatingIfNeeded: length), PageHeader.lengthOffset)
    let stored = roundUp(length, to: 16)
    (out + length).zero(stored - length)
    return PatchedLeaf(
      page: UnsafeMutableRawBufferPointer(start: out, count: stored), count: count, growth: growth,
      changeCount: changeCount)
  }

  /// Finds out what the new leaf consists of; answers whether it can be patched.
  @inline(__always)
  private func gather(
    _ oldCount: Int, _ changes: ChangeStream, _ high: TreeKey?, find: (TreeKey) -> (index: Int, found: Bool?),
    isSame: (Int, TreeKey) -> Bool
  ) -> Bool {
    pieces.removeAll(keepingCapacity: true)
    changeCount = 0
    count = oldCount
    growth = 0
    var position = 0
    var ahead = changes
    while let change = ahead.change {
      if let high, TreeKey.compare(change.key, high) >= (isPlanted(.patchTakesKeyBehindBound) ? 1 : 0) { break }
      let (index, known) = find(change.key)
      // In a damaged page, where keys are out of order, a greater key may come out before a lesser one. Nothing is to
      // be copied twice.
      if index < position { return false }
      let isThere = known ?? (index < oldCount && isSame(index, change.key))
      if change.op == .putStub || change.op == .put && change.value.count > inlineLimit { return false }
      changeCount += 1
      // Many new keys make more than a page.
      if changeCount > pageSize / 8 { return false }
      if isThere || change.op == .put {
        if index > position { pieces.append(Piece(from: position, to: index)) }
        if change.op == .put { pieces.append(Piece(change: change)) }
        position = isThere ? index + 1 : index
        if change.op == .delete { count -= 1 } else if !isThere { count += 1 }
      }
      ahead.next { _ in }
    }
    if position < oldCount - (isPlanted(.patchLosesPageEnd) ? 1 : 0) {
      pieces.append(Piece(from: position, to: oldCount))
    }
    growth = Int64(count - oldCount)
    return changeCount > 0 && count > 0
  }

  private func isGoodSize(_ length: Int) -> Bool { length >= pageSize / 2 && roundUp(length, to: 16) <= pageSize }

  // MARK: Integer keys

  private func write(_ old: IntegerLeaf, to out: UnsafeMutableRawPointer) -> Int? {
    guard let first = pieces.first, let last = pieces.last else { return nil }
    let base = first.change?.key.head ?? old.key(first.from)
    let span = (last.change?.key.head ?? old.key(last.to - 1)) &- base
    let width = span == UInt64(count - 1) ? 0 : widthFor(span)
    var valueBytes = 0
    for piece in pieces { valueBytes += piece.change?.value.count ?? (end(old, piece.to) - end(old, piece.from)) }
    let ends = IntegerLeaf.keysOffset + count * width
    let values = ends + count * 2
    guard isGoodSize(values + valueBytes) else { return nil }
    out.copyMemory(from: old.p, byteCount: PageHeader.size)
    out.put(UInt8(truncatingIfNeeded: width), PageHeader.widthOffset)
    out.put(base, 32)
    let keys = out + IntegerLeaf.keysOffset
    let keepsKeys = width == old.width && base == old.base
    var n = 0
    var used = 0
    for piece in pieces {
      if let change = piece.change {
        storeWidth(keys, width, n, change.key.head &- base)
        out.put(change.value, values + used)
        used += change.value.count
        out.put(UInt16(truncatingIfNeeded: used), ends + n * 2)
        n += 1
        continue
      }
      let number = piece.to - piece.from
      if keepsKeys {
        let place = IntegerLeaf.keysOffset + piece.from * width
        (keys + n * width).copyMemory(from: old.p + place, byteCount: number * width)
      } else {
        for i in 0..<number { storeWidth(keys, width, n + i, old.key(piece.from + i) &- base) }
      }
      let start = end(old, piece.from)
      shiftEnds(old.p + old.endsOffset + piece.from * 2, number, by: used - start, to: out + ends + n * 2)
      let bytes = end(old, piece.to) - start
      (out + values + used).copyMemory(from: old.p + old.valuesOffset + start, byteCount: bytes)
      used += bytes
      n += number
    }
    return values + valueBytes
  }

  /// Where the values of the entries before `i` end.
  @inline(__always)
  private func end(_ leaf: IntegerLeaf, _ i: Int) -> Int { i == 0 ? 0 : Int(leaf.p.u16(leaf.endsOffset + (i - 1) * 2)) }

  /// Copies ends, all moved by the same distance.
  @inline(__always)
  private func shiftEnds(_ from: UnsafeRawPointer, _ number: Int, by distance: Int, to: UnsafeMutableRawPointer) {
    if distance == 0 { return to.copyMemory(from: from, byteCount: number * 2) }
    let distance = UInt16(truncatingIfNeeded: distance)
    for i in 0..<number { to.put(from.u16(i &* 2) &+ distance, i &* 2) }
  }

  // MARK: Byte keys

  private func write(_ old: BytesLeaf, to out: UnsafeMutableRawPointer) -> Int? {
    let head = old.prefix + old.width
    let fixed = old.isFixed ? old.p.pageFixed : -1
    var restBytes = 0
    var valueBytes = 0
    for piece in pieces {
      guard let change = piece.change else {
        restBytes += restEnd(old, piece.to) - restEnd(old, piece.from)
        if old.hasValues { valueBytes += valueEnd(old, piece.to) - valueEnd(old, piece.from) }
        continue
      }
      // The key has to fit in with the others of the page.
      let rest = change.key.count - head
      guard rest >= 0, fixed < 0 || rest == fixed, old.hasValues || change.value.count == 0,
        compareBytes(change.key.bytes, old.prefix, old.p + PageHeader.size, old.prefix) == 0
      else { return nil }
      restBytes += rest
      valueBytes += change.value.count
    }
    let heads = old.headsOffset
    let restEnds = heads + count * old.width
    let valueEnds = restEnds + (fixed < 0 ? count * 2 : 0)
    let rests = valueEnds + (old.hasValues ? count * 2 : 0)
    let values = rests + restBytes
    guard isGoodSize(values + valueBytes) else { return nil }
    out.copyMemory(from: old.p, byteCount: heads)
    var n = 0
    var restUsed = 0
    var valueUsed = 0
    for piece in pieces {
      if let change = piece.change {
        let key = change.key
        (out + heads + n * old.width).copyMemory(from: key.bytes + old.prefix, byteCount: old.width)
        (out + rests + restUsed).copyMemory(from: key.bytes + head, byteCount: key.count - head)
        restUsed += key.count - head
        if fixed < 0 { out.put(UInt16(truncatingIfNeeded: restUsed), restEnds + n * 2) }
        if old.hasValues {
          out.put(change.value, values + valueUsed)
          valueUsed += change.value.count
          out.put(UInt16(truncatingIfNeeded: valueUsed), valueEnds + n * 2)
        }
        n += 1
        continue
      }
      let number = piece.to - piece.from
      (out + heads + n * old.width).copyMemory(
        from: old.p + heads + piece.from * old.width, byteCount: number * old.width)
      let start = restEnd(old, piece.from)
      let bytes = restEnd(old, piece.to) - start
      (out + rests + restUsed).copyMemory(from: old.p + old.restsOffset + start, byteCount: bytes)
      if fixed < 0 {
        shiftEnds(old.p + old.restEnds + piece.from * 2, number, by: restUsed - start, to: out + restEnds + n * 2)
      }
      restUsed += bytes
      if old.hasValues {
        let start = valueEnd(old, piece.from)
        let bytes = valueEnd(old, piece.to) - start
        (out + values + valueUsed).copyMemory(from: old.p + old.valuesOffset + start, byteCount: bytes)
        shiftEnds(old.p + old.valueEnds + piece.from * 2, number, by: valueUsed - start, to: out + valueEnds + n * 2)
        valueUsed += bytes
      }
      n += number
    }
    return values + valueBytes
  }

  /// Where the rests of the entries before `i` end.
  @inline(__always)
  private func restEnd(_ leaf: BytesLeaf, _ i: Int) -> Int {
    if leaf.isFixed { return i * leaf.p.pageFixed }
    return i == 0 ? 0 : Int(leaf.p.u16(leaf.restEnds + (i - 1) * 2))
  }

  @inline(__always)
  private func valueEnd(_ leaf: BytesLeaf, _ i: Int) -> Int {
    i == 0 ? 0 : Int(leaf.p.u16(leaf.valueEnds + (i - 1) * 2))
  }
}

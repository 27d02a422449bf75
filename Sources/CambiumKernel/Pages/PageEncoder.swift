/// Writes a range of an ``EntryRun`` as one page.
enum PageEncoder {
  /// Encodes entries `range` into `out`, which has room for `layout.size` rounded up to 16; returns that stored length.
  static func encode(
    _ run: borrowing EntryRun, _ range: Range<Int>, layout l: PageLayout, level: UInt8, tree: TreeID,
    generation: UInt64, to out: UnsafeMutableRawPointer
  ) -> Int {
    let stored = roundUp(l.size, to: 16)
    (out + l.size).zero(stored - l.size)
    var flags: UInt8 = 0
    if l.hasStubs { flags |= PageHeader.flagStubs }
    if run.kind == .bytes {
      if run.isLeaf, !l.hasValues { flags |= PageHeader.flagNoValues }
      if l.fixed >= 0 { flags |= PageHeader.flagFixedKeys }
    }
    let kind: PageKind =
      switch (run.kind, run.isLeaf) {
      case (.integer, true): .integerLeaf
      case (.integer, false): .integerInner
      case (.bytes, true): .bytesLeaf
      case (.bytes, false): .bytesInner
      }
    PageHeader.write(
      to: out, kind: kind, level: level, count: range.count, tree: tree, generation: generation, length: l.size,
      flags: flags, width: l.width, prefix: l.prefix, fixed: l.fixed >= 0 ? l.fixed : 0, countWidth: l.countWidth)
    switch kind {
    case .integerLeaf: integerLeaf(run, range, l, out)
    case .integerInner: integerInner(run, range, l, out)
    case .bytesLeaf: bytesLeaf(run, range, l, out)
    case .bytesInner: bytesInner(run, range, l, out)
    case .directory: break
    }
    return stored
  }

  private static func integerLeaf(
    _ run: borrowing EntryRun, _ range: Range<Int>, _ l: PageLayout, _ out: UnsafeMutableRawPointer
  ) {
    let base = run[range.lowerBound].head
    out.put(base, 32)
    let ends = IntegerLeaf.keysOffset + range.count * l.width
    let bitmap = ends + range.count * 2
    let values = bitmap + (l.hasStubs ? (range.count + 7) / 8 : 0)
    if l.hasStubs { (out + bitmap).zero(values - bitmap) }
    var end = 0
    var n = 0
    for i in range {
      storeWidth(out + IntegerLeaf.keysOffset, l.width, n, run[i].head &- base)
      let value = run.value(i)
      out.put(value, values + end)
      end += value.count
      out.put(UInt16(truncatingIfNeeded: end), ends + n * 2)
      if run[i].isStub { setBit(out + bitmap, n) }
      n += 1
    }
  }

  private static func setBit(_ p: UnsafeMutableRawPointer, _ n: Int) {
    p.put(UnsafeRawPointer(p).u8(n / 8) | 1 &<< UInt8(truncatingIfNeeded: n & 7), n / 8)
  }

  private static func references(
    _ run: borrowing EntryRun, _ range: Range<Int>, _ l: PageLayout, at offset: Int, _ out: UnsafeMutableRawPointer
  ) -> Int {
    var n = 0
    for i in range {
      run.ref(i).write(to: out, offset + n * PageRef.size)
      n += 1
    }
    let counts = offset + range.count * PageRef.size
    n = 0
    for i in range {
      storeWidth(out + counts, l.countWidth, n, run.below(i))
      n += 1
    }
    return counts + range.count * l.countWidth
  }

  private static func integerInner(
    _ run: borrowing EntryRun, _ range: Range<Int>, _ l: PageLayout, _ out: UnsafeMutableRawPointer
  ) {
    let first = range.lowerBound
    out.put(run[first].head, 32)
    let base = range.count > 1 ? run[first + 1].head : 0
    out.put(base, 40)
    for n in 0..<(range.count - 1) {
      storeWidth(out + IntegerInner.keysOffset, l.width, n, run[first + 1 + n].head &- base)
    }
    _ = references(run, range, l, at: IntegerInner.keysOffset + (range.count - 1) * l.width, out)
  }

  /// Writes prefix, heads and ends of rests of the keys in `range`; returns where the next part begins.
  private static func keys(
    _ run: borrowing EntryRun, _ range: Range<Int>, _ l: PageLayout, _ out: UnsafeMutableRawPointer
  ) -> Int {
    guard let first = range.first else { return PageHeader.size }
    out.put(UnsafeRawBufferPointer(start: run.key(first).bytes, count: l.prefix), PageHeader.size)
    let heads = PageHeader.size + l.prefix
    let ends = heads + range.count * l.width
    var end = 0
    var n = 0
    for i in range {
      let key = run.key(i)
      out.put(UnsafeRawBufferPointer(start: key.bytes + l.prefix, count: l.width), heads + n * l.width)
      end += key.count - l.prefix - l.width
      if l.fixed < 0 { out.put(UInt16(truncatingIfNeeded: end), ends + n * 2) }
      n += 1
    }
    return ends + (l.fixed < 0 ? range.count * 2 : 0)
  }

  private static func rests(
    _ run: borrowing EntryRun, _ range: Range<Int>, _ l: PageLayout, at offset: Int, _ out: UnsafeMutableRawPointer
  ) -> Int {
    var end = offset
    let skip = l.prefix + l.width
    for i in range {
      let key = run.key(i)
      out.put(UnsafeRawBufferPointer(start: key.bytes + skip, count: key.count - skip), end)
      end += key.count - skip
    }
    return end
  }

  private static func bytesLeaf(
    _ run: borrowing EntryRun, _ range: Range<Int>, _ l: PageLayout, _ out: UnsafeMutableRawPointer
  ) {
    let valueEnds = keys(run, range, l, out)
    let bitmap = valueEnds + (l.hasValues ? range.count * 2 : 0)
    let restsOffset = bitmap + (l.hasStubs ? (range.count + 7) / 8 : 0)
    if l.hasStubs { (out + bitmap).zero(restsOffset - bitmap) }
    let values = rests(run, range, l, at: restsOffset, out)
    guard l.hasValues else { return }
    var end = 0
    var n = 0
    for i in range {
      let value = run.value(i)
      out.put(value, values + end)
      end += value.count
      out.put(UInt16(truncatingIfNeeded: end), valueEnds + n * 2)
      if run[i].isStub { setBit(out + bitmap, n) }
      n += 1
    }
  }

  private static func bytesInner(
    _ run: borrowing EntryRun, _ range: Range<Int>, _ l: PageLayout, _ out: UnsafeMutableRawPointer
  ) {
    let separators = (range.lowerBound + 1)..<range.upperBound
    let refs = keys(run, separators, l, out)
    let lowLength = references(run, range, l, at: refs, out)
    let low = run.key(range.lowerBound)
    out.put(UInt16(truncatingIfNeeded: low.count), lowLength)
    let end = rests(run, separators, l, at: lowLength + 2, out)
    out.put(low.buffer, end)
  }
}

/// Makes one image, given what becomes of each volatile operation.
struct CrashMaker {
  private let steps: [CrashImages.Step]
  private let base: DiskImage
  private let tearing: Tearing
  /// Per volatile step, in order.
  let fates: [CrashImage.Fate]
  /// Per step; durable ones are kept.
  private let fateOfStep: [CrashImage.Fate]

  init(images: CrashImages, volatile: [Int], fates: [CrashImage.Fate]) {
    steps = images.steps
    base = images.base
    tearing = images.tearing
    var all = [CrashImage.Fate](repeating: .kept, count: steps.count)
    for (step, fate) in zip(volatile, fates) { all[step] = fate }
    // A change of length that is there implies those before it.
    var isLengthThere = false
    for index in steps.indices.reversed() {
      switch (steps[index].effect, all[index]) {
      case (.resize, .lost): if isLengthThere { all[index] = .kept }
      case (.resize, _):
        all[index] = .kept
        isLengthThere = true
      case (.write(_, _, grows: true), .lost), (.write(_, _, grows: false), _), (.sync, _): break
      case (.write(_, _, grows: true), _): isLengthThere = true
      }
    }
    fateOfStep = all
    self.fates = volatile.map { all[$0] }
  }

  /// - Parameter reordering: The seed of another order of volatile writes that no durable operation and no resize lies
  ///   between.
  func image(reordering: UInt64?) -> DiskImage {
    var image = base
    var order = Array(steps.indices)
    if let reordering { shuffle(&order, seed: reordering) }
    for step in order {
      switch (steps[step].effect, fateOfStep[step]) {
      case (.sync, _), (_, .lost): break
      case (let effect, .kept): image.apply(effect)
      case (.resize(let size), _): image.resize(to: size)
      case (.write(let start, let bytes, _), .sizeOnly):
        if start + bytes.count > image.bytes.count { image.resize(to: start + bytes.count) }
      case (.write(let start, let bytes, _), .torn(let seed)):
        var chance = DiskChance(seed: seed)
        if case .sector(let sectorBytes) = tearing {
          tear(&image, bytes, start, sectorBytes, after: step, &chance)
        } else {
          tear(&image, bytes, start, &chance)
        }
      }
    }
    return image
  }

  private func shuffle(_ order: inout [Int], seed: UInt64) {
    var chance = DiskChance(seed: seed)
    var start = 0
    while start < order.count {
      var end = start
      while end < order.count, isVolatileWrite(end) { end += 1 }
      if end > start + 1 {
        for index in (start + 1..<end).reversed() { order.swapAt(index, start + chance.below(index - start + 1)) }
      }
      start = max(end, start + 1)
    }
  }

  private func isVolatileWrite(_ step: Int) -> Bool {
    if case .write = steps[step].effect { steps[step].isVolatile } else { false }
  }

  // MARK: - Torn writes

  /// Keeps parts of a write, split at any byte.
  private func tear(_ image: inout DiskImage, _ bytes: [UInt8], _ start: Int, _ chance: inout DiskChance) {
    let cut = split(bytes.count, start, &chance)
    switch chance.below(4) {
    case 0: image.write(bytes, 0..<cut, at: start)
    case 1: image.write(bytes, cut..<bytes.count, at: start + cut)
    case 2:
      let other = split(bytes.count, start, &chance)
      let hole = min(cut, other)..<max(cut, other)
      image.write(bytes, 0..<hole.lowerBound, at: start)
      image.write(bytes, hole.upperBound..<bytes.count, at: start + hole.upperBound)
    default:
      forEachSector(bytes.count, start, 512) { _, part in
        if chance.onceIn(2) { image.write(bytes, part, at: start + part.lowerBound) }
      }
    }
  }

  /// A place to split: near the ends, where headers and checksums are, at a sector's edge, or anywhere.
  private func split(_ count: Int, _ start: Int, _ chance: inout DiskChance) -> Int {
    switch chance.below(4) {
    case 0: return chance.below(min(33, count + 1))
    case 1: return count - chance.below(min(33, count + 1))
    case 2:
      let edge = (start + chance.below(count + 1)) / 512 * 512 - start
      return edge > 0 ? edge : chance.below(count + 1)
    default: return chance.below(count + 1)
    }
  }

  /// Leaves each sector of a write old, new, or full of garbage.
  private func tear(
    _ image: inout DiskImage, _ bytes: [UInt8], _ start: Int, _ sectorBytes: Int, after step: Int,
    _ chance: inout DiskChance
  ) {
    // Sectors come and go whole, and so does the length they end at.
    forEachSector(bytes.count, start, sectorBytes) { sector, part in
      switch chance.below(5) {
      case 0, 1: image.write(bytes, part, at: start + part.lowerBound)
      case 2:
        if start + part.upperBound > image.bytes.count { image.resize(to: start + part.upperBound) }
        // A later durable write to the sector has transferred all of it once more.
        if isRewritten(sector, after: step) { return }
        let end = min(sector.upperBound, image.bytes.count)
        let zeroed = chance.onceIn(4)
        let garbage = (sector.lowerBound..<end).map { _ in zeroed ? 0 : UInt8(truncatingIfNeeded: chance.next()) }
        image.write(garbage, 0..<garbage.count, at: sector.lowerBound)
      default: break
      }
    }
  }

  private func isRewritten(_ sector: Range<Int>, after step: Int) -> Bool {
    steps[(step + 1)...].contains { later in
      guard !later.isVolatile, case .write(let start, let bytes, _) = later.effect else { return false }
      return (start..<start + bytes.count).overlaps(sector)
    }
  }

  /// Calls `body` with each sector that a write touches, and the part of the write that lies in it.
  private func forEachSector(
    _ count: Int, _ start: Int, _ sectorBytes: Int, _ body: (_ sector: Range<Int>, _ part: Range<Int>) -> Void
  ) {
    var position = 0
    while position < count {
      let low = (start + position) / sectorBytes * sectorBytes
      let end = min(count, low + sectorBytes - start)
      body(low..<low + sectorBytes, position..<end)
      position = end
    }
  }
}

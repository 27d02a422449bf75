extension SimulatedDisk {
  /// Distinct states in which a power cut at a point may leave the disk, made one by one as they are asked for.
  ///
  /// What is durable is there. Of what is volatile:
  /// - each write is kept, lost, or torn as `tearing` says; where several volatile writes overlap, an earlier one may
  ///   win over a later one, but nothing volatile wins over a later durable write;
  /// - of a write that made the disk longer, the new length may be there with zeros for its bytes;
  /// - resizes are lost from some one on: file systems keep changes of a file's length in order. A length that is
  ///   there implies the changes of length before it.
  ///
  /// The first image has lost all that is volatile, the second kept all. If there are few enough ways to keep or lose
  /// whole operations, all of them follow; then come ways picked by chance, torn ones included.
  ///
  /// - Parameters:
  ///   - point: After how many operations, from 0 to ``operationCount``.
  ///   - limit: How many images at most. There may be fewer distinct ones.
  ///   - tearing: How writes may be split.
  ///   - seed: Of everything left to chance: the same seed, the same images.
  public func crashImages(
    at point: Int, limit: Int, tearing: Tearing = .byteRange, seed: UInt64 = 1
  ) -> CrashImages {
    state.withLock { state in
      let point = max(0, min(point, state.log.count))
      let first = state.log.prefix(point).firstIndex { !$0.isSync && $0.durableAt >= point } ?? point
      let steps = (first..<point).compactMap { index -> CrashImages.Step? in
        let operation = state.log[index]
        if operation.isSync { return nil }
        return CrashImages.Step(
          operation: index, effect: operation.effect, isVolatile: operation.durableAt >= point)
      }
      return CrashImages(
        point: point, base: state.base(at: first), steps: steps, limit: limit, tearing: tearing,
        seed: seed ^ UInt64(point) &* 0x9E37_79B9_7F4A_7C15)
    }
  }
}

/// A lazy sequence of ``CrashImage``s, all different. Each walk over it gives the same ones.
public struct CrashImages: Sequence, Sendable {
  /// An operation from the first volatile one on.
  struct Step: Sendable {
    var operation: Int
    var effect: SimulatedDisk.Effect
    var isVolatile: Bool
  }

  let point: Int
  let base: DiskImage
  let steps: [Step]
  let limit: Int
  let tearing: Tearing
  let seed: UInt64

  /// A walk over the images, from the first.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// Makes the images.
  public struct Iterator: IteratorProtocol {
    private let images: CrashImages
    private let volatile: [Int]
    /// Per volatile step, how many ways to keep or lose it whole.
    private let choices: [Int]
    /// The ways of all together, if they are no more than the limit; else 0.
    private let combinations: Int
    private var attempt = 0
    private var given = 0
    private var seen: Set<UInt64> = []
    private var chance: DiskChance

    init(_ images: CrashImages) {
      self.images = images
      let steps = images.steps
      volatile = steps.indices.filter { steps[$0].isVolatile }
      choices = volatile.map { if case .write(_, _, grows: true) = steps[$0].effect { 3 } else { 2 } }
      var product = 1
      for choice in choices {
        let (next, overflow) = product.multipliedReportingOverflow(by: choice)
        product = overflow || next > images.limit ? 0 : next
        if product == 0 { break }
      }
      combinations = product
      chance = DiskChance(seed: images.seed)
    }

    /// The next image that is unlike all before.
    public mutating func next() -> CrashImage? {
      // Chance runs into states it has had. After so many in a row, there is little left to find.
      var misses = 0
      while given < images.limit, misses < 64 {
        let made: CrashImage
        switch attempt {
        case 0: made = make(volatile.map { _ in .lost })
        case 1: made = make(volatile.map { _ in .kept })
        case 2..<(2 + combinations): made = make(combination(attempt - 2))
        default:
          if volatile.isEmpty { return nil }
          let fates = picked()
          made = make(fates, reordering: chance.onceIn(3) ? chance.next() : nil)
          misses += 1
        }
        attempt += 1
        if seen.insert(made.contentHash).inserted {
          given += 1
          return made
        }
      }
      return nil
    }

    /// The `number`th way of keeping and losing whole operations.
    private func combination(_ number: Int) -> [CrashImage.Fate] {
      var rest = number
      return choices.map { choice in
        defer { rest /= choice }
        return [.lost, .kept, .sizeOnly][rest % choice]
      }
    }

    /// A way picked by chance, of one of the sorts that find different mistakes.
    private mutating func picked() -> [CrashImage.Fate] {
      let count = volatile.count
      switch chance.below(5) {
      case 0:
        // In order up to somewhere: what a disk without a cache leaves.
        let cut = chance.below(count)
        return (0..<count).map { $0 < cut ? .kept : $0 == cut ? torn() : .lost }
      case 1:
        let odd = chance.below(count)
        return (0..<count).map { $0 == odd ? lostOrTorn() : .kept }
      case 2:
        let odd = chance.below(count)
        return (0..<count).map { $0 == odd ? keptOrTorn() : .lost }
      default:
        let odds = 1 + chance.below(7)
        return choices.map { choice in
          if chance.onceIn(4) { return torn() }
          if chance.below(8) < odds { return .kept }
          return choice == 3 && chance.onceIn(2) ? .sizeOnly : .lost
        }
      }
    }

    private mutating func torn() -> CrashImage.Fate { images.tearing == .none ? .kept : .torn(seed: chance.next()) }
    private mutating func lostOrTorn() -> CrashImage.Fate { chance.onceIn(2) ? .lost : torn() }
    private mutating func keptOrTorn() -> CrashImage.Fate { chance.onceIn(2) ? .kept : torn() }

    private func make(_ fates: [CrashImage.Fate], reordering: UInt64? = nil) -> CrashImage {
      let maker = CrashMaker(images: images, volatile: volatile, fates: fates)
      var image = maker.image(reordering: reordering)
      let hash = image.hash()
      let told = zip(volatile, maker.fates).map { (images.steps[$0].operation, $1) }
      return CrashImage(
        point: images.point, bytes: image.bytes, contentHash: hash, fates: told, reordered: reordering != nil)
    }
  }
}

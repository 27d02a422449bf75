import CambiumTesting
import Foundation
import Synchronization

@testable import CambiumKernel

/// Looks for harm: a store that is taken although it is wrong, or a crash that loses something.
struct DamageHunt {
  /// Where a mended store is made wrong.
  enum Part: String, CaseIterable, Sendable {
    case superblock, directory, records, pages
  }

  /// Which damage does it.
  enum Kind: Sendable, CustomStringConvertible {
    /// The crash simulation.
    case crashes
    /// Changed bytes.
    case bytes
    /// Changed bytes, with their checksums made right.
    case mended(Part, StoreUse)
    /// The wrong stores of ``WrongStore/all()``.
    case wrongStores

    var description: String {
      switch self {
      case .crashes: "crash simulation"
      case .bytes: "byte damage"
      case .mended(let part, let use): "mended damage of \(part), \(use)"
      case .wrongStores: "wrong stores"
      }
    }
  }

  /// Counts what was tried, so that a hang is told from long work.
  static let progress = Atomic<Int>(0)

  let kind: Kind
  /// Called when the stores have been made.
  var prepare: () -> Void = {}
  /// Makes the same looks at the stores with all checks in place.
  var withAllChecks: (() -> StoreUse.Verdict) -> StoreUse.Verdict = { $0() }
  /// How long to look.
  var seconds = 25.0

  /// What was found; nil if nothing was.
  func run() throws -> String? {
    switch kind {
    case .crashes: return crashes()
    case .bytes: return try changedBytes()
    case .wrongStores: return try wrongStores()
    case .mended(let part, let use): return try mended(part, use)
    }
  }

  private func crashes() -> String? {
    prepare()
    // The same crashes each time: longer if the machine is busy.
    let end = Date() + seconds * 6
    for round in UInt64(0)..<12 {
      for mode in CrashRunner.Mode.all {
        for scenario in CrashScenario.allCases {
          Self.progress.add(1, ordering: .relaxed)
          if Date() > end { return nil }
          var runner = CrashRunner(
            scenario: scenario, mode: mode, seed: CrashTests.seed &+ round, budget: 200, stopsAtFirst: true)
          runner.run()
          if let failure = runner.failures.first { return String(failure.prefix(300)) }
        }
      }
    }
    return nil
  }

  private func changedBytes() throws -> String? {
    let end = Date() + seconds
    let stores = try [true, false].map { (isClosed: $0, whole: try DamageStore(isClosed: $0)) }
    prepare()
    var random = SplitMix64(seed: CrashTests.seed)
    while Date() < end {
      Self.progress.add(1, ordering: .relaxed)
      let (isClosed, whole) = random.pick(stores)
      let offset = random.below(whole.bytes.count)
      // Most of a file is room that is not used.
      if whole.bytes[offset] == 0, !random.oneIn(20) { continue }
      var damaged = whole.bytes
      damaged[offset] ^= UInt8(truncatingIfNeeded: random.next() | 1)
      switch whole.outcome(damaged) {
      case .same, .refused: break
      // The newest record, which nothing proves yet.
      case .earlier(let n) where !isClosed && n + 1 >= whole.sequence: break
      case .earlier(let n): return "byte \(offset): only the commits up to \(n)"
      case .other(let text): return "byte \(offset): \(text)"
      }
    }
    return nil
  }

  private func wrongStores() throws -> String? {
    let all = try WrongStore.all()
    prepare()
    for wrong in all {
      Self.progress.add(1, ordering: .relaxed)
      if let found = wrong.difference() { return found }
    }
    return nil
  }

  private func mended(_ part: Part, _ use: StoreUse) throws -> String? {
    let end = Date() + seconds
    var random = SplitMix64(seed: CrashTests.seed)
    let stores = try [true, false].map { try MendedStore(isClosed: $0) }
    prepare()
    var n = 0
    while Date() < end {
      n += 1
      Self.progress.add(1, ordering: .relaxed)
      let (bytes, text) = random.pick(stores).mutant(of: part, &random)
      guard use.verdict(bytes).isAccepted else { continue }
      let right = withAllChecks { use.verdict(bytes) }
      if !right.isAccepted { return "mutant \(n) (\(text)) is taken, and has to be \(right)" }
    }
    return nil
  }
}

/// A store whose bytes are changed at places of one sort, with all checksums made right.
struct MendedStore {
  private let mender: Mender
  private let places: [DamageHunt.Part: [Range<Int>]]

  init(isClosed: Bool) throws {
    let whole = try DamageStore(isClosed: isClosed)
    mender = try Mender(whole.bytes)
    var places: [DamageHunt.Part: [Range<Int>]] = [.superblock: [0..<400]]
    for place in mender.places where place.lowerBound >= Superblock.regionSize {
      let part: DamageHunt.Part =
        mender.bytes.withUnsafeBytes { b in
          if b.start.u32(place.lowerBound) == LogRecordHeader.magic { return .records }
          return (b.start + place.lowerBound).pageKind == PageKind.directory.rawValue ? .directory : .pages
        }
      places[part, default: []].append(place)
    }
    self.places = places
  }

  func mutant(of part: DamageHunt.Part, _ random: inout SplitMix64) -> (bytes: [UInt8], text: String) {
    var mutant = mender
    // A closed store has no records; then a page is as good.
    let place = random.pick(places[part] ?? places[.pages] ?? [])
    if part == .pages, random.oneIn(2) {
      let (offset, new) = headerMutation(Array(mutant.bytes[place.prefix(PageHeader.size)]), &random)
      mutant.mutate(at: place.lowerBound + offset, new)
      return (mutant.bytes, "page at \(place.lowerBound), \(offset): \(new)")
    }
    let within = random.oneIn(2) ? min(place.count, 64) : place.count
    let offset = place.lowerBound + random.below(within)
    let new = mutation(of: Array(mutant.bytes[offset..<min(offset + 8, place.upperBound)]), &random)
    if part == .superblock {
      for copy in Superblock.offsets { mutant.mutate(at: offset + Int(copy), new) }
    } else {
      mutant.mutate(at: offset, new)
    }
    return (mutant.bytes, "\(offset): \(new)")
  }

  /// Another value of a field of a page's header.
  private func headerMutation(_ head: [UInt8], _ random: inout SplitMix64) -> (offset: Int, new: [UInt8]) {
    // Offsets and widths.
    let field = random.pick([(8, 1), (9, 1), (10, 2), (12, 1), (24, 2), (26, 1), (27, 1), (28, 2), (30, 2)])
    var value = 0
    for i in 0..<field.1 { value |= Int(head[field.0 + i]) << (8 * i) }
    switch random.below(4) {
    case 0: value += random.below(3) - 1
    case 1: value += random.below(64) - 32
    case 2: value = random.below(9)
    default: value = random.below(1 << (8 * field.1))
    }
    return (field.0, (0..<field.1).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
  }

  private func mutation(of old: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    let count = min(old.count, [1, 1, 1, 2, 4, 8][random.below(6)])
    switch random.below(8) {
    case 0: return [UInt8](repeating: 0xFF, count: count)
    case 1: return [UInt8](repeating: 0, count: count)
    case 2: return [UInt8(random.below(8))] + [UInt8](repeating: 0, count: count - 1)
    case 3: return [old[0] &+ 1]
    case 4: return [old[0] &- 1]
    case 5: return [old[0] ^ (1 << UInt8(random.below(8)))]
    case 6: return [old[0] &+ UInt8(random.below(40)) &- 20]
    default: return random.bytes(count)
    }
  }
}

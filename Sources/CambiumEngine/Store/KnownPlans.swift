import Synchronization

/// The plans of the stores that this process opened last, by the bytes that they were made from. To decode and check a
/// model and to plan for it takes ten times as long as to read it; an application that opens many documents of one
/// model, or one again and again, does it once. What is found was made from the very bytes that were just read, so
/// nothing is taken on trust.
///
/// A few places, each of which holds a reference or nothing. Whoever looks takes it out meanwhile: another one who
/// comes then finds nothing, and makes plans of its own. Nobody waits, and there is no lock.
final class KnownPlans: @unchecked Sendable {
  // Unchecked, since the compiler does not see what the words are: each is a reference that its place owns, or 0.

  /// Those of this process.
  static let process = KnownPlans()

  private static let count = 4
  /// Those of larger models are not kept: what they take of memory is many times as much.
  private static let longestImage = 256 << 10

  private let words = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: count)
  private let turn = Atomic<UInt>(0)

  init() { for i in 0..<Self.count { (words + i).initialize(to: Atomic(0)) } }

  deinit {
    for i in 0..<Self.count { _ = take(i) }
    words.deinitialize(count: Self.count)
    words.deallocate()
  }

  /// The plans that were made from `image`; nil if they are not known.
  func find(_ image: CatalogueImage) -> StorePlans? {
    for place in 0..<Self.count {
      guard let plans = take(place) else { continue }
      put(plans, place)
      if plans.image == image { return plans }
    }
    return nil
  }

  /// Keeps plans that know their image, instead of those that have been there for longest.
  func note(_ plans: StorePlans) {
    guard let image = plans.image, image.bytes.count <= Self.longestImage else { return }
    put(plans, Int(turn.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(Self.count)))
  }

  /// Empties a place.
  private func take(_ place: Int) -> StorePlans? {
    let word = words[place].exchange(0, ordering: .acquiring)
    guard let found = UnsafeRawPointer(bitPattern: word) else { return nil }
    return Unmanaged<StorePlans>.fromOpaque(found).takeRetainedValue()
  }

  /// Fills a place. What another one has put there meanwhile is let go.
  private func put(_ plans: StorePlans, _ place: Int) {
    let word = UInt(bitPattern: Unmanaged.passRetained(plans).toOpaque())
    let former = words[place].exchange(word, ordering: .acquiringAndReleasing)
    if let former = UnsafeRawPointer(bitPattern: former) { Unmanaged<StorePlans>.fromOpaque(former).release() }
  }
}

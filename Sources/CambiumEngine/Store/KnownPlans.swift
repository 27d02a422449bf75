import Synchronization

/// The plans of the stores that this process opened last, by the bytes that they were made from. To decode and check a model and
/// to plan for it takes ten times as long as to read it; an application that opens many documents of one model, or one again
/// and again, does it once. What is found was made from the very bytes that were just read, so nothing is taken on trust.
///
/// A few places, each of which holds a reference or nothing. Whoever looks takes it out meanwhile: another one who comes then
/// finds nothing, and makes plans of its own. Nobody waits, and there is no lock.
enum KnownPlans {
  private static let places = Places()
  /// Those of larger models are not kept: what they take of memory is many times as much.
  private static let longestImage = 256 << 10

  /// The plans that were made from `image`; nil if they are not known.
  static func find(_ image: CatalogueImage) -> StorePlans? {
    for place in 0..<Places.count {
      guard let plans = places.take(place) else { continue }
      places.put(plans, place)
      if plans.image == image { return plans }
    }
    return nil
  }

  /// Keeps plans that know their image, instead of those that have been there for longest.
  static func note(_ plans: StorePlans) {
    guard let image = plans.image, image.bytes.count <= longestImage else { return }
    places.put(plans, places.next())
  }

  private final class Places: @unchecked Sendable {
    // Unchecked, since the compiler does not see what the words are: each is a reference that its place owns, or 0.
    static let count = 4
    private let words = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: count)
    private let turn = Atomic<UInt>(0)

    init() { for i in 0..<Self.count { (words + i).initialize(to: Atomic(0)) } }

    deinit {
      for i in 0..<Self.count { _ = take(i) }
      words.deinitialize(count: Self.count)
      words.deallocate()
    }

    func next() -> Int { Int(turn.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(Self.count)) }

    /// Empties a place.
    func take(_ place: Int) -> StorePlans? {
      let word = words[place].exchange(0, ordering: .acquiring)
      guard let found = UnsafeRawPointer(bitPattern: word) else { return nil }
      return Unmanaged<StorePlans>.fromOpaque(found).takeRetainedValue()
    }

    /// Fills a place. What another one has put there meanwhile is let go.
    func put(_ plans: StorePlans, _ place: Int) {
      let word = UInt(bitPattern: Unmanaged.passRetained(plans).toOpaque())
      let former = words[place].exchange(word, ordering: .acquiringAndReleasing)
      if let former = UnsafeRawPointer(bitPattern: former) { Unmanaged<StorePlans>.fromOpaque(former).release() }
    }
  }
}

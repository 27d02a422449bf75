import Synchronization

/// Sieves for the parts of a scan, one for each thread: what a sieve knows of the objects that rows lead to serves
/// the next part as well. One thread at a time uses a sieve.
final class SievePool: @unchecked Sendable {
  // `@unchecked`: the thread that set the mark of a place owns its sieve until it clears the mark.
  private let marks: UnsafeMutablePointer<Atomic<Bool>>
  private let sieves: UnsafeMutablePointer<RowSieve?>
  private let count: Int

  init(_ count: Int) {
    self.count = max(1, count)
    marks = .allocate(capacity: self.count)
    for i in 0..<self.count { (marks + i).initialize(to: Atomic(false)) }
    sieves = .allocate(capacity: self.count)
    sieves.initialize(repeating: nil, count: self.count)
  }

  deinit {
    marks.deinitialize(count: count)
    marks.deallocate()
    sieves.deinitialize(count: count)
    sieves.deallocate()
  }

  /// A sieve that no other thread uses, and its place for ``giveBack(_:)``. `make` makes it if the place has none. If
  /// all places are taken, the place is nil, and the pool forgets the sieve.
  func take(
    _ make: () throws(EngineError) -> RowSieve
  ) throws(EngineError) -> (sieve: RowSieve, place: Int?) {
    for i in 0..<count {
      guard marks[i].compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
        continue
      }
      if let known = sieves[i] { return (known, i) }
      do throws(EngineError) {
        let made = try make()
        sieves[i] = made
        return (made, i)
      } catch {
        giveBack(i)
        throw error
      }
    }
    return (try make(), nil)
  }

  func giveBack(_ place: Int?) {
    if let place { marks[place].store(false, ordering: .releasing) }
  }
}

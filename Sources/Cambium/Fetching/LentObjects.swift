import Synchronization

extension Array where Element: ManagedObject {
  /// Calls `body` with each object without retaining it, because a retain of an object that is not in the processor's
  /// cache takes as long as most work with the object. The array holds the objects meanwhile.
  ///
  /// - Parameter areFar: Whether neighbors in the array are far apart in memory, for example objects of a cascading
  ///   delete. The method then loads a few of them into the cache together, so that the processor waits once.
  @inline(__always)
  func lend<Failure: Error>(
    areFar: Bool = false, _ body: (_ place: Int, _ object: Element) throws(Failure) -> Void
  ) throws(Failure) {
    var place = 0
    let count = count
    var near = areFar ? 0 : count
    while place < count {
      if place == near {
        near = Swift.min(place &+ broughtNearTogether, count)
        bringNear(from: place, to: near)
      }
      let object = Unmanaged.passUnretained(self[place])
      var failure: Failure?
      object._withUnsafeGuaranteedRef { object in
        do throws(Failure) { try body(place, object) } catch { failure = error }
      }
      if let failure { throw failure }
      place += 1
    }
    withExtendedLifetime(self) {}
  }

  /// Reads the cache lines of objects and of their overlays that every loop over objects uses. No read depends on
  /// another one, so that the processor loads them at the same time.
  @inline(never)
  private func bringNear(from start: Int, to end: Int) {
    var sum = 0
    for place in start..<end {
      Unmanaged.passUnretained(self[place])._withUnsafeGuaranteedRef { object in
        sum &+= Int(object.pendingPlace) &+ (object.heldOverlay == nil ? 1 : 2)
      }
    }
    for place in start..<end {
      Unmanaged.passUnretained(self[place])._withUnsafeGuaranteedRef { object in
        object.heldOverlay?._withUnsafeGuaranteedRef { overlay in
          sum &+= overlay.glance &+ (overlay.hasEventState ? 1 : 2)
        }
      }
    }
    noteBroughtNear(sum)
  }
}

/// Stores the sum of the loaded values, so that the compiler keeps the loads.
func noteBroughtNear(_ sum: Int) { lastBroughtNear.store(sum, ordering: .relaxed) }

/// The number of objects to load together: about as many cache lines as a processor loads at the same time.
private let broughtNearTogether = 16

/// The sum that ``noteBroughtNear(_:)`` stored last.
private let lastBroughtNear = Atomic(0)

import Synchronization

extension Array where Element: ManagedObject {
  /// Goes through the objects without counting a reference to each: to those that lie far from one another in memory, that takes as
  /// long as most of what is done with them. The array holds them meanwhile, whatever `body` does to what it was copied from.
  ///
  /// - Parameter areFar: Whether objects that follow one another lie anywhere, as those that are deleted along with others do: a few at a
  ///   time are brought near first, all of which the processor waits for together.
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

  /// Reads something of each line of memory of objects and their overlays that is looked at wherever objects are gone through. Nothing that is read says what to read next, so
  /// that the processor need not wait for one before the other.
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

/// Has what was read for no other end than to be near be read.
func noteBroughtNear(_ sum: Int) { lastBroughtNear.store(sum, ordering: .relaxed) }

/// So many objects at a time: about as many lines of memory as a processor waits for at once.
private let broughtNearTogether = 16

/// What was read last, so that it has to be read.
private let lastBroughtNear = Atomic(0)

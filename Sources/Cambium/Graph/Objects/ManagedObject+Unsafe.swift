// Looks at what an object holds without counting references to it. Counting would take longer than most of the looks.
extension ManagedObject {
  /// Looks at the home; nil if there is none yet.
  ///
  /// - Parameter body: Must not put another home in its place.
  @inline(__always)
  func withHome<R>(_ body: (ObjectHome) -> R?) -> R? {
    guard let heldHome else { return nil }
    return heldHome._withUnsafeGuaranteedRef { body($0) }
  }

  /// Looks at a to-one relationship that is kept in rows; nil for most other names.
  @inline(__always)
  func withToOne<R>(_ name: String, _ body: (RelationshipInfo) throws -> R) rethrows -> R? {
    guard let r = heldHome?._withUnsafeGuaranteedRef({ $0.toOne(name) }) else { return nil }
    return try r._withUnsafeGuaranteedRef(body)
  }

  /// See ``ObjectHome/attribute(_:)``.
  @inline(__always)
  func directAttribute(_ name: String) -> DirectAttribute? {
    if QueueCheck.isOn { QueueCheck.check(self, name) }
    return heldHome.flatMap { $0._withUnsafeGuaranteedRef { $0.attribute(name) } }
  }

  /// Looks at the overlay, or changes it; nil if there is none.
  ///
  /// - Parameter body: Must not put another overlay in its place, or drop it.
  @inline(__always)
  func withOverlay<R>(_ body: (ObjectOverlay) -> R?) -> R? {
    guard let heldOverlay else { return nil }
    return heldOverlay._withUnsafeGuaranteedRef { body($0) }
  }

  /// Looks at the overlay by a closure that may throw.
  @inline(__always)
  func withOverlay<Failure: Error>(_ body: (ObjectOverlay) throws(Failure) -> Void) throws(Failure) {
    var failure: Failure?
    heldOverlay?._withUnsafeGuaranteedRef { overlay in
      do throws(Failure) { try body(overlay) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}

extension Array where Element: AnyObject {
  /// Calls `body` with each object and its place, without counting a reference to the object. The array keeps the
  /// objects meanwhile, whatever `body` does to the list that it was copied from.
  @inline(__always)
  func lend<Failure: Error>(_ body: (_ place: Int, _ object: Element) throws(Failure) -> Void) throws(Failure) {
    var place = 0
    let count = count
    while place < count {
      var failure: Failure?
      Unmanaged.passUnretained(self[place])._withUnsafeGuaranteedRef { object in
        do throws(Failure) { try body(place, object) } catch { failure = error }
      }
      if let failure { throw failure }
      place += 1
    }
    withExtendedLifetime(self) {}
  }

  /// Calls `body` with the object at a place, which the caller keeps.
  @inline(__always)
  func lend<R, Failure: Error>(_ place: Int, _ body: (Element) throws(Failure) -> R) throws(Failure) -> R {
    let result = Unmanaged.passUnretained(self[place])._withUnsafeGuaranteedRef { object in
      Result { () throws(Failure) in try body(object) }
    }
    return try result.get()
  }
}

extension Array where Element: ManagedObject {
  /// Calls `body` with each object and its place, without retaining the object. The array keeps the objects meanwhile,
  /// whatever `body` does to the list that it was copied from.
  @inline(__always)
  func lend<Failure: Error>(_ body: (_ place: Int, _ object: Element) throws(Failure) -> Void) throws(Failure) {
    var place = 0
    let count = count
    while place < count {
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
}

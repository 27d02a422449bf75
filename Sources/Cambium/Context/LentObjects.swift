extension Array where Element: ManagedObject {
  /// Goes through the objects without counting a reference to each: to those that lie far from one another in memory, that takes as
  /// long as most of what is done with them. The array holds them meanwhile, whatever `body` does to what it was copied from.
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

// Switches of Core Data for which Cambium has one behaviour.
extension ManagedObjectContext {
  /// Whether deletes propagate at the end of the event, as they do in Core Data unless this is off. In Cambium, deletes
  /// propagate immediately, so that no object leads to a deleted one. Always false. Setting it to true notes
  /// ``CambiumError/Code/unsupported`` in ``recordedErrors``.
  public var propagatesDeletesAtEndOfEvent: Bool {
    get { false }
    set {
      guard newValue else { return }
      lock.run {
        record(
          CambiumError(
            .unsupported, "delete rules are applied when an object is deleted; propagatesDeletesAtEndOfEvent stays off"),
          losesChange: false)
      }
    }
  }

  /// The age limit of cached rows in seconds. Negative for no limit. The value is kept, and has no effect.
  ///
  /// Core Data has a cache of rows between contexts and stores. Cambium has none. An object shows the commit that its
  /// context reads: the newest one at the time of the last fetch, refresh or save, or the one of its query generation.
  public var stalenessInterval: Double {
    get { lock.run { snapshots.stalenessInterval } }
    set { lock.run { snapshots.stalenessInterval = newValue } }
  }
}

// What Core Data has to be told, and Cambium does one way.
extension ManagedObjectContext {
  /// Whether delete rules wait for the end of the event, as they do in Core Data unless this is off. In Cambium they never do:
  /// ``delete(_:)`` applies nullify and cascade at once, so that no object is seen that leads to one that is deleted. Always
  /// false; setting it to true is noted as ``CambiumError/Code/unsupported`` in ``recordedErrors``.
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

  /// How old, in seconds, what a cache has of a row may be when an object is read; negative for no limit. Core Data has a cache of
  /// rows between contexts and stores. Cambium has none: what is read is of the commit that the context sees, which is the newest
  /// as of the last fetch, refresh or save, or that of its query generation, and so never older than any value allows. The value is
  /// kept, and has no effect.
  public var stalenessInterval: Double {
    get { lock.run { keptStalenessInterval } }
    set { lock.run { keptStalenessInterval = newValue } }
  }
}

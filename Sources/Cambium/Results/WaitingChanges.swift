/// What a results controller was told of and has not looked at yet.
struct WaitingChanges {
  /// What was saved by others, or taken in.
  var saved = ObjectIDNotification()
  /// What the controller's own context has saved, of which events have told already.
  var own = ObjectIDNotification()
  /// Whether the controller's own context has saved, if anything.
  var isOwnSave = false
  /// What events of the controller's context have changed.
  var changed = Set<ManagedObject>()
  /// What was refreshed in events.
  var refreshed = Set<ManagedObject>()

  /// Whether there is nothing that was saved, and no event.
  var isEmpty: Bool { !isOfStores && changed.isEmpty && refreshed.isEmpty }
  /// Whether rows may be others than before.
  var isOfStores: Bool { isOwnSave || !saved.isEmpty || !own.isEmpty }

  mutating func formUnion(_ other: WaitingChanges) {
    saved.formUnion(other.saved)
    own.formUnion(other.own)
    isOwnSave = isOwnSave || other.isOwnSave
    changed.formUnion(other.changed)
    refreshed.formUnion(other.refreshed)
  }
}

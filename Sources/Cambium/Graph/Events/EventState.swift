import CambiumEngine

/// What an object was when the present event began: noted at its first change in the event, so that the event can be
/// told, undone, and taken back as a whole.
enum EventState {
  /// It was not there.
  case absent
  /// It had no unsaved changes and no transient values.
  case unchanged
  case changed(EventSnapshot)

  /// Whether the object was there.
  var existed: Bool {
    switch self {
    case .absent: return false
    case .unchanged: return true
    case .changed(let snapshot): return !snapshot.isDeleted
    }
  }

  /// The changes that the object had.
  var snapshot: EventSnapshot? {
    if case .changed(let snapshot) = self { return snapshot }
    return nil
  }
}

/// The unsaved changes of an object at a moment.
final class EventSnapshot {
  let attributeChanges: PropertyMap<Value>
  var toOneChanges: PropertyMap<ManagedObjectID?>
  var toManyChanges: PropertyMap<ToManyChange>
  let transients: [String: Any]
  let isDeleted: Bool
  let isRegisteredAsUpdated: Bool

  init(_ object: ManagedObject) {
    attributeChanges = object.attributeChanges
    toOneChanges = object.toOneChanges
    toManyChanges = object.toManyChanges
    transients = object.transients
    isDeleted = object.isDeleted
    isRegisteredAsUpdated = object.pending == .updated
  }
}

extension ManagedObject {
  /// Is called before anything of the object changes that is saved.
  @inline(__always) func willChange() {
    if withOverlay({ $0.hasEventState && !$0.fields.pointee.isWatchedBySave }) != true { noteFirstChange() }
  }

  private func noteFirstChange() {
    if let overlay, overlay.fields.pointee.isWatchedBySave {
      overlay.fields.pointee.isWatchedBySave = false
      managedObjectContext?.session?.changedWhileTold?.append(self)
    }
    willChangeForNow()
  }

  /// Is called before anything of the object changes that is of the event alone.
  func willChangeForNow() {
    if overlay?.hasEventState != true { noteEventState() }
  }

  private func noteEventState() {
    guard let context = managedObjectContext, state != .detached else { return }
    guard context.events.isNoting else { return context.noteChangeBySaving(self) }
    let overlay = ownOverlay
    let isUnchanged = overlay.hasNoChanges && overlay.transients.isEmpty && !isDeleted
    overlay.eventState = isUnchanged ? .unchanged : .changed(EventSnapshot(self))
    context.events.objects.append(self)
  }

  /// Whether the object is there: neither deleted nor gone.
  var isPresent: Bool { !isDeleted && state != .detached }

  // MARK: What the event changed

  /// The persistent properties that were changed since the last ``ContextNotification/Kind/objectsDidChange``, with the
  /// values that they had then; while that is told, those of the event that it tells. Core Data:
  /// `changedValuesForCurrentEvent`.
  ///
  /// For an object that came with the event: the properties that have a value, with `nil`.
  public func changedValuesForCurrentEvent() -> [String: Any?] {
    guard let event = eventState ?? managedObjectContext?.events.told?.change(of: self)?.before else { return [:] }
    var result: [String: Any?] = [:]
    do {
      for change in try PropertyChange.changes(of: self, since: event) {
        if case .transient = change { continue }
        result.updateValue(try change.oldValue(of: self), forKey: change.name)
      }
    } catch { managedObjectContext?.record(error, losesChange: false) }
    return result
  }
}

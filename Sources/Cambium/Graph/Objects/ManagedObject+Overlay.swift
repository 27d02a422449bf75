import CambiumEngine

// Seen from the object, everything is there all the time.
extension ManagedObject {
  /// The overlay, made if there is none.
  var ownOverlay: ObjectOverlay {
    if let overlay { return overlay }
    // Most attributes of a new object are set, and its overlay stays when it is inserted.
    let made = ObjectOverlay.make(room: isEarly ? info.attributeKeys.count : 0)
    overlay = made
    return made
  }

  /// Sets an attribute over the row.
  @inline(__always)
  func overlay(_ value: consuming Value, at place: Int) {
    if heldOverlay == nil { makeOverlay() }
    withOverlay { $0.setAttribute(value, at: place) }
  }

  @inline(never)
  private func makeOverlay() { _ = ownOverlay }

  /// Has the attribute at a place be that of the row again.
  func takeBackOverlay(at place: Int) {
    withOverlay { $0.removeAttribute(at: place) }
  }

  /// Whether there is any unsaved change.
  var hasValueChanges: Bool { withOverlay { !$0.hasNoChanges } ?? false }

  /// Whether there is any unsaved change of a relationship.
  var changesRelationships: Bool {
    withOverlay { !$0.toOneChanges.isEmpty || !$0.toManyChanges.isEmpty } ?? false
  }

  /// Whether there is any unsaved change of a to-one relationship.
  var changesToOne: Bool {
    withOverlay { !$0.toOneChanges.isEmpty } ?? false
  }

  /// Whether any attribute has an unsaved change.
  var changesAttributes: Bool { withOverlay { $0.changesAttributes } ?? false }

  /// Whether the attribute at a place has an unsaved change.
  func changesAttribute(at place: Int) -> Bool {
    withOverlay { $0.changesAttribute(at: place) } ?? false
  }

  /// What the attribute at a place is changed to; nil if it is not.
  func changedAttribute(at place: Int) -> Value? {
    withOverlay { $0.changedAttribute(at: place) }
  }

  /// See ``ObjectOverlay/attributeChanges``.
  var attributeChanges: PropertyMap<Value> {
    get { overlay?.attributeChanges ?? [:] }
    set { if overlay != nil || !newValue.isEmpty { ownOverlay.attributeChanges = newValue } }
  }

  var toOneChanges: PropertyMap<ManagedObjectID?> {
    get { overlay?.toOneChanges ?? [:] }
    set { if overlay != nil || !newValue.isEmpty { ownOverlay.toOneChanges = newValue } }
    _modify { yield &ownOverlay.toOneChanges }
  }

  var toManyChanges: PropertyMap<ToManyChange> {
    get { overlay?.toManyChanges ?? [:] }
    set { if overlay != nil || !newValue.isEmpty { ownOverlay.toManyChanges = newValue } }
    _modify { yield &ownOverlay.toManyChanges }
  }

  var transients: [String: Any] {
    get { overlay?.transients ?? [:] }
    set { if overlay != nil || !newValue.isEmpty { ownOverlay.transients = newValue } }
    _modify { yield &ownOverlay.transients }
  }

  var fetchedValues: [String: [ManagedObjectID]] {
    get { overlay?.fetchedValues ?? [:] }
    set { if overlay != nil || !newValue.isEmpty { ownOverlay.fetchedValues = newValue } }
    _modify { yield &ownOverlay.fetchedValues }
  }

  var changeOrder: UInt64 {
    get { withOverlay { $0.fields.pointee.changeOrder } ?? 0 }
    set { ownOverlay.fields.pointee.changeOrder = newValue }
  }

  var toldOfSave: UInt64 {
    get { withOverlay { $0.fields.pointee.toldOfSave } ?? 0 }
    set { ownOverlay.fields.pointee.toldOfSave = newValue }
  }

  /// Forgets what the object was before the event.
  func forgetEventState() {
    withOverlay { $0.eventState = nil }
  }

  /// Notes the place among the insertions of a save.
  func noteSavePlace(_ place: Int) {
    if heldOverlay == nil { makeOverlay() }
    withOverlay { $0.fields.pointee.savePlace = place }
  }

  /// Notes that the object is told of a save, and is watched from now on.
  func noteTold(ofSave number: UInt64) {
    if heldOverlay == nil { makeOverlay() }
    withOverlay {
      $0.fields.pointee.toldOfSave = number
      $0.fields.pointee.isWatchedBySave = true
    }
  }

  /// In a child context, what the parent had over the row.
  var parentState: ParentState? {
    @inline(__always) get { withOverlay { $0.parentState } }
    set { if heldOverlay != nil || newValue != nil { ownOverlay.parentState = newValue } }
  }

  var eventState: EventState? {
    get { overlay?.eventState }
    set { if overlay != nil || newValue != nil { ownOverlay.eventState = newValue } }
  }

  /// Drops all changes.
  func dropChanges() {
    guard let isWithoutMore = withOverlay({ $0.isWithoutMore }) else { return }
    if isWithoutMore {
      self.overlay = nil
      return
    }
    let overlay = ownOverlay
    overlay.attributeChanges = [:]
    overlay.toOneChanges = [:]
    overlay.toManyChanges = [:]
    if overlay.isIdle { self.overlay = nil }
  }
}

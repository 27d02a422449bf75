import CambiumEngine

/// What an object has besides its row: unsaved changes, values that are not stored, and what a context notes of objects that
/// change. Most objects of a context are only read, and have none.
final class ObjectOverlay {
  // Exclusive access is not checked at run time, since the checks would take longer than most uses; nothing that is called
  // while one of these is being changed comes back.
  @exclusivity(unchecked) var attributeChanges: PropertyMap<Value> = [:]
  @exclusivity(unchecked) var toOneChanges: PropertyMap<ManagedObjectID?> = [:]
  @exclusivity(unchecked) var toManyChanges: PropertyMap<ToManyChange> = [:]
  @exclusivity(unchecked) private var unstored: Unstored?
  /// Places the object among the changed ones in the order in which they came.
  @exclusivity(unchecked) var changeOrder: UInt64 = 0
  /// The save that the object was last told of, by its number.
  @exclusivity(unchecked) var toldOfSave: UInt64 = 0
  /// Whether the next change is one behind that, of which the object is to be told again.
  @exclusivity(unchecked) var isWatchedBySave = false
  /// Whether it was said that a change comes, by hand.
  @exclusivity(unchecked) var isChangeNoticed = false
  /// The place among the insertions of the save that was last tried.
  @exclusivity(unchecked) var savePlace = 0
  /// The write that has found the object's row in the store, by its number.
  @exclusivity(unchecked) var foundByWrite: UInt64 = 0
  /// What the object was before the present event; `nil` if the event has not changed it.
  @exclusivity(unchecked) var eventState: EventState?

  /// Values that are not stored: few objects have any.
  private final class Unstored {
    @exclusivity(unchecked) var transients: [String: Any] = [:]
    @exclusivity(unchecked) var fetchedValues: [String: [ManagedObjectID]] = [:]
  }

  private func makeUnstored() -> Unstored {
    let made = unstored ?? Unstored()
    unstored = made
    return made
  }

  /// The values of transient properties.
  var transients: [String: Any] {
    get { unstored?.transients ?? [:] }
    set { if unstored != nil || !newValue.isEmpty { makeUnstored().transients = newValue } }
    _modify { yield &makeUnstored().transients }
  }

  /// What fetched properties gave, until the object is refreshed. Identifiers, since objects that hold one another would never go.
  var fetchedValues: [String: [ManagedObjectID]] {
    get { unstored?.fetchedValues ?? [:] }
    set { if unstored != nil || !newValue.isEmpty { makeUnstored().fetchedValues = newValue } }
    _modify { yield &makeUnstored().fetchedValues }
  }

  /// Whether there is an ``eventState``: asked at every change.
  var hasEventState: Bool {
    @inline(__always) get { eventState != nil }
  }

  /// Whether a to-many relationship at any place that is so is changed. As a rule one is, if any: then what it has is not copied.
  @inline(__always)
  func changesToMany(where isWanted: (Int) -> Bool) -> Bool {
    let first = toManyChanges.lowestKey
    if first < 0 { return false }
    return isWanted(first) || toManyChanges.count > 1 && toManyChanges.containsKey(where: isWanted)
  }

  /// Whether there is no unsaved change.
  var hasNoChanges: Bool { attributeChanges.isEmpty && toOneChanges.isEmpty && toManyChanges.isEmpty }

  /// Whether nothing but unsaved changes would be lost with it.
  var isWithoutMore: Bool { unstored == nil && !hasEventState }

  /// Whether nothing would be lost with it.
  var isIdle: Bool { hasNoChanges && !hasEventState && transients.isEmpty && fetchedValues.isEmpty }
}

// Seen from the object, everything is there all the time.
extension ManagedObject {
  /// The overlay, made if there is none.
  var ownOverlay: ObjectOverlay {
    if let overlay { return overlay }
    let made = ObjectOverlay()
    overlay = made
    return made
  }

  /// Sets an attribute over the row.
  @inline(__always)
  func overlay(_ value: consuming Value, at place: Int) {
    guard let heldOverlay else { return overlayFirst(value, at: place) }
    heldOverlay._withUnsafeGuaranteedRef { $0.attributeChanges.updateValue(value, forKey: place) }
  }

  @inline(never)
  private func overlayFirst(_ value: Value, at place: Int) {
    ownOverlay.attributeChanges.updateValue(value, forKey: place)
  }

  /// Whether there is any unsaved change.
  var hasValueChanges: Bool { heldOverlay.map { $0._withUnsafeGuaranteedRef { !$0.hasNoChanges } } ?? false }

  /// Whether there is any unsaved change of a relationship.
  var changesRelationships: Bool {
    heldOverlay.map { $0._withUnsafeGuaranteedRef { !$0.toOneChanges.isEmpty || !$0.toManyChanges.isEmpty } } ?? false
  }

  /// Whether there is any unsaved change of a to-one relationship.
  var changesToOne: Bool {
    heldOverlay.map { $0._withUnsafeGuaranteedRef { !$0.toOneChanges.isEmpty } } ?? false
  }

  var attributeChanges: PropertyMap<Value> {
    get { overlay?.attributeChanges ?? [:] }
    set { if overlay != nil || !newValue.isEmpty { ownOverlay.attributeChanges = newValue } }
    _modify { yield &ownOverlay.attributeChanges }
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
    get { heldOverlay.map { $0._withUnsafeGuaranteedRef { $0.changeOrder } } ?? 0 }
    set { ownOverlay.changeOrder = newValue }
  }

  var toldOfSave: UInt64 {
    get { heldOverlay.map { $0._withUnsafeGuaranteedRef { $0.toldOfSave } } ?? 0 }
    set { ownOverlay.toldOfSave = newValue }
  }

  /// Forgets what the object was before the event.
  func forgetEventState() {
    heldOverlay?._withUnsafeGuaranteedRef { $0.eventState = nil }
  }

  /// Notes the place among the insertions of a save.
  func noteSavePlace(_ place: Int) {
    guard let heldOverlay else { return ownOverlay.savePlace = place }
    heldOverlay._withUnsafeGuaranteedRef { $0.savePlace = place }
  }

  /// Notes that the object is told of a save, and is watched from now on.
  func noteTold(ofSave number: UInt64) {
    let overlay = heldOverlay ?? .passUnretained(ownOverlay)
    overlay._withUnsafeGuaranteedRef {
      $0.toldOfSave = number
      $0.isWatchedBySave = true
    }
  }

  var eventState: EventState? {
    get { overlay?.eventState }
    set { if overlay != nil || newValue != nil { ownOverlay.eventState = newValue } }
  }

  /// Drops all changes.
  func dropChanges() {
    guard let heldOverlay else { return }
    if heldOverlay._withUnsafeGuaranteedRef({ $0.isWithoutMore }) {
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

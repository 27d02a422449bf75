import CambiumEngine

/// What an object has besides its row: unsaved changes, values that are not stored, and what a context notes of objects
/// that change. Most objects of a context are only read, and have none.
///
/// One piece of memory: what every overlay has, and behind it the values of the first attributes of an object that is
/// new, most of which are set as a rule. An array of them would be a second piece, to be had and given back, and to be
/// waited for.
final class ObjectOverlay: ManagedBuffer<Void, UInt64> {
  /// What the memory is counted by; it is used as something else.
  typealias Word = UInt64

  // Exclusive access is not checked at run time, as it would be for a stored property, since the checks would take
  // longer than most uses; nothing that is called while an overlay is being changed comes back.

  /// An overlay without anything, with room for the values of as many attributes, of which there are ``mostRoom`` at
  /// most.
  static func make(room: Int = 0) -> ObjectOverlay {
    let room = min(room, mostRoom)
    let size = valuesOffset + room * MemoryLayout<Value>.stride
    let made = create(minimumCapacity: (size + MemoryLayout<Word>.size - 1) / MemoryLayout<Word>.size) { _ in }
    let overlay = unsafeDowncast(made, to: ObjectOverlay.self)
    overlay.fields.initialize(to: OverlayFields(room: room))
    return overlay
  }

  /// As many are marked by the bits of a word; and of entities with more, most attributes of an object may well be
  /// null.
  static let mostRoom = 32

  deinit {
    dropValuesInPlace()
    if let seldom = fields.pointee.seldom, !seldom.transients.isEmpty { ManagedObject.letGo(of: &seldom.transients) }
    fields.deinitialize(count: 1)
  }

  private var start: UnsafeMutableRawPointer {
    @inline(__always) get { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } }
  }

  /// What every overlay has. There as long as the overlay.
  var fields: UnsafeMutablePointer<OverlayFields> {
    @inline(__always) get { start.assumingMemoryBound(to: OverlayFields.self) }
  }

  /// The values of attributes, of which those are there that are marked.
  fileprivate var values: UnsafeMutablePointer<Value> {
    @inline(__always) get { (start + Self.valuesOffset).assumingMemoryBound(to: Value.self) }
  }

  private static var valuesOffset: Int {
    @inline(__always) get {
      let alignment = MemoryLayout<Value>.alignment
      return (MemoryLayout<OverlayFields>.size + alignment - 1) & ~(alignment - 1)
    }
  }
}

/// What every overlay has.
struct OverlayFields {
  /// The attributes whose values lie behind, by the bits of their places.
  fileprivate var inPlace: UInt64 = 0
  /// So many attributes have room there, by their places; those of all others are in ``elsewhere``.
  fileprivate let room: Int
  /// Places the object among the changed ones in the order in which they came.
  var changeOrder: UInt64 = 0
  /// The save that the object was last told of, by its number.
  var toldOfSave: UInt64 = 0
  /// The place among the insertions of the save that was last tried.
  var savePlace = 0
  /// Whether the next change is one behind ``toldOfSave``, of which the object is to be told again.
  var isWatchedBySave = false
  /// Whether it was said that a change comes, by hand.
  var isChangeNoticed = false
  /// What the object was before the present event; `nil` if the event has not changed it.
  var eventState: EventState?
  fileprivate var seldom: Seldom?
  var toOneChanges: PropertyMap<ManagedObjectID?> = [:]
  var toManyChanges: PropertyMap<ToManyChange> = [:]
  fileprivate var elsewhere: PropertyMap<Value> = [:]

  fileprivate init(room: Int) { self.room = room }

  /// What few objects have.
  fileprivate final class Seldom {
    var transients: [String: Any] = [:]
    var fetchedValues: [String: [ManagedObjectID]] = [:]
    var parentState: ParentState?
    var earlyError: (any Error)?
  }

  fileprivate mutating func makeSeldom() -> Seldom {
    let made = seldom ?? Seldom()
    seldom = made
    return made
  }
}

// MARK: Attributes

extension ObjectOverlay {
  /// Whether an attribute that there is room for is changed.
  @inline(__always)
  private func isInPlace(_ place: Int) -> Bool {
    fields.pointee.inPlace & 1 &<< UInt64(truncatingIfNeeded: place) != 0
  }

  /// Whether any attribute is changed.
  var changesAttributes: Bool {
    @inline(__always) get { fields.pointee.inPlace != 0 || !fields.pointee.elsewhere.isEmpty }
  }

  /// Whether the attribute at a place is changed.
  @inline(__always)
  func changesAttribute(at place: Int) -> Bool {
    place < fields.pointee.room ? isInPlace(place) : fields.pointee.elsewhere.contains(place)
  }

  /// What `body` says of what the attribute at a place is changed to, which is looked at where it is; nil if it is not
  /// changed.
  @inline(__always)
  func lookAtAttribute<R>(_ place: Int, _ body: (Value) -> R) -> R? {
    if place >= fields.pointee.room { return fields.pointee.elsewhere.look(at: place, body) }
    return isInPlace(place) ? body(values[place]) : nil
  }

  /// What the attribute at a place is changed to; nil if it is not.
  @inline(__always)
  func changedAttribute(at place: Int) -> Value? { lookAtAttribute(place) { $0 } }

  /// Changes the attribute at a place, which is not below 0.
  func setAttribute(_ value: Value, at place: Int) {
    if place >= fields.pointee.room { return fields.pointee.elsewhere.updateValue(value, forKey: place) }
    if isInPlace(place) {
      values[place] = value
    } else {
      (values + place).initialize(to: value)
      fields.pointee.inPlace |= 1 &<< UInt64(truncatingIfNeeded: place)
    }
  }

  /// Takes the change of the attribute at a place back, if there is one.
  func removeAttribute(at place: Int) {
    if place >= fields.pointee.room { return fields.pointee.elsewhere.removeValue(forKey: place) }
    guard isInPlace(place) else { return }
    fields.pointee.inPlace &= ~(1 &<< UInt64(truncatingIfNeeded: place))
    (values + place).deinitialize(count: 1)
  }

  /// Goes through the changed attributes in the order of their places, without copying the values.
  @inline(__always)
  func forEachAttribute<Failure: Error>(
    _ body: (_ place: Int, _ value: Value) throws(Failure) -> Void
  ) throws(Failure) {
    var rest = fields.pointee.inPlace
    while rest != 0 {
      let place = rest.trailingZeroBitCount
      rest &= rest &- 1
      try body(place, values[place])
    }
    try fields.pointee.elsewhere.forEach(body)
  }

  /// The changed attributes by their places, copied. O(number of them): one alone is asked for, and changed, by what is
  /// above.
  var attributeChanges: PropertyMap<Value> {
    get {
      if fields.pointee.room == 0 { return fields.pointee.elsewhere }
      var map: PropertyMap<Value> = [:]
      map.reserveCapacity(fields.pointee.inPlace.nonzeroBitCount)
      forEachAttribute { map.updateValue($1, forKey: $0) }
      return map
    }
    set {
      dropValuesInPlace()
      if fields.pointee.room == 0 {
        fields.pointee.elsewhere = newValue
      } else {
        fields.pointee.elsewhere = [:]
        newValue.forEach { setAttribute($1, at: $0) }
      }
    }
  }

  fileprivate func dropValuesInPlace() {
    var rest = fields.pointee.inPlace
    fields.pointee.inPlace = 0
    while rest != 0 {
      (values + rest.trailingZeroBitCount).deinitialize(count: 1)
      rest &= rest &- 1
    }
  }
}

// MARK: The rest

extension ObjectOverlay {
  var toOneChanges: PropertyMap<ManagedObjectID?> {
    @inline(__always) get { fields.pointee.toOneChanges }
    @inline(__always) set { fields.pointee.toOneChanges = newValue }
    @inline(__always) _modify { yield &fields.pointee.toOneChanges }
  }

  var toManyChanges: PropertyMap<ToManyChange> {
    @inline(__always) get { fields.pointee.toManyChanges }
    @inline(__always) set { fields.pointee.toManyChanges = newValue }
    @inline(__always) _modify { yield &fields.pointee.toManyChanges }
  }

  /// See ``OverlayFields/eventState``.
  var eventState: EventState? {
    @inline(__always) get { fields.pointee.eventState }
    @inline(__always) set { fields.pointee.eventState = newValue }
  }

  /// The values of transient properties.
  var transients: [String: Any] {
    get { fields.pointee.seldom?.transients ?? [:] }
    set {
      if fields.pointee.seldom != nil || !newValue.isEmpty { fields.pointee.makeSeldom().transients = newValue }
    }
    _modify { yield &fields.pointee.makeSeldom().transients }
  }

  /// What fetched properties gave, until the object is refreshed. Identifiers, since objects that hold one another
  /// would never go.
  var fetchedValues: [String: [ManagedObjectID]] {
    get { fields.pointee.seldom?.fetchedValues ?? [:] }
    set {
      if fields.pointee.seldom != nil || !newValue.isEmpty { fields.pointee.makeSeldom().fetchedValues = newValue }
    }
    _modify { yield &fields.pointee.makeSeldom().fetchedValues }
  }

  /// The first error by which a change was lost of an object that belongs to no context yet.
  var earlyError: (any Error)? {
    get { fields.pointee.seldom?.earlyError }
    set { fields.pointee.makeSeldom().earlyError = newValue }
  }

  /// Forgets what few objects have.
  func dropSeldom() { fields.pointee.seldom = nil }

  /// In a child context, what the parent had over the row.
  var parentState: ParentState? {
    @inline(__always) get { fields.pointee.seldom?.parentState }
    set {
      if fields.pointee.seldom != nil || newValue != nil { fields.pointee.makeSeldom().parentState = newValue }
    }
  }

  /// Whether there is an ``OverlayFields/eventState``: asked at every change.
  var hasEventState: Bool {
    @inline(__always) get { fields.pointee.eventState != nil }
  }

  /// Whether there is no unsaved change.
  var hasNoChanges: Bool {
    !changesAttributes && fields.pointee.toOneChanges.isEmpty && fields.pointee.toManyChanges.isEmpty
  }

  /// Whether nothing but unsaved changes would be lost with it.
  var isWithoutMore: Bool { fields.pointee.seldom == nil && !hasEventState }

  /// Whether nothing would be lost with it.
  var isIdle: Bool {
    hasNoChanges && !hasEventState && transients.isEmpty && fetchedValues.isEmpty && parentState == nil
  }
}

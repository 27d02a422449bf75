import CambiumEngine

/// The objects of a context by their identifiers: a hash table of blocks, each of the objects of eight rows that follow
/// one another.
///
/// Rows that are made or read together lie together, so that most look-ups go where the last one went, or near it; a
/// dictionary, or a table with a place for every object, has each of them wait for memory. A context without locality
/// pays 130 to 260 bytes for an object.
///
/// The blocks of 64 rows that follow one another lie beside each other as well: eight of them have one place by hash,
/// in an order of the eight that is by the hash, too, so that rows that are all so far apart are spread. What is taken
/// is passed over by eights, since a run of rows would otherwise be gone through one by one.
///
/// What is in a block is plain memory of the table's own, so that an object can be asked in place whether anybody else
/// holds it.
struct ObjectTable: ~Copyable {
  //   keys   | row / 8, entity, store |        |        | ...
  //   slots  | 8 objects              |        |        | ...

  private struct Key {
    /// The row by eight; ``none`` in a block that is free.
    var rows: UInt64
    var entity: UInt32
    /// The place of the store among ``spaces``.
    var space: UInt32

    static let none = UInt64.max
  }

  private var keys: UnsafeMutablePointer<Key>
  private var slots: UnsafeMutablePointer<ManagedObject?>
  /// How many blocks there are: a power of two.
  private(set) var capacity: Int
  /// How many blocks are taken, those included of which nothing is left.
  private var taken = 0
  /// How many objects there are.
  private(set) var count = 0
  /// A block: the one that was looked for last.
  private var last = 0
  /// How many times objects got other places.
  private(set) var rebuilds = 0
  /// The stores of the objects.
  private var spaces: [StoreSpace] = []

  private static let blockSize = 8
  private static let leastCapacity = 8
  /// How many blocks lie beside each other, as a power of two.
  private static let runBits: UInt64 = 3

  init() {
    capacity = Self.leastCapacity
    (keys, slots) = Self.allocate(capacity)
  }

  deinit {
    slots.deinitialize(count: capacity * Self.blockSize)
    slots.deallocate()
    keys.deallocate()
  }

  private static func allocate(_ capacity: Int) -> (UnsafeMutablePointer<Key>, UnsafeMutablePointer<ManagedObject?>) {
    let keys = UnsafeMutablePointer<Key>.allocate(capacity: capacity)
    keys.initialize(repeating: Key(rows: Key.none, entity: 0, space: 0), count: capacity)
    let slots = UnsafeMutablePointer<ManagedObject?>.allocate(capacity: capacity * blockSize)
    slots.initialize(repeating: nil, count: capacity * blockSize)
    return (keys, slots)
  }

  // MARK: Finding

  @inline(__always)
  private func first(_ key: Key) -> Int {
    // The same rows of several entities and stores must not begin at the same place.
    let others = UInt64(key.entity) &* 0xC2B2_AE3D_27D4_EB4F &+ UInt64(key.space) &* 0x1656_67B1_9E37_79F9
    let hash = ((key.rows &>> Self.runBits) &+ others) &* 0x9E37_79B9_7F4A_7C15
    let within = (key.rows ^ hash &>> 29) & (1 &<< Self.runBits &- 1)
    return Int(truncatingIfNeeded: (hash &>> 32) &<< Self.runBits | within) & (capacity &- 1)
  }

  /// Where to look next for what began to be looked for at `start`, if `block` is another's.
  @inline(__always)
  private func next(_ block: Int, _ start: inout Int) -> Int {
    let next = (block &+ 1 &<< Self.runBits) & (capacity &- 1)
    if next != start { return next }
    // All of these are taken.
    start = (start &+ 1) & (capacity &- 1)
    return start
  }

  /// The block of a key, which is the one that was looked for last more often than not.
  @inline(__always)
  private mutating func lastBlock(_ key: Key) -> (block: Int, isThere: Bool) {
    let known = keys[last]
    if known.rows == key.rows, known.entity == key.entity, known.space == key.space { return (last, true) }
    let found = block(key)
    last = found.block
    return found
  }

  /// The block of a key, or the free one where it would have to be.
  @inline(__always)
  private func block(_ key: Key) -> (block: Int, isThere: Bool) {
    var block = first(key)
    var start = block
    while keys[block].rows != Key.none {
      if keys[block].rows == key.rows, keys[block].entity == key.entity, keys[block].space == key.space {
        return (block, true)
      }
      block = next(block, &start)
    }
    return (block, false)
  }

  @inline(__always)
  private mutating func place(of space: StoreSpace) -> UInt32? {
    var place = 0
    while place < spaces.count {
      if spaces[place] === space { return UInt32(truncatingIfNeeded: place) }
      place &+= 1
    }
    // A store that is opened again has another one of the same identifier, which is asked for from then on.
    guard let known = spaces.firstIndex(where: { $0.identifier == space.identifier }) else { return nil }
    spaces[known] = space
    return UInt32(truncatingIfNeeded: known)
  }

  @inline(__always)
  private mutating func slot(_ space: StoreSpace, _ reference: ObjectReference) -> Int? {
    if count == 0 { return nil }
    guard let space = place(of: space) else { return nil }
    let key = Key(rows: reference.row &>> 3, entity: reference.entity, space: space)
    let (block, isThere) = lastBlock(key)
    return isThere ? block &* Self.blockSize &+ Int(reference.row & 7) : nil
  }

  /// The object of an identifier, whether anybody else holds it or not.
  mutating func object(_ id: ManagedObjectID) -> ManagedObject? { object(id.space, id.reference) }

  mutating func object(_ space: StoreSpace, _ reference: ObjectReference) -> ManagedObject? {
    slot(space, reference).flatMap { slots[$0] }
  }

  /// Looks at the object of an identifier, whether anybody else holds it or not.
  ///
  /// - Parameter body: Must not change the table.
  @inline(__always)
  mutating func glance<R>(_ id: ManagedObjectID, _ body: (ManagedObject) -> R?) -> R? {
    guard let slot = slot(id.space, id.reference) else { return nil }
    return slots[slot].flatMap { Unmanaged.passUnretained($0)._withUnsafeGuaranteedRef(body) }
  }

  /// The object of an identifier; or, if nobody else holds it, the object that is let go of, which the caller has to
  /// keep until nothing is under way.
  @inline(__always)
  mutating func heldObject(
    _ space: StoreSpace, _ reference: ObjectReference
  ) -> (held: ManagedObject?, released: ManagedObject?) {
    guard let slot = slot(space, reference), slots[slot] != nil else { return (nil, nil) }
    if !isKnownUniquelyReferenced(&slots[slot]) { return (slots[slot], nil) }
    count -= 1
    return (nil, slots[slot].take())
  }

  // MARK: Changing

  /// Adds an object; answers the one that was there.
  mutating func add(_ object: ManagedObject, _ id: ManagedObjectID) -> ManagedObject? {
    add(object, id.space, id.reference)
  }

  mutating func add(
    _ object: consuming ManagedObject, _ store: StoreSpace, _ reference: ObjectReference
  ) -> ManagedObject? {
    var space = place(of: store)
    if space == nil {
      space = UInt32(truncatingIfNeeded: spaces.count)
      spaces.append(store)
    }
    let key = Key(rows: reference.row &>> 3, entity: reference.entity, space: space ?? 0)
    let (block, isThere) = lastBlock(key)
    if !isThere {
      if (taken &+ 1) &* 8 > capacity &* 5 {
        rebuild()
        // The stores may have other places.
        return add(object, store, reference)
      }
      keys[block] = key
      taken &+= 1
    }
    let slot = block &* Self.blockSize &+ Int(reference.row & 7)
    let old = slots[slot].take()
    if old == nil { count += 1 }
    slots[slot] = object
    return old
  }

  /// Has an object be found by another identifier of its store; answers who else was found by the old one and the new
  /// one. As a rule it is moved, without counting a reference to it.
  mutating func rename(
    _ object: ManagedObject, _ space: StoreSpace, from old: ObjectReference, to new: ObjectReference
  ) -> (old: ManagedObject?, new: ManagedObject?) {
    guard let found = remove(space, old) else { return (nil, add(object, space, new)) }
    if found === object { return (nil, add(found, space, new)) }
    return (found, add(object, space, new))
  }

  /// Takes an object out, and answers it.
  mutating func remove(_ id: ManagedObjectID) -> ManagedObject? { remove(id.space, id.reference) }

  mutating func remove(_ space: StoreSpace, _ reference: ObjectReference) -> ManagedObject? {
    guard let slot = slot(space, reference), let object = slots[slot].take() else { return nil }
    count -= 1
    return object
  }

  /// Takes out objects that nobody else holds, of the blocks from `next` on, until there are `most` or a few more;
  /// `next` is then where to go on, or ``capacity``. O(number of blocks) for all of them, of which there are at most a
  /// few times as many as objects.
  ///
  /// The caller has to release them: moved as they are, since an array of objects would count references up and down
  /// for each.
  mutating func takeReleased(from next: inout Int, most: Int, into released: inout [Unmanaged<ManagedObject>]) {
    let before = released.count
    while next < capacity, released.count &- before < most {
      if keys[next].rows != Key.none {
        var slot = slots + next &* Self.blockSize
        let end = slot + Self.blockSize
        while slot < end {
          if isKnownUniquelyReferenced(&slot.pointee) {
            let raw = UnsafeMutableRawPointer(slot)
            if let object = raw.load(as: Unmanaged<ManagedObject>?.self) { released.append(object) }
            raw.storeBytes(of: nil, as: Unmanaged<ManagedObject>?.self)
          }
          slot += 1
        }
      }
      next &+= 1
    }
    count -= released.count - before
  }

  /// Makes the table smaller, if nothing is left in most of its blocks.
  mutating func shrink() {
    if taken <= 2 * (count / Self.blockSize) + Self.leastCapacity { return }
    var left = 0
    for block in 0..<capacity where keys[block].rows != Key.none {
      let slots = block * Self.blockSize..<(block + 1) * Self.blockSize
      if slots.contains(where: { self.slots[$0] != nil }) { left += 1 }
    }
    if taken > 2 * left + Self.leastCapacity { rebuild() }
  }

  /// All objects.
  var objects: [ManagedObject] {
    var result: [ManagedObject] = []
    result.reserveCapacity(count)
    for slot in 0..<capacity * Self.blockSize {
      if let object = slots[slot] { result.append(object) }
    }
    return result
  }

  /// Makes room for as many objects more, if they lie together as most do.
  mutating func makeRoom(for count: Int) {
    let more = count / Self.blockSize + 1
    if (taken + more) * 8 > capacity * 5 { rebuild(adding: more) }
  }

  /// Makes the table anew, for the blocks of which something is left and some more.
  private mutating func rebuild(adding more: Int = 0) {
    let (oldKeys, oldSlots, oldCapacity) = (keys, slots, capacity)
    var used = 0
    // The stores that objects are of, by the places that they had.
    var places: [UInt32?] = Array(repeating: nil, count: spaces.count)
    var present: [StoreSpace] = []
    for block in 0..<oldCapacity where oldKeys[block].rows != Key.none {
      let slots = block * Self.blockSize..<(block + 1) * Self.blockSize
      guard slots.contains(where: { oldSlots[$0] != nil }) else {
        oldKeys[block].rows = Key.none
        continue
      }
      used += 1
      let space = Int(oldKeys[block].space)
      if places[space] == nil {
        places[space] = UInt32(truncatingIfNeeded: present.count)
        present.append(spaces[space])
      }
      oldKeys[block].space = places[space] ?? 0
    }
    spaces = present
    // A table of which five eighths are taken becomes twice as large.
    var size = Self.leastCapacity
    while size * 5 < max((used + 1) * 12, (used + more) * 8) { size *= 2 }
    capacity = size
    last = 0
    rebuilds &+= 1
    (keys, slots) = Self.allocate(size)
    taken = used
    for old in 0..<oldCapacity where oldKeys[old].rows != Key.none {
      let new = block(oldKeys[old]).block
      keys[new] = oldKeys[old]
      // What was there is nil, as is all that stays behind: neither needs to be released.
      (slots + new * Self.blockSize).moveInitialize(from: oldSlots + old * Self.blockSize, count: Self.blockSize)
    }
    oldSlots.deallocate()
    oldKeys.deallocate()
  }
}

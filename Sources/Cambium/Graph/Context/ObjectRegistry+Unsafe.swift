import CambiumEngine

/// The objects of a context, one for each identifier.
///
/// It holds them, and looks now and then for those that nobody else holds. Weak references would let go at once, but
/// make every retain and release of an object several times as slow. To those who ask it is as if it held them weakly:
/// what nobody else holds is not found any more.
final class ObjectRegistry {
  // Exclusive access is not checked at run time, since the checks would take longer than most look-ups. Objects that
  // are let go may run code of the application's at their end, which may come back: they are kept until nothing is
  // under way here.
  @exclusivity(unchecked) private var known = ObjectTable()
  /// At how many it looks next.
  @exclusivity(unchecked) private var limit = ObjectRegistry.least

  /// How many were left by the last ``sweepIfGrown()`` that did anything.
  private var left = 0
  /// What is let go of while objects end that a sweep has let go of. It ends behind them, and not within what they do
  /// at their end: a chain of objects, each of which looks at the next one then, would need memory of the stack for
  /// each.
  private var leaving: [Unmanaged<ManagedObject>] = []
  private var isSweeping = false
  /// Whether it keeps what nobody else holds.
  @exclusivity(unchecked) var retainsAll = false

  private static let least = 256
  /// So many objects are let go of before the next ones are looked for.
  private static let fewest = 64

  /// The object of an identifier.
  subscript(id: ManagedObjectID) -> ManagedObject? { object(id.space, id.reference) }

  /// The same by what an identifier is made of: to make one counts references.
  @inline(__always)
  func object(_ space: StoreSpace, _ reference: ObjectReference) -> ManagedObject? {
    if retainsAll { return known.object(space, reference) }
    let (held, released) = known.heldObject(space, reference)
    letGo(of: released)
    return held
  }

  /// The object of an identifier, which stays even if nobody else holds it: nothing of the application's is called.
  func peek(_ id: ManagedObjectID) -> ManagedObject? { known.object(id) }

  /// Looks at the object of an identifier without counting a reference to it.
  ///
  /// - Parameter body: Must not change the registry.
  @inline(__always)
  func glance<R>(_ id: ManagedObjectID, _ body: (ManagedObject) -> R?) -> R? { known.glance(id, body) }

  /// Finds an object by another identifier from now on. Looks for no others to let go of.
  func rename(_ object: ManagedObject, _ space: StoreSpace, from old: ObjectReference, to new: ObjectReference) {
    // What was there is nobody's, or the object itself, which the caller holds.
    let gone = known.rename(object, space, from: old, to: new)
    letGo(of: gone.old)
    letGo(of: gone.new)
  }

  /// How many there are, with those that nobody else holds any more.
  var count: Int { known.count }

  /// The objects.
  var objects: [ManagedObject] {
    sweep()
    return known.objects
  }

  /// Prepares for many objects that somebody holds.
  func makeRoom(for count: Int) {
    let (sum, overflow) = known.count.addingReportingOverflow(count)
    if overflow || sum < limit { return }
    sweep()
    limit = max(limit, known.count + count)
    known.makeRoom(for: count)
  }

  /// Lets go of what nobody else holds, if there is so much that something is to be added after that. What ends may do
  /// anything, with the context as well: call it before what it could have changed is looked at.
  @inline(__always)
  func sweepIfFull() { if known.count >= limit { sweep() } }

  /// Adds an object, in place of one of its identifier. Looks for no others to let go of, since what ends may do
  /// anything: see ``sweepIfFull()``.
  func add(_ object: ManagedObject) { add(object, object.objectID) }

  /// The same, its identifier being at hand.
  func add(_ object: ManagedObject, _ id: ManagedObjectID) { add(object, id.space, id.reference) }

  func add(_ object: ManagedObject, _ space: StoreSpace, _ reference: ObjectReference) {
    letGo(of: known.add(object, space, reference))
  }

  /// Adds an object, unless there is one of the identifier, which it answers then. Calls nothing of the application's,
  /// so that ``sweepIfFull()`` has to be called now and then.
  func addUnlessThere(
    _ object: ManagedObject, _ space: StoreSpace, _ reference: ObjectReference
  ) -> ManagedObject? {
    guard let there = known.add(object, space, reference) else { return nil }
    // The caller holds the other one.
    withExtendedLifetime(known.add(there, space, reference)) {}
    return there
  }

  func remove(_ id: ManagedObjectID) { remove(id.space, id.reference) }

  func remove(_ space: StoreSpace, _ reference: ObjectReference) { letGo(of: known.remove(space, reference)) }

  /// Lets an object go that was taken out. Nothing is under way in the table, since its end may come back.
  @inline(__always)
  private func letGo(of object: ManagedObject?) {
    if isSweeping, let object { leaving.append(.passRetained(object)) }
    withExtendedLifetime(object) {}
  }

  /// Lets go of what nobody else holds. O(number of objects).
  func sweep() {
    if retainsAll { return }
    var next = 0
    if isSweeping {
      // Asked for by an object at its end: the others end when that is over.
      known.takeReleased(from: &next, most: .max, into: &leaving)
    } else {
      isSweeping = true
      // They end a few at a time, while they are still near at hand. If what they do has objects get other places, all
      // others that nobody holds are taken out first.
      let rebuilds = known.rebuilds
      var gone: [Unmanaged<ManagedObject>] = []
      var hasAll = false
      while !hasAll && next < known.capacity || !leaving.isEmpty {
        if !hasAll, known.rebuilds != rebuilds {
          hasAll = true
          next = 0
        }
        known.takeReleased(from: &next, most: hasAll ? .max : Self.fewest, into: &leaving)
        swap(&gone, &leaving)
        for object in gone { object.release() }
        gone.removeAll(keepingCapacity: true)
      }
      isSweeping = false
    }
    known.shrink()
    limit = max(Self.least, known.count * 2)
  }

  /// As ``sweep()``, if enough has come since it was last called that the cost is small beside that.
  func sweepIfGrown() {
    guard known.count >= left + max(64, left / 4) else { return }
    sweep()
    left = known.count
  }
}

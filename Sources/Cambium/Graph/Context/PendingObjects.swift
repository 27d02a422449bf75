/// What the next save does with an object.
enum PendingKind: UInt8 {
  case none
  case inserted
  case updated
  case deleted
}

/// The objects of a context that the next save inserts, or those that it updates, or those that it deletes.
///
/// An object is in one of the three lists at most. It knows in which, and at which place (``ManagedObject/pending``),
/// so that nothing is looked up: every change of an object asks, and a save goes through all of them.
struct PendingObjects {
  private let kind: PendingKind
  /// The objects, in no order that means anything.
  private(set) var values: [ManagedObject] = []
  /// Whether ``values`` are in the order in which they changed.
  private var isInOrder = true

  init(_ kind: PendingKind) { self.kind = kind }

  var isEmpty: Bool { values.isEmpty }
  var count: Int { values.count }

  private func place(of object: ManagedObject) -> Int? {
    if object.pending != kind { return nil }
    let place = Int(object.pendingPlace)
    if place < values.count, values[place] === object { return place }
    // Of another context, or behind what a place can say.
    return values.firstIndex { $0 === object }
  }

  /// Adds an object, whose ``ManagedObject/changeOrder`` is set, unless it is there.
  mutating func insert(_ object: ManagedObject) {
    if place(of: object) != nil {
      // It may have changed anew.
      isInOrder = false
      return
    }
    if isInOrder, !values.isEmpty, values.lend(values.count - 1, { $0.changeOrder }) > object.changeOrder {
      isInOrder = false
    }
    object.pending = kind
    object.pendingPlace = UInt32(truncatingIfNeeded: values.count)
    values.append(object)
  }

  /// Those of ``ordered()`` that have unsaved changes; others may have been taken back.
  mutating func orderedUpdates() -> [ManagedObject] {
    let all = ordered()
    return all.allSatisfy { $0.isUpdated } ? all : all.filter { $0.isUpdated }
  }

  /// Takes an object out; answers whether it was there. O(1), and the order is made anew when somebody asks for it.
  @discardableResult
  mutating func remove(_ object: ManagedObject) -> Bool {
    guard let place = place(of: object) else { return false }
    object.pending = .none
    let last = values.count - 1
    if place < last {
      values.swapAt(place, last)
      values[place].pendingPlace = UInt32(truncatingIfNeeded: place)
      isInOrder = false
    }
    values.removeLast()
    if values.isEmpty { isInOrder = true }
    return true
  }

  /// Takes out the objects that `isOut` says. O(number of objects).
  mutating func removeAll(where isOut: (ManagedObject) -> Bool) {
    let before = values
    var left: [ManagedObject] = []
    for object in before {
      if isOut(object) {
        object.pending = .none
      } else {
        object.pendingPlace = UInt32(truncatingIfNeeded: left.count)
        left.append(object)
      }
    }
    values = left
    if left.isEmpty { isInOrder = true }
    // Who goes now may call the context.
    withExtendedLifetime(before) {}
  }

  /// Takes objects out. O(number of objects that there are).
  mutating func remove(contentsOf objects: [ManagedObject]) {
    var count = 0
    for object in objects where place(of: object) != nil {
      object.pending = .none
      count += 1
    }
    forget(count)
  }

  /// Takes out as many objects, whose ``ManagedObject/pending`` says already that they are in no list.
  mutating func forget(_ count: Int) {
    if count == 0 { return }
    let before = values
    if count < before.count {
      let kind = kind
      removeAll { $0.pending != kind }
    } else {
      values = []
      isInOrder = true
    }
    withExtendedLifetime(before) {}
  }

  /// Takes all of them out.
  mutating func removeAll() {
    let gone = values
    values = []
    isInOrder = true
    for object in gone { object.pending = .none }
  }

  /// Puts an object in the place of another.
  mutating func replace(_ old: ManagedObject, by new: ManagedObject) {
    if remove(old) { insert(new) }
  }

  /// The objects in the order in which they changed. O(1) if they came so and none was taken out.
  mutating func ordered() -> [ManagedObject] {
    if !isInOrder {
      values.sort { $0.changeOrder < $1.changeOrder }
      for (place, object) in values.enumerated() { object.pendingPlace = UInt32(truncatingIfNeeded: place) }
      isInOrder = true
    }
    return values
  }
}

extension ManagedObjectContext {
  /// What the next save does with the object of an identifier.
  func pending(_ id: ManagedObjectID) -> PendingKind { registry.peek(id)?.pending ?? .none }
}

import CambiumEngine

/// A dictionary by identifier, in the order in which the entries came; faster than a dictionary, whose hash has to hold out
/// against keys that anyone may choose.
struct IDMap<Element>: ExpressibleByDictionaryLiteral {
  fileprivate struct Entry {
    var id: ManagedObjectID
    /// Nil where an entry was removed.
    var element: Element?
  }

  private var entries: [Entry] = []
  /// Places in `entries`, where the hash of their identifiers says or behind; -1 where there is none. A power of two, or
  /// empty.
  private var table: [Int32] = []
  /// How many there are.
  private(set) var count = 0

  init() {}

  init(dictionaryLiteral pairs: (ManagedObjectID, Element)...) {
    for (id, element) in pairs { self[id] = element }
  }

  var isEmpty: Bool { count == 0 }

  /// The elements.
  var values: [Element] { entries.compactMap { $0.element } }

  /// The identifiers.
  var keys: [ManagedObjectID] { entries.compactMap { $0.element == nil ? nil : $0.id } }

  @inline(__always)
  private static func hash(_ id: ManagedObjectID) -> Int {
    let product = (id.reference.row ^ UInt64(id.reference.entity) &<< 40) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: product &>> 32)
  }

  /// The place of an identifier in `entries`.
  private func place(_ id: ManagedObjectID) -> Int? {
    if count == 0 { return nil }
    let mask = table.count &- 1
    var slot = Self.hash(id) & mask
    while table[slot] >= 0 {
      let place = Int(table[slot])
      // The references differ, as a rule: identifiers are copied only if they don't.
      if entries[place].id.reference == id.reference, entries[place].id == id { return place }
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  subscript(id: ManagedObjectID) -> Element? {
    get { place(id).flatMap { entries[$0].element } }
    set {
      if let newValue { updateValue(newValue, forKey: id) } else { removeValue(forKey: id) }
    }
  }

  @discardableResult
  mutating func updateValue(_ element: Element, forKey id: ManagedObjectID) -> Element? {
    if let place = place(id) {
      let old = entries[place].element
      if old == nil { count += 1 }
      entries[place].element = element
      return old
    }
    if entries.count * 2 >= table.count { makeRoom() }
    link(id, entries.count)
    entries.append(Entry(id: id, element: element))
    count += 1
    return nil
  }

  /// What an identifier stands for, and whether it is out.
  mutating func value(
    _ id: ManagedObjectID, unless isOut: (inout Element) -> Bool
  ) -> (element: Element?, isOut: Bool) {
    guard let place = place(id) else { return (nil, false) }
    let isOut = Self.ask(&entries[place].element, isOut)
    return (entries[place].element, isOut)
  }

  @discardableResult
  mutating func removeValue(forKey id: ManagedObjectID) -> Element? {
    guard let place = place(id), let old = entries[place].element else { return nil }
    entries[place].element = nil
    count -= 1
    if count == 0 {
      entries = []
      table = []
    }
    return old
  }

  /// Removes the elements that `isOut` says, and answers them.
  mutating func removeAll(where isOut: (inout Element) -> Bool) -> [Element] {
    var removed: [Element] = []
    for place in entries.indices {
      if Self.ask(&entries[place].element, isOut) {
        if let element = entries[place].element { removed.append(element) }
        entries[place].element = nil
        count -= 1
      }
    }
    rebuild()
    return removed
  }

  private static func ask(_ element: inout Element?, _ isOut: (inout Element) -> Bool) -> Bool {
    // Taken out meanwhile, since a copy would be one who holds it, too.
    guard var taken = element.take() else { return false }
    let isOut = isOut(&taken)
    element = taken
    return isOut
  }

  // MARK: Table

  private mutating func link(_ id: ManagedObjectID, _ place: Int) {
    let mask = table.count &- 1
    var slot = Self.hash(id) & mask
    while table[slot] >= 0 { slot = (slot &+ 1) & mask }
    table[slot] = Int32(truncatingIfNeeded: place)
  }

  /// Makes room for as many entries in all.
  mutating func reserveCapacity(_ capacity: Int) {
    entries.reserveCapacity(capacity)
    if capacity * 2 > table.count { rebuild(for: capacity) }
  }

  private mutating func makeRoom() { rebuild(for: Swift.max(count + 1, 8) * 2) }

  /// Leaves out what was removed, and makes the table anew.
  private mutating func rebuild(for capacity: Int = 0) {
    if count < entries.count { entries.removeAll { $0.element == nil } }
    var size = 8
    while size < Swift.max(capacity, entries.count) * 2 { size *= 2 }
    table = [Int32](repeating: -1, count: size)
    for (place, entry) in entries.enumerated() { link(entry.id, place) }
  }
}

extension IDMap: Sequence {
  /// Goes through the entries.
  func makeIterator() -> AnyIterator<(key: ManagedObjectID, value: Element)> {
    var rest = entries[...]
    return AnyIterator {
      while let entry = rest.popFirst() {
        if let element = entry.element { return (entry.id, element) }
      }
      return nil
    }
  }
}

extension IDMap: Sendable where Element: Sendable {}
extension IDMap.Entry: Sendable where Element: Sendable {}

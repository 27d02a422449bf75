/// What some properties of an object have, by the properties' places (``PropertyInfo/place``) and in that order: its changes, say.
///
/// One array, so that an object without changes costs nothing and one with a few costs one allocation. Finding takes
/// O(log count); adding at the end, as properties set in declared order are, O(1).
struct PropertyMap<Element>: ExpressibleByDictionaryLiteral {
  fileprivate struct Entry {
    var key: Int
    var element: Element
  }

  private var entries: [Entry] = []

  init() {}

  init(dictionaryLiteral pairs: (Int, Element)...) {
    for (key, element) in pairs { updateValue(element, forKey: key) }
  }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  /// The places, ascending.
  var keys: [Int] { entries.map { $0.key } }
  var values: [Element] { entries.map { $0.element } }

  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// Where a key is, or would have to be.
  @inline(__always)
  private func place(_ key: Int) -> (place: Int, isThere: Bool) {
    var low = 0
    var high = entries.count
    if high == 0 || entries[high - 1].key < key { return (high, false) }
    while low < high {
      let middle = (low + high) >> 1
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return (low, entries[low].key == key)
  }

  /// Whether there is anything for a key.
  func contains(_ key: Int) -> Bool { place(key).isThere }

  /// What a key has; setting nil removes it.
  subscript(key: Int) -> Element? {
    get {
      let (place, isThere) = place(key)
      return isThere ? entries[place].element : nil
    }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// What a key has, added when it is changed and there is nothing.
  subscript(key: Int, default value: @autoclosure () -> Element) -> Element {
    get { self[key] ?? value() }
    _modify {
      let (place, isThere) = place(key)
      if !isThere { entries.insert(Entry(key: key, element: value()), at: place) }
      yield &entries[place].element
    }
  }

  /// Sets what a key has.
  mutating func updateValue(_ element: Element, forKey key: Int) {
    let (place, isThere) = place(key)
    if isThere {
      entries[place].element = element
    } else if place == entries.count {
      entries.append(Entry(key: key, element: element))
    } else {
      entries.insert(Entry(key: key, element: element), at: place)
    }
  }

  mutating func removeValue(forKey key: Int) {
    let (place, isThere) = place(key)
    if isThere { entries.remove(at: place) }
  }

  /// Goes through the entries without copying them.
  @inline(__always)
  func forEach<Failure: Error>(_ body: (_ key: Int, _ element: Element) throws(Failure) -> Void) throws(Failure) {
    var place = 0
    while place < entries.count {
      try body(entries[place].key, entries[place].element)
      place += 1
    }
  }
}

extension PropertyMap: Sequence {
  func makeIterator() -> AnyIterator<(key: Int, value: Element)> {
    var iterator = entries.makeIterator()
    return AnyIterator { iterator.next().map { ($0.key, $0.element) } }
  }
}

extension PropertyMap: Sendable where Element: Sendable {}
extension PropertyMap.Entry: Sendable where Element: Sendable {}

/// Elements of some properties of an object, by the properties' places (``PropertyInfo/place``) and in that order. For
/// example, the unsaved changes of an object.
///
/// Finding takes O(log count). Adding at the end takes O(1), and properties that are set in declared order are added
/// there.
struct PropertyMap<Element>: ExpressibleByDictionaryLiteral {
  private var entries: [(key: Int, value: Element)] = []

  init(dictionaryLiteral pairs: (Int, Element)...) {
    for (key, element) in pairs { updateValue(element, forKey: key) }
  }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  /// The places, ascending.
  var keys: [Int] { entries.map { $0.key } }
  var values: [Element] { entries.map { $0.value } }

  /// Makes room for so many entries.
  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// Where the entry of a key is, or would have to be.
  private func place(_ key: Int) -> (place: Int, isThere: Bool) {
    var (low, high) = (0, entries.count)
    if high == 0 || entries[high - 1].key < key { return (high, false) }
    while low < high {
      let middle = (low + high) >> 1
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return (low, entries[low].key == key)
  }

  /// Whether a key has an entry.
  func contains(_ key: Int) -> Bool { place(key).isThere }

  /// The element of a key; setting nil removes it.
  subscript(key: Int) -> Element? {
    get { look(at: key) { $0 } }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// Returns what `body` makes of the element of a key, which it looks at in place; nil if there is none.
  func look<R>(at key: Int, _ body: (Element) -> R) -> R? {
    let (place, isThere) = place(key)
    return isThere ? body(entries[place].value) : nil
  }

  /// Sets the element of a key.
  mutating func updateValue(_ element: Element, forKey key: Int) {
    let (place, isThere) = place(key)
    if isThere { entries[place].value = element } else { insert(element, key, at: place) }
  }

  private mutating func insert(_ element: Element, _ key: Int, at place: Int) {
    // A new object gets several values one by one, and would have its entries copied for each power of two.
    if entries.isEmpty { entries.reserveCapacity(4) }
    // To append takes half the time, and nearly all places are the last.
    if place == entries.count { entries.append((key, element)) } else { entries.insert((key, element), at: place) }
  }

  mutating func removeValue(forKey key: Int) {
    let (place, isThere) = place(key)
    if isThere { entries.remove(at: place) }
  }

  /// Changes the element of a key, which is `value` at first. Removes it if `body` returns false.
  mutating func change(_ key: Int, from value: @autoclosure () -> Element, _ body: (inout Element) -> Bool) {
    let (place, isThere) = place(key)
    if !isThere { insert(value(), key, at: place) }
    if !body(&entries[place].value) { entries.remove(at: place) }
  }

  /// Whether any key satisfies a condition.
  func containsKey(where isWanted: (Int) -> Bool) -> Bool { entries.contains { isWanted($0.key) } }

  /// Calls `body` with each entry.
  func forEach<Failure: Error>(_ body: (_ key: Int, _ element: Element) throws(Failure) -> Void) throws(Failure) {
    for (key, element) in entries { try body(key, element) }
  }
}

extension PropertyMap: Sequence {
  func makeIterator() -> Array<(key: Int, value: Element)>.Iterator { entries.makeIterator() }
}

extension PropertyMap: Sendable where Element: Sendable {}

/// What some properties of an object have, by the properties' places (``PropertyInfo/place``) and in that order: its changes, say.
///
/// The first lies in the map and the rest in one array, so that an object without changes or with one costs no allocation, and
/// one with more costs one. Finding takes O(log count); adding at the end, as properties set in declared order are, O(1).
struct PropertyMap<Element>: ExpressibleByDictionaryLiteral {
  fileprivate struct Entry {
    var key: Int
    var element: Element
  }

  /// The entry of the lowest place; nil only if there is none at all.
  private var first: Entry?
  private var rest: [Entry] = []

  init() {}

  init(dictionaryLiteral pairs: (Int, Element)...) {
    for (key, element) in pairs { updateValue(element, forKey: key) }
  }

  var isEmpty: Bool { first == nil }
  var count: Int { first == nil ? 0 : rest.count + 1 }
  /// The places, ascending.
  var keys: [Int] {
    guard let lowest = first?.key else { return [] }
    return CollectionOfOne(lowest) + rest.map { $0.key }
  }
  var values: [Element] { map { $0.value } }

  mutating func reserveCapacity(_ count: Int) { rest.reserveCapacity(count - 1) }

  /// Where a key is in ``rest``, or would have to be.
  @inline(__always)
  private func place(_ key: Int) -> (place: Int, isThere: Bool) {
    var low = 0
    var high = rest.count
    if high == 0 || rest[high - 1].key < key { return (high, false) }
    while low < high {
      let middle = (low + high) >> 1
      if rest[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return (low, rest[low].key == key)
  }

  /// Whether there is anything for a key.
  func contains(_ key: Int) -> Bool {
    guard let lowest = first?.key else { return false }
    return lowest == key || lowest < key && place(key).isThere
  }

  /// What a key has; setting nil removes it.
  subscript(key: Int) -> Element? {
    get {
      guard let lowest = first?.key, lowest <= key else { return nil }
      if lowest == key { return first?.element }
      let (place, isThere) = place(key)
      return isThere ? rest[place].element : nil
    }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// Sets what a key has.
  mutating func updateValue(_ element: Element, forKey key: Int) {
    guard let firstKey = first?.key else {
      first = Entry(key: key, element: element)
      return
    }
    if firstKey >= key {
      if firstKey > key, let old = first { rest.insert(old, at: 0) }
      first = Entry(key: key, element: element)
      return
    }
    let (place, isThere) = place(key)
    if isThere {
      rest[place].element = element
    } else if place == rest.count {
      rest.append(Entry(key: key, element: element))
    } else {
      rest.insert(Entry(key: key, element: element), at: place)
    }
  }

  mutating func removeValue(forKey key: Int) {
    guard let firstKey = first?.key, firstKey <= key else { return }
    if firstKey == key {
      first = rest.isEmpty ? nil : rest.removeFirst()
      return
    }
    let (place, isThere) = place(key)
    if isThere { rest.remove(at: place) }
  }

  /// Changes what a key has, which is `value` at first; nothing is left where `body` answers false.
  @inline(__always)
  mutating func change(_ key: Int, from value: @autoclosure () -> Element, _ body: (inout Element) -> Bool) {
    if !contains(key) { updateValue(value(), forKey: key) }
    let isKept: Bool
    if first?.key == key, var taken = first.take() {
      isKept = body(&taken.element)
      first = taken
    } else {
      isKept = body(&rest[place(key).place].element)
    }
    if !isKept { removeValue(forKey: key) }
  }

  /// Whether any key is so.
  @inline(__always)
  func containsKey(where isWanted: (Int) -> Bool) -> Bool {
    guard let lowest = first?.key else { return false }
    if isWanted(lowest) { return true }
    var place = 0
    while place < rest.count {
      if isWanted(rest[place].key) { return true }
      place += 1
    }
    return false
  }

  /// Goes through the entries without copying them.
  @inline(__always)
  func forEach<Failure: Error>(_ body: (_ key: Int, _ element: Element) throws(Failure) -> Void) throws(Failure) {
    guard let first else { return }
    try body(first.key, first.element)
    var place = 0
    while place < rest.count {
      try body(rest[place].key, rest[place].element)
      place += 1
    }
  }
}

extension PropertyMap: Sequence {
  func makeIterator() -> AnyIterator<(key: Int, value: Element)> {
    var next = first
    var others = rest.makeIterator()
    return AnyIterator {
      guard let entry = next else { return nil }
      next = others.next()
      return (entry.key, entry.element)
    }
  }
}

extension PropertyMap: Sendable where Element: Sendable {}
extension PropertyMap.Entry: Sendable where Element: Sendable {}

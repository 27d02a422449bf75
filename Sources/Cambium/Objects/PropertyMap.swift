/// What some properties of an object have, by the properties' places (``PropertyInfo/place``) and in that order: its changes, say.
///
/// The first lies in the map and the rest in one array, so that an object without changes or with one costs no allocation, and
/// one with more costs one. Finding takes O(log count); adding at the end, as properties set in declared order are, O(1).
struct PropertyMap<Element>: ExpressibleByDictionaryLiteral {
  fileprivate struct Entry {
    var key: Int
    var element: Element
  }

  /// The lowest place; ``none`` only if there is no entry at all. Apart from its element, so that what is asked of places alone does not
  /// touch the elements.
  private var firstKey = none
  /// What the lowest place has; nil only if there is no entry at all.
  private var firstElement: Element?
  private var rest: [Entry] = []

  /// Below all places.
  private static var none: Int { -1 }

  init() {}

  init(dictionaryLiteral pairs: (Int, Element)...) {
    for (key, element) in pairs { updateValue(element, forKey: key) }
  }

  var isEmpty: Bool { firstKey == Self.none }
  var count: Int { isEmpty ? 0 : rest.count + 1 }
  /// The lowest place; below all places if there is no entry.
  var lowestKey: Int {
    @inline(__always) get { firstKey }
  }
  /// The places, ascending.
  var keys: [Int] {
    isEmpty ? [] : CollectionOfOne(firstKey) + rest.map { $0.key }
  }
  var values: [Element] { map { $0.value } }

  /// Makes room for so many, if there is none yet.
  mutating func reserveCapacity(_ count: Int) {
    if count < 2 || !rest.isEmpty { return }
    rest = Array(unsafeUninitializedCapacity: count - 1) { $1 = 0 }
  }

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
    firstKey == key || !isEmpty && firstKey < key && place(key).isThere
  }

  /// What a key has; setting nil removes it.
  subscript(key: Int) -> Element? {
    get {
      if isEmpty || firstKey > key { return nil }
      if firstKey == key { return firstElement }
      let (place, isThere) = place(key)
      return isThere ? rest[place].element : nil
    }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// What `body` says of what a key has, which is looked at where it is; nil if it has nothing.
  @inline(__always)
  func look<R>(at key: Int, _ body: (Element) -> R) -> R? {
    if isEmpty || firstKey > key { return nil }
    if firstKey == key { return firstElement.map(body) }
    let (place, isThere) = place(key)
    return isThere ? body(rest[place].element) : nil
  }

  /// Sets what a key has.
  mutating func updateValue(_ element: Element, forKey key: Int) {
    if isEmpty || firstKey >= key {
      if firstKey > key, let old = firstElement { rest.insert(Entry(key: firstKey, element: old), at: 0) }
      (firstKey, firstElement) = (key, element)
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
    if isEmpty || firstKey > key { return }
    if firstKey == key {
      let next = rest.isEmpty ? nil : rest.removeFirst()
      (firstKey, firstElement) = (next?.key ?? Self.none, next?.element)
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
    if firstKey == key, var taken = firstElement.take() {
      isKept = body(&taken)
      firstElement = taken
    } else {
      isKept = body(&rest[place(key).place].element)
    }
    if !isKept { removeValue(forKey: key) }
  }

  /// Whether any key is so.
  @inline(__always)
  func containsKey(where isWanted: (Int) -> Bool) -> Bool {
    if isEmpty { return false }
    if isWanted(firstKey) { return true }
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
    guard let firstElement else { return }
    try body(firstKey, firstElement)
    var place = 0
    while place < rest.count {
      try body(rest[place].key, rest[place].element)
      place += 1
    }
  }
}

extension PropertyMap: Sequence {
  func makeIterator() -> AnyIterator<(key: Int, value: Element)> {
    var next = firstElement.map { Entry(key: firstKey, element: $0) }
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

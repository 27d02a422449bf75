/// A dictionary with few entries, by name, in the order in which they came: the changes of an object, say. As long as
/// there are few, they are gone through one by one, which is faster than to hash.
@frozen public struct NameMap<Element>: ExpressibleByDictionaryLiteral {
  @usableFromInline var names: [String] = []
  @usableFromInline var elements: [Element] = []
  /// Where names are, once there are many.
  @usableFromInline var places: [String: Int] = [:]

  @inlinable static var few: Int { 16 }

  /// Nothing.
  @inlinable public init() {}

  /// Of equal names the last counts.
  @inlinable public init(dictionaryLiteral pairs: (String, Element)...) {
    for (name, element) in pairs { self[name] = element }
  }

  /// Whether there is nothing.
  @inlinable public var isEmpty: Bool { names.isEmpty }
  /// How many there are.
  @inlinable public var count: Int { names.count }
  /// The names.
  @inlinable public var keys: [String] { names }
  /// What they name.
  @inlinable public var values: [Element] { elements }

  @inlinable func place(_ name: String) -> Int? {
    if names.count > Self.few { return places[name] }
    for place in names.indices where names[place] == name { return place }
    return nil
  }

  @inlinable mutating func append(_ name: String, _ element: Element) {
    names.append(name)
    elements.append(element)
    if names.count > Self.few + 1 {
      places[name] = names.count - 1
    } else if names.count == Self.few + 1 {
      index()
    }
  }

  @inlinable mutating func index() {
    places.removeAll(keepingCapacity: true)
    if names.count <= Self.few { return }
    for (place, name) in names.enumerated() { places[name] = place }
  }

  /// What a name stands for; setting nil removes it.
  @inlinable public subscript(name: String) -> Element? {
    get { place(name).map { elements[$0] } }
    set {
      if let newValue { updateValue(newValue, forKey: name) } else { removeValue(forKey: name) }
    }
  }

  /// What a name stands for, added when it is changed and there is nothing.
  @inlinable public subscript(name: String, default value: @autoclosure () -> Element) -> Element {
    get { self[name] ?? value() }
    _modify {
      let found: Int
      if let known = place(name) {
        found = known
      } else {
        found = names.count
        append(name, value())
      }
      yield &elements[found]
    }
  }

  /// Sets what a name stands for.
  @inlinable public mutating func updateValue(_ element: Element, forKey name: String) {
    if let place = place(name) { elements[place] = element } else { append(name, element) }
  }

  /// Removes a name. O(number of entries).
  @inlinable public mutating func removeValue(forKey name: String) {
    guard let place = place(name) else { return }
    names.remove(at: place)
    elements.remove(at: place)
    if names.count >= Self.few { index() }
  }

  /// The entries that a condition holds for.
  @inlinable public func filter(_ isIncluded: (String, Element) -> Bool) -> NameMap {
    var result = NameMap()
    for place in names.indices where isIncluded(names[place], elements[place]) {
      result.append(names[place], elements[place])
    }
    return result
  }
}

extension NameMap: Sequence {
  /// Goes through the entries.
  @inlinable public func makeIterator() -> Zip2Sequence<[String], [Element]>.Iterator {
    zip(names, elements).makeIterator()
  }
}

extension NameMap: Sendable where Element: Sendable {}

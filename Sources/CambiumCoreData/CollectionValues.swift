// Values by key of Foundation's collections, which code for Core Data asks the sets and arrays of objects for:
// `(items as NSSet).value(forKeyPath: "@sum.price")`. Off Apple platforms Foundation has no such methods.

@_spi(CoreData) import Cambium

#if !canImport(Darwin)
  /// A collection of Foundation's, whose elements have values by key.
  public protocol KeyedCollection: NSObject {
    /// The elements, in their order if they have one.
    var keyedElements: [Any] { get }
    /// A collection of the same kind, of the values that its elements have, `nil` where one has none.
    static func keyedCollection(of values: [Any?]) -> Any
  }

  extension NSArray: KeyedCollection {
    /// The elements.
    public var keyedElements: [Any] { (0..<count).map { object(at: $0) } }
    /// An `NSArray`, with `NSNull` for none.
    public static func keyedCollection(of values: [Any?]) -> Any { NSArray(array: values.map { $0 ?? NSNull() }) }
  }

  extension NSSet: KeyedCollection {
    /// The elements.
    public var keyedElements: [Any] { allObjects }
    /// An `NSSet`, which leaves out where there is none.
    public static func keyedCollection(of values: [Any?]) -> Any { NSSet(array: values.compactMap { $0 }) }
  }

  extension NSOrderedSet: KeyedCollection {
    /// The elements.
    public var keyedElements: [Any] { array }
    /// An `NSOrderedSet`, which leaves out where there is none.
    public static func keyedCollection(of values: [Any?]) -> Any { NSOrderedSet(array: values.compactMap { $0 }) }
  }

  extension KeyedCollection {
    /// The values of the elements, in a collection of the same kind. Where an element has no value, an array has
    /// `NSNull`, and a set has nothing. Elements may be managed objects and dictionaries; `self` is the element.
    public func value(forKey key: String) -> Any? { value(forKeyPath: key) }

    /// The values of the elements at the end of a key path, as ``value(forKey:)`` gives them, or what an operator makes
    /// of those: `@count`, and `@sum`, `@avg`, `@min`, `@max`, `@unionOfObjects` and `@distinctUnionOfObjects` of a key
    /// path. `nil` for another operator, and for values that the operator does not go with, where Core Data raises.
    public func value(forKeyPath keyPath: String) -> Any? {
      let elements = keyedElements
      guard keyPath.hasPrefix("@") else {
        return Self.keyedCollection(of: elements.map { Self.value(of: $0, keyPath) })
      }
      let parts = keyPath.split(separator: ".", maxSplits: 1).map { String($0) }
      if parts.count == 1 { return keyPath == "@count" ? NSNumber(value: elements.count) : nil }
      let values = elements.compactMap { swiftValue(Self.value(of: $0, parts[1])) }
      if parts[0] == "@count" { return NSNumber(value: elements.count) }
      return ManagedObject.ownResult(ofOperator: parts[0], values: values).map { foundationValue($0) }
    }

    fileprivate static func value(of element: Any, _ keyPath: String) -> Any? {
      if keyPath == "self" { return element }
      switch element {
      case let object as ManagedObject: return object.value(forKeyPath: keyPath)
      case let dictionary as NSDictionary: return dictionary.object(forKey: NSString(string: keyPath))
      case let dictionary as [String: Any]: return dictionary[keyPath]
      default: return nil
      }
    }
  }

  // MARK: Orders and predicates

  extension KeyedCollection {
    /// The elements in an order; equal elements keep theirs. Elements may be managed objects, dictionaries, and values,
    /// which are sorted by the key `self`. Where Core Data raises, for a key path that an entity does not have, the
    /// elements are not sorted.
    public func sortedArray(using descriptors: [FetchSortDescriptor]) -> [Any] {
      let elements = keyedElements
      return (try? FetchSortDescriptor.ownSorted(elements, by: descriptors) { swiftValue(Self.value(of: $0, $1)) })
        ?? elements
    }

    fileprivate func matching(_ predicate: FetchPredicate) -> [Any] {
      keyedElements.filter { predicate.evaluate(with: $0 as? ManagedObject) }
    }
  }

  extension NSArray {
    /// The managed objects that match.
    public func filtered(using predicate: FetchPredicate) -> [Any] { matching(predicate) }
  }

  extension NSSet {
    /// The managed objects that match.
    public func filtered(using predicate: FetchPredicate) -> Set<AnyHashable> {
      Set(matching(predicate).compactMap { $0 as? AnyHashable })
    }
  }

  extension NSOrderedSet {
    /// The managed objects that match.
    public func filtered(using predicate: FetchPredicate) -> NSOrderedSet { NSOrderedSet(array: matching(predicate)) }
  }

  extension NSMutableArray {
    /// Keeps the managed objects that match.
    public func filter(using predicate: FetchPredicate) { setArray(matching(predicate)) }
    /// Sorts the elements; see ``KeyedCollection/sortedArray(using:)``.
    public func sort(using descriptors: [FetchSortDescriptor]) { setArray(sortedArray(using: descriptors)) }
  }

  extension NSMutableSet {
    /// Keeps the managed objects that match.
    public func filter(using predicate: FetchPredicate) {
      setSet(Set(matching(predicate).compactMap { $0 as? AnyHashable }))
    }
  }

  extension NSMutableOrderedSet {
    /// Keeps the managed objects that match.
    public func filter(using predicate: FetchPredicate) {
      let kept = matching(predicate)
      removeAllObjects()
      addObjects(from: kept)
    }
    /// Sorts the elements; see ``KeyedCollection/sortedArray(using:)``.
    public func sort(using descriptors: [FetchSortDescriptor]) {
      let sorted = sortedArray(using: descriptors)
      removeAllObjects()
      addObjects(from: sorted)
    }
  }
#endif

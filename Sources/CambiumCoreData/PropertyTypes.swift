// Types that properties have in code for Core Data, and that a property with `@Managed` may have as well. A property
// that is not optional reads an empty value where there is none, as `ManagedDefault` says of Swift's types.

@_spi(CoreData) import Cambium

/// `NSNumber` and `NSDecimalNumber`, as types of properties with `@Managed`. Do not conform other classes to it.
public protocol ManagedNumber: AnyObject, ExpressibleByIntegerLiteral where IntegerLiteralType == Int {}

extension NSNumber: ManagedNumber {}

/// `NSSet` and `NSOrderedSet`, as types of properties with `@Managed`. Do not conform other classes to it.
public protocol ManagedCollection: AnyObject {
  /// A collection of objects.
  static func collection(of objects: [ManagedObject]) -> NSObject
}

extension NSSet: ManagedCollection {
  /// A set of objects.
  public static func collection(of objects: [ManagedObject]) -> NSObject { NSSet(array: objects) }
}

extension NSOrderedSet: ManagedCollection {
  /// An ordered set of objects.
  public static func collection(of objects: [ManagedObject]) -> NSObject { NSOrderedSet(array: objects) }
}

extension URL: ManagedDefault {
  /// The null device.
  public static var managedDefault: URL { URL(fileURLWithPath: "/dev/null") }
}

extension ManagedObject {
  // MARK: Relationships

  /// A to-many relationship as `NSSet`, an ordered one as `NSOrderedSet`; the collection that a transformable attribute
  /// has.
  public subscript<Objects: ManagedCollection>(managed key: String) -> Objects? {
    get {
      if isTransformable(key) { return ownValue(forKey: key) as? Objects }
      return objects(forKey: key).flatMap { Objects.collection(of: $0) as? Objects }
    }
    set { setValue(newValue as? NSObject, forKey: key) }
  }

  /// A to-many relationship as `NSSet`, empty if there is no value.
  public subscript(managed key: String) -> NSSet {
    get { NSSet(array: objects(forKey: key) ?? []) }
    set { setValue(newValue, forKey: key) }
  }

  /// An ordered to-many relationship as `NSOrderedSet`, empty if there is no value.
  public subscript(managed key: String) -> NSOrderedSet {
    get { NSOrderedSet(array: objects(forKey: key) ?? []) }
    set { setValue(newValue, forKey: key) }
  }

  private func objects(forKey key: String) -> [ManagedObject]? {
    let value = ownValue(forKey: key)
    return value as? [ManagedObject] ?? (value as? Set<ManagedObject>).map { Array($0) }
  }

  /// A to-one relationship that is declared as never `nil`. Where there is no destination, Core Data's code ends the
  /// process; this gives an object of no context.
  public subscript<Destination: ManagedObject>(managed key: String) -> Destination {
    get {
      if let destination: Destination = self[managed: key] { return destination }
      let entity = entity.relationshipsByName[key]?.destinationEntity ?? Destination.entity()
      return Destination(entity: entity, insertInto: nil)
    }
    set { self[managed: key] = newValue as Destination? }
  }

  // MARK: Numbers

  /// A number as `NSNumber`, a decimal one as `NSDecimalNumber`. One subscript for both: a decimal number that is
  /// assigned would fit two of them.
  public subscript<Number: ManagedNumber>(managed key: String) -> Number? {
    get { number(forKey: key) as? Number }
    set { setValue(newValue as? NSNumber, forKey: key) }
  }

  /// A number as `NSNumber` or `NSDecimalNumber`, 0 if there is no value.
  public subscript<Number: ManagedNumber>(managed key: String) -> Number {
    get { number(forKey: key) as? Number ?? 0 }
    set { setValue(newValue as? NSNumber, forKey: key) }
  }

  private func number(forKey key: String) -> NSNumber? {
    ownValue(forKey: key).flatMap { foundationValue($0) as? NSNumber }
  }

  // MARK: Transformable attributes

  /// A transformable attribute that holds an array, empty if there is no value.
  @_disfavoredOverload public subscript<Element>(managed key: String) -> [Element] {
    get { (self[managed: key] as [Element]?) ?? [] }
    set { setValue(newValue as Any, forKey: key) }
  }

  /// A transformable attribute that holds a set, empty if there is no value.
  @_disfavoredOverload public subscript<Element>(managed key: String) -> Set<Element> {
    get { (self[managed: key] as Set<Element>?) ?? [] }
    set { setValue(newValue as Any, forKey: key) }
  }

  /// A transformable attribute that holds a dictionary, empty if there is no value.
  @_disfavoredOverload public subscript<Key, Value>(managed key: String) -> [Key: Value] {
    get { (self[managed: key] as [Key: Value]?) ?? [:] }
    set { setValue(newValue as Any, forKey: key) }
  }
}

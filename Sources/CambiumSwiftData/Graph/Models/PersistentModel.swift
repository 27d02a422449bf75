import Cambium
import Foundation
import Observation

/// A class whose objects are kept in a store. ``Model()`` makes a class conform. SwiftData: `PersistentModel`.
///
/// Use a model where its context is used, and nowhere else: a model is not `Sendable`. Hand over its
/// ``persistentModelID``. Two models are equal if they are the same instance. A context has one instance for each row.
///
/// A model keeps its context alive. SwiftData's doesn't.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  /// The class that the model's class inherits from at last: itself, unless it inherits from another model.
  associatedtype Root: PersistentModel = Self

  /// Makes the model of a row. For contexts.
  init(backingData: any BackingData<Self>)
  /// The storage of the values.
  var persistentBackingData: any BackingData<Self> { get set }
  /// What the class says of its properties.
  static var schemaMetadata: [Schema.PropertyMetadata] { get }

  /// The row that has the values. For the expansion of ``Model()``.
  var _$row: ModelRow { get }
  /// Makes the model one of a context. For the expansion of ``Model()``.
  func _$attach(_ context: ModelContext?)
  /// The context that the model was last made one of. For the expansion of ``Model()``.
  var _$context: ModelContext? { get }
  /// Makes the model of a row, faster than ``init(backingData:)``. Nil if the class has no such way. For the expansion
  /// of ``Model()``.
  static func _$make(_ row: ModelRow, _ context: ModelContext?) -> AnyObject?
}

extension PersistentModel {
  /// A class that others may inherit from has ``init(backingData:)`` alone.
  public static func _$make(_ row: ModelRow, _ context: ModelContext?) -> AnyObject? { nil }
}

extension PersistentModel {
  /// The context; `nil` before the model is inserted, and after its deletion was saved. A model that is deleted before
  /// it was ever saved leaves the context at once.
  public var modelContext: ModelContext? {
    let row = _$row
    return row.managedObjectContext == nil || row.isDeletedUnsaved ? nil : _$context
  }

  /// The identifier, which names the model in other contexts and processes as well. Temporary until the model is saved.
  public var persistentModelID: PersistentIdentifier { PersistentIdentifier(of: _$row) }

  /// The ``persistentModelID``. A class that declares an `id` of its own has that one.
  public var id: PersistentIdentifier { persistentModelID }

  /// Whether the next save would insert, update or delete the model.
  public var hasChanges: Bool { _$row.hasChanges }

  /// Whether the next save deletes the model, or its row was found to be gone.
  public var isDeleted: Bool {
    let row = _$row
    return row.isDeleted && row.managedObjectContext != nil && !row.isDeletedUnsaved
  }

  /// Whether both are the same instance.
  public static func == (a: Self, b: Self) -> Bool { a === b }

  /// Hashes the instance.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Storage for a new model.
  public static func createBackingData<P: PersistentModel>() -> some BackingData<P> { ModelBackingData<P>() }
}

// The values of properties by their key paths. The accessors that `@Model` makes go by names, which takes less time.
extension PersistentModel {
  /// The value of an attribute.
  public func getValue<Value: Codable>(forKey key: KeyPath<Self, Value>) -> Value {
    _$row[model: ModelClass.of(Self.self).storedName(of: key)]
  }

  /// The destination of a to-one relationship.
  public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>) -> Value {
    _$row[model: ModelClass.of(Self.self).storedName(of: key)]
  }

  /// The destination of a to-one relationship.
  public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>) -> Value? {
    _$row[model: ModelClass.of(Self.self).storedName(of: key)]
  }

  /// The destinations of a to-many relationship.
  public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, [Value]>) -> [Value] {
    _$row[model: ModelClass.of(Self.self).storedName(of: key)]
  }

  /// Sets an attribute.
  public func setValue<Value: Codable>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
    _$row[model: ModelClass.of(Self.self).storedName(of: key)] = newValue
  }

  /// Sets a to-one relationship.
  public func setValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
    _$row[model: ModelClass.of(Self.self).storedName(of: key)] = newValue
  }

  /// Sets a to-one relationship.
  public func setValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>, to newValue: Value?) {
    _$row[model: ModelClass.of(Self.self).storedName(of: key)] = newValue
  }

  /// Sets a to-many relationship.
  public func setValue<Value: PersistentModel>(forKey key: KeyPath<Self, [Value]>, to newValue: [Value]) {
    _$row[model: ModelClass.of(Self.self).storedName(of: key)] = newValue
  }

  /// The value of an attribute that a transformer makes.
  public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value {
    _$row[transformable: ModelClass.of(Self.self).storedName(of: key)]
  }

  /// Sets an attribute that a transformer makes.
  public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
    _$row[transformable: ModelClass.of(Self.self).storedName(of: key)] = newValue
  }

  /// Tells Observation that a property is read. For accessors written by hand.
  public func access<Member>(keyPath: KeyPath<Self, Member>) {
    ModelObservation(_$row).access(self, keyPath: keyPath)
  }

  /// Tells Observation that a property is changed. For accessors written by hand.
  public func withMutation<Member, Result>(
    keyPath: KeyPath<Self, Member>, _ mutation: () throws -> Result
  ) rethrows -> Result {
    try ModelObservation(_$row).withMutation(of: self, keyPath: keyPath, mutation)
  }
}

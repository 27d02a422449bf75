import Cambium

/// The storage of a model's values. Cambium has one kind, ``ModelBackingData``. SwiftData: `BackingData`.
public protocol BackingData<Model> {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// Storage for a new model.
  init(for modelType: Model.Type)
  /// The identifier of the model; temporary until it is saved.
  var persistentModelID: PersistentIdentifier? { get }
  /// The row that has the values.
  var row: ModelRow { get }
}

/// The storage of a model's values: its row.
public struct ModelBackingData<Model: PersistentModel>: BackingData {
  /// The row that has the values.
  public let row: ModelRow

  /// A new row.
  public init() { row = ModelClass.of(Model.self).newRow() }

  /// A row.
  public init(row: ModelRow) { self.row = row }

  /// The row of another storage.
  public init(_ other: any BackingData<Model>) { row = other.row }

  /// Storage for a new model.
  public init(for modelType: Model.Type) { self.init() }

  /// The identifier of the model; temporary until it is saved.
  public var persistentModelID: PersistentIdentifier? { PersistentIdentifier(of: row) }
}

// For init accessors written by hand: `_$backingData.setValue(forKey: \.name, to: initialValue)`.
extension ModelStorage {
  /// Sets an attribute.
  public mutating func setValue<Value: Codable>(forKey key: KeyPath<Model, Value>, to newValue: Value) {
    row[model: ModelClass.of(Model.self).storedName(of: key)] = newValue
  }

  /// Sets a to-one relationship.
  public mutating func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>, to newValue: Value) {
    row[model: ModelClass.of(Model.self).storedName(of: key)] = newValue
  }

  /// Sets a to-one relationship.
  public mutating func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>, to newValue: Value?) {
    row[model: ModelClass.of(Model.self).storedName(of: key)] = newValue
  }

  /// Sets a to-many relationship.
  public mutating func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, [Value]>, to newValue: [Value]) {
    row[model: ModelClass.of(Model.self).storedName(of: key)] = newValue
  }

  /// The value of an attribute.
  public mutating func getValue<Value: Codable>(forKey key: KeyPath<Model, Value>) -> Value {
    row[model: ModelClass.of(Model.self).storedName(of: key)]
  }
}

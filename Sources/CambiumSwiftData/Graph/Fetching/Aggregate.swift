import Cambium
import CambiumEngine
import Foundation

/// What the store computes of the models that a descriptor describes. SwiftData has nothing of the kind.
///
///     let minutes = try context.aggregate(.sum(\.minutes), of: FetchDescriptor<Flight>())
///     for (carrier, (flights, delay)) in try context.aggregate(
///       .count, .average(\.delay), by: \.carrier, of: FetchDescriptor<Flight>()) { … }
///
/// What is computed of each model may be an expression: `.sum(#Expression<Flight, Int> { $0.arrival - $0.departure })`.
///
/// Values that are missing do not count. Of no values a sum is zero, and the others are `nil`.
public struct Aggregate<T: PersistentModel, Value> {
  let expression: (ContainerStores) throws -> FetchExpression
  let read: (Any?) throws -> Value

  private init(
    _ expression: @escaping (ContainerStores) throws -> FetchExpression, _ read: @escaping (Any?) throws -> Value
  ) {
    (self.expression, self.read) = (expression, read)
  }

  private init(
    _ function: @escaping (FetchExpression) -> FetchExpression, _ keyPath: PartialKeyPath<T>,
    _ read: @escaping (Any?) throws -> Value
  ) {
    self.init({ _ in function(FetchExpression(forKeyPath: try ModelClass.of(T.self).storedPath(of: keyPath))) }, read)
  }

  private init<Output>(
    _ function: @escaping (FetchExpression) -> FetchExpression, _ expression: FoundationExpression<T, Output>,
    _ read: @escaping (Any?) throws -> Value
  ) {
    self.init({ function(try FetchExpression(expression, naming: ModelNames(stores: $0))) }, read)
  }
}

extension Aggregate where Value == Int {
  /// How many models there are.
  public static var count: Aggregate { Aggregate({ _ in .count(.evaluatedObject) }) { $0 as? Int ?? 0 } }

  /// How many models have a value.
  public static func count<V>(_ keyPath: KeyPath<T, V?>) -> Aggregate {
    Aggregate({ .count($0) }, keyPath) { $0 as? Int ?? 0 }
  }
}

extension Aggregate where Value: ModelAttribute & AdditiveArithmetic {
  /// The sum of a number.
  public static func sum(_ keyPath: KeyPath<T, Value>) -> Aggregate {
    Aggregate({ .sum($0) }, keyPath) { try FetchedValue.read($0, as: Value?.self) ?? .zero }
  }

  /// The sum of what an expression gives.
  public static func sum(_ expression: FoundationExpression<T, Value>) -> Aggregate {
    Aggregate({ .sum($0) }, expression) { try FetchedValue.read($0, as: Value?.self) ?? .zero }
  }

  /// The sum of a number that may be missing.
  public static func sum(_ keyPath: KeyPath<T, Value?>) -> Aggregate {
    Aggregate({ .sum($0) }, keyPath) { try FetchedValue.read($0, as: Value?.self) ?? .zero }
  }
}

extension Aggregate where Value == Double? {
  /// The average of a number.
  public static func average<N: ModelAttribute & AdditiveArithmetic>(_ keyPath: KeyPath<T, N>) -> Aggregate {
    Aggregate({ .average($0) }, keyPath) { try FetchedValue.read($0, as: Double?.self) }
  }

  /// The average of what an expression gives.
  public static func average<N: ModelAttribute & AdditiveArithmetic>(
    _ expression: FoundationExpression<T, N>
  ) -> Aggregate {
    Aggregate({ .average($0) }, expression) { try FetchedValue.read($0, as: Double?.self) }
  }

  /// The average of a number that may be missing.
  public static func average<N: ModelAttribute & AdditiveArithmetic>(_ keyPath: KeyPath<T, N?>) -> Aggregate {
    Aggregate({ .average($0) }, keyPath) { try FetchedValue.read($0, as: Double?.self) }
  }
}

extension Aggregate {
  /// The least value.
  public static func minimum<V: ModelAttribute>(_ keyPath: KeyPath<T, V>) -> Aggregate where Value == V? {
    Aggregate({ .min($0) }, keyPath) { try FetchedValue.read($0, as: V?.self) }
  }

  /// The least of what an expression gives.
  public static func minimum<V: ModelAttribute>(_ expression: FoundationExpression<T, V>) -> Aggregate
  where Value == V? {
    Aggregate({ .min($0) }, expression) { try FetchedValue.read($0, as: V?.self) }
  }

  /// The least value of those that are there.
  public static func minimum<V: ModelAttribute>(_ keyPath: KeyPath<T, V?>) -> Aggregate where Value == V? {
    Aggregate({ .min($0) }, keyPath) { try FetchedValue.read($0, as: V?.self) }
  }

  /// The greatest value.
  public static func maximum<V: ModelAttribute>(_ keyPath: KeyPath<T, V>) -> Aggregate where Value == V? {
    Aggregate({ .max($0) }, keyPath) { try FetchedValue.read($0, as: V?.self) }
  }

  /// The greatest of what an expression gives.
  public static func maximum<V: ModelAttribute>(_ expression: FoundationExpression<T, V>) -> Aggregate
  where Value == V? {
    Aggregate({ .max($0) }, expression) { try FetchedValue.read($0, as: V?.self) }
  }

  /// The greatest value of those that are there.
  public static func maximum<V: ModelAttribute>(_ keyPath: KeyPath<T, V?>) -> Aggregate where Value == V? {
    Aggregate({ .max($0) }, keyPath) { try FetchedValue.read($0, as: V?.self) }
  }
}

/// Reads what a fetch of values gives.
enum FetchedValue {
  static func read<V>(_ value: Any?, as type: V.Type) throws -> V {
    guard let value else {
      if let optional = type as? any OptionalType.Type, let none = optional.noValue as? V { return none }
      if let placeholder = PlaceholderValue.find(type) { return placeholder }
      throw SwiftDataError(.unsupportedKeyPath, "a model has no value where a \(type) was asked for")
    }
    if let typed = value as? V { return typed }
    let plain = (type as? any OptionalType.Type)?.wrappedType ?? type
    guard let decodable = plain as? any Decodable.Type, let stored = CambiumEngine.Value(any: value),
      let typed = try ValueCoder.decode(decodable, from: stored, as: ValueKinds.kind(of: plain)) as? V
    else {
      throw SwiftDataError(
        .unsupportedKeyPath, "the store gave a \(Swift.type(of: value)) where a \(type) was asked for")
    }
    return typed
  }
}

extension ModelClass {
  /// The path of stored properties that a key path stands for.
  func storedPath(of keyPath: AnyKeyPath) throws -> String {
    if let path = PathProbe.name(of: keyPath, from: self) { return path }
    throw SwiftDataError(.unsupportedKeyPath, "\(keyPath) of '\(entityName)' leads to nothing that is stored")
  }
}

/// The key path of a model's property, which the expansion of ``Model()`` makes once: to make it for each access takes
/// longer than to read a value.
@frozen public struct ModelPath<Model: PersistentModel, Value>: @unchecked Sendable {
  // `@unchecked`: a key path to a property captures nothing.

  /// The key path.
  public let keyPath: KeyPath<Model, Value>

  /// Keeps a key path.
  ///
  /// - Parameter keyPath: Leads to a property of the model itself.
  @inlinable
  public init(_ keyPath: KeyPath<Model, Value>) { self.keyPath = keyPath }
}

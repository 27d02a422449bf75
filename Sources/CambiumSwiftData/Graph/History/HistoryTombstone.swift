import Cambium
import CambiumEngine

/// The values that a deleted model leaves behind: those of its attributes with `.preserveValueOnDeletion`. SwiftData:
/// `HistoryTombstone`.
///
///     @Attribute(.preserveValueOnDeletion) var name: String
///     …
///     if case .delete(let delete as DefaultHistoryDelete<Trip>) = change { print(delete.tombstone[\.name] ?? "") }
public struct HistoryTombstone<Model: PersistentModel>: Sequence, Sendable {
  /// A property and its last value.
  public typealias Element = (key: PartialKeyPath<Model>, value: any Sendable)

  private let kept: [String: Value]

  init(_ kept: [String: Value]) { self.kept = kept }

  /// Returns the last value of a property; `nil` if the history does not keep it, or if the property was `nil`.
  public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
    ModelClass.of(Model.self).byKeyPath[keyPath].flatMap(value)
  }

  /// Returns the properties and their last values, in the order in which the class declares them.
  public func makeIterator() -> IndexingIterator<[Element]> {
    let values: [Element] = ModelClass.of(Model.self).properties.compactMap { property in
      guard let path = property.metadata.keypath as? PartialKeyPath<Model>, let value = value(of: property) else {
        return nil
      }
      return (path, value)
    }
    return values.makeIterator()
  }

  private func value(of property: ModelProperty) -> (any Sendable)? {
    guard let stored = kept[property.name], let value = property.value(of: stored) else { return nil }
    // A cast cannot add `Sendable`, which has no form at run time. The value is made here, so nobody else has it.
    return unsafeBitCast(value as Any, to: (any Sendable).self)
  }
}

import CambiumEngine

/// Tells a translation of Foundation predicates what their types, key paths and captured values stand for in the model.
/// For faces whose types are not ``ManagedObject``s.
package protocol PredicateNaming {
  /// Returns what the model calls the property of a key path; nil if the face does not know the key path.
  ///
  /// - Parameter type: The type that the key path begins at: of an object, or of a value with elements. Never an
  ///   `Optional`.
  func name(of keyPath: AnyKeyPath, in type: Any.Type) throws -> PredicateName?

  /// Returns the name of the entity that a class stands for, for `is`, `as?` and `as!`; nil if it stands for none.
  func entityName(of type: Any.Type) throws -> String?

  /// Returns what a captured value stands for; nil if the face leaves it to the translator, which knows the types of
  /// attributes, raw values, arrays and sets.
  ///
  /// The translator asks about a single value before it looks at it, and about each element of an array or set. It asks
  /// about an array or set itself only if it cannot translate an element. It never asks about `nil`.
  func meaning(of captured: Any) throws -> CapturedMeaning?
}

/// The part of the model that a key path of a face stands for.
package enum PredicateName {
  /// A property of the model, or a key path of it: `address.city`.
  case property(String)
  /// The object that the key path begins at, as the key path of its identifier does.
  case object
  /// Nothing that a store can be asked about: why, and what to use instead.
  case refused(String)
}

/// The object or value of the store that a captured value of a face stands for.
package enum CapturedMeaning {
  /// An object, by its identifier. Without one it is an object that no store has, and equals nothing, not even `nil`.
  case object(ManagedObjectID?)
  /// A value of an attribute.
  case value(CambiumEngine.Value)
}

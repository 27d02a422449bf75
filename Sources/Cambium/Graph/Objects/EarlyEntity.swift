import CambiumEngine
import CambiumKernel

/// The means to make objects of an entity that belong to no context yet. To make many objects with it takes less time
/// than with the entity itself, which looks up its model for each.
///
/// Its objects begin without values: the defaults of the model are not set.
package struct EarlyEntity: Sendable {
  /// The entity's twin, to be passed to the initializer of an object, without a context.
  package let twin: EntityDescription

  /// - Parameter entity: Of a model that was taken into use. Keep the model as long as there are objects.
  package init(_ entity: EntityDescription) {
    let home = ObjectHome.early(entity)
    twin = EntityDescription(twinOf: entity, cradle: home, home: home)
  }
}

extension ManagedObject {
  /// Whether the object has never been in a context.
  package final var isNew: Bool { isEarly }

  /// A number that no other new object has, and that the object keeps until it is saved.
  package final var newNumber: UInt64 {
    if reference.row == ObjectReference.firstTemporaryRow { becomeNumbered() }
    return reference.row
  }

  /// Forgets where a relationship of a new object was set to lead.
  package final func unset(relationship name: String) {
    // Most new objects were given no relationship.
    if let overlay, !overlay.transients.isEmpty { setValue(nil, forKey: name) }
  }

  /// Takes over what another new object was given: attributes and relationships that this one has as well.
  package final func takeOver(_ other: ManagedObject) {
    guard let early = other.takeEarlyValues() else { return }
    if let error = early.error { note(error, losesChange: true) }
    setAttributes(early)
    for (name, value) in early.relationships { setValue(value, forKey: name) }
  }
}

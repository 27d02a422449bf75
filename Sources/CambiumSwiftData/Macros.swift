// The macros. `CambiumMacros` expands them without swift-syntax, so that no package is needed.

/// Makes a class a model: its stored properties are kept in the store of a ``ModelContainer``.
///
///     @Model final class Trip {
///       @Attribute(.unique) var name: String
///       var startDate = Date.now
///       @Relationship(deleteRule: .cascade, inverse: \Item.trip) var items: [Item] = []
///       init(name: String) { self.name = name }
///     }
///
/// Values may be numbers, texts, dates, data, UUIDs, URLs, enumerations and structures that are `Codable`, arrays of
/// those, and other models. ``Transient()`` leaves a property out. A class may inherit from another model.
///
/// Two models are equal if they are the same instance. A class with a `==` of its own has to name the protocol, as in
/// `final class Trip: Hashable`, because the compiler finds the function twice otherwise.
@attached(
  member, conformances: Observable, PersistentModel, Sendable,
  names: named(_$backingData), named(persistentBackingData), named(schemaMetadata), named(init),
  named(_$row), named(_$held), named(_$levels), named(_$join), named(_$attach), named(_$context), named(_$make),
  named(_$observationRegistrar),
  named(_SwiftDataNoType)
)
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "CambiumMacros", type: "ModelMacro")

/// Makes a class a model that was called otherwise in earlier versions of the application.
///
/// - Parameter originalName: What the class was called, so that a migration finds its rows. SwiftData has no such
///   argument.
@attached(
  member, conformances: Observable, PersistentModel, Sendable,
  names: named(_$backingData), named(persistentBackingData), named(schemaMetadata), named(init),
  named(_$row), named(_$held), named(_$levels), named(_$join), named(_$attach), named(_$context), named(_$make),
  named(_$observationRegistrar),
  named(_SwiftDataNoType)
)
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model(originalName: String) = #externalMacro(module: "CambiumMacros", type: "ModelMacro")

/// Says more of an attribute of a model: that its values are unique, or what it was called before.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "CambiumMacros", type: "AttributeMacro")

/// Says more of a relationship of a model: what leads back, and what becomes of the destinations when the model is
/// deleted.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
  hashModifier: String? = nil
) = #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

/// Leaves a property of a model out of the store. Each instance has a value of its own, which begins with the initial
/// value.
@attached(peer)
public macro Transient() = #externalMacro(module: "CambiumMacros", type: "TransientMacro")

/// Says which properties of a model are unique together.
///
///     #Unique<Person>([\.givenName, \.familyName])
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
  #externalMacro(module: "CambiumMacros", type: "UniqueMacro")

/// Says which properties of a model have indexes.
///
///     #Index<Person>([\.familyName], [\.familyName, \.givenName])
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "CambiumMacros", type: "IndexMacro")

/// Says which properties of a model have indexes, and of which kind.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "CambiumMacros", type: "IndexMacro")

/// Makes an actor one that has a ``ModelContext`` of its own. See ``ModelActor``.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "CambiumMacros", type: "ModelActorMacro")

/// What ``Model()`` puts on each property that is stored. Nobody writes it.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(`_`), prefixed(`_$path_`))
public macro _PersistedProperty() = #externalMacro(module: "CambiumMacros", type: "PersistedPropertyMacro")

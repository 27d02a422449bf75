import CambiumEngine
import CambiumKernel

/// Makes the objects of the destination for one entity mapping. Core Data: `NSEntityMigrationPolicy`.
///
/// Override what the mapping's value expressions cannot say, and call `super` for the rest:
///
///     final class PaintPolicy: EntityMigrationPolicy {
///       override func createDestinationInstances(
///         forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
///       ) throws {
///         try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
///         let aircraft = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]).first
///         let colors = (source.value(forKey: "color") as? String)?.split(separator: "/").map { String($0) } ?? []
///         try aircraft?.set(["primary": colors.first as Any], forKey: "colorScheme")
///       }
///     }
///
/// A migration makes one object of the class for each mapping that names it, and calls it on one thread, in this order:
///
/// 1. For each mapping: ``begin(_:with:)``, ``createDestinationInstances(forSource:in:manager:)`` for each object of
///    the source, ``endInstanceCreation(forMapping:manager:)``.
/// 2. Then for each mapping: ``createRelationships(forDestination:in:manager:)`` for each object of the destination
///    that was associated, ``endRelationshipCreation(forMapping:manager:)``.
/// 3. Then for each mapping: ``performCustomValidation(forMapping:manager:)``, ``end(_:manager:)``.
///
/// What a method throws ends the migration with ``CambiumError/Code/entityMigrationPolicy``, the error underneath.
/// Policies do not save: the manager does, whenever it has called a policy for ``MigrationManager/batchSize`` objects,
/// and at the end of each part. Objects are plain ``ManagedObject``s, whatever classes the models name.
open class EntityMigrationPolicy {
  /// A policy; made by the manager.
  public required init() {}

  /// Called before objects are made for a mapping.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Called for each object of the source entity; makes what becomes of it. This implementation inserts one object of
  /// the destination entity, if there is one, sets its attributes as ``EntityMapping/attributeMappings`` say, and
  /// associates the two. An override that inserts objects itself associates them
  /// (``MigrationManager/associate(sourceInstance:withDestinationInstance:for:)``), or they get no relationships.
  ///
  /// A value that is missing leaves an attribute that is not optional at its default.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard let name = mapping.destinationEntityName else { return }
    let destination = try manager.destinationContext.insertNewObject(forEntityName: name)
    for property in mapping.attributeMappings {
      guard let expression = property.valueExpression else { continue }
      let context = MappingContext(
        manager: manager, source: source, destination: destination, entityMapping: mapping, propertyMapping: property,
        entityPolicy: self)
      try destination.migrateAttribute(property.name, expression, context)
    }
    try manager.associate(sourceInstance: source, withDestinationInstance: destination, for: mapping)
  }

  /// Called when all objects of a mapping are made, before any relationship is.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called for each object of the destination that was associated for the mapping. This implementation sets its
  /// relationships as ``EntityMapping/relationshipMappings`` say. Where an object was made of several, to-many
  /// relationships get the objects of all of them, others the first that there is.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard mapping.relationshipMappings.contains(where: { $0.valueExpression != nil }) else { return }
    let sources = try manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [destination])
    for property in mapping.relationshipMappings {
      guard let expression = property.valueExpression else { continue }
      let contexts = sources.map {
        MappingContext(
          manager: manager, source: $0, destination: destination, entityMapping: mapping, propertyMapping: property,
          entityPolicy: self)
      }
      try destination.migrateRelationship(property.name, expression, contexts)
    }
  }

  /// Called when all relationships of a mapping's objects are set.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called when all objects are there, to look at them. The rules of the model are checked afterwards by the manager.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called last.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}

extension ManagedObject {
  /// Sets an attribute, or an element of one, to what an expression says.
  func migrateAttribute(_ path: String, _ expression: ValueExpression, _ context: MappingContext) throws {
    // Computed when the object is saved.
    if info.properties[path]?.isDerived == true { return }
    guard case .source(let sourcePath) = expression.kind, let source = context.source,
      let from = try source.attribute(at: sourcePath), let to = try attribute(at: path)
    else {
      let value = unwrapped(try expression.value(in: context))
      if value == nil, let to = try attribute(at: path), !to.isOptional, !to.initialValue.isNull { return }
      return try set(value, forKeyPath: path)
    }
    let value = try source.engineValue(keyPath: sourcePath)
    if value.isNull, !to.isOptional, !to.initialValue.isNull { return }
    guard let converted = AttributeConversion.convert(value, from: from, to: to) else {
      throw CambiumError(
        .invalidArgument,
        "'\(sourcePath)' of \(source.objectID) does not fit '\(path)' of '\(entity.name)', which is of type \(to.type.name): "
          + "map it by an expression of your own", entityName: entity.name, key: path, objectID: source.objectID)
    }
    if let whole = info.properties[path]?.attribute, !whole.isTransient { return try assign(converted, to: whole) }
    // An element of a composite that nothing goes into does not make it one.
    if converted.isNull, try engineValue(keyPath: path).isNull { return }
    // Elements that are null stay so, which a dictionary leaves out.
    let given: Any? = to.type == .composite ? converted : converted.foundation(type: to.type, objects: objectID.space)
    try set(given, forKeyPath: path)
  }

  /// The attribute, or element of one, at the end of a key path; nil if there is none.
  private func attribute(at path: String) throws -> AttributeSchema? {
    guard let schema = info.storeSchema else { return nil }
    do throws(SchemaError) { return try schema.resolve(keyPath: path, from: info.schema.id).attribute } catch {
      throw CambiumError(.unknownKey, "\(error)", entityName: entity.name, key: path, underlying: [error])
    }
  }

  /// Sets a relationship to what an expression says for each object that this one was made of.
  func migrateRelationship(_ name: String, _ expression: ValueExpression, _ contexts: [MappingContext]) throws {
    guard let relationship = try property(name).relationship else {
      throw CambiumError(
        .invalidArgument, "'\(name)' of '\(entity.name)' is no relationship; put its mapping among those of attributes",
        entityName: entity.name, key: name)
    }
    var objects: [ManagedObject] = []
    var seen: Set<ManagedObject> = []
    for context in contexts {
      var found: [ManagedObject] = []
      switch unwrapped(try expression.value(in: context)) {
      case nil: continue
      case let object as ManagedObject: found = [object]
      case let list as [ManagedObject]: found = list
      case let set as Set<ManagedObject>: found = set.ordered { $0.objectID.reference < $1.objectID.reference }
      case let other?:
        throw CambiumError(
          .invalidArgument, "relationship '\(name)' of '\(entity.name)' takes objects, not a \(type(of: other))",
          entityName: entity.name, key: name)
      }
      if !relationship.isToMany, found.count > 1 {
        throw CambiumError(
          .invalidArgument,
          "to-one relationship '\(name)' of '\(entity.name)' is to lead to \(found.count) objects: name the entity mapping "
            + "that makes the one that is meant", entityName: entity.name, key: name, objectID: objectID)
      }
      for object in found where seen.insert(object).inserted { objects.append(object) }
      if !relationship.isToMany, !objects.isEmpty { break }
    }
    if relationship.isToMany {
      try assignToMany(objects, relationship)
    } else {
      try assignToOne(objects.first, relationship)
    }
  }
}

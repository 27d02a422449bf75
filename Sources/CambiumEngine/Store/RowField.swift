import CambiumKernel

/// A property of an entity, looked up once and read from any number of rows: an attribute, an element of a composite,
/// or a to-one relationship.
///
/// Made by ``EntityStore/field(_:of:)``. Any thread may use it, for rows of the entity and its descendants, in any view
/// of the store it was made for.
///
///     let hours = try store.field("hours", of: aircraft)
///     let colour = try store.field("colorScheme.primary", of: aircraft)
///     let total = try view.withRow(reference) { row in try row.double(hours) ?? 0 }
public final class RowField: Sendable {
  /// The key path.
  public let keyPath: String
  /// What the path leads to; ``AttributeType/objectID`` for a to-one relationship.
  public let type: AttributeType
  /// The attribute or element; nil for a to-one relationship.
  public let attribute: AttributeSchema?
  /// Where the property lies in rows of this layout.
  @usableFromInline let layoutID: UInt16
  @usableFromInline let path: FieldPath
  /// The same of a text; nil if it is none, or lies deeper than in a composite of the row.
  let text: TextPlace?
  /// The property's field in the row, or the composite's, for an element.
  let mask: UInt64
  /// The property's field in the row; -1 for an element of a composite.
  let ownIndex: Int
  /// Of an element of a composite of the row: the composite's field, and the element's in that. Of anything else -1.
  let outerIndex: Int
  let innerIndex: Int
  /// The entities that a to-one relationship may lead to; nil for an attribute.
  let destination: Set<UInt32>?
  /// Where it lies in the rows of descendants.
  private let others: [(layout: UInt16, path: FieldPath)]
  let entity: UInt32

  init(_ keyPath: String, _ entity: EntitySchema, _ store: EntityStore) throws(EngineError) {
    // An attribute, as a rule.
    if let plan = store.plans[entity.id], let (attribute, field) = plan.layout.attribute(keyPath) {
      self.keyPath = keyPath
      self.entity = entity.id
      self.attribute = attribute
      type = attribute.type
      destination = nil
      mask = PropertyMask.mask(field)
      ownIndex = field
      outerIndex = -1
      innerIndex = -1
      layoutID = plan.layout.id
      path = try storing { () throws(StoreError) in try FieldPath([field], in: plan.layout.record) }
      text = TextPlace(path, in: plan.layout.record)
      others = try Self.others(plan, store) { $0.fieldByName[keyPath].map { [$0] } }
      return
    }
    let schema = store.schema
    let resolved = try resolving { () throws(SchemaError) in try schema.resolve(keyPath: keyPath, from: entity.id) }
    if resolved.isToMany || resolved.traversesRelationship {
      throw .unsupported("'\(keyPath)' leaves the row; read the relationship, then the field of the row it leads to")
    }
    self.keyPath = keyPath
    self.entity = entity.id
    type = resolved.type
    attribute = resolved.attribute
    if case .toOne(_, let id)? = resolved.steps.last {
      destination = try store.plan(id).family
    } else {
      destination = nil
    }
    let plan = try store.plan(entity.id)
    guard let indexes = plan.layout.fieldPath(resolved.steps) else {
      throw .unsupported("'\(keyPath)' of \(entity.name) is not kept in rows: it is transient, or the object itself")
    }
    mask = PropertyMask.mask(indexes[0])
    ownIndex = indexes.count == 1 ? indexes[0] : -1
    outerIndex = indexes.count == 2 ? indexes[0] : -1
    innerIndex = indexes.count == 2 ? indexes[1] : -1
    layoutID = plan.layout.record.id
    path = try storing { () throws(StoreError) in try FieldPath(indexes, in: plan.layout.record) }
    text = TextPlace(path, in: plan.layout.record)
    others = try Self.others(plan, store) { $0.fieldPath(resolved.steps) }
  }

  /// Where the property lies in the rows of an entity's descendants, whose fields `indexes` answers.
  private static func others(
    _ plan: EntityPlan, _ store: EntityStore, _ indexes: (EntityLayout) -> [Int]?
  ) throws(EngineError) -> [(layout: UInt16, path: FieldPath)] {
    if plan.family.count == 1 { return [] }
    var others: [(layout: UInt16, path: FieldPath)] = []
    for (id, layout) in store.layouts where id != plan.layout.id && plan.family.contains(layout.entityID) {
      guard let indexes = indexes(layout) else { continue }
      others.append((id, try storing { () throws(StoreError) in try FieldPath(indexes, in: layout.record) }))
    }
    return others
  }

  /// Where the property lies in rows of another layout.
  @usableFromInline
  func path(in layout: UInt16) throws(EngineError) -> FieldPath {
    if layout == layoutID { return path }
    for other in others where other.layout == layout { return other.path }
    throw .misuse("'\(keyPath)' was looked up for an entity that the row is not of; look it up for the row's entity")
  }
}

extension EntityStore {
  /// Looks up an attribute, an element of a composite (`colorScheme.primary`) or a to-one relationship, for reading and
  /// writing it often.
  ///
  /// - Throws: ``EngineError/schema(_:)`` if there is no such property, ``EngineError/unsupported(_:)`` if it does not
  ///   lie in the entity's rows.
  public func field(_ keyPath: String, of entity: EntitySchema) throws(EngineError) -> RowField {
    guard entity.id < planTable.count, let plan = planTable[Int(truncatingIfNeeded: entity.id)] else {
      return try RowField(keyPath, entity, self)
    }
    return try plan.fields.field(keyPath) { () throws(EngineError) in try RowField(keyPath, entity, self) }
  }

  /// The attribute of the entity's rows, or the element of a composite of theirs, that a path names; nil for all other
  /// paths, and for some elements where there are very many. Planning asks again and again, so that it is kept.
  func column(_ keyPath: String, of plan: EntityPlan) -> (field: RowField, attribute: AttributeSchema)? {
    do throws(EngineError) {
      let field = try plan.fields.kept(keyPath) { () throws(EngineError) in
        try RowField(keyPath, plan.entity, self)
      }
      if let field, let attribute = field.attribute { return (field, attribute) }
    } catch {
      // Transient attributes have no field.
    }
    return nil
  }
}

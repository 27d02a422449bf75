import CambiumEngine
import CambiumKernel

/// The rules of migration once more, written down plainly and without the engine: on models as they are described, and on
/// objects in memory.
struct NaiveMigration {
  let source: NaiveModel
  let destination: NaiveModel

  init(_ source: SchemaDefinition, _ destination: SchemaDefinition) {
    self.source = NaiveModel(source)
    self.destination = NaiveModel(destination)
  }

  // MARK: What matches

  static func match<T>(_ new: T, in old: [T], _ name: (T) -> String, _ identifier: (T) -> String?) -> T? {
    let key = identifier(new) ?? name(new)
    if let same = old.first(where: { name($0) == name(new) && (identifier($0) ?? name($0)) == key }) { return same }
    if let renamed = old.first(where: { (identifier($0) ?? name($0)) == key }) { return renamed }
    return old.first { name($0) == name(new) }
  }

  func sourceEntity(of entity: EntitySchema) -> EntitySchema? {
    Self.match(entity, in: Array(source.definition.entities), { $0.name }, { $0.renamingIdentifier })
  }

  func sourceAttribute(of attribute: AttributeSchema, _ old: EntitySchema) -> AttributeSchema? {
    let found = Self.match(attribute, in: source.attributes(old), { $0.name }, { $0.renamingIdentifier })
    guard let found, (found.type == .composite) == (attribute.type == .composite) else { return nil }
    return found
  }

  func sourceRelationship(of relationship: RelationshipSchema, _ old: EntitySchema) -> RelationshipSchema? {
    Self.match(relationship, in: source.relationships(old), { $0.name }, { $0.renamingIdentifier })
  }

  /// Elements of a composite, and the flat attributes that they were.
  func gathered(_ attribute: AttributeSchema, _ old: EntitySchema) -> [(AttributeSchema, AttributeSchema)] {
    guard attribute.type == .composite, sourceAttribute(of: attribute, old) == nil else { return [] }
    return attribute.elements.compactMap { element in
      guard let flat = source.attributes(old).first(where: { $0.name == element.renamingIdentifier }) else {
        return nil
      }
      return flat.type == .composite ? nil : (element, flat)
    }
  }

  /// The composite, and the element of it, that an attribute was.
  func spread(_ attribute: AttributeSchema, _ old: EntitySchema) -> (AttributeSchema, AttributeSchema)? {
    guard attribute.type != .composite, let path = attribute.renamingIdentifier?.split(separator: "."), path.count == 2,
      sourceAttribute(of: attribute, old) == nil,
      let composite = source.attributes(old).first(where: { $0.name == path[0] }), composite.type == .composite,
      let element = composite.elements.first(where: { $0.name == path[1] })
    else { return nil }
    return element.type == .composite ? nil : (composite, element)
  }

  // MARK: What cannot be inferred

  /// The places of changes that stand in the way.
  func refusals() -> Set<String> {
    var result: Set<String> = []
    for entity in destination.definition.entities {
      guard let old = sourceEntity(of: entity) else { continue }
      for attribute in destination.attributes(entity) {
        for (element, flat) in gathered(attribute, old) {
          compare(flat, element, entity.name + "." + attribute.name + "." + element.name, &result)
        }
        if let (_, element) = spread(attribute, old) {
          compare(element, attribute, entity.name + "." + attribute.name, &result)
        }
        guard let from = sourceAttribute(of: attribute, old) else { continue }
        compare(from, attribute, entity.name + "." + attribute.name, &result)
      }
      for relationship in destination.relationships(entity) {
        guard let from = sourceRelationship(of: relationship, old) else { continue }
        if from.isToMany && !relationship.isToMany { result.insert(entity.name + "." + relationship.name) }
        // Whoever it led to and is there still has to be one it may lead to.
        let before = source.family(from.destination).compactMap { name in
          destination.definition.entities.first { sourceEntity(of: $0)?.name == name }?.name
        }
        let after = destination.family(relationship.destination)
        let same =
          destination.entity(relationship.destination).flatMap { sourceEntity(of: $0) }?.name == from.destination
        if !same, before.isEmpty || !before.allSatisfy({ after.contains($0) }) {
          result.insert(entity.name + "." + relationship.name)
        }
      }
    }
    for entity in destination.definition.entities {
      guard let old = sourceEntity(of: entity) else { continue }
      let root = destination.path(entity).last?.name ?? entity.name
      let family = destination.familyInOrder(root)
      guard let first = family.compactMap({ destination.entity($0).flatMap { sourceEntity(of: $0) } }).first else {
        continue
      }
      let mainRoot = source.path(first).last?.name ?? first.name
      let myRoot = source.path(old).last?.name ?? old.name
      if myRoot == mainRoot { continue }
      let isAlone = source.family(myRoot).count == 1
      let parent = entity.parent.flatMap { destination.entity($0) }.flatMap { sourceEntity(of: $0) }
      let parentRoot = parent.map { source.path($0).last?.name ?? $0.name }
      if !(isAlone && parentRoot == mainRoot) { result.insert(entity.name) }
    }
    return result
  }

  private func compare(_ from: AttributeSchema, _ to: AttributeSchema, _ place: String, _ result: inout Set<String>) {
    if from.type == .composite {
      for element in to.elements {
        guard let old = Self.match(element, in: from.elements, { $0.name }, { $0.renamingIdentifier }),
          (old.type == .composite) == (element.type == .composite)
        else { continue }
        compare(old, element, place + "." + element.name, &result)
      }
    } else if from.type != to.type, !(from.type.isNumeric && to.type.isNumeric) {
      result.insert(place)
    }
  }

  // MARK: Objects

  enum Outcome {
    case migrated(NaiveStore)
    /// The places of what stands in the way.
    case blocked(Set<String>)
  }

  func migrate(_ store: NaiveStore) -> Outcome {
    var result = NaiveStore()
    var blocked: Set<String> = []
    for (row, object) in store.objects {
      guard
        let entity = destination.definition.entities.first(where: { sourceEntity(of: $0)?.name == object.entity }),
        let old = source.entity(object.entity)
      else { continue }
      if entity.isAbstract { blocked.insert(entity.name) }
      var migrated = NaiveStore.Object(entity: entity.name)
      for attribute in destination.attributes(entity) where !attribute.isTransient {
        guard let value = value(of: attribute, old, object) else {
          blocked.insert(entity.name + "." + attribute.name)
          continue
        }
        if value.isNull, !attribute.isOptional { blocked.insert(entity.name + "." + attribute.name) }
        migrated.attributes[attribute.name] = value
      }
      result.objects[row] = migrated
    }
    for isDerived in [false, true] {
      for (row, object) in result.objects {
        guard let entity = destination.entity(object.entity) else { continue }
        for relationship in destination.relationships(entity) where destination.isDerived(relationship) == isDerived {
          var rows = targets(of: relationship, entity, row, store, result)
          if !relationship.isOrdered { rows.sort() }
          result.objects[row]?.relationships[relationship.name] = rows
        }
      }
    }
    leavePairs(&result)
    for (row, object) in result.objects {
      guard let entity = destination.entity(object.entity) else { continue }
      for relationship in destination.relationships(entity)
      where !relationship.isOptional && object.relationships[relationship.name]?.isEmpty ?? true {
        let old = sourceEntity(of: entity)
        // What was required and empty all the same is not the migration's doing.
        if let old, let from = sourceRelationship(of: relationship, old), !from.isOptional,
          store.objects[row]?.relationships[from.name]?.isEmpty ?? true
        {
          continue
        }
        blocked.insert(entity.name + "." + relationship.name)
      }
    }
    if blocked.isEmpty { blocked = duplicates(result) }
    return blocked.isEmpty ? .migrated(result) : .blocked(blocked)
  }

  /// Where a to-one relationship has a to-one inverse, who is not led back to leads nowhere.
  private func leavePairs(_ result: inout NaiveStore) {
    let all = result
    for (row, object) in all.objects {
      guard let entity = destination.entity(object.entity) else { continue }
      for relationship in destination.relationships(entity) where !relationship.isToMany {
        guard let inverse = relationship.inverse, let target = object.relationships[relationship.name]?.first,
          let other = all.objects[target], let otherEntity = destination.entity(other.entity),
          let back = destination.relationships(otherEntity).first(where: { $0.name == inverse }), !back.isToMany
        else { continue }
        if other.relationships[inverse] != [row] { result.objects[row]?.relationships[relationship.name] = [] }
      }
    }
  }

  private func duplicates(_ store: NaiveStore) -> Set<String> {
    var found: Set<String> = []
    for entity in destination.definition.entities {
      let family = destination.family(entity.name)
      for constraint in entity.uniquenessConstraints {
        var seen: Set<[Value]> = []
        for object in store.objects.values where family.contains(object.entity) {
          let values = constraint.paths.map { object.attributes[$0] ?? .null }
          if values.contains(where: { $0.isNull }) { continue }
          if !seen.insert(values).inserted { found.insert(entity.name) }
        }
      }
    }
    return found
  }

  /// nil: the value does not fit.
  private func value(of attribute: AttributeSchema, _ old: EntitySchema, _ object: NaiveStore.Object) -> Value? {
    let from = sourceAttribute(of: attribute, old)
    var value: Value
    if let from {
      guard let converted = convert(object.attributes[from.name] ?? .null, from, attribute) else { return nil }
      value = converted
    } else {
      value = attribute.type == .composite ? .null : attribute.defaultValue
    }
    for (element, flat) in gathered(attribute, old) {
      guard let moved = convert(object.attributes[flat.name] ?? .null, flat, element) else { return nil }
      if moved.isNull, value.isNull { continue }
      var composite: CompositeValue
      if case .composite(let known) = value {
        composite = known
      } else {
        composite = CompositeValue(
          names: attribute.elements.map { $0.name }, values: attribute.elements.map { $0.defaultValue })
      }
      composite[element.name] = moved
      value = .composite(composite)
    }
    if let (composite, element) = spread(attribute, old) {
      value = .null
      if case .composite(let elements)? = object.attributes[composite.name] {
        guard let moved = convert(elements[element.name] ?? .null, element, attribute) else { return nil }
        value = moved
      }
      if value.isNull { value = attribute.defaultValue }
    }
    return value.isNull && !attribute.isOptional ? attribute.defaultValue : value
  }

  private func convert(_ value: Value, _ from: AttributeSchema, _ to: AttributeSchema) -> Value? {
    if value.isNull || from.type == to.type && from.type != .composite { return value }
    if from.type == .composite {
      guard case .composite(let composite) = value else { return .null }
      var values: [Value] = []
      for element in to.elements {
        let old = Self.match(element, in: from.elements, { $0.name }, { $0.renamingIdentifier })
        guard let old, (old.type == .composite) == (element.type == .composite) else {
          values.append(element.type == .composite ? .null : element.defaultValue)
          continue
        }
        guard let converted = convert(composite[old.name] ?? .null, old, element) else { return nil }
        values.append(converted.isNull && !element.isOptional ? element.defaultValue : converted)
      }
      return .composite(CompositeValue(names: to.elements.map { $0.name }, values: values))
    }
    return number(value, to.type)
  }

  private func number(_ value: Value, _ type: AttributeType) -> Value? {
    guard let double = value.nearestDouble else { return nil }
    switch type {
    case .integer16, .integer32, .integer64:
      let whole: Int64
      if let exact = value.exactInteger {
        whole = exact
      } else {
        guard abs(double) < 9e18 else { return nil }
        whole = Int64(double.rounded(.towardZero))
      }
      let bits = type == .integer16 ? 15 : type == .integer32 ? 31 : 63
      if bits < 63, whole >= 1 << bits || whole < -(1 << bits) { return nil }
      return .integer(whole)
    case .boolean: return .boolean(double != 0)
    case .double: return .double(double)
    case .float:
      let float = value.nearestFloat ?? 0
      return float.isInfinite && double.isFinite ? nil : .float(float)
    case .decimal: return value.shortestDecimal.map { .decimal($0) }
    default: return nil
    }
  }

  // MARK: Relationships

  private func targets(
    of relationship: RelationshipSchema, _ entity: EntitySchema, _ row: UInt64, _ store: NaiveStore,
    _ result: NaiveStore
  ) -> [UInt64] {
    if destination.isDerived(relationship), let inverse = relationship.inverse {
      // The other side says who leads here.
      return result.objects.filter {
        $0.value.relationships[inverse]?.contains(row) ?? false && leads($0.value, inverse, relationship)
      }
      .map { $0.key }
    }
    guard let object = store.objects[row], let old = source.entity(object.entity) else { return [] }
    let owner = destination.owner(of: relationship, entity)
    let isOwn = destination.family(owner).contains { name in
      guard let entity = destination.entity(name), let old = sourceEntity(of: entity) else { return false }
      return sourceRelationship(of: relationship, old) != nil
    }
    if isOwn {
      guard let from = sourceRelationship(of: relationship, old) else { return [] }
      let family = destination.family(relationship.destination)
      return (object.relationships[from.name] ?? []).filter {
        result.objects[$0].map { family.contains($0.entity) } ?? false
      }
    }
    guard let inverse = relationship.inverse else { return [] }
    // A new inverse of a relationship that was there.
    var found: [UInt64] = []
    for (other, candidate) in store.objects.sorted(by: { $0.key < $1.key }) where result.objects[other] != nil {
      guard let entity = destination.entity(result.objects[other]?.entity ?? ""),
        destination.family(relationship.destination).contains(entity.name),
        let theirs = destination.relationships(entity).first(where: { $0.name == inverse }),
        let oldEntity = source.entity(candidate.entity), let from = sourceRelationship(of: theirs, oldEntity)
      else { continue }
      if candidate.relationships[from.name]?.contains(row) ?? false { found.append(other) }
    }
    return relationship.isToMany ? found : Array(found.prefix(1))
  }

  /// Whether an object's relationship of a name is the inverse of another.
  private func leads(_ object: NaiveStore.Object, _ name: String, _ relationship: RelationshipSchema) -> Bool {
    destination.family(relationship.destination).contains(object.entity)
  }
}

/// A described model, looked at plainly.
struct NaiveModel {
  let definition: SchemaDefinition

  init(_ definition: SchemaDefinition) { self.definition = definition }

  func entity(_ name: String) -> EntitySchema? { definition.entities.first { $0.name == name } }

  /// The entity, its parent, and so on.
  func path(_ entity: EntitySchema) -> [EntitySchema] {
    var result = [entity]
    while let parent = result.last?.parent, let next = self.entity(parent) { result.append(next) }
    return result
  }

  func attributes(_ entity: EntitySchema) -> [AttributeSchema] { path(entity).reversed().flatMap { $0.attributes } }
  func relationships(_ entity: EntitySchema) -> [RelationshipSchema] {
    path(entity).reversed().flatMap { $0.relationships }
  }

  func family(_ name: String) -> [String] {
    definition.entities.filter { path($0).contains { $0.name == name } }.map { $0.name }
  }

  /// The family, parents before children, level by level.
  func familyInOrder(_ name: String) -> [String] {
    var result = [name]
    var next = 0
    while next < result.count {
      result += definition.entities.filter { $0.parent == result[next] }.map { $0.name }
      next += 1
    }
    return result
  }

  /// The entity that declares a relationship of an entity.
  func owner(of relationship: RelationshipSchema, _ entity: EntitySchema) -> String {
    path(entity).first { $0.relationships.contains { $0.name == relationship.name } }?.name ?? ""
  }

  /// Whether a relationship is what the to-one relationships on the other side say.
  func isDerived(_ relationship: RelationshipSchema) -> Bool {
    guard relationship.isToMany, !relationship.isOrdered, let inverse = relationship.inverse,
      let entity = entity(relationship.destination)
    else { return false }
    return relationships(entity).first { $0.name == inverse }.map { !$0.isToMany } ?? false
  }
}

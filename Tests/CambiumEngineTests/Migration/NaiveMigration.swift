import CambiumEngine
import CambiumKernel

/// The rules of migration once more, written down plainly and without the engine: on models as they are described, and
/// on objects in memory.
struct NaiveMigration {
  let source: NaiveModel
  let destination: NaiveModel

  /// By entity of the destination the one of the source, and by that one the other way round.
  private let sourceEntities: [String: EntitySchema]
  private let destinationEntities: [String: EntitySchema]
  /// By entity of the source and property of the destination.
  private var sourceAttributes: [String: [String: AttributeSchema]] = [:]
  private var sourceRelationships: [String: [String: RelationshipSchema]] = [:]

  init(_ source: SchemaDefinition, _ destination: SchemaDefinition) {
    self.source = NaiveModel(source)
    self.destination = NaiveModel(destination)
    let pairs = Self.pair(destination.entities, source.entities, { $0.name }, { $0.renamingIdentifier })
    sourceEntities = Dictionary(uniqueKeysWithValues: pairs.map { (destination.entities[$0.key].name, $0.value) })
    destinationEntities = Dictionary(uniqueKeysWithValues: pairs.map { ($0.value.name, destination.entities[$0.key]) })
    for (place, old) in pairs {
      let attributes = self.destination.attributes(destination.entities[place])
      for (place, from) in Self.pair(
        attributes, self.source.attributes(old), { $0.name }, { $0.renamingIdentifier })
      where Self.isAlike(attributes[place], from) && !attributes[place].isTransient && !from.isTransient {
        sourceAttributes[old.name, default: [:]][attributes[place].name] = from
      }
      let relationships = self.destination.relationships(destination.entities[place])
      for (place, from) in Self.pair(
        relationships, self.source.relationships(old), { $0.name }, { $0.renamingIdentifier })
      where !relationships[place].isTransient && !from.isTransient {
        sourceRelationships[old.name, default: [:]][relationships[place].name] = from
      }
    }
  }

  // MARK: What matches

  /// By the place of a new one the old one that it is; none twice. A missing identifier is the name. A new one with an
  /// identifier of its own goes by that first, to an old one with the same name, the same identifier or, last, the
  /// name, unless that name and its own are plain names before and after. Then names count, then identifiers that only
  /// old ones have.
  private static func pair<T>(
    _ new: [T], _ old: [T], _ name: (T) -> String, _ identifier: (T) -> String?
  ) -> [Int: T] {
    typealias Label = (name: String, key: String, isSet: Bool)
    let labels = new.map { Label(name($0), identifier($0) ?? name($0), identifier($0) != nil) }
    let before = old.map { Label(name($0), identifier($0) ?? name($0), identifier($0) != nil) }
    let plain = Set(labels.filter { !$0.isSet }.map { $0.name })
    let names = Set(before.map { $0.name })
    let rules: [(Label, Label) -> Bool] = [
      { $0.isSet && $0.name == $1.name && $0.key == $1.key }, { $0.isSet && $0.key == $1.key && $1.isSet },
      { $0.isSet && $0.key == $1.key && !(plain.contains($1.name) && names.contains($0.name)) },
      { $0.name == $1.name }, { $0.key == $1.key },
    ]
    var result: [Int: T] = [:]
    var free = Array(old.indices)
    for rule in rules {
      for place in new.indices where result[place] == nil {
        guard let found = free.firstIndex(where: { rule(labels[place], before[$0]) }) else { continue }
        result[place] = old[free.remove(at: found)]
      }
    }
    return result
  }

  private static func isAlike(_ one: AttributeSchema, _ other: AttributeSchema) -> Bool {
    (one.type == .composite) == (other.type == .composite)
  }

  func sourceEntity(of entity: EntitySchema) -> EntitySchema? { sourceEntities[entity.name] }

  func sourceAttribute(of attribute: AttributeSchema, _ old: EntitySchema) -> AttributeSchema? {
    sourceAttributes[old.name]?[attribute.name]
  }

  func sourceRelationship(of relationship: RelationshipSchema, _ old: EntitySchema) -> RelationshipSchema? {
    sourceRelationships[old.name]?[relationship.name]
  }

  private static func sourceElement(
    of element: AttributeSchema, in attribute: AttributeSchema, _ old: AttributeSchema
  ) -> AttributeSchema? {
    guard let place = attribute.elements.firstIndex(where: { $0.name == element.name }),
      let found = pair(attribute.elements, old.elements, { $0.name }, { $0.renamingIdentifier })[place]
    else { return nil }
    return isAlike(element, found) ? found : nil
  }

  /// An attribute, or an element of one, whose value comes from another level: where it goes, and where it comes from.
  struct Move {
    var path: [String]
    var to: AttributeSchema
    var sourcePath: [String]
    var from: AttributeSchema

    var place: String { path.joined(separator: ".") }
  }

  func moves(_ attribute: AttributeSchema, _ old: EntitySchema) -> [Move] {
    moves(attribute, [attribute.name], sourceAttribute(of: attribute, old), old)
  }

  private func moves(
    _ attribute: AttributeSchema, _ path: [String], _ own: AttributeSchema?, _ old: EntitySchema
  ) -> [Move] {
    if own == nil, let names = attribute.renamingIdentifier?.split(separator: ".").map({ String($0) }) {
      var candidates = source.attributes(old)
      var found: [AttributeSchema] = []
      for name in names {
        let keyed = candidates.filter { ($0.renamingIdentifier ?? $0.name) == name }
        let named = candidates.first { $0.name == name }
        guard let next = keyed.first(where: { $0.name == name }) ?? keyed.first ?? named else { break }
        found.append(next)
        candidates = next.elements
      }
      if found.count == names.count, path.count > 1 || names.count > 1, let from = found.last {
        if (from.type == .composite) == (attribute.type == .composite) {
          return [Move(path: path, to: attribute, sourcePath: found.map { $0.name }, from: from)]
        }
      } else if let (sourcePath, from) = leaving(
        attribute.renamingIdentifier ?? "", old, path.count + names.count == 2),
        (from.type == .composite) == (attribute.type == .composite)
      {
        return [Move(path: path, to: attribute, sourcePath: sourcePath, from: from)]
      }
    }
    return attribute.elements.flatMap { element in
      moves(element, path + [element.name], own.flatMap { Self.sourceElement(of: element, in: attribute, $0) }, old)
    }
  }

  /// The only one with an identifier among what does not go on at its level.
  private func leaving(
    _ identifier: String, _ old: EntitySchema, _ elementsOnly: Bool
  ) -> (path: [String], attribute: AttributeSchema)? {
    guard let entity = destinationEntities[old.name] else { return nil }
    func places(_ attribute: AttributeSchema, _ path: [String]) -> [([String], AttributeSchema)] {
      [(path, attribute)] + attribute.elements.flatMap { places($0, path + [$0.name]) }
    }
    func staying(_ attribute: AttributeSchema, _ from: AttributeSchema?, _ path: [String]) -> [[String]] {
      guard let from else { return [] }
      let here = path + [from.name]
      return [here]
        + attribute.elements.flatMap { staying($0, Self.sourceElement(of: $0, in: attribute, from), here) }
    }
    let stays = Set(destination.attributes(entity).flatMap { staying($0, sourceAttribute(of: $0, old), []) })
    let all = source.attributes(old).flatMap { places($0, [$0.name]) }
    let found = all.filter { path, attribute in
      attribute.renamingIdentifier == identifier && !stays.contains(path) && (path.count > 1 || !elementsOnly)
    }
    return found.count == 1 ? found[0] : nil
  }

  // MARK: What cannot be inferred

  /// A change that cannot be inferred: the entity or the path of the property, and what is changed.
  struct Refusal: Hashable {
    enum Kind: Hashable { case type, toOne, destination, hierarchy }
    var place: String
    var kind: Kind
  }

  /// All changes that cannot be inferred.
  func refusals() -> Set<Refusal> {
    var result: Set<Refusal> = []
    for entity in destination.definition.entities {
      guard let old = sourceEntity(of: entity) else { continue }
      for attribute in destination.attributes(entity) {
        for move in moves(attribute, old) { compare(move.from, move.to, entity.name + "." + move.place, &result) }
        guard let from = sourceAttribute(of: attribute, old) else { continue }
        compare(from, attribute, entity.name + "." + attribute.name, &result)
      }
      for relationship in destination.relationships(entity) {
        guard let from = sourceRelationship(of: relationship, old) else { continue }
        let place = entity.name + "." + relationship.name
        if from.isToMany && !relationship.isToMany { result.insert(Refusal(place: place, kind: .toOne)) }
        // Whoever it led to and is there still has to be one it may lead to.
        let before = source.family(from.destination).compactMap { destinationEntities[$0]?.name }
        let after = destination.family(relationship.destination)
        let same =
          destination.entity(relationship.destination).flatMap { sourceEntity(of: $0) }?.name == from.destination
        if !same, before.isEmpty || !before.allSatisfy({ after.contains($0) }) {
          result.insert(Refusal(place: place, kind: .destination))
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
      // New entities in between do not count.
      let above = destination.path(entity).dropFirst().compactMap { sourceEntity(of: $0) }.first
      let aboveRoot = above.map { source.path($0).last?.name ?? $0.name }
      if !(isAlone && aboveRoot == mainRoot) { result.insert(Refusal(place: entity.name, kind: .hierarchy)) }
    }
    return result
  }

  private func compare(_ from: AttributeSchema, _ to: AttributeSchema, _ place: String, _ result: inout Set<Refusal>) {
    if from.type == .composite {
      for element in to.elements {
        guard let old = Self.sourceElement(of: element, in: to, from) else { continue }
        compare(old, element, place + "." + element.name, &result)
      }
    } else if from.type != to.type, !(from.type.isNumeric && to.type.isNumeric) {
      result.insert(Refusal(place: place, kind: .type))
    }
  }

  // MARK: Objects

  /// What stands in the way: the entity or the path of the property, and why.
  struct Obstacle: Hashable {
    enum Reason: Hashable {
      case missingValue, abstractEntity, ambiguousInverse
      case overflow(AttributeType)
      case duplicate([String])
    }
    var place: String
    var reason: Reason
  }

  enum Outcome {
    case migrated(NaiveStore)
    /// What stands in the way, and which objects.
    case blocked([Obstacle: Set<UInt64>])
  }

  func migrate(_ store: NaiveStore) -> Outcome {
    var result = NaiveStore()
    var blocked: [Obstacle: Set<UInt64>] = [:]
    func block(_ place: String, _ reason: Obstacle.Reason, _ row: UInt64) {
      blocked[Obstacle(place: place, reason: reason), default: []].insert(row)
    }
    for (row, object) in store.objects {
      guard let entity = destinationEntities[object.entity], let old = source.entity(object.entity) else { continue }
      if entity.isAbstract { block(entity.name, .abstractEntity, row) }
      var migrated = NaiveStore.Object(entity: entity.name)
      for attribute in destination.attributes(entity) where !attribute.isTransient {
        var misfits: [String: AttributeType] = [:]
        let value = value(of: attribute, old, object, &misfits)
        for (path, type) in misfits { block(entity.name + "." + path, .overflow(type), row) }
        // A number that does not fit is no missing one; what else a composite lacks is told beside it.
        let from = sourceAttribute(of: attribute, old)
        var missing = missing(attribute, from, value, attribute.name)
        // What was required before and is missing all the same is not in the way.
        if value.isNull, !attribute.isOptional, from?.isOptional ?? true { missing.insert(attribute.name) }
        for path in missing where misfits[path] == nil { block(entity.name + "." + path, .missingValue, row) }
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
    blocked.merge(ambiguous(result)) { $0.union($1) }
    for (row, object) in result.objects {
      guard let entity = destination.entity(object.entity) else { continue }
      for relationship in destination.relationships(entity)
      where relationship.needsDestination && object.relationships[relationship.name]?.isEmpty ?? true {
        let old = sourceEntity(of: entity)
        // What was required and empty all the same is not the migration's doing.
        if let old, let from = sourceRelationship(of: relationship, old), from.needsDestination,
          store.objects[row]?.relationships[from.name]?.isEmpty ?? true
        {
          continue
        }
        block(entity.name + "." + relationship.name, .missingValue, row)
      }
    }
    // Constraints are looked at when nothing else is in the way.
    if blocked.isEmpty { blocked = duplicates(result) }
    return blocked.isEmpty ? .migrated(result) : .blocked(blocked)
  }

  /// To-one relationships lead to one object, and cannot choose among several.
  private func ambiguous(_ result: NaiveStore) -> [Obstacle: Set<UInt64>] {
    var found: [Obstacle: Set<UInt64>] = [:]
    for (row, object) in result.objects {
      guard let entity = destination.entity(object.entity) else { continue }
      for relationship in destination.relationships(entity)
      where !relationship.isToMany && object.relationships[relationship.name]?.count ?? 0 > 1 {
        let place = entity.name + "." + relationship.name
        found[Obstacle(place: place, reason: .ambiguousInverse), default: []].insert(row)
      }
    }
    return found
  }

  private func duplicates(_ store: NaiveStore) -> [Obstacle: Set<UInt64>] {
    var found: [Obstacle: Set<UInt64>] = [:]
    for entity in destination.definition.entities {
      let family = destination.family(entity.name)
      for constraint in entity.uniquenessConstraints {
        var rows: [[Value]: Set<UInt64>] = [:]
        for (row, object) in store.objects where family.contains(object.entity) {
          let values = constraint.paths.map { object.attributes[$0] ?? .null }
          if !values.contains(where: { $0.isNull }) { rows[values, default: []].insert(row) }
        }
        let obstacle = Obstacle(place: entity.name, reason: .duplicate(constraint.paths))
        for same in rows.values where same.count > 1 { found[obstacle, default: []].formUnion(same) }
      }
    }
    return found
  }

  /// A value in the destination. Where it does not fit, the paths and their types are told, and it is null.
  private func value(
    of attribute: AttributeSchema, _ old: EntitySchema, _ object: NaiveStore.Object,
    _ misfits: inout [String: AttributeType]
  ) -> Value {
    let moves = moves(attribute, old)
    var value = Value.null
    if let from = sourceAttribute(of: attribute, old) {
      value = convert(object.attributes[from.name] ?? .null, from, attribute, attribute.name, &misfits)
    } else if moves.isEmpty, attribute.type != .composite {
      value = attribute.defaultValue
    }
    var moved: [(Move, Value)] = []
    for move in moves {
      var there = object.attributes[move.sourcePath[0]] ?? .null
      for name in move.sourcePath.dropFirst() {
        if case .composite(let composite) = there { there = composite[name] ?? .null } else { there = .null }
      }
      moved.append((move, convert(there, move.from, move.to, move.place, &misfits)))
    }
    // Whatever is there makes the composites that it goes into; then what is not there is null in them.
    for (move, new) in moved where !new.isNull { value = put(new, move.path.dropFirst(), attribute, value) }
    for (move, new) in moved where new.isNull { value = put(new, move.path.dropFirst(), attribute, value) }
    // What was required before and is missing all the same stays so.
    if value.isNull, moves.isEmpty, let from = sourceAttribute(of: attribute, old), !from.isOptional,
      from.type == attribute.type
    {
      return value
    }
    if value.isNull, !attribute.isOptional || !moves.isEmpty && attribute.type != .composite {
      return attribute.defaultValue
    }
    return value
  }

  private func put(_ new: Value, _ path: ArraySlice<String>, _ attribute: AttributeSchema, _ value: Value) -> Value {
    guard let name = path.first, let element = attribute.elements.first(where: { $0.name == name }) else {
      return new.isNull && !attribute.isOptional ? attribute.defaultValue : new
    }
    var values = attribute.elements.map { $0.type == .composite ? .null : $0.defaultValue }
    if case .composite(let composite) = value {
      values = attribute.elements.map { composite[$0.name] ?? .null }
    } else if new.isNull {
      return value
    }
    var composite = CompositeValue(names: attribute.elements.map { $0.name }, values: values)
    composite[name] = put(new, path.dropFirst(), element, composite[name] ?? .null)
    return .composite(composite)
  }

  /// The required elements that are null in a composite which is there, but for those that were required before.
  private func missing(
    _ attribute: AttributeSchema, _ from: AttributeSchema?, _ value: Value, _ path: String
  ) -> Set<String> {
    guard case .composite(let composite) = value else { return [] }
    var found: Set<String> = []
    for element in attribute.elements {
      let old = from.flatMap { Self.sourceElement(of: element, in: attribute, $0) }
      let place = path + "." + element.name
      let value = composite[element.name] ?? .null
      if value.isNull, !element.isOptional, old?.isOptional ?? true { found.insert(place) }
      found.formUnion(missing(element, old, value, place))
    }
    return found
  }

  private func convert(
    _ value: Value, _ from: AttributeSchema, _ to: AttributeSchema, _ place: String,
    _ misfits: inout [String: AttributeType]
  ) -> Value {
    if value.isNull || from.type == to.type && from.type != .composite { return value }
    if from.type == .composite {
      guard case .composite(let composite) = value else { return .null }
      var values: [Value] = []
      for element in to.elements {
        guard let old = Self.sourceElement(of: element, in: to, from) else {
          values.append(element.type == .composite ? .null : element.defaultValue)
          continue
        }
        let converted = convert(composite[old.name] ?? .null, old, element, place + "." + element.name, &misfits)
        values.append(converted.isNull && !element.isOptional ? element.defaultValue : converted)
      }
      return .composite(CompositeValue(names: to.elements.map { $0.name }, values: values))
    }
    let converted = number(value, to.type)
    if converted == nil { misfits[place] = to.type }
    return converted ?? .null
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
    // What it led to, and whoever led here by what is its inverse now.
    var rows: [UInt64] = []
    if let from = sourceRelationship(of: relationship, old) {
      let family = destination.family(relationship.destination)
      rows = (object.relationships[from.name] ?? []).filter {
        result.objects[$0].map { family.contains($0.entity) } ?? false
      }
    }
    guard let inverse = relationship.inverse else { return rows }
    for (other, candidate) in store.objects.sorted(by: { $0.key < $1.key }) where result.objects[other] != nil {
      guard let theirEntity = destination.entity(result.objects[other]?.entity ?? ""),
        destination.family(relationship.destination).contains(theirEntity.name),
        let theirs = destination.relationships(theirEntity).first(where: { $0.name == inverse }),
        destination.family(theirs.destination).contains(entity.name),
        let oldEntity = source.entity(candidate.entity), let from = sourceRelationship(of: theirs, oldEntity)
      else { continue }
      if candidate.relationships[from.name]?.contains(row) ?? false, !rows.contains(other) { rows.append(other) }
    }
    return rows
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

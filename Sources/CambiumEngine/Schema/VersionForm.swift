//  What of a model is stored alike, as bytes that are hashed. Specs/04-model.md describes them for other readers.
//
//    number      unsigned LEB128                 text       number of bytes, UTF-8
//    flag        one byte, 0 or 1                optional   0, or 1 and the content
//
//    attribute    0x01, name, type, is optional, is transient, modifier (optional text), derivation (optional text),
//                 number of elements, the elements as attributes, in declared order
//    relationship 0x02, name, destination, inverse (optional text), is to-many, is ordered, minimum, maximum,
//                 is optional, is transient, modifier (optional text)
//    entity       0x03, name, parent's hash (optional, 32 bytes), is abstract, modifier (optional text),
//                 number of own properties, the properties by name,
//                 number of constraints, the constraints by their bytes: number of paths, paths in declared order
//    model        0x04, number of entities, for each by name: name, hash
//
//  Names are ordered by their UTF-8 bytes. Every part begins with what it is and says how long it is, so that no two
//  models have the same bytes. A hash is the SHA-256 of these bytes.
//
//  Left out is what a store can be read without: default values, limits, patterns, delete rules, classes, transformers,
//  user info, renaming identifiers, indexes, fetched properties, configurations, templates, the names of composite
//  types.
import CambiumKernel

extension AttributeSchema {
  /// Changes when values of the attribute are stored otherwise, or its name or version hash modifier changes. Of an
  /// attribute that a ``Schema`` handed out; computed anew each time, O(number of elements).
  public var versionHash: VersionHash {
    var form = FieldWriter()
    appendVersionForm(to: &form, depth: 0)
    return SHA256.digest(of: form.bytes)
  }

  func appendVersionForm(to form: inout FieldWriter, depth: Int) {
    form.append(raw: [1])
    form.append(text: name)
    form.append(number: UInt64(truncatingIfNeeded: type.rawValue))
    form.append(flag: isOptional)
    form.append(flag: isTransient)
    form.append(optional: versionHashModifier)
    form.append(optional: derivation)
    form.append(number: UInt64(elements.count))
    // A schema refuses what is deeper.
    guard depth < Schema.compositeDepthLimit else { return }
    for element in elements { element.appendVersionForm(to: &form, depth: depth + 1) }
  }
}

extension RelationshipSchema {
  /// Changes when the relationship is stored otherwise, or its name, destination, inverse, counts or version hash
  /// modifier changes. Computed anew each time, O(1).
  public var versionHash: VersionHash {
    var form = FieldWriter()
    appendVersionForm(to: &form)
    return SHA256.digest(of: form.bytes)
  }

  func appendVersionForm(to form: inout FieldWriter) {
    form.append(raw: [2])
    form.append(text: name)
    form.append(text: destination)
    form.append(optional: inverse)
    form.append(flag: isToMany)
    form.append(flag: isOrdered)
    form.append(number: UInt64(minimumCount))
    form.append(number: UInt64(maximumCount))
    form.append(flag: isOptional)
    form.append(flag: isTransient)
    form.append(optional: versionHashModifier)
  }
}

extension EntitySchema {
  /// The hash under a parent of the given hash. O(size of the entity).
  func versionHash(parent: VersionHash?) -> VersionHash {
    var form = FieldWriter()
    form.append(raw: [3])
    form.append(text: name)
    if let parent { form.append(raw: [1] + parent.bytes) } else { form.append(raw: [0]) }
    form.append(flag: isAbstract)
    form.append(optional: versionHashModifier)
    var properties: [(name: [UInt8], form: [UInt8])] = []
    for attribute in attributes {
      var part = FieldWriter()
      attribute.appendVersionForm(to: &part, depth: 0)
      properties.append((Array(attribute.name.utf8), part.bytes))
    }
    for relationship in relationships {
      var part = FieldWriter()
      relationship.appendVersionForm(to: &part)
      properties.append((Array(relationship.name.utf8), part.bytes))
    }
    properties.order { $0.name.lexicographicallyPrecedes($1.name) }
    form.append(number: UInt64(properties.count))
    for property in properties { form.append(raw: property.form) }
    var constraints: [[UInt8]] = []
    for constraint in uniquenessConstraints {
      var part = FieldWriter()
      part.append(number: UInt64(constraint.paths.count))
      for path in constraint.paths { part.append(text: path) }
      constraints.append(part.bytes)
    }
    constraints.order { $0.lexicographicallyPrecedes($1) }
    form.append(number: UInt64(constraints.count))
    for constraint in constraints { form.append(raw: constraint) }
    return SHA256.digest(of: form.bytes)
  }
}

extension FieldWriter {
  fileprivate mutating func append(flag: Bool) { append(raw: [flag ? 1 : 0]) }

  fileprivate mutating func append(text: String) {
    append(number: UInt64(text.utf8.count))
    append(raw: Array(text.utf8))
  }

  fileprivate mutating func append(optional text: String?) {
    append(flag: text != nil)
    if let text { append(text: text) }
  }
}

/// The hashes of a schema: made when first asked for, since most stores are opened without.
final class VersionHashes: Sendable {
  let byEntity: [String: VersionHash]
  let checksum: VersionHash

  init(_ schema: Schema) {
    var hashes: [UInt32: VersionHash] = [:]
    var named: [String: VersionHash] = [:]
    var order = schema.entities.filter { $0.parentID == nil }
    var next = 0
    while next < order.count {
      let entity = order[next]
      next += 1
      let hash = entity.versionHash(parent: entity.parentID.flatMap { hashes[$0] })
      hashes[entity.id] = hash
      named[entity.name] = hash
      for child in entity.childIDs {
        if let child = schema.entity(id: child) { order.append(child) }
      }
    }
    byEntity = named
    var form = FieldWriter()
    form.append(raw: [4])
    form.append(number: UInt64(order.count))
    order.order { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    for entity in order {
      form.append(text: entity.name)
      form.append(raw: hashes[entity.id]?.bytes ?? [])
    }
    checksum = SHA256.digest(of: form.bytes)
  }
}

extension Schema {
  /// The version hash of every entity, by name. O(size of the schema) the first time, then O(1).
  ///
  /// A hash changes with the entity's name, its being abstract, its parent's hash, the hashes of its own properties,
  /// its uniqueness constraints and its version hash modifier, and with nothing else; as in Core Data.
  public var entityVersionHashesByName: [String: VersionHash] { versionHashes.byEntity }

  /// Tells versions of a model apart: 44 characters of base64, over all entities' names and hashes. Same cost.
  public var versionChecksum: String { versionHashes.checksum.base64 }

  /// The names of the entities, of either schema, whose version hashes differ, or that only one of them has, in order.
  public func differingEntities(from other: Schema) -> [String] {
    let (mine, others) = (entityVersionHashesByName, other.entityVersionHashesByName)
    var result: [String] = []
    for (name, hash) in mine where others[name] != hash { result.append(name) }
    for name in others.keys where mine[name] == nil { result.append(name) }
    return result.ordered()
  }
}

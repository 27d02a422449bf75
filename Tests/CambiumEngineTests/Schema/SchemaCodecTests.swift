import CambiumTesting
import Testing

@testable import CambiumEngine

@Suite struct SchemaCodecTests {
  @Test func example() throws {
    let schema = try Schema(exampleDefinition())
    let bytes = schema.encoded()
    let decoded = try Schema(bytes: bytes)
    #expect(decoded == schema)
    #expect(decoded.encoded() == bytes)
  }

  /// Removed parts are fields that older programs pass over. A model without them has the bytes that it had before.
  @Test func removedParts() throws {
    let old = try Schema(SchemaDefinition([EntitySchema("A", attributes: [AttributeSchema("x", .string)])]))
    var definition = old.definition
    definition.removedEntities = ["Hotel", "Inn"]
    definition.entities[0].removedProperties = ["notes", "start.altitude"]
    let schema = try Schema(definition, basedOn: old)
    let decoded = try Schema(bytes: schema.encoded())
    #expect(decoded == schema && decoded != old && decoded.versionChecksum == old.versionChecksum)
    #expect(decoded.removedEntities == ["Hotel", "Inn"])
    #expect(decoded.entities[0].removedProperties == ["notes", "start.altitude"])
    // The order of the lines means nothing.
    definition.removedEntities.reverse()
    definition.entities[0].removedProperties.reverse()
    #expect(try Schema(definition, basedOn: old).isEqualButForOrder(to: schema))
    definition.removedEntities = []
    definition.entities[0].removedProperties = []
    #expect(try Schema(definition, basedOn: old).encoded() == old.encoded())
  }

  @Test func empty() throws {
    let schema = try Schema(SchemaDefinition())
    #expect(try Schema(bytes: schema.encoded()) == schema)
  }

  @Test func randomSchemas() throws {
    for seed in UInt64(1)...60 {
      var random = SplitMix64(seed: seed)
      var schema = try Schema(randomDefinition(&random))
      if random.oneIn(2) { schema = try Schema(randomDefinition(&random), basedOn: schema) }
      #expect(try Schema(bytes: schema.encoded()) == schema, "seed \(seed)")
    }
  }

  @Test func everyTruncationIsAnError() throws {
    let bytes = try Schema(exampleDefinition()).encoded()
    let whole = try Schema(bytes: bytes)
    for count in bytes.indices {
      // A cut between two fields of the model is well-formed, but then no longer the whole model.
      if let cut = try? Schema(bytes: Array(bytes[..<count])) { #expect(cut != whole) }
    }
    for count in 0..<4 { #expect(throws: SchemaError.self) { try Schema(bytes: Array(bytes[..<count])) } }
  }

  @Test func everyByteMayChange() throws {
    let bytes = try Schema(exampleDefinition()).encoded()
    var refused = 0
    for index in bytes.indices {
      for change: UInt8 in [0x01, 0x80, 0xFF, 0x20] {
        var changed = bytes
        changed[index] ^= change
        // What is accepted has to be a sound schema, which its own bytes give again.
        if let schema = try? Schema(bytes: changed) {
          #expect(try Schema(bytes: schema.encoded()) == schema)
        } else {
          refused += 1
        }
      }
    }
    #expect(refused > bytes.count)
  }

  @Test func everyByteMayBecomeAnyOther() throws {
    let entity = EntitySchema(
      "A",
      attributes: [
        AttributeSchema("x", .double, default: 1.5), AttributeSchema("c", elements: [AttributeSchema("e", .uuid)]),
      ],
      relationships: [RelationshipSchema("r", to: "A", inverse: "r")],
      indexes: [IndexSchema("i", [IndexElement("c.e")])])
    let bytes = try Schema(SchemaDefinition([entity])).encoded()
    for index in bytes.indices {
      for value in UInt8.min...UInt8.max where value != bytes[index] {
        var changed = bytes
        changed[index] = value
        _ = try? Schema(bytes: changed)
      }
    }
  }

  @Test func randomBytes() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<3000 {
      let bytes = Schema.signature + [Schema.formatVersion] + random.bytes(random.below(60))
      _ = try? Schema(bytes: bytes)
    }
  }

  @Test func unknownFieldsArePassedOver() throws {
    let schema = try Schema(exampleDefinition())
    var writer = FieldWriter()
    writer.append(raw: schema.encoded())
    writer.field(1000, text: "from a later version")
    #expect(try Schema(bytes: writer.bytes) == schema)
  }

  /// A next identifier of 0 is left out when it is encoded, and would come back as 1.
  @Test func nextIdentifiersOfNoneAreRefused() throws {
    for number in UInt8(1)...3 {
      #expect(throws: SchemaError.self) {
        try Schema(bytes: Schema.signature + [Schema.formatVersion, number, 1, 0])
      }
    }
  }

  /// The elements of an attribute are those of its composite type in all but identifiers: a model of which only names
  /// and types agree was read, and its definition refused.
  @Test func elementsThatAreNotThoseOfTheirTypeAreRefused() throws {
    func bytes(_ change: (inout AttributeSchema) -> Void) throws -> [UInt8] {
      var amount = AttributeSchema("amount", .integer64)
      amount.minimum = .integer(0)
      var definition = SchemaDefinition([
        EntitySchema("Sale", attributes: [AttributeSchema("price", composite: "Price")])
      ])
      definition.composites = [CompositeSchema("Price", elements: [amount, AttributeSchema("currency", .string)])]
      var builder = SchemaBuilder(definition)
      try builder.expandComposites()
      try builder.assignIdentifiers(earlier: nil)
      change(&builder.definition.composites[0].elements[0])
      return Schema(compiled: try builder.compile(earlier: nil)).encoded()
    }
    #expect(try Schema(bytes: bytes { _ in }).entities[0].attributes[0].elements.count == 2)
    let changes: [(inout AttributeSchema) -> Void] = [
      { $0.isTransient = true }, { $0.isOptional = false }, { $0.allowsExternalBinaryDataStorage = true },
      { $0.minimum = .string("none") }, { $0.derivation = "currency" }, { $0.defaultValue = .integer(1) },
      { $0.userInfo.append(UserInfoEntry(key: "key", value: "value")) }, { $0.versionHashModifier = "2" },
    ]
    for (n, change) in changes.enumerated() {
      #expect(
        throws: SchemaError.malformed(offset: 0, detail: "elements differ from their composite type"), "change \(n)"
      ) { try Schema(bytes: bytes(change)) }
    }
  }

  @Test func precise() throws {
    let bytes = try Schema(exampleDefinition()).encoded()
    #expect(throws: SchemaError.malformed(offset: 0, detail: "the bytes don't begin as a stored model")) {
      try Schema(bytes: [1, 2, 3, 4])
    }
    var later = bytes
    // What knows no R-tree indexes must not write into them.
    #expect(bytes[3] == 2)
    #expect(try Schema(SchemaDefinition([EntitySchema("A")])).encoded()[3] == 1)
    later[3] = 3
    #expect(throws: SchemaError.unsupportedVersion(3)) { try Schema(bytes: later) }
    #expect(throws: SchemaError.malformed(offset: bytes.count + 2, detail: "a field is longer than what it is in")) {
      try Schema(bytes: bytes + [9, 1])
    }
  }

  @Test func deepNestingIsRefused() {
    var attribute = FieldWriter()
    attribute.field(2, text: "x")
    for _ in 0..<5000 {
      var outer = FieldWriter()
      outer.field(15, part: attribute)
      attribute = outer
    }
    var entity = FieldWriter()
    entity.field(5, part: attribute)
    var writer = FieldWriter()
    writer.append(raw: Schema.signature + [Schema.formatVersion])
    writer.field(6, part: entity)
    let bytes = writer.bytes
    #expect(throws: SchemaError.self) { try Schema(bytes: bytes) }
  }

  @Test func values() throws {
    var random = SplitMix64(seed: 6)
    for _ in 0..<2000 {
      let value = randomValue(&random, depth: 3)
      var writer = FieldWriter()
      writer.append(value: value)
      var reader = FieldReader(writer.bytes)
      #expect(try reader.value() == value)
      for count in writer.bytes.indices {
        var cut = FieldReader(Array(writer.bytes[..<count]))
        _ = try? cut.value()
      }
    }
  }
}

/// A sound model with random parts.
func randomDefinition(_ random: inout SplitMix64) -> SchemaDefinition {
  let types = AttributeType.allCases.filter { $0 != .undefined && $0 != .composite && $0 != .objectID }
  func attribute(_ index: Int, depth: Int, _ random: inout SplitMix64) -> AttributeSchema {
    var result: AttributeSchema
    if depth > 0, random.oneIn(4) {
      result = AttributeSchema(
        "a\(index)", elements: (0..<random.below(4)).map { attribute($0, depth: depth - 1, &random) })
    } else if random.oneIn(8) {
      result = AttributeSchema("a\(index)", composite: "C")
    } else {
      result = AttributeSchema("a\(index)", random.pick(types))
      let value = randomValue(&random, depth: 0)
      if let coerced = result.coerce(value) { result.defaultValue = coerced }
    }
    result.isOptional = random.oneIn(2)
    if random.oneIn(5) { result.renamingIdentifier = "r\(random.below(5))" }
    if random.oneIn(5) { result.versionHashModifier = randomText(&random) }
    if random.oneIn(5) { result.userInfo = [UserInfoEntry(key: randomText(&random), value: randomText(&random))] }
    return result
  }
  var entities: [EntitySchema] = []
  let count = 1 + random.below(5)
  for number in 0..<count {
    var entity = EntitySchema("E\(number)", abstract: random.oneIn(3))
    if number > 0, random.oneIn(2) { entity.parent = "E\(random.below(number))" }
    entity.attributes = (0..<random.below(5)).map { attribute(number * 10 + $0, depth: 3, &random) }
    entity.relationships = (0..<random.below(3)).map { index in
      let destination = "E\(random.below(count))"
      return random.oneIn(2)
        ? RelationshipSchema("r\(number)x\(index)", to: destination)
        : RelationshipSchema("r\(number)x\(index)", toMany: destination, ordered: random.oneIn(2))
    }
    let indexable = entity.attributes.filter { $0.type != .composite && $0.type != .transformable }
    if let first = indexable.first {
      entity.indexes = [IndexSchema("i", [IndexElement(first.name, ascending: random.oneIn(2))])]
      if random.oneIn(2) { entity.uniquenessConstraints = [UniquenessConstraint(indexable.map { $0.name })] }
    }
    entities.append(entity)
  }
  return SchemaDefinition(
    entities,
    composites: [CompositeSchema("C", elements: [AttributeSchema("x", .double), AttributeSchema("y", .string)])])
}

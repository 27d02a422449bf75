import CambiumTesting
import Testing

@testable import CambiumEngine

@Suite struct VersionHashTests {
  // MARK: SHA-256

  /// The vectors that NIST publishes with FIPS 180-4, and messages around the ends of blocks.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func publishedVectors(message: String, digest: String) {
    #expect(hex(SHA256.digest(of: Array(message.utf8))) == digest)
  }

  @Test(arguments: [
    (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
    (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
    (10_000, "27dd1f61b867b6a0f6e9d8a41c43231de52107e53ae424de8f847b821db4b711"),
  ])
  func blocks(count: Int, digest: String) {
    #expect(hex(SHA256.digest(of: [UInt8](repeating: UInt8(ascii: "a"), count: count))) == digest)
  }

  private func hex(_ hash: VersionHash) -> String {
    hash.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test func base64() throws {
    let hash = SHA256.digest(of: Array("abc".utf8))
    #expect(hash.base64 == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
    #expect(VersionHash(base64: hash.base64) == hash)
    #expect(VersionHash(bytes: hash.bytes) == hash)
    for text in [
      "", "ungWv48Bz", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1=", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD-YfIAFa0=",
    ] {
      #expect(VersionHash(base64: text) == nil)
    }
    #expect(VersionHash(bytes: [UInt8](repeating: 0, count: 31)) == nil)
  }

  // MARK: What counts

  /// The hashes of this model, for ever, since stores and staged migrations name them. Computed by another program too.
  @Test func hashesStayAsTheyAre() throws {
    let schema = try Schema(exampleDefinition())
    #expect(schema.versionChecksum == "3NwBNujYweVLPuVCFBTmKKx+f/bZPc9xMI7Wh3JSND4=")
    #expect(schema.entityVersionHashesByName["Pilot"]?.base64 == "bnKQX3KgHYWYAzyoHXyXU3G+PhqiVjXJ77PKs87Ou1M=")
    #expect(schema.entityVersionHashesByName["Aircraft"]?.base64 == "5WKx1YAUmq5TickQTpb1ukbSDgUlmvZX/dftLbJ+A4Q=")
  }

  @Test func orderOfDeclarationDoesNotCount() throws {
    var definition = exampleDefinition()
    let checksum = try Schema(definition).versionChecksum
    var random = SplitMix64(seed: 11)
    for _ in 0..<20 {
      definition.entities.shuffle(using: &random)
      definition.composites.shuffle(using: &random)
      for place in definition.entities.indices {
        definition.entities[place].attributes.shuffle(using: &random)
        definition.entities[place].relationships.shuffle(using: &random)
        definition.entities[place].uniquenessConstraints.shuffle(using: &random)
      }
      #expect(try Schema(definition).versionChecksum == checksum)
    }
  }

  @Test func identifiersOfAStoreDoNotCount() throws {
    let first = try Schema(exampleDefinition())
    var other = exampleDefinition()
    other.entities.removeAll { $0.name == "Pilot" }
    for place in other.entities.indices { other.entities[place].relationships.removeAll { $0.name == "owner" } }
    other.entities[0].indexes = []
    other.configurations = []
    other.fetchTemplates = []
    let second = try Schema(exampleDefinition(), basedOn: try Schema(other))
    #expect(first != second)
    #expect(first.versionChecksum == second.versionChecksum)
    #expect(try Schema(bytes: second.encoded()).versionChecksum == first.versionChecksum)
  }

  /// Changes that need no migration: the hashes stay.
  @Test(arguments: neutralChanges) func leavesHashes(change: ModelChange) throws {
    let before = try Schema(exampleDefinition())
    var definition = exampleDefinition()
    change.apply(&definition)
    #expect(definition != exampleDefinition())
    let after = try Schema(definition)
    #expect(after.differingEntities(from: before) == [])
    #expect(after.versionChecksum == before.versionChecksum)
  }

  /// Changes of what is stored: the hashes of the entity and of its descendants change, and no others.
  @Test(arguments: storedChanges) func changesHashes(change: ModelChange) throws {
    let before = try Schema(exampleDefinition())
    var definition = exampleDefinition()
    change.apply(&definition)
    let after = try Schema(definition)
    #expect(after.differingEntities(from: before) == change.entities)
    #expect(before.differingEntities(from: after) == change.entities)
    #expect(after.versionChecksum != before.versionChecksum)
  }

  @Test func hashesOfProperties() throws {
    var attribute = AttributeSchema("a", .string)
    let hash = attribute.versionHash
    attribute.defaultValue = "x"
    attribute.id = 7
    attribute.renamingIdentifier = "b"
    #expect(attribute.versionHash == hash)
    attribute.isOptional = false
    #expect(attribute.versionHash != hash)
    // A composite of two elements, and of one whose name holds what would separate them.
    let two = AttributeSchema("c", elements: [AttributeSchema("x", .string), AttributeSchema("y", .string)])
    let swapped = AttributeSchema("c", elements: [AttributeSchema("y", .string), AttributeSchema("x", .string)])
    let nested = AttributeSchema(
      "c", elements: [AttributeSchema("x", elements: [AttributeSchema("y", .string)])])
    #expect(Set([two.versionHash, swapped.versionHash, nested.versionHash]).count == 3)
    var relationship = RelationshipSchema("r", to: "E")
    let other = relationship.versionHash
    relationship.deleteRule = .cascade
    #expect(relationship.versionHash == other)
    relationship.inverse = "s"
    #expect(relationship.versionHash != other)
  }
}

struct ModelChange: Sendable, CustomTestStringConvertible {
  let name: String
  let entities: [String]
  let apply: @Sendable (inout SchemaDefinition) -> Void

  init(_ name: String, _ entities: [String] = [], _ apply: @escaping @Sendable (inout SchemaDefinition) -> Void) {
    self.name = name
    self.entities = entities
    self.apply = apply
  }

  var testDescription: String { name }
}

extension SchemaDefinition {
  fileprivate subscript(entity name: String) -> EntitySchema {
    get { entities.first { $0.name == name } ?? EntitySchema(name) }
    set { if let place = entities.firstIndex(where: { $0.name == name }) { entities[place] = newValue } }
  }
}

private let neutralChanges: [ModelChange] = [
  ModelChange("renaming identifier of an entity") { $0[entity: "Pilot"].renamingIdentifier = "Captain" },
  ModelChange("renaming identifier of a property") { $0[entity: "Pilot"].attributes[0].renamingIdentifier = "n" },
  ModelChange("default value") { $0[entity: "Pilot"].attributes[0].defaultValue = "x" },
  ModelChange("limits") { $0[entity: "Vehicle"].attributes[0].maximum = 13 },
  ModelChange("pattern") { $0[entity: "Vehicle"].attributes[0].regularExpression = nil },
  ModelChange("validation rules") {
    $0[entity: "Vehicle"].attributes[0].validationRules = [ValidationRule("length > 1", warning: "too short")]
  },
  ModelChange("delete rule") { $0[entity: "Pilot"].relationships[0].deleteRule = .cascade },
  ModelChange("class") { $0[entity: "Vehicle"].className = nil },
  ModelChange("user info of an entity") { $0[entity: "Pilot"].userInfo = [UserInfoEntry(key: "a", value: "b")] },
  ModelChange("user info of a property") { $0[entity: "Aircraft"].attributes[0].userInfo = [] },
  ModelChange("value transformer") { $0[entity: "Aircraft"].attributes[9].valueTransformerName = "T" },
  ModelChange("external storage") { $0[entity: "Vehicle"].attributes[1].allowsExternalBinaryDataStorage = false },
  ModelChange("value kept in history") { $0[entity: "Pilot"].attributes[0].preservesValueInHistoryOnDeletion = true },
  ModelChange("indexes") { $0[entity: "Aircraft"].indexes.removeLast() },
  ModelChange("fetched properties") { $0[entity: "LogEntry"].fetchedProperties = [] },
  ModelChange("configurations") { $0.configurations = [] },
  ModelChange("fetch request templates") { $0.fetchTemplates = [] },
  ModelChange("version identifiers") { $0.versionIdentifiers = ["V2"] },
  ModelChange("default value of an element") { $0[entity: "Aircraft"].attributes[1].elements[0].defaultValue = .null },
  ModelChange("name of a composite type") {
    $0.composites[0].name = "Spot"
    $0[entity: "Aircraft"].attributes[2].compositeName = "Spot"
  },
]

private let storedChanges: [ModelChange] = [
  ModelChange("attribute added", ["Pilot"]) { $0[entity: "Pilot"].attributes.append(AttributeSchema("x", .string)) },
  ModelChange("attribute removed", ["LogEntry"]) { $0[entity: "LogEntry"].attributes.removeLast() },
  ModelChange("attribute renamed", ["Pilot"]) { $0[entity: "Pilot"].attributes[0].name = "n" },
  ModelChange("attribute required", ["Pilot"]) { $0[entity: "Pilot"].attributes[0].isOptional = false },
  ModelChange("attribute transient", ["Pilot"]) { $0[entity: "Pilot"].attributes[0].isTransient = true },
  ModelChange("attribute's type", ["LogEntry"]) { $0[entity: "LogEntry"].attributes[0].type = .float },
  ModelChange("attribute's modifier", ["Pilot"]) { $0[entity: "Pilot"].attributes[0].versionHashModifier = "2" },
  ModelChange("attribute derived", ["Pilot"]) { $0[entity: "Pilot"].attributes[0].derivation = "canonical:(name)" },
  ModelChange("attribute of a parent", ["Aircraft", "Vehicle"]) { $0[entity: "Vehicle"].attributes.remove(at: 1) },
  ModelChange("attribute moved down", ["Aircraft", "Vehicle"]) {
    let photo = $0[entity: "Vehicle"].attributes.remove(at: 1)
    $0[entity: "Aircraft"].attributes.append(photo)
  },
  ModelChange("elements' order", ["Aircraft"]) { $0[entity: "Aircraft"].attributes[1].elements.reverse() },
  ModelChange("element removed", ["Aircraft"]) { $0[entity: "Aircraft"].attributes[1].elements.removeLast() },
  ModelChange("element of a nested type", ["Aircraft"]) {
    $0.composites[1].elements[1].type = .float
    $0[entity: "Aircraft"].indexes = []
  },
  ModelChange("element required", ["Aircraft"]) {
    $0[entity: "Aircraft"].attributes[1].elements[0].isOptional = false
  },
  ModelChange("relationship removed", ["Aircraft", "LogEntry"]) {
    $0[entity: "LogEntry"].relationships = []
    $0[entity: "Aircraft"].relationships = []
  },
  ModelChange("inverse", ["Aircraft", "LogEntry"]) {
    $0[entity: "LogEntry"].relationships[0].inverse = nil
    $0[entity: "Aircraft"].relationships[0].inverse = nil
  },
  ModelChange("destination", ["Aircraft", "LogEntry"]) {
    $0[entity: "LogEntry"].relationships[0] = RelationshipSchema("aircraft", to: "Vehicle")
    $0[entity: "Aircraft"].relationships[0].inverse = nil
  },
  ModelChange("ordered", ["Aircraft"]) { $0[entity: "Aircraft"].relationships[0].isOrdered = false },
  ModelChange("to-many", ["LogEntry"]) {
    $0[entity: "LogEntry"].relationships[0] = RelationshipSchema("aircraft", toMany: "Aircraft", inverse: "logEntries")
  },
  ModelChange("least number", ["Pilot"]) { $0[entity: "Pilot"].relationships[0].minimumCount = 1 },
  ModelChange("greatest number", ["Pilot"]) { $0[entity: "Pilot"].relationships[0].maximumCount = 9 },
  ModelChange("relationship required", ["Pilot"]) { $0[entity: "Pilot"].relationships[0].isOptional = false },
  ModelChange("relationship transient", ["Pilot"]) { $0[entity: "Pilot"].relationships[0].isTransient = true },
  ModelChange("relationship's modifier", ["Pilot"]) { $0[entity: "Pilot"].relationships[0].versionHashModifier = "m" },
  ModelChange("constraint added", ["Pilot"]) {
    $0[entity: "Pilot"].uniquenessConstraints = [UniquenessConstraint(["name"])]
  },
  ModelChange("constraint of a parent", ["Aircraft", "Vehicle"]) { $0[entity: "Vehicle"].uniquenessConstraints = [] },
  ModelChange("abstract", ["Aircraft", "Vehicle"]) { $0[entity: "Vehicle"].isAbstract = false },
  ModelChange("parent", ["Aircraft"]) {
    $0[entity: "Aircraft"].parent = nil
    $0[entity: "Aircraft"].attributes.append(AttributeSchema("tailNumber", .string))
    $0[entity: "Aircraft"].attributes.append(AttributeSchema("owner", .string))
  },
  ModelChange("entity's modifier", ["Aircraft", "Vehicle"]) { $0[entity: "Vehicle"].versionHashModifier = "2" },
  ModelChange("entity added", ["Extra"]) { $0.entities.append(EntitySchema("Extra")) },
  ModelChange("entity removed", ["Aircraft", "LogEntry"]) {
    $0.entities.removeAll { $0.name == "LogEntry" }
    $0[entity: "Aircraft"].relationships = []
  },
]

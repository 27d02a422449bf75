// What a schema says of classes, for those who make forms and exporters of it.
// Expected output:
//   Schema 2.1.0: Crew, Person, Pilot, Plane
//   Pilot is a Person, which has ["Pilot"] and is a nil
//   own: ["hours", "plane"] inherited: ["address", "name", "nickname", "photo"]
//   name: String, unique false, optional false, transient false
//   nickname: optional true, default nil
//   hours: default 7
//   photo: ["externalStorage"] codable false
//   draft: transient true
//   tags: codable true
//   address: ["street", "city", "inner"] of which a composite: ["inner"]
//   code: unique true, original tail, hash v2, attribute true
//   plane: Plane, to one true, inverse crew, rule nullify
//   crew: Pilot, to one false, inverse plane, rule cascade, 1 to 4, ordered true
//   constraints: [["code"], ["model", "number"]] indexes: [["model"]]
//   entity names: Pilot, Plane, nested Crew
//   not in it: true
//   versions: true 1.2.10 true
//   written: true
//   equal: true, other: false
//   of a versioned schema: 3.0.0 ["Crew"]
import CambiumSwiftData
import Foundation

struct Address: Codable {
  struct Inner: Codable { var floor: Int }
  var street: String
  var city: String
  var inner: Inner?
}

@Model class Person {
  var name: String
  var nickname: String?
  @Attribute(.externalStorage) var photo: Data?
  var address: Address?
  init(name: String) { self.name = name }
}

@Model final class Pilot: Person {
  var hours: Int = 3 + 4
  var plane: Plane?
}

@Model final class Plane {
  #Unique<Plane>([\.model, \.number])
  #Index<Plane>([\.model])
  @Attribute(.unique, originalName: "tail", hashModifier: "v2") var code: String
  var model: String = "DC"
  var number: Int = 3
  var tags: [String] = []
  @Attribute(.ephemeral) var draft: String?
  @Relationship(.ordered, deleteRule: .cascade, minimumModelCount: 1, maximumModelCount: 4, inverse: \Pilot.plane)
  var crew: [Pilot] = []
  init(code: String) { self.code = code }
}

enum SchemaV3: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Crew.self] }

  @Model final class Crew {
    var size: Int
    init(size: Int) { self.size = size }
  }
}

@Model final class Stranger {
  var name = ""
  init() {}
}

@main struct Main {
  static func main() throws {
    let schema = Schema([Plane.self, SchemaV3.Crew.self], version: .init(2, 1, 0))
    print(schema.debugDescription)
    guard let pilot = schema.entity(for: Pilot.self), let person = schema.entitiesByName["Person"],
      let plane = schema.entity(for: Plane.self)
    else { return print("lost") }
    print(
      "\(pilot.name) is a \(pilot.superentityName ?? "-"), which has \(person.subentities.map(\.name)) and is a",
      person.superentity.map(\.name) ?? "nil")
    print(
      "own: \(pilot.storedProperties.map(\.name).sorted()) inherited: \(pilot.inheritedProperties.map(\.name).sorted())"
    )
    guard let name = pilot.attributesByName["name"], let nickname = person.attributesByName["nickname"],
      let hours = pilot.storedPropertiesByName["hours"] as? Schema.Attribute,
      let photo = person.attributesByName["photo"],
      let draft = plane.attributesByName["draft"], let tags = plane.attributesByName["tags"],
      let address = pilot.inheritedPropertiesByName["address"] as? Schema.CompositeAttribute,
      let code = plane.attributesByName["code"], let crew = plane.relationshipsByName["crew"],
      let toPlane = pilot.relationshipsByName["plane"]
    else { return print("lost") }
    print(
      "\(name.name): \(name.valueType), unique \(name.isUnique), optional \(name.isOptional), transient \(name.isTransient)"
    )
    print("nickname: optional \(nickname.isOptional), default \(nickname.defaultValue.map { "\($0)" } ?? "nil")")
    print("hours: default \(hours.defaultValue ?? "nil")")
    print("photo: \(photo.options.map { "\($0.debugDescription)" }) codable \(photo.isCodable)")
    print("draft: transient \(draft.isTransient)")
    print("tags: codable \(tags.isCodable)")
    let composites = address.properties.filter { $0 is Schema.CompositeAttribute }
    print("address: \(address.properties.map(\.name)) of which a composite: \(composites.map(\.name))")
    print(
      "code: unique \(code.isUnique), original \(code.originalName), hash \(code.hashModifier ?? "nil"),",
      "attribute \(code.isAttribute && !code.isRelationship && !code.isTransformable)")
    print(
      "plane: \(toPlane.destination), to one \(toPlane.isToOneRelationship), inverse \(toPlane.inverseName ?? "nil"),",
      "rule \(toPlane.deleteRule)")
    print(
      "crew: \(crew.destination), to one \(crew.isToOneRelationship), inverse \(crew.inverseName ?? "nil"),",
      "rule \(crew.deleteRule), \(crew.minimumModelCount ?? -1) to \(crew.maximumModelCount ?? -1),",
      "ordered \(crew.options.contains(.ordered))")
    print("constraints: \(plane.uniquenessConstraints) indexes: \(plane.indices)")
    print(
      "entity names: \(Schema.entityName(for: Pilot.self)), \(Schema.entityName(for: Plane.self)),",
      "nested \(Schema.entityName(for: SchemaV3.Crew.self))")
    print("not in it:", schema.entity(for: Stranger.self) == nil && Schema().entities.isEmpty)
    let version = Schema.Version(1, 2, 10)
    let decoded = try JSONDecoder().decode(Schema.Version.self, from: JSONEncoder().encode(version))
    print("versions: \(Schema.Version(1, 2, 9) < version) \(version) \(decoded == version)")
    let file = FileManager.default.temporaryDirectory.appending(path: "schema-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try schema.save(to: file)
    print("written:", try String(contentsOf: file, encoding: .utf8).contains("hours"))
    let same = Schema([Plane.self, SchemaV3.Crew.self], version: .init(2, 1, 0))
    print("equal: \(same == schema && same.hashValue == schema.hashValue), other: \(Schema(Plane.self) == schema)")
    let versioned = Schema(versionedSchema: SchemaV3.self)
    print("of a versioned schema: \(versioned.version) \(versioned.entities.map(\.name))")
  }
}

import Cambium
import Foundation
import Testing

/// Attributes that are kept in memory only.
@Suite struct TransientTests {
  private enum Mood: String, AttributeRepresentable { case good, bad }

  private func model() throws -> ManagedObjectModel {
    AttributeTransformers.register(CodableTransformer<[String]>(), forName: "TransientTests.strings")
    return try ManagedObjectModel {
      Composite("Place") {
        Attribute("zone", .string, pattern: "[A-Z]+")
        Attribute("tags", .transformable).with { $0.valueTransformerName = "TransientTests.strings" }
        Attribute("at") {
          Attribute("latitude", .double, minimum: -90, maximum: 90)
          Attribute("longitude", .double)
        }
      }
      Entity("Entry") {
        Attribute("name", .string)
        Attribute("text", .string, transient: true, minimum: 2)
        Attribute("small", .integer16, transient: true, maximum: 9)
        Attribute("date", .date, transient: true)
        Attribute("id", .objectID, transient: true)
        Attribute("any", .undefined, transient: true)
        Attribute("object", .transformable, transient: true)
        Attribute("place", composite: "Place").with { $0.isTransient = true }
      }
    }
  }

  private func entry(_ values: [String: Any?] = [:]) throws -> (ManagedObjectContext, ManagedObject) {
    let context = try memoryContainer(model()).viewContext
    return (context, try context.make("Entry", values))
  }

  @Test func valuesAreOfTheType() throws {
    let (context, entry) = try entry(["text": "abc", "small": Int8(3), "any": [1], "object": self])
    for (key, value) in [
      ("text", 5), ("text", ["x"]), ("small", "3"), ("small", 70_000), ("small", 1.5), ("date", "now"), ("id", 5),
      ("place", 5), ("place", ["zone": 5]), ("place", ["nowhere": 5]), ("place", ["at": ["latitude": "x"]]),
    ] as [(String, Any)] {
      let error = cambiumError { try entry.set(value, forKey: key) }
      #expect(error?.code == .invalidArgument && error?.key?.hasPrefix(key) == true, "\(key): \(value)")
    }
    #expect(entry.value(forKey: "text") as? String == "abc")
    #expect(entry.value(forKey: "small") as? Int == 3)
    #expect(entry.value(forKey: "place") == nil)
    entry.setValue(6, forKey: "text")
    #expect(cambiumError { try context.save() }?.key == "text")
    try context.save()
    // What has no type, or a transformer, may be anything.
    #expect(entry.value(forKey: "any") as? [Int] == [1])
    #expect(entry.value(forKey: "object") is TransientTests)
    try entry.set(entry, forKey: "id")
    #expect(entry.value(forKey: "id") as? ManagedObjectID == entry.objectID)
    try entry.set(nil, forKey: "text")
    #expect(entry.value(forKey: "text") == nil)
  }

  @Test func readAsTypes() throws {
    let (_, entry) = try entry(["small": 1.0, "text": Mood.good])
    #expect(try entry.get("small", as: Int16.self) == 1)
    #expect(try entry.get("small", as: Int.self) == 1)
    #expect(try entry.get("text", as: Mood.self) == .good)
    #expect(try entry.get("text", as: String.self) == "good")
    #expect(try entry.get("text", as: Int.self) == nil)
    #expect(try entry.get("date", as: Date.self) == nil)
    let mood: Mood? = entry[managed: "text"]
    #expect(mood == .good)
  }

  @Test func elementsByPathAndByKey() throws {
    let (context, entry) = try entry()
    try entry.set(1.5, forKeyPath: "place.at.latitude")
    #expect(entry.value(forKeyPath: "place.at.latitude") as? Double == 1.5)
    let place = try #require(entry.value(forKey: "place") as? [String: Any])
    #expect((place["at"] as? [String: Any])?["latitude"] as? Double == 1.5)
    try entry.set(["zone": "UTC", "tags": ["a"], "at": ["longitude": 2]], forKey: "place")
    #expect(entry.value(forKeyPath: "place.at.latitude") == nil)
    #expect(entry.value(forKeyPath: "place.at.longitude") as? Double == 2)
    #expect(entry.value(forKeyPath: "place.tags") as? [String] == ["a"])
    try entry.set(["b", "c"], forKeyPath: "place.tags")
    #expect((entry.value(forKey: "place") as? [String: Any])?["tags"] as? [String] == ["b", "c"])
    #expect(entry.value(forKeyPath: "place.zone") as? String == "UTC")
    #expect(cambiumError { try entry.set(5, forKeyPath: "place.zone") }?.key == "place.zone")
    #expect(cambiumError { try entry.set(5, forKeyPath: "place.other") }?.code == .unknownKey)
    #expect(cambiumError { _ = try entry.get(keyPath: "place.other") }?.code == .unknownKey)
    // It outlives the save, and nothing of it is stored.
    try context.save()
    #expect(!context.hasChanges)
    #expect(entry.value(forKeyPath: "place.at.longitude") as? Double == 2)
    try entry.set(nil, forKeyPath: "place.zone")
    #expect(!context.hasChanges)
    context.reset()
    let again = try #require(try context.all("Entry").first)
    #expect(again.value(forKey: "place") == nil)
    #expect(again.value(forKeyPath: "place.zone") == nil)
  }

  @Test func valuesAreChecked() throws {
    let (context, entry) = try entry(["text": "a"])
    #expect(cambiumError { try context.save() }?.code == .validationStringTooShort)
    try entry.set("ab", forKey: "text")
    try entry.set(10, forKey: "small")
    #expect(cambiumError { try context.save() }?.code == .validationNumberTooLarge)
    try entry.set(9, forKey: "small")
    try entry.set(["zone": "utc", "at": ["latitude": 91]], forKey: "place")
    let error = cambiumError { try context.save() }
    #expect(error?.detailedErrors.map { $0.key } == ["place.zone", "place.at.latitude"])
    #expect(error?.detailedErrors.first?.code == .validationStringPatternMatching)
    try entry.set(["zone": "UTC"], forKey: "place")
    try context.save()
    // With a change that is saved.
    try entry.set("new", forKey: "name")
    try entry.set("x", forKey: "text")
    #expect(cambiumError { try context.save() }?.key == "text")
    // An object that is read has no values of them, and needs none.
    context.reset()
    let again = try #require(try context.all("Entry").first)
    try again.set("other", forKey: "name")
    try context.save()
  }

  /// A value of a transient attribute is nobody's business but the application's while there is none: objects that are
  /// read, that a child context hands over, and that a migration makes have none, required or not.
  @Test func requiredOnesMayBeMissing() throws {
    func model(_ isNew: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Entry") {
          Attribute("name", .string)
          if isNew { Attribute("size", .string) } else { Attribute("size", .integer64) }
          Attribute("mark", .string, optional: false, transient: true)
          Attribute("any", .undefined, optional: false, transient: true)
          Attribute("known", .integer64, optional: false, transient: true, default: 3, maximum: 9)
        }
      }
    }
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container(model: model(false)).viewContext
      let entry = try context.make("Entry", ["size": 1])
      try context.save()
      #expect(entry.value(forKey: "known") as? Int == 3)
      // What there is keeps its rules.
      try entry.set("n", forKey: "name")
      try entry.set(10, forKey: "known")
      #expect(cambiumError { try context.save() }?.key == "known")
      context.reset()
      let again = try #require(try context.all("Entry").first)
      try again.set("n", forKey: "name")
      try again.validateForInsert()
      try context.save()
    }
    let parent = try memoryContainer(model(false)).viewContext
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    try child.make("Entry", ["size": 2])
    try child.save()
    try parent.save()
    #expect(try parent.all("Entry").count == 1)
    var mapping = try MappingModel.byName(from: model(false), to: model(true))
    mapping["Entry"]?["size"] = .constant("small")
    let container = try directory.container(model: model(true)) { $0.mappingModels = [mapping] }
    let sizes = try container.viewContext.all("Entry").map { $0.value(forKey: "size") as? String }
    #expect(sizes == ["small"])
  }
}

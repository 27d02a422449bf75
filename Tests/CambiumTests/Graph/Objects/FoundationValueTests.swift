import Cambium
import Foundation
import Testing

/// Objects of Foundation's as values of properties, which arrive as `Any`: the runtime casts them.
@Suite struct FoundationValueTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Price") {
        Attribute("amount", .decimal)
        Attribute("isNet", .boolean)
      }
      Entity("Item") {
        Attribute("name", .string)
        Attribute("isNew", .boolean)
        Attribute("small", .integer16)
        Attribute("large", .integer64)
        Attribute("ratio", .double)
        Attribute("weight", .float)
        Attribute("cost", .decimal)
        Attribute("made", .date)
        Attribute("picture", .binary)
        Attribute("key", .uuid)
        Attribute("page", .uri)
        Attribute("count", .integer32, transient: true)
        Attribute("price", composite: "Price")
        ToOne("box", "Box", inverse: "items")
        ToMany("tags", "Tag", inverse: "items")
      }
      Entity("Box") { ToMany("items", "Item", inverse: "box", ordered: true) }
      Entity("Tag") { ToMany("items", "Item", inverse: "tags") }
    }
  }

  /// A dictionary of JSON, as applications import it.
  @Test func jsonIsTakenKeyByKey() throws {
    let context = try memoryContainer(model()).viewContext
    let text = """
      {"name": "Wrench", "isNew": true, "small": true, "large": 9007199254740993, "ratio": 3, "weight": 0.5, "cost": 12.25,
       "key": "3F2504E0-4F89-11D3-9A0C-0305E82C3301", "page": "https://example.org/", "count": 7, "picture": null,
       "price": {"amount": 3.5, "isNet": 0}, "box": null, "tags": null}
      """
    let json = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let item = try context.make("Item", ["picture": Data([1])])
    for (key, value) in json { try item.set(value, forKey: key) }
    #expect(item.value(forKey: "name") as? String == "Wrench")
    #expect(item.value(forKey: "isNew") as? Bool == true)
    #expect(item.value(forKey: "small") as? Int == 1)
    #expect(item.value(forKey: "large") as? Int == 9_007_199_254_740_993)
    #expect(item.value(forKey: "ratio") as? Double == 3)
    #expect(item.value(forKey: "weight") as? Float == 0.5)
    #expect(item.value(forKey: "cost") as? Decimal == Decimal(string: "12.25"))
    #expect(item.value(forKey: "key") as? UUID == UUID(uuidString: "3F2504E0-4F89-11D3-9A0C-0305E82C3301"))
    #expect(item.value(forKey: "page") as? URL == URL(string: "https://example.org/"))
    #expect(item.value(forKey: "count") as? Int == 7)
    #expect(item.value(forKey: "picture") == nil)
    #expect(item.value(forKeyPath: "price.amount") as? Decimal == Decimal(string: "3.5"))
    #expect(item.value(forKeyPath: "price.isNet") as? Bool == false)
    try context.save()
    #expect(try context.all("Item", "isNew == YES AND large == 9007199254740993").count == 1)
  }

  @Test func objectsAreTakenAsWhatTheyStandFor() throws {
    let context = try memoryContainer(model()).viewContext
    let item = try context.make("Item", [:])
    let moment = Date(timeIntervalSinceReferenceDate: 1234.5)
    let key = UUID()
    let values: [(String, Any)] = [
      ("name", NSString(string: "Saw")), ("isNew", NSNumber(value: false)), ("small", NSNumber(value: Int16.min)),
      ("ratio", NSNumber(value: 2)), ("weight", NSNumber(value: Float(0.1))), ("cost", NSDecimalNumber(string: "0.1")),
      ("made", NSDate(timeIntervalSinceReferenceDate: 1234.5)), ("picture", NSData(data: Data([1, 2]))),
      ("key", try #require(NSUUID(uuidString: key.uuidString))), ("large", NSNumber(value: 4.0)),
    ]
    for (key, value) in values {
      try item.validateValue(value, forKey: key)
      try item.set(value, forKey: key)
    }
    #expect(item.value(forKey: "name") as? String == "Saw" && item.value(forKey: "isNew") as? Bool == false)
    #expect(item.value(forKey: "small") as? Int == -32768 && item.value(forKey: "ratio") as? Double == 2)
    #expect(item.value(forKey: "weight") as? Float == 0.1 && item.value(forKey: "large") as? Int == 4)
    #expect(item.value(forKey: "cost") as? Decimal == Decimal(string: "0.1"))
    #expect(item.value(forKey: "made") as? Date == moment && item.value(forKey: "picture") as? Data == Data([1, 2]))
    #expect(item.value(forKey: "key") as? UUID == key)
    for key in ["name", "isNew", "small", "price", "made"] {
      try item.set(NSNull(), forKey: key)
      #expect(item.value(forKey: key) == nil)
    }
  }

  @Test func collectionsAndNothingForRelationships() throws {
    let context = try memoryContainer(model()).viewContext
    let box = try context.make("Box", [:])
    let items = try (0..<3).map { _ in try context.make("Item", [:]) }
    let tags = try (0..<2).map { _ in try context.make("Tag", [:]) }
    try box.set(NSOrderedSet(array: [items[2], items[0]]), forKey: "items")
    #expect(box.value(forKey: "items") as? [ManagedObject] == [items[2], items[0]])
    try box.set(NSArray(array: [items[1]]), forKey: "items")
    #expect(box.value(forKey: "items") as? [ManagedObject] == [items[1]])
    try items[0].set(NSSet(array: tags), forKey: "tags")
    #expect(items[0].value(forKey: "tags") as? Set<ManagedObject> == Set(tags))
    try items[0].set(NSNull(), forKey: "tags")
    #expect(items[0].value(forKey: "tags") as? Set<ManagedObject> == [])
    try items[1].set(NSNull(), forKey: "box")
    #expect(items[1].value(forKey: "box") == nil)
    #expect(cambiumError { try box.set(NSArray(array: ["x"]), forKey: "items") }?.code == .invalidArgument)
    #expect(cambiumError { try box.set("", forKey: "items") }?.code == .invalidArgument)
  }

  /// What an attribute can't hold is refused, and the object stays as it is.
  @Test func misfitsAreRefused() throws {
    let context = try memoryContainer(model()).viewContext
    let item = try context.make("Item", ["small": 1])
    let misfits: [(String, Any)] = [
      ("small", NSNumber(value: 40_000)), ("small", NSNumber(value: 1.5)), ("isNew", NSNumber(value: 2)),
      ("name", NSNumber(value: 1)), ("made", NSNumber(value: 1)), ("ratio", NSString(string: "1")),
      ("price", NSNumber(value: 1)), ("picture", NSString(string: "x")),
    ]
    for (key, value) in misfits {
      let error = cambiumError { try item.set(value, forKey: key) }
      #expect(error?.code == .invalidArgument && error?.key == key, "\(key) takes \(value)")
    }
    #expect(item.value(forKey: "small") as? Int == 1)
  }
}

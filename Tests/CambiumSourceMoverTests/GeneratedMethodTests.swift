import Testing

@testable import CambiumSourceMover

/// The methods that Xcode generates.
@Suite struct GeneratedMethodTests {
  private func method(_ declaration: String, property: String = "NSSet?") -> String {
    let text = body("extension A {\n  @NSManaged var items: \(property)\n  \(declaration)\n}")
    let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
    return parts.dropFirst(2).dropLast().joined(separator: "\n").drop { $0 == " " }.description
  }

  @Test(arguments: [
    (
      "@objc(addItemsObject:)\n  @NSManaged public func addToItems(_ value: Item)",
      "public func addToItems(_ value: Item) { mutableSetValue(forKey: \"items\").add(value) }"
    ),
    (
      "@objc(removeItemsObject:) @NSManaged public func removeFromItems(_ value: Item)",
      "public func removeFromItems(_ value: Item) { mutableSetValue(forKey: \"items\").remove(value) }"
    ),
    (
      "@objc(addItems:)\n  @NSManaged func addToItems(_ values: NSSet)",
      "func addToItems(_ values: NSSet) "
        + "{ mutableSetValue(forKey: \"items\").formUnion(values.compactMap { $0 as? NSManagedObject }) }"
    ),
    (
      "@objc(removeItems:) @NSManaged func removeFromItems(_ values: Set<Item>)",
      "func removeFromItems(_ values: Set<Item>) { mutableSetValue(forKey: \"items\").subtract(values) }"
    ),
    (
      "@NSManaged func addItemsObject(_ item: Item)",
      "func addItemsObject(_ item: Item) { mutableSetValue(forKey: \"items\").add(item) }"
    ),
    (
      "@NSManaged func removeItems(_ items: NSSet)",
      "func removeItems(_ items: NSSet) "
        + "{ mutableSetValue(forKey: \"items\").subtract(items.compactMap { $0 as? NSManagedObject }) }"
    ),
    (
      "@objc(addItemsObject:) @NSManaged func add(item: Item)",
      "func add(item: Item) { mutableSetValue(forKey: \"items\").add(item) }"
    ),
  ])
  func unordered(declaration: String, result: String) { #expect(method(declaration) == result) }

  @Test(arguments: [
    (
      "@objc(insertObject:inItemsAtIndex:) @NSManaged func insertIntoItems(_ value: Item, at idx: Int)",
      "func insertIntoItems(_ value: Item, at idx: Int) "
        + "{ mutableOrderedSetValue(forKey: \"items\").insert(value, at: idx) }"
    ),
    (
      "@objc(removeObjectFromItemsAtIndex:) @NSManaged func removeFromItems(at idx: Int)",
      "func removeFromItems(at idx: Int) { mutableOrderedSetValue(forKey: \"items\").removeObject(at: idx) }"
    ),
    (
      "@objc(insertItems:atIndexes:) @NSManaged func insertIntoItems(_ values: [Item], at indexes: NSIndexSet)",
      "func insertIntoItems(_ values: [Item], at indexes: NSIndexSet) { for (value, place) in zip(values, indexes) "
        + "{ mutableOrderedSetValue(forKey: \"items\").insert(value, at: place) } }"
    ),
    (
      "@objc(removeItemsAtIndexes:) @NSManaged func removeFromItems(at indexes: NSIndexSet)",
      "func removeFromItems(at indexes: NSIndexSet) "
        + "{ mutableOrderedSetValue(forKey: \"items\").removeObjects(at: indexes as IndexSet) }"
    ),
    (
      "@objc(replaceObjectInItemsAtIndex:withObject:) @NSManaged func replaceItems(at idx: Int, with value: Item)",
      "func replaceItems(at idx: Int, with value: Item) "
        + "{ mutableOrderedSetValue(forKey: \"items\").replaceObject(at: idx, with: value) }"
    ),
    (
      "@objc(replaceItemsAtIndexes:withItems:)\n  "
        + "@NSManaged func replaceItems(at indexes: NSIndexSet, with values: [Item])",
      "func replaceItems(at indexes: NSIndexSet, with values: [Item]) { for (place, value) in zip(indexes, values) "
        + "{ mutableOrderedSetValue(forKey: \"items\").replaceObject(at: place, with: value) } }"
    ),
    (
      "@objc(addItems:) @NSManaged func addToItems(_ values: NSOrderedSet)",
      "func addToItems(_ values: NSOrderedSet) "
        + "{ mutableOrderedSetValue(forKey: \"items\").formUnion(values.compactMap { $0 as? NSManagedObject }) }"
    ),
  ])
  func ordered(declaration: String, result: String) {
    #expect(method(declaration, property: "NSOrderedSet?") == result)
  }

  /// The relationship's own name counts, not one that is made of the method's.
  @Test func namesWithCapitalLetters() {
    let text = body(
      "extension A {\n  @NSManaged var URLs: NSSet?\n  @NSManaged func addToURLs(_ value: A)\n"
        + "  @NSManaged func addToX(_ v: A)\n}"
    )
    #expect(text.contains("mutableSetValue(forKey: \"URLs\").add(value)"))
    #expect(text.contains("mutableSetValue(forKey: \"x\").add(v)"))
  }

  @Test func othersAreReported() {
    #expect(
      left("extension A {\n  @NSManaged func primitiveName() -> String\n  @NSManaged func address(_ a: A)\n}") == [
        "3: @NSManaged func primitiveName()", "4: @NSManaged func address(_ a: A)",
      ])
  }
}

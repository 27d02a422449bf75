import Testing

@testable import CambiumSourceMover

/// `#keyPath`.
@Suite struct LiteralTests {
  @Test(arguments: [
    ("#keyPath(Item.name)", "\"name\""),
    ("#keyPath(Item.list.owner.name)", "\"list.owner.name\""),
    ("#keyPath(name)", "\"name\""),
    ("#keyPath(self.name)", "\"name\""),
    ("#keyPath(Module.Item.name)", "\"name\""),
    ("#keyPath(Outer.Item.name)", "\"name\""),
    ("#keyPath(Item.URL)", "\"URL\""),
    ("#keyPath(Item.URL.path)", "\"URL.path\""),
    ("#keyPath(Item.`default`)", "\"default\""),
    ("#keyPath( Item . name )", "\"name\""),
    ("\"\\(#keyPath(Item.name)) == %@\"", "\"\\(\"name\") == %@\""),
    (
      "NSSortDescriptor(keyPath: \\Item.list.name, ascending: true)",
      "NSSortDescriptor(key: \"list.name\", ascending: true)"
    ),
    (
      "NSSortDescriptor(keyPath: \\Item.list?.name, ascending: a)", "NSSortDescriptor(key: \"list.name\", ascending: a)"
    ),
    ("NSSortDescriptor(keyPath: \\.name, ascending: true)", "NSSortDescriptor(key: \"name\", ascending: true)"),
    ("NSSortDescriptor(keyPath: path, ascending: true)", "NSSortDescriptor(keyPath: path, ascending: true)"),
    ("NSSortDescriptor(keyPath: \\Item[0], ascending: true)", "NSSortDescriptor(keyPath: \\Item[0], ascending: true)"),
    ("NSExpression(forKeyPath: \\Item.price)", "NSExpression(forKeyPath: \"price\")"),
    ("NSStringFromSelector(#selector(getter: name))", "\"name\""),
    ("NSStringFromSelector(#selector(getter: Item.name))", "\"name\""),
  ])
  func paths(text: String, result: String) {
    #expect(
      body("class Item: NSManagedObject { let a = \(text) }") == "class Item: NSManagedObject { let a = \(result) }")
  }

  /// A property may have another name in the model than in Swift.
  @Test(arguments: [
    ("#keyPath(Item.done)", "\"isDone\""),
    ("#keyPath(done)", "\"isDone\""),
    ("#keyPath(self.done)", "\"isDone\""),
    ("#keyPath(Item.list.title)", "\"parent.theTitle\""),
    ("#keyPath(SubItem.list.items.done)", "\"parent.items.isDone\""),
    ("#keyPath(Other.done)", "\"done\""),
    ("NSSortDescriptor(keyPath: \\Item.done, ascending: true)", "NSSortDescriptor(key: \"isDone\", ascending: true)"),
    (
      "NSSortDescriptor(keyPath: \\Item.list?.title, ascending: a)",
      "NSSortDescriptor(key: \"parent.theTitle\", ascending: a)"
    ),
    (
      "NSSortDescriptor(keyPath: \\.list?.title, ascending: a)",
      "NSSortDescriptor(key: \"parent.theTitle\", ascending: a)"
    ),
    // Two classes have it under different names.
    ("NSSortDescriptor(keyPath: \\.done, ascending: true)", "NSSortDescriptor(key: \"done\", ascending: true)"),
    ("NSExpression(forKeyPath: \\Item.done)", "NSExpression(forKeyPath: \"isDone\")"),
    ("NSStringFromSelector(#selector(getter: Item.done))", "\"isDone\""),
    ("NSStringFromSelector(#selector(getter: done))", "\"isDone\""),
  ])
  func namesOfTheModel(text: String, result: String) {
    let other = """
      class List: NSManagedObject {
        @Managed("theTitle") var title: String
        @NSManaged var items: Set<Item>
      }
      class SubItem: Item {}
      class Other: NSManagedObject { @NSManaged var done: Bool }
      extension Item { @objc(isDone) @NSManaged var done: Bool; @objc(parent) @NSManaged var list: List? }
      """
    #expect(
      body("class Item: NSManagedObject { let a = \(text) }", beside: [other])
        == "class Item: NSManagedObject { let a = \(result) }")
  }

  @Test func othersAreReported() {
    #expect(left("let a = #keyPath(f(x))") == ["2: #keyPath"])
    #expect(left("let a = NSStringFromSelector(#selector(f(_:)))").count == 2)
  }
}

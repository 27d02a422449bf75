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

  @Test func othersAreReported() {
    #expect(left("let a = #keyPath(f(x))") == ["2: #keyPath"])
    #expect(left("let a = NSStringFromSelector(#selector(f(_:)))").count == 2)
  }
}

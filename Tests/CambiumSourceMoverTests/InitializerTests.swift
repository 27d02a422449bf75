import Testing

@testable import CambiumSourceMover

/// Initializers of managed objects.
@Suite struct InitializerTests {
  @Test func thatOfTheEntityIsRequired() {
    let signature = "init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) { }"
    #expect(
      body("class A: NSManagedObject { override public \(signature) }")
        == "class A: NSManagedObject { required public \(signature) }")
    #expect(
      body("class A: NSManagedObject { public required override \(signature) }")
        == "class A: NSManagedObject { public required \(signature) }")
    // Another class has its own rules.
    #expect(body("class B: Base { override \(signature) }") == "class B: Base { override \(signature) }")
  }

  @Test func classesWithInitializersGetIt() {
    #expect(
      body(
        "public class A: NSManagedObject {\n  init(x: Int, in c: NSManagedObjectContext) {\n"
          + "    super.init(context: c)\n  }\n}"
      )
        == """
        public class A: NSManagedObject {
          public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
            super.init(entity: entity, insertInto: context)
          }

          init(x: Int, in c: NSManagedObjectContext) {
            super.init(entity: A.entity(), insertInto: c)
          }
        }
        """)
    let convenience = "class A: NSManagedObject { convenience init(c: C) { self.init(context: c) } }"
    #expect(body(convenience) == convenience)
  }

  @Test func thatOfTheContextOverridesNothing() {
    #expect(
      body("class A: NSManagedObject {\n  override init(context: C) { super.init(context: context) }\n}").contains(
        "\n  init(context: C) { super.init(entity: A.entity(), insertInto: context) }"))
  }
}

import CambiumModelFiles
import Testing

@testable import CambiumSourceMover

/// `@NSManaged var`.
@Suite struct ManagedPropertyTests {
  @Test(arguments: [
    ("String?", "@Managed var x: String?"),
    ("Int32", "@Managed var x: Int32"),
    ("NSSet?", "@Managed var x: NSSet?"),
    ("Set<Item>", "@Managed var x: Set<Item>"),
    ("Set<Item>?", "@Managed var x: Set<Item>?"),
    ("[Item]", "@Managed var x: [Item]"),
    ("Item?", "@Managed var x: Item?"),
    ("Item", "@Managed var x: Item!"),
    ("Item!", "@Managed var x: Item!"),
    ("Outer.Item", "@Managed var x: Outer.Item!"),
    ("NSOrderedSet", "@Managed var x: NSOrderedSet!"),
    ("NSDate", "@Managed var x: NSDate!"),
    ("URL", "@Managed var x: URL!"),
    ("Foundation.Date", "@Managed var x: Foundation.Date"),
    ("[String]", "@Managed(default: []) var x: [String]"),
    ("Set<String>", "@Managed(default: []) var x: Set<String>"),
    ("[String: [Int]]", "@Managed(default: [:]) var x: [String: [Int]]"),
    ("Dictionary<String, Int>", "@Managed(default: [:]) var x: Dictionary<String, Int>"),
    ("NSObject?", "@Managed var x: Any?"),
    ("NSObject", "@Managed var x: Any?"),
    ("AnyObject?", "@Managed var x: Any?"),
    ("CGFloat", "@Managed var x: Double"),
    ("Kind", "@Managed(default: Kind.plain) var x: Kind"),
    ("Item.Kind", "@Managed(default: Item.Kind.plain) var x: Item.Kind"),
    ("Kind?", "@Managed var x: Kind?"),
    ("Name", "@Managed var x: Name"),
    ("Parent", "@Managed var x: Parent!"),
  ])
  func types(type: String, result: String) {
    let other = """
      enum Kind: Int16 { case plain, fancy }
      typealias Name = String
      typealias Parent = Item
      """
    #expect(
      body("class Item: NSManagedObject { @NSManaged var x: \(type) }", beside: [other])
        == "class Item: NSManagedObject { \(result) }")
  }

  @Test func modifiersAndAttributesStay() {
    #expect(
      body("extension Item {\n  @NSManaged\n  public private(set) dynamic final var name: String?  // the name\n}")
        == "extension Item {\n  @Managed\n  public private(set) dynamic final var name: String?  // the name\n}")
  }

  @Test func severalVariables() {
    #expect(
      body("class A: NSManagedObject {\n  @NSManaged public var a, b: Int32, c: A\n}")
        == """
        class A: NSManagedObject {
          @Managed public var a: Int32
          @Managed public var b: Int32
          @Managed public var c: A!
        }
        """)
  }

  @Test func aNameOfItsOwn() {
    #expect(
      body("class A: NSManagedObject { @objc(isDone) @NSManaged var done: Bool }")
        == "class A: NSManagedObject { @Managed(\"isDone\") var done: Bool }")
  }

  @Test func enumerationsConform() {
    let property = "import CoreData\nclass A: NSManagedObject { @NSManaged var kind: Kind }"
    #expect(
      moved("@objc enum Kind: Int16 { case plain }", beside: [property]).text
        == "import CambiumCoreData\n\nenum Kind: Int16, AttributeRepresentable { case plain }")
    let conforming =
      "import CambiumCoreData\nenum Kind: Int16 { case plain }\nextension Kind: AttributeRepresentable {}"
    #expect(moved(conforming, beside: [property]).text == conforming)
    // One that no property has stays, and so does its file.
    #expect(
      moved("@objc enum Other: Int16 { case a }", beside: [property]).text == "@objc enum Other: Int16 { case a }")
  }

  @Test func unknownTypesAreReported() throws {
    let source = "import CoreData\nclass A: NSManagedObject { @NSManaged var place: Place }"
    let result = moved(source)
    #expect(result.text.contains("@Managed var place: Place!"))
    #expect(result.findings.map { $0.text } == ["place: Place"])
    // The model says that it is a relationship.
    var entity = ModelDocument.Entity("A")
    entity.relationships = [ModelDocument.Relationship("place", to: "Place")]
    var model = ModelDocument()
    model.entities = [entity]
    #expect(SourceMover.move(source, in: Folder([source], model: model)).findings.isEmpty)
  }

  /// Of an attribute that is a Date with "Use Scalar Type".
  @Test func datesAsNumbersAreReported() throws {
    let source = """
      import CoreData
      class A: NSManagedObject {
        @NSManaged var created, size: TimeInterval
        @objc(changed) @NSManaged var changedAt: Double
        @NSManaged var length: Double
        @NSManaged var added: Date
      }
      """
    let written = moved(source)
    #expect(written.findings.map { $0.text } == ["created, size: TimeInterval", "size: TimeInterval"])
    #expect(written.findings.allSatisfy { $0.cause.remedy.hasPrefix("if the attribute is a Date") })
    var entity = ModelDocument.Entity("A")
    entity.attributes = [
      ModelDocument.Attribute("created", .date), ModelDocument.Attribute("size", .double),
      ModelDocument.Attribute("changed", .date), ModelDocument.Attribute("length", .double),
      ModelDocument.Attribute("added", .date),
    ]
    var model = ModelDocument()
    model.entities = [entity]
    let known = SourceMover.move(source, in: Folder([source], model: model))
    #expect(known.findings.map { "\($0.line)" } == ["3", "4"])
    #expect(known.findings.allSatisfy { $0.cause.remedy == "declare the property as Date" })
  }

  @Test func propertiesWithoutATypeAreReported() {
    #expect(left("class A: NSManagedObject { @NSManaged var x }") == ["2: @NSManaged var"])
  }
}

import CambiumModelFiles
import Testing

@testable import CambiumSourceMover

/// The classes that Xcode generates with every build.
@Suite struct GeneratedClassTests {
  private func model(_ generation: String = "class") throws -> ModelDocument {
    let text = """
      <model><entity name="Book" representedClassName="Book" codeGenerationType="class">
      <attribute name="title" attributeType="String"/>
      <attribute name="pages" optional="YES" attributeType="Integer 32"/>
      <relationship name="author" maxCount="1" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
      </entity>
      <entity name="Novel" representedClassName="Novel" parentEntity="Book" codeGenerationType="class"/>
      <entity name="Author" representedClassName="Writer" codeGenerationType="class">
      <relationship name="books" toMany="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
      </entity>
      </model>
      """
    let contents = text.replacing("codeGenerationType=\"class\"", with: "codeGenerationType=\"\(generation)\"")
    return try ModelDocument(contents: Array(contents.utf8))
  }

  private func missing(_ files: [String], _ generation: String = "class") throws -> [GeneratedClasses.File] {
    let model = try model(generation)
    return GeneratedClasses.missing(in: Folder(files, model: model), of: model)
  }

  @Test func classes() throws {
    let files = try missing([])
    #expect(
      files.map { $0.name } == ["Book+CoreDataClass.swift", "Novel+CoreDataClass.swift", "Writer+CoreDataClass.swift"])
    #expect(
      files[0].text == """
        import Foundation
        import CambiumCoreData

        public class Book: NSManagedObject {
        }

        extension Book {

            public class func fetchRequest() -> NSFetchRequest<Book> {
                return NSFetchRequest<Book>(entityName: "Book")
            }

            @Managed public var title: String?
            @Managed public var pages: Int32
            @Managed public var author: Writer?

        }

        extension Book: Identifiable {
        }

        """)
    #expect(files[1].text.contains("public class Novel: Book {") && !files[1].text.contains("Identifiable"))
    #expect(files[2].text.contains("NSFetchRequest<Writer>(entityName: \"Author\")"))
    #expect(
      files[2].text.contains("func addToBooks(_ value: Book) { mutableSetValue(forKey: \"books\").add(value) }"))
  }

  /// Only the properties with "Category/Extension", and nothing with "Manual/None".
  @Test func otherCodeGeneration() throws {
    for files in [[], ["import CoreData\nclass Book: NSManagedObject {}"]] {
      let made = try missing(files, "category")
      #expect(made.map { $0.name } == ["Book+CoreDataProperties.swift", "Writer+CoreDataProperties.swift"])
      #expect(made[0].text.contains("@Managed public var title: String?"))
      #expect(!made[0].text.contains("public class Book"))
      #expect(try missing(files, "").isEmpty)
      #expect(try missing(files, "none").isEmpty)
    }
    // Without a class there is no place for an override.
    let source = "import CoreData\nextension Book {\n  override func willSave() {}\n}"
    let folder = Folder([source], model: try model("category"))
    #expect(SourceMover.move(source, in: folder).findings.map { $0.text } == ["func willSave"])
  }

  /// Attributes with and without "Use Scalar Type".
  @Test func scalarTypes() throws {
    let text = """
      <model><entity name="A" representedClassName="A" codeGenerationType="class">
      <attribute name="pages" attributeType="Integer 32" usesScalarValueType="NO"/>
      <attribute name="isNew" attributeType="Boolean" usesScalarValueType="NO"/>
      <attribute name="size" attributeType="Double" usesScalarValueType="YES"/>
      <attribute name="added" attributeType="Date" usesScalarValueType="NO"/>
      <attribute name="default" attributeType="Date" usesScalarValueType="YES"/></entity></model>
      """
    let model = try ModelDocument(contents: Array(text.utf8))
    // The document keeps what it read.
    #expect(try ModelDocument(contents: model.contents()).entities[0].codeGeneration == .classDefinition)
    #expect(
      try ModelDocument(contents: model.contents()).entities[0].attributes.map { $0.usesScalarValueType }
        == [false, false, true, false, true])
    let file = GeneratedClasses.missing(in: Folder([], model: model), of: model)[0].text
    #expect(
      file.contains(
        """
            @Managed public var pages: NSNumber?
            @Managed public var isNew: NSNumber?
            @Managed public var size: Double
            @Managed public var added: Date?
            public var `default`: TimeInterval {
                get { (value(forKey: "default") as? Date)?.timeIntervalSinceReferenceDate ?? 0 }
                set { setValue(Date(timeIntervalSinceReferenceDate: newValue), forKey: "default") }
            }

        }
        """))
  }

  /// A structure within another type is no class of managed objects.
  @Test func otherTypesOfTheNameDoNotCount() throws {
    let other = "import CoreData\nenum Response { struct Book {}; class Writer: Codable {} }\nclass Novel: Book {}"
    let files = try missing([other])
    #expect(files.map { $0.name } == ["Book+CoreDataClass.swift", "Writer+CoreDataClass.swift"])
  }

  @Test func keywordsAreInBackticks() throws {
    var entity = ModelDocument.Entity("Extension")
    entity.className = "extension"
    entity.codeGeneration = .classDefinition
    entity.attributes = [ModelDocument.Attribute("default", .string), ModelDocument.Attribute("operator", .integer16)]
    var relationship = ModelDocument.Relationship("repeat", to: "Extension")
    entity.relationships = [relationship]
    relationship.name = "switch"
    relationship.isToMany = true
    entity.relationships.append(relationship)
    var model = ModelDocument()
    model.entities = [entity]
    let files = GeneratedClasses.missing(in: Folder([], model: model), of: model)
    #expect(files.map { $0.name } == ["extension+CoreDataClass.swift"])
    for line in [
      "public class `extension`: NSManagedObject {",
      "public class func fetchRequest() -> NSFetchRequest<`extension`> {",
      "return NSFetchRequest<`extension`>(entityName: \"Extension\")", "@Managed public var `default`: String?",
      "@Managed public var `operator`: Int16", "@Managed public var `repeat`: `extension`?",
      "@Managed public var `switch`: NSSet?",
      "func addToSwitch(_ value: `extension`) { mutableSetValue(forKey: \"switch\").add(value) }",
      "extension `extension`: Identifiable {",
    ] { #expect(files[0].text.contains(line), "\(line)") }
  }

  @Test func properties() throws {
    let declared =
      "import CoreData\npublic class Book: NSManagedObject {}\nclass Novel: Book {}\nclass Writer: NSManagedObject {}"
    let files = try missing([declared])
    #expect(files.map { $0.name } == ["Book+CoreDataProperties.swift", "Writer+CoreDataProperties.swift"])
    #expect(files.allSatisfy { !$0.text.contains("class Book:") })
    // Nothing is missing where they have been written.
    #expect(try missing([declared] + files.map { $0.text }).isEmpty)
    #expect(try missing(try missing([]).map { $0.text }).isEmpty)
  }
}

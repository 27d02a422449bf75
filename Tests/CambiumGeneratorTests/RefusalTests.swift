import CambiumGenerator
import CambiumModelFiles
import Testing

/// What the code cannot express is refused with place, reason and way out: all of it at once.
@Suite struct RefusalTests {
  private func refusals(_ content: String, _ forms: Set<CodeForm> = [.swiftData]) throws -> [String] {
    let document = try ModelDocument(contents: Array("<model>\(content)</model>".utf8))
    let options = CodeOptions(modelName: "M", forms: forms, sourceName: "M")
    do throws(Refusals) {
      _ = try CodeGenerator.generate([CodeVersion(name: "M", document: document)], current: nil, options)
    } catch {
      #expect(error.all.allSatisfy { !$0.reason.isEmpty && !$0.remedy.isEmpty && "\($0)".contains($0.remedy) })
      return error.all.map { "\($0.place): \($0.reason)" }
    }
    return []
  }

  @Test(arguments: [
    (#"<entity name="E" isAbstract="YES"/>"#, "E: SwiftData has no abstract entities"),
    (#"<entity name="E" versionHashModifier="2"/>"#, "E: SwiftData has no version hash modifier of an entity"),
    (#"<entity name="Log Entry"/>"#, "Log Entry: 'Log Entry' cannot be the name of a class in Swift"),
    (#"<entity name="class"/>"#, "class: 'class' is a word of Swift's, and no name of a class"),
    ("", "the model: it has no entities"),
    (#"<entity name="Swift"/>"#, "Swift: a class 'Swift' would hide the module of that name from the code"),
    (#"<entity name="Sendable"/>"#, "Sendable: '@Model' writes the protocol 'Sendable' without its module"),
    (
      #"<entity name="E"><fetchedProperty name="f"><fetchRequest entity="E"/></fetchedProperty></entity>"#,
      "E.f: SwiftData has no fetched properties"
    ),
    (
      #"<entity name="E"><relationship name="r" toMany="YES" destinationEntity="E"/></entity>"#,
      "E.r: SwiftData has no required to-many relationship without a least count"
    ),
    (
      #"<entity name="E"><relationship name="r" optional="YES" transient="YES" destinationEntity="E"/></entity>"#,
      "E.r: SwiftData has no transient relationships"
    ),
    (
      #"<entity name="E"><relationship name="r" optional="YES" destinationEntity="E" inverseName="r"/></entity>"#,
      "E.r: it is its own inverse, which the compiler takes for a circular reference in SwiftData's macros"
    ),
    (
      #"<entity name="E"><attribute name="a" attributeType="Integer 16"/><uniquenessConstraints><uniquenessConstraint>"#
        + #"<constraint value="b"/></uniquenessConstraint></uniquenessConstraints></entity>"#,
      "E: the uniqueness constraint on 'b' is not on a stored value or to-one relationship"
    ),
  ])
  func entities(content: String, refusal: String) throws { #expect(try refusals(content) == [refusal]) }

  @Test(arguments: [
    (#"name="a" transient="YES""#, "the attribute has no type"),
    (#"name="a" attributeType="ObjectID""#, "SwiftData has no attributes of type ObjectID"),
    (
      #"name="a" attributeType="Integer 16" derived="YES" derivationExpression="b""#,
      "SwiftData has no derived attributes"
    ),
    (#"name="a" attributeType="String" minValueString="1""#, "SwiftData has no validation rules"),
    (#"name="a" attributeType="String" regularExpressionString="x""#, "SwiftData has no validation rules"),
    (#"name="a" attributeType="Date" maxDateTimeInterval="1""#, "SwiftData has no validation rules"),
    (
      #"name="a" attributeType="Transformable" customClassName="[String]""#,
      "the transformable attribute names no value transformer"
    ),
    (
      #"name="a" attributeType="Transformable" valueTransformerName="T""#,
      "the model does not say of which type the transformable values are"
    ),
    (
      #"name="a" attributeType="Transformable" valueTransformerName="T" customClassName="Int; }""#,
      "the custom class 'Int; }' is no type of Swift"
    ),
    (#"name="modelContext" attributeType="String""#, "each model has a member of the name"),
    (#"name="hashValue" attributeType="String""#, "each model has a member of the name"),
    (#"name="E" attributeType="String""#, "the property has the name of its own class or structure"),
    (#"name="self" attributeType="String""#, "predicates mean the object itself by the name"),
    (#"name="Type" attributeType="String""#, "key paths of Swift mean the type by the name"),
    (#"name="tail number" attributeType="String""#, "the name is no identifier of Swift"),
    (#"name="x = 1; var y" attributeType="String""#, "the name is no identifier of Swift"),
  ])
  func attributes(attribute: String, reason: String) throws {
    let found = try refusals("<entity name=\"E\"><attribute \(attribute)/></entity>")
    #expect(found.map { String($0.drop { $0 != ":" }.dropFirst(2)) } == [reason])
  }

  @Test func composites() throws {
    #expect(
      try refusals(
        """
        <entity name="E"><attribute name="a" optional="YES" attributeType="Composite" composite="C"/>
        <attribute name="n" optional="YES" attributeType="Composite" composite="N"/></entity>
        <composite name="C"><attribute name="x" attributeType="Double" minValueString="0"/>
        <attribute name="y" attributeType="Double" elementID="z"/></composite><composite name="N"/>
        <composite name="not used"/>
        """) == [
          "E.n: the composite type 'N' has no elements", "C.x: SwiftData has no validation rules",
          "C.y: elements have no renaming identifier or version hash modifier in SwiftData",
        ])
  }

  /// Two relationships that SwiftData would take for inverses, although the model does not.
  @Test func inverseThatIsInferred() throws {
    let found = try refusals(
      """
      <entity name="A"><relationship name="b" optional="YES" destinationEntity="B"/></entity>
      <entity name="B"><relationship name="a" optional="YES" destinationEntity="A"/></entity>
      """)
    #expect(found.count == 2)
    #expect(found.first?.hasPrefix("A.b: it has no inverse, but SwiftData infers B.a, because") == true)
  }

  @Test func aRelationshipWithTheNameOfItsDestination() throws {
    func model(_ inverse: String, _ other: String) -> String {
      """
      <entity name="Place"><relationship name="Foo" optional="YES" destinationEntity="Foo" \(inverse)/></entity>
      <entity name="Foo">\(other)</entity>
      """
    }
    let found = try refusals(
      model(
        #"inverseName="places" inverseEntity="Foo""#,
        #"<relationship name="places" optional="YES" toMany="YES" destinationEntity="Place" inverseName="Foo" "#
          + #"inverseEntity="Place"/>"#
      ))
    #expect(
      found.count == 1 && found[0].hasPrefix("Place.Foo: it has an inverse and the name of the class"), "\(found)")
    #expect(try refusals(model("", "")) == [])
  }

  /// The first of two objects that need each other cannot be made.
  @Test func requiredRelationshipsInARing() throws {
    func required(_ name: String, _ destination: String) -> String {
      "<relationship name=\"\(name)\" destinationEntity=\"\(destination)\"/>"
    }
    let ring = "<entity name=\"A\">\(required("b", "B"))</entity><entity name=\"B\" parentEntity=\"C\"/>"
    #expect(
      try refusals(
        ring + "<entity name=\"C\">\(required("d", "D"))</entity><entity name=\"D\">\(required("a", "A"))</entity>")
        == [
          "A.b: no first object can be made, because it needs one of B, which needs one of A",
          "D.a: no first object can be made, because it needs one of A, which needs one of D",
        ])
    #expect(
      try refusals("<entity name=\"A\">\(required("next", "A"))</entity>")
        == ["A.next: no first object can be made, because it needs another one"])
    #expect(try refusals(ring + "<entity name=\"C\">\(required("d", "D"))</entity><entity name=\"D\"/>") == [])
  }

  @Test func namesOfManagedObjects() throws {
    #expect(
      try refusals(
        #"<entity name="A" representedClassName="C"><attribute name="C" attributeType="String"/></entity>"#,
        [.managedObjects]) == ["A.C: the property has the name of its own class or structure"])
    #expect(
      try refusals(
        #"<entity name="A" representedClassName="C"><attribute name="A" attributeType="String"/></entity>"#,
        [.managedObjects]) == [])
  }

  @Test(arguments: [[CodeForm.swiftData], [.builder]]) func defaultsThatAreNoValues(forms: [CodeForm]) throws {
    let document = try ModelDocument(
      contents: Array(
        #"<model><entity name="E"><attribute name="url" attributeType="URI" defaultValueString="http://x y"/></entity></model>"#
          .utf8))
    let options = CodeOptions(modelName: "M", forms: Set(forms), sourceName: "M")
    let code = try CodeGenerator.generate([CodeVersion(name: "M", document: document)], current: nil, options)
    #expect(code.notes == ["E.url: the default 'http://x y' is no URI, and is left out"])
    #expect(!code.files.contains { $0.text.contains("http://x y") })
  }

  /// Each version of a schema has a number of its own.
  @Test func versionsWithoutNumbers() throws {
    let document = try ModelDocument(contents: Array(#"<model><entity name="E"/></model>"#.utf8))
    let options = CodeOptions(modelName: "App", forms: [.swiftData], sourceName: "App")
    let versions = ["App", "AppWithTags", "App_final"].map { CodeVersion(name: $0, document: document) }
    let code = try CodeGenerator.generate(versions, current: "App_final", options)
    let text = code.files.map { $0.text }.joined()
    for number in 1...3 { #expect(text.ranges(of: "Schema.Version(\(number), 0, 0)").count == 1) }
    #expect(code.notes.count == 2)
    #expect(
      code.notes.first?.hasPrefix("version AppWithTags has no number of its own in its name, and becomes 2.0.0")
        ?? false)
  }

  @Test func managedObjects() throws {
    #expect(
      try refusals(
        """
        <entity name="A" representedClassName="C"><attribute name="hasChanges" attributeType="Boolean"/></entity>
        <entity name="B" representedClassName="Module.C"/><entity name="D d"/><entity name="F" representedClassName="String"/>
        """, [.managedObjects]) == [
          "A.hasChanges: each managed object has a member of the name",
          "B: its objects are of the class 'C', as those of A are",
          "D d: 'D d' cannot be the name of a class in Swift",
          "F: '@ManagedPaths' writes the type 'String' of Swift without its module",
        ])
  }

  /// What no model can be is found before anything else, also where nothing is built of the document.
  @Test(arguments: CodeForm.allCases) func structure(form: CodeForm) throws {
    #expect(
      try refusals(
        """
        <entity name="A" parentEntity="B"/><entity name="B" parentEntity="A"/><entity name="C" parentEntity="none"/>
        <entity name="D"><attribute name="x" attributeType="String"/><attribute name="x" attributeType="String"/>
        <relationship name="r" destinationEntity="none"/>
        <attribute name="c" attributeType="Composite" composite="none"/></entity>
        <entity name="E" parentEntity="D"><attribute name="c" attributeType="String"/></entity><entity name="E"/>
        <composite name="S"><attribute name="s" attributeType="Composite" composite="S"/></composite>
        """, [form]) == [
          "E: another entity has the same name", "S: the composite type contains itself", "A: inherits from itself",
          "B: inherits from itself", "C: inherits from 'none', which the model does not have",
          "D.x: another property has the same name",
          "D.c: is of the composite type 'none', which the model does not have",
          "D.r: leads to 'none', which the model does not have",
          "E.c: 'D' has a property of the name, which is inherited",
        ])
  }

  /// The findings of all versions, each with its version.
  @Test func versions() throws {
    let document = try ModelDocument(contents: Array(#"<model><entity name="E" isAbstract="YES"/></model>"#.utf8))
    let versions = ["V1", "V2"].map { CodeVersion(name: $0, document: document) }
    #expect {
      try CodeGenerator.generate(
        versions, current: "V2", CodeOptions(modelName: "M", forms: [.swiftData], sourceName: "M"))
    } throws: { error in
      (error as? Refusals)?.all.map { $0.version } == ["V1", "V2"] && "\(error)".hasPrefix("version V1, E: SwiftData")
    }
  }
}

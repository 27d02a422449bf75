import CambiumEngine
import CambiumModels
import Testing

@Suite struct ModelFileTests {
  private func read(_ content: String, attributes: String = "") throws -> ModelFile {
    try ModelFile(
      contents: Array(
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"\(attributes)>
        \(content)
        </model>
        """.utf8))
  }

  private func attribute(_ attributes: String) throws -> (AttributeSchema, [String]) {
    let file = try read("<entity name=\"E\"><attribute name=\"a\" \(attributes)/></entity>")
    return (try #require(file.schema.entity(named: "E")?.attribute(named: "a")), file.warnings.map { $0.text })
  }

  @Test func everything() throws {
    let file = try read(everythingModel, attributes: " userDefinedModelVersionIdentifier=\"2.0\"")
    let schema = file.schema
    #expect(file.warnings.map { "\($0)" } == [])
    #expect(schema.versionIdentifiers == ["2.0"])
    #expect(schema.entities.map { $0.name } == ["Vehicle", "Aircraft", "Log Entry"])
    let vehicle = try #require(schema.entity(named: "Vehicle"))
    #expect(vehicle.isAbstract)
    #expect(vehicle.className == "VehicleObject")
    #expect(vehicle.userInfo == [UserInfoEntry(key: "a", value: "b")])
    #expect(vehicle.uniquenessConstraints.map { $0.paths } == [["tailNumber"], ["token", "page"]])
    let tail = try #require(vehicle.attribute(named: "tailNumber"))
    #expect(!tail.isOptional)
    #expect(tail.defaultValue == "")
    #expect(tail.minimum == 2)
    #expect(tail.maximum == 12)
    #expect(tail.regularExpression == "[A-Z0-9-]+")
    #expect(tail.renamingIdentifier == "registration")
    let token = try #require(vehicle.attribute(named: "token"))
    #expect(token.type == .uuid)
    #expect(vehicle.attribute(named: "page")?.defaultValue == .uri("https://example.org/"))
    #expect(vehicle.attribute(named: "cached")?.type == .undefined)
    #expect(vehicle.attribute(named: "photo")?.allowsExternalBinaryDataStorage == true)

    let aircraft = try #require(schema.entity(named: "Aircraft"))
    #expect(aircraft.parentID == vehicle.id)
    #expect(aircraft.renamingIdentifier == "Plane")
    #expect(aircraft.versionHashModifier == "3")
    #expect(aircraft.className == nil)
    #expect(aircraft.attribute(named: "engines")?.defaultValue == 1)
    #expect(aircraft.attribute(named: "engines")?.maximum == 8)
    #expect(aircraft.attribute(named: "built")?.defaultValue == .date(646_585_800))
    #expect(aircraft.attribute(named: "built")?.minimum == .date(0))
    #expect(aircraft.attribute(named: "isActive")?.defaultValue == .boolean(true))
    #expect(aircraft.attribute(named: "price")?.defaultValue.kindName == "decimal")
    #expect(aircraft.attribute(named: "weight")?.defaultValue == .float(0.5))
    #expect(aircraft.attribute(named: "notes")?.valueTransformerName == "NotesTransformer")
    #expect(aircraft.attribute(named: "entryCount")?.derivation == "logEntries.@count")
    let place = try #require(aircraft.attribute(named: "place"))
    #expect(place.compositeName == "Place")
    #expect(place.elements.map { $0.name } == ["name", "location", "nothing"])
    #expect(place.element(named: "location")?.elements.map { $0.type } == [.double, .double])
    #expect(place.element(named: "location")?.elements[0].isOptional == false)
    #expect(place.element(named: "nothing")?.elements == [])
    #expect(
      aircraft.indexes.map { $0.name } == ["byLatitude", "area", "byEnginesIndex", "byEnginesBuiltIndex"])
    #expect(aircraft.indexes[0].elements == [IndexElement("place.location.latitude", ascending: false)])
    #expect(aircraft.indexes[1].elements.allSatisfy { $0.kind == .rTree })
    #expect(aircraft.indexes[1].partialPredicate == "isActive == YES")
    #expect(aircraft.indexes[3].elements.map { $0.path } == ["engines", "built"])

    let entries = try #require(aircraft.relationship(named: "logEntries"))
    #expect(entries.isToMany && entries.isOrdered && !entries.isOptional)
    #expect(entries.deleteRule == .cascade)
    #expect((entries.minimumCount, entries.maximumCount) == (1, 100))
    let back = try #require(schema.entity(named: "Log Entry")?.relationship(named: "aircraft"))
    #expect(!back.isToMany && back.maximumCount == 1 && back.inverse == "logEntries" && back.deleteRule == .deny)
    let similar = try #require(schema.entity(named: "Log Entry")?.fetchedProperties.first)
    #expect(similar.request.entity == "Log Entry")
    #expect(similar.request.predicate == "aircraft == $FETCH_SOURCE")
    #expect(similar.userInfo == [UserInfoEntry(key: "k", value: "")])
    #expect(schema.configurations == [ConfigurationSchema("Local", entities: ["Vehicle", "Aircraft"])])
    let template = try #require(schema.fetchTemplate(named: "long"))
    #expect(template.predicate == "duration > $least && remarks != \"\"")
    #expect(template.fetchLimit == 10)
    #expect(template.userInfo == [UserInfoEntry(key: "fetchBatchSize", value: "20")])
  }

  @Test func defaultsByType() throws {
    for (attributes, value) in [
      ("attributeType=\"Integer 16\" defaultValueString=\"0.0\"", Value.integer(0)),
      ("attributeType=\"Integer 64\" defaultValueString=\"-9223372036854775808\"", .integer(.min)),
      ("attributeType=\"Boolean\" defaultValueString=\"NO\"", .boolean(false)),
      ("attributeType=\"Boolean\" defaultValueString=\"1\"", .boolean(true)),
      ("attributeType=\"Boolean\" defaultValueString=\"0.0\"", .boolean(false)),
      ("attributeType=\"Boolean\" defaultValueString=\"1.0\"", .boolean(true)),
      ("attributeType=\"Boolean\" defaultValueString=\"TRUE\"", .boolean(true)),
      ("attributeType=\"Boolean\" defaultValueString=\"No\"", .boolean(false)),
      ("attributeType=\"Double\" defaultValueString=\"0.1\"", .double(0.1)),
      ("attributeType=\"Double\" defaultValueString=\"-1e300\"", .double(-1e300)),
      ("attributeType=\"String\" defaultValueString=\"\"", ""),
      ("attributeType=\"String\" defaultValueString=\" &amp; \"", " & "),
      ("attributeType=\"Integer 32\" defaultValueString=\"\"", .null),
      ("attributeType=\"Integer 32\"", .null),
    ] {
      let (result, warnings) = try attribute(attributes)
      #expect(result.defaultValue == value)
      #expect(warnings == [])
    }
    let (mended, warnings) = try attribute("attributeType=\"Integer 32\" defaultValueString=\"NO\"")
    #expect(mended.defaultValue == 0)
    #expect(warnings == ["a: the default 'NO' of Integer 32 was taken as 0"])
    for attributes in [
      "attributeType=\"Integer 16\" defaultValueString=\"40000\"", "attributeType=\"Date\" defaultValueString=\"now\"",
      "attributeType=\"Boolean\" defaultValueString=\"maybe\"", "attributeType=\"Binary\" defaultValueString=\"x\"",
      "attributeType=\"UUID\" defaultValueString=\"x\"", "attributeType=\"Integer 32\" defaultValueString=\"1.5\"",
      "attributeType=\"Boolean\" maxValueString=\"1\"", "attributeType=\"String\" minValueString=\"-1\"",
      "attributeType=\"Integer 16\" regularExpressionString=\"x\"",
      "attributeType=\"String\" spotlightIndexingEnabled=\"YES\"", "attributeType=\"String\" somethingNew=\"7\"",
    ] {
      let (result, warnings) = try attribute(attributes)
      #expect(result.defaultValue == .null && result.minimum == .null && result.maximum == .null)
      #expect(warnings.count == 1)
    }
  }

  @Test func inversesAreMended() throws {
    let file = try read(
      """
      <entity name="A">
        <relationship name="b" optional="YES" maxCount="1" destinationEntity="B" inverseName="a" inverseEntity="B"/>
        <relationship name="c" optional="YES" maxCount="1" destinationEntity="B" inverseName="a" inverseEntity="B"/>
        <relationship name="d" optional="YES" maxCount="1" destinationEntity="B" inverseName="missing" inverseEntity="B"/>
        <relationship name="alone" optional="YES" toMany="YES" destinationEntity="B"/>
      </entity>
      <entity name="B">
        <relationship name="a" optional="YES" maxCount="1" destinationEntity="A" inverseName="b" inverseEntity="A"/>
      </entity>
      <entity name="C">
        <relationship name="a" optional="YES" maxCount="1" destinationEntity="A" inverseName="b" inverseEntity="A"/>
      </entity>
      """)
    func inverse(_ entity: String, _ name: String) -> String? {
      file.schema.entity(named: entity)?.relationship(named: name)?.inverse
    }
    #expect(inverse("A", "b") == "a")
    #expect(inverse("B", "a") == "b")
    #expect(inverse("A", "c") == nil)
    #expect(inverse("A", "d") == nil)
    #expect(inverse("C", "a") == nil)
    #expect(file.warnings.map { $0.line } == [5, 6, 13])
    #expect(file.warnings.first?.text == "A.c was read without its inverse 'a': B.a has 'b' as its inverse")
  }

  @Test func counts() throws {
    func relationship(_ attributes: String) throws -> (RelationshipSchema, Int) {
      let file = try read(
        "<entity name=\"E\"><relationship name=\"r\" destinationEntity=\"E\" \(attributes)/></entity>")
      return (try #require(file.schema.entity(named: "E")?.relationship(named: "r")), file.warnings.count)
    }
    for (attributes, isToMany, maximum, warnings) in [
      ("", false, 1, 0), ("maxCount=\"1\" minCount=\"1\"", false, 1, 0), ("toMany=\"YES\"", true, 0, 0),
      ("toMany=\"YES\" maxCount=\"5\"", true, 5, 0), ("toMany=\"YES\" maxCount=\"1\"", false, 1, 1),
      ("maxCount=\"3\"", true, 3, 1), ("maxCount=\"0\"", false, 1, 0), ("ordered=\"YES\"", false, 1, 1),
    ] as [(String, Bool, UInt32, Int)] {
      let (result, found) = try relationship(attributes)
      #expect(result.isToMany == isToMany && result.maximumCount == maximum && found == warnings, "\(attributes)")
      #expect(!result.isOrdered)
    }
  }

  @Test func whatIsLeftOut() throws {
    let file = try read(
      """
      <entity name="E" coreSpotlightDisplayNameExpression="name" future="1">
        <attribute name="name" optional="YES" attributeType="String" allowsCloudEncryption="YES"/>
        <attribute name="object" optional="YES" attributeType="Transformable"/>
        <fetchIndex name="byExpression">
          <fetchIndexElement expression="lowercase(name)" expressionType="String" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="bySelf"><fetchIndexElement expression="name" type="Binary"/></fetchIndex>
        <fetchIndex name="byObject"><fetchIndexElement property="object" type="Binary" order="ascending"/></fetchIndex>
        <fetchIndex name="byNothing"/>
        <fetchIndex name="byMissing"><fetchIndexElement property="missing"/></fetchIndex>
        <fetchIndex name="bySelf"><fetchIndexElement property="name"/></fetchIndex>
        <fetchIndex name="some" partialIndexPredicate="name =="><fetchIndexElement property="name"/></fetchIndex>
        <fetchedProperty name="f"/>
        <novelty/>
      </entity>
      <fetchRequest name="nowhere"/>
      <fetchRequest name="strange" entity="E" predicateString="name =="/>
      <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="E"/></configuration>
      <elements><element name="E" positionX="0"/></elements>
      """)
    let entity = try #require(file.schema.entity(named: "E"))
    #expect(entity.indexes.map { $0.name } == ["bySelf"])
    #expect(entity.fetchedProperties.isEmpty)
    #expect(file.schema.fetchTemplates.map { $0.name } == ["strange"])
    #expect(file.warnings.map { $0.line } == [3, 3, 4, 7, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20])
  }

  /// What is stored, and cannot be understood, is an error with its place.
  @Test(arguments: [
    ("<entity/>", 3, 1), ("<entity name=\"\"/>", 3, 1), ("<entity name=\"E\" isAbstract=\"MAYBE\"/>", 3, 18),
    ("<entity name=\"E\"><attribute name=\"a\" attributeType=\"Complex\"/></entity>", 3, 38),
    ("<entity name=\"E\"><attribute name=\"a\" attributeType=\"Composite\"/></entity>", 3, 18),
    ("<entity name=\"E\"><attribute name=\"a\" attributeType=\"String\" composite=\"C\"/></entity>", 3, 61),
    ("<entity name=\"E\"><attribute name=\"a\" attributeType=\"String\" derived=\"YES\"/></entity>", 3, 18),
    ("<entity name=\"E\"><relationship name=\"r\"/></entity>", 3, 18),
    ("<entity name=\"E\"><relationship name=\"r\" destinationEntity=\"E\" minCount=\"-1\"/></entity>", 3, 63),
    ("<entity name=\"E\"><relationship name=\"r\" destinationEntity=\"E\" deletionRule=\"Wipe\"/></entity>", 3, 63),
    ("<entity name=\"E\"><userInfo><entry value=\"x\"/></userInfo></entity>", 3, 28),
    (
      "<entity name=\"E\"><fetchIndex name=\"i\"><fetchIndexElement property=\"a\" order=\"up\"/></fetchIndex></entity>",
      3, 71
    ),
    ("<configuration name=\"C\"><memberEntity/></configuration>", 3, 25),
  ])
  func unusable(content: String, line: Int, column: Int) {
    #expect {
      try read(content)
    } throws: { error in
      guard case .unusable(let foundLine, let foundColumn, _)? = error as? ModelFileError else { return false }
      return foundLine == line && foundColumn == column
    }
  }

  @Test func theSchemasChecks() {
    #expect(throws: ModelFileError.model(.undefinedType(attribute: "a", place: "E"))) {
      try read("<entity name=\"E\"><attribute name=\"a\" optional=\"YES\"/></entity>")
    }
    #expect(throws: ModelFileError.model(.unknownEntity("F", place: "E.r"))) {
      try read("<entity name=\"E\"><relationship name=\"r\" destinationEntity=\"F\" inverseName=\"e\"/></entity>")
    }
    #expect(throws: ModelFileError.model(.compositeCycle("C"))) {
      try read("<composite name=\"C\"><attribute name=\"c\" attributeType=\"Composite\" composite=\"C\"/></composite>")
    }
    #expect(throws: ModelFileError.model(.inheritanceCycle(entity: "E"))) {
      try read(
        "<entity name=\"E\" parentEntity=\"E\"><relationship name=\"r\" destinationEntity=\"E\" inverseName=\"x\"/></entity>"
      )
    }
    #expect(throws: ModelFileError.self) { try ModelFile(contents: Array("<plist/>".utf8)) }
    #expect(throws: ModelFileError.self) { try ModelFile(contents: Array("<model type=\"other\"/>".utf8)) }
  }
}

/// Each thing that these files can hold.
let everythingModel = """
  <entity name="Vehicle" representedClassName=".VehicleObject" isAbstract="YES" syncable="YES" codeGenerationType="class">
    <attribute name="tailNumber" attributeType="String" defaultValueString="" minValueString="2" maxValueString="12" regularExpressionString="[A-Z0-9-]+" elementID="registration" syncable="YES"/>
    <attribute name="token" optional="YES" attributeType="UUID" usesScalarValueType="NO"/>
    <attribute name="page" optional="YES" attributeType="URI" defaultValueString="https://example.org/"/>
    <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" preserveAfterDeletion="YES"/>
    <attribute name="cached" optional="YES" transient="YES"/>
    <uniquenessConstraints>
      <uniquenessConstraint><constraint value="tailNumber"/></uniquenessConstraint>
      <uniquenessConstraint><constraint value="token"/><constraint value="page"/></uniquenessConstraint>
    </uniquenessConstraints>
    <userInfo><entry key="a" value="b"/></userInfo>
  </entity>
  <entity name="Aircraft" representedClassName="NSManagedObject" parentEntity="Vehicle" elementID="Plane" versionHashModifier="3">
    <attribute name="engines" optional="YES" attributeType="Integer 16" defaultValueString="1" minValueString="0" maxValueString="8" indexed="YES"/>
    <attribute name="built" optional="YES" attributeType="Date" defaultDateTimeInterval="646585800" minDateTimeInterval="0"/>
    <attribute name="isActive" attributeType="Boolean" defaultValueString="YES" usesScalarValueType="YES"/>
    <attribute name="price" attributeType="Decimal" defaultValueString="0.0"/>
    <attribute name="weight" attributeType="Float" defaultValueString="0.5"/>
    <attribute name="hours" attributeType="Double" defaultValueString="0.0"/>
    <attribute name="notes" optional="YES" attributeType="Transformable" valueTransformerName="NotesTransformer" customClassName="[String]"/>
    <attribute name="entryCount" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="logEntries.@count"/>
    <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
    <relationship name="logEntries" toMany="YES" minCount="1" maxCount="100" ordered="YES" deletionRule="Cascade" destinationEntity="Log Entry" inverseName="aircraft" inverseEntity="Log Entry" syncable="YES"/>
    <fetchIndex name="byLatitude">
      <fetchIndexElement property="place.location.latitude" type="Binary" order="descending"/>
    </fetchIndex>
    <fetchIndex name="area" partialIndexPredicate="isActive == YES">
      <fetchIndexElement property="place.location.latitude" type="RTree"/>
      <fetchIndexElement property="place.location.longitude" type="RTree"/>
    </fetchIndex>
    <compoundIndexes>
      <compoundIndex><index value="engines"/><index value="built"/></compoundIndex>
    </compoundIndexes>
  </entity>
  <entity name="Log Entry">
    <attribute name="duration" optional="YES" attributeType="Double"/>
    <attribute name="remarks" optional="YES" attributeType="String"/>
    <relationship name="aircraft" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Aircraft" inverseName="logEntries" inverseEntity="Aircraft"/>
    <fetchedProperty name="similar" optional="YES">
      <fetchRequest name="fetchedPropertyFetchRequest" entity="Log Entry" predicateString="aircraft == $FETCH_SOURCE"/>
      <userInfo><entry key="k"/></userInfo>
    </fetchedProperty>
  </entity>
  <composite name="Place">
    <attribute name="name" optional="YES" attributeType="String"/>
    <attribute name="location" optional="YES" attributeType="Composite" composite="Location"/>
    <attribute name="nothing" optional="YES" attributeType="Composite" composite="Nothing"/>
  </composite>
  <composite name="Location">
    <attribute name="latitude" attributeType="Double" defaultValueString="0.0"/>
    <attribute name="longitude" attributeType="Double" defaultValueString="0.0"/>
  </composite>
  <composite name="Nothing"/>
  <fetchRequest name="long" entity="Log Entry" predicateString="duration &gt; $least &amp;&amp; remarks != &quot;&quot;" fetchLimit="10" fetchBatchSize="20"/>
  <configuration name="Local">
    <memberEntity name="Vehicle"/>
    <memberEntity name="Aircraft"/>
  </configuration>
  <elements>
    <element name="Vehicle" positionX="-63" positionY="-18" width="128" height="44"/>
  </elements>
  """

import CambiumEngine
import CambiumModels
import Testing

/// What is written for Xcode, and read again.
@Suite struct WritingTests {
  private func back(_ definition: SchemaDefinition) throws -> ModelFile {
    try ModelFile(contents: try ModelDocument(definition).contents())
  }

  /// A model with every part that a file may have comes back as it was.
  @Test func everything() throws {
    let file = try ModelFile(
      contents: Array("<model userDefinedModelVersionIdentifier=\"2.0\">\(everythingModel)</model>".utf8))
    let copy = try ModelFile(contents: try file.document.contents())
    #expect(copy.schema == file.schema)
    #expect(copy.warnings == file.warnings)
    let again = try back(file.definition)
    #expect(again.schema == file.schema)
    #expect(ModelDocument(file.definition).warnings == [])
  }

  @Test func textsAreEscaped() throws {
    let text = "<a b=\"c\" & 'd'>\n\t\r\u{85} ]]> &amp;"
    var entity = EntitySchema("E \"1\" & <2>", attributes: [AttributeSchema("a", .string, default: .string(text))])
    entity.userInfo = [UserInfoEntry(key: text, value: text)]
    let copy = try back(SchemaDefinition([entity])).definition.entities[0]
    #expect(copy.name == entity.name)
    #expect(copy.userInfo == entity.userInfo)
    #expect(copy.attributes[0].defaultValue == .string(text))
  }

  @Test func textsThatXMLCannotHave() throws {
    let entity = EntitySchema("E", attributes: [AttributeSchema("a", .string, default: "\u{1}")])
    #expect {
      _ = try ModelDocument(SchemaDefinition([entity])).contents()
    } throws: { error in
      guard case .unusable(_, _, let detail)? = error as? ModelDocumentError else { return false }
      return detail.contains("defaultValueString") && detail.contains("U+1")
    }
  }

  /// A composite with elements of its own becomes a type; equal ones share it, and others have a name of their own.
  @Test func composites() throws {
    func place(_ type: AttributeType) -> AttributeSchema {
      AttributeSchema(
        "place",
        elements: [AttributeSchema("x", type), AttributeSchema("inner", elements: [AttributeSchema("y", .date)])])
    }
    let definition = SchemaDefinition([
      EntitySchema("A", attributes: [place(.double)]), EntitySchema("B", attributes: [place(.double)]),
      EntitySchema("C", attributes: [place(.float)]),
    ])
    let document = ModelDocument(definition)
    #expect(document.composites.map { $0.name } == ["Inner", "Place", "Place2"])
    #expect(try back(definition).schema.versionChecksum == Schema(definition).versionChecksum)
  }

  @Test func partsThatAFileCannotHave() throws {
    var attribute = AttributeSchema("a", .string)
    attribute.validationRules = [ValidationRule("SELF != 'x'")]
    var entity = EntitySchema("E", attributes: [attribute, AttributeSchema("b", .binary, default: .binary([1]))])
    entity.removedProperties = ["old"]
    var definition = SchemaDefinition([entity])
    definition.removedEntities = ["F"]
    definition.versionIdentifiers = ["1", "2"]
    let document = ModelDocument(definition)
    #expect(
      document.warnings.map { $0.text } == [
        "the model: the version identifiers but '1' are left out: a file has one",
        "the model: a file cannot say which entities were removed: F",
        "E.a: the validation predicate 'SELF != 'x'' is left out: a file cannot have it",
        "E.b: the default value is left out: a file cannot have one of the type Binary",
        "E: a file cannot say which properties were removed: old",
      ])
    #expect(try back(definition).schema.versionChecksum == Schema(definition).versionChecksum)
  }

  /// A name of a request's further attribute that could end the tag is left out.
  @Test func requestAttributes() throws {
    var template = FetchTemplate(entity: "E")
    template.userInfo = [
      UserInfoEntry(key: "x=\"1\"><entity name", value: "F"), UserInfoEntry(key: "fetchBatchSize", value: "20"),
      UserInfoEntry(key: "entity", value: "F"),
    ]
    var definition = SchemaDefinition([EntitySchema("E")])
    definition.fetchTemplates = [NamedFetchTemplate("t", template)]
    let copy = try back(definition).definition
    #expect(copy.entities.map { $0.name } == ["E"])
    #expect(copy.fetchTemplates[0].template.userInfo == [UserInfoEntry(key: "fetchBatchSize", value: "20")])
  }
}

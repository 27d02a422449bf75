import Testing

@testable import CambiumEngine

/// Which property of an earlier model a property is: `Specs/05-migration.md`, section 1.
@Suite struct MatchingTests {
  /// Attributes `name` or `name<identifier`.
  private func schema(_ attributes: String, after earlier: Schema? = nil) throws -> Schema {
    let made = attributes.split(separator: " ").map { text in
      let parts = text.split(separator: "<")
      var attribute = AttributeSchema(String(parts[0]), .string)
      if parts.count > 1 { attribute.renamingIdentifier = String(parts[1]) }
      return attribute
    }
    return try Schema(SchemaDefinition([EntitySchema("Person", attributes: made)]), basedOn: earlier)
  }

  /// The attributes of the later model, each with the one that it was.
  private func matches(_ earlier: String, _ later: String) throws -> String {
    let old = try schema(earlier)
    let new = try schema(later, after: old)
    let inference = MappingInference(old, new)
    var texts: [String] = []
    for (place, attribute) in new.entities[0].attributes.enumerated() {
      let was = old.entities[0].attributes.first { $0.id == attribute.id }
      // A migration goes by the same rules.
      #expect(inference.matches[0]?.attributes[place]?.name == was?.name)
      texts.append("\(attribute.name)=\(was?.name ?? "new")")
    }
    return texts.joined(separator: " ")
  }

  @Test func anIdentifierThatIsSetComesFirst() throws {
    #expect(try matches("name", "fullName<name") == "fullName=name")
    #expect(try matches("name", "name fullName<name") == "name=new fullName=name")
    #expect(try matches("a b", "a<b b<a") == "a=b b=a")
    #expect(try matches("fullName<name", "title<name") == "title=fullName")
    #expect(try matches("fullName<name name", "title<name name") == "title=fullName name=name")
    #expect(try matches("fullName<name name", "fullName<name name x") == "fullName=fullName name=name x=new")
    #expect(try matches("fullName<name", "fullName<name title<name") == "fullName=fullName title=new")
  }

  /// An identifier may be set although it is the name.
  @Test func anIdentifierThatIsSetMayBeTheName() throws {
    #expect(try matches("value<number", "number<number value") == "number=value value=new")
    #expect(try matches("value<number", "number value") == "number=new value=value")
  }

  /// An identifier that is added later renames nothing: both names stay where they are.
  @Test func namesThatAreThereBeforeAndAfterStay() throws {
    #expect(try matches("fullName name", "fullName<name name") == "fullName=fullName name=name")
    #expect(try matches("name x fullName", "x fullName<name name") == "x=x fullName=fullName name=name")
    // No such name stays as it is in an exchange.
    #expect(try matches("a b", "a<b b<a x") == "a=b b=a x=new")
  }

  @Test func aNameComesBeforeAnIdentifierThatIsOnlyTheName() throws {
    #expect(try matches("fullName<name", "fullName name") == "fullName=fullName name=new")
    #expect(try matches("fullName<name", "name fullName") == "name=new fullName=fullName")
    #expect(try matches("fullName<name", "fullName<other name") == "fullName=fullName name=new")
  }

  @Test func anIdentifierThatIsOnlyTheNameComesLast() throws {
    #expect(try matches("fullName<name", "name") == "name=fullName")
    #expect(try matches("fullName<name x", "x name") == "x=x name=fullName")
  }

  @Test func aSchemaWithoutIdentifiersIsTheSameOtherwise() throws {
    let old = try schema("fullName<name x")
    let bare = try old.withoutRenamingIdentifiers()
    #expect(bare.versionChecksum == old.versionChecksum)
    #expect(bare.entities[0].attributes.map { $0.id } == old.entities[0].attributes.map { $0.id })
    #expect(bare.entities[0].attributes.allSatisfy { $0.renamingIdentifier == nil })
    #expect(try Schema(SchemaDefinition(old.definition.entities), basedOn: bare).entities[0].attributes[0].id != 0)
  }
}

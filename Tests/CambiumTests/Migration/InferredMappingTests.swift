import Cambium
import Testing

/// What is inferred between two models, change by change: the type of each mapping, or what is in the way and what to
/// do about it.
@Suite struct InferredMappingTests {
  /// A change from one model to another, each of them what an entity `A` has, beside an entity `B`.
  struct Change: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var before: @Sendable () throws -> ManagedObjectModel
    var after: @Sendable () throws -> ManagedObjectModel
    /// What becomes of `A`, or what is in the way.
    var expected: [String]

    init(
      _ name: String, _ before: @escaping @Sendable () throws -> ManagedObjectModel,
      _ after: @escaping @Sendable () throws -> ManagedObjectModel, _ expected: String...
    ) {
      testDescription = name
      self.before = before
      self.after = after
      self.expected = expected
    }
  }

  @Sendable private static func model(
    @EntityBuilder _ parts: () -> [EntityBuilderPart], others: () -> [Entity] = { [] }
  ) throws -> ManagedObjectModel {
    let (parts, others) = (parts(), others())
    return try ManagedObjectModel {
      Entity("A") { parts }
      Entity("B") { Attribute("b", .string) }
      for other in others { other }
    }
  }

  static let inferable: [Change] = [
    Change(
      "optional attribute added", { try model {} }, { try model { Attribute("x", .string) } },
      "transform A -> A", "add x"),
    Change(
      "attribute with a default added", { try model {} },
      { try model { Attribute("x", .string, optional: false, default: "-") } }, "transform A -> A", "add x"),
    Change(
      "required attribute added", { try model {} }, { try model { Attribute("x", .string, optional: false) } },
      "transform A -> A", "add x, needs a value"),
    Change(
      "required to-one added", { try model {} }, { try model { ToOne("x", "B", optional: false) } },
      "transform A -> A", "add x, needs a value, relationship"),
    Change(
      "attribute removed", { try model { Attribute("x", .string) } }, { try model {} }, "transform A -> A",
      "remove x"),
    Change(
      "relationship removed", { try model { ToOne("x", "B") } }, { try model {} }, "transform A -> A",
      "remove x, relationship"),
    Change(
      "made optional", { try model { Attribute("x", .string, optional: false) } },
      { try model { Attribute("x", .string) } }, "copy A -> A", "copy x -> x"),
    Change(
      "made required with a default", { try model { Attribute("x", .string) } },
      { try model { Attribute("x", .string, optional: false, default: "-") } }, "copy A -> A", "copy x -> x"),
    Change(
      "made required without one", { try model { Attribute("x", .string) } },
      { try model { Attribute("x", .string, optional: false) } }, "transform A -> A", "copy x -> x, needs a value"),
    Change(
      "attribute renamed", { try model { Attribute("x", .string) } },
      { try model { Attribute("y", .string, renamed: "x") } }, "transform A -> A", "copy x -> y"),
    Change(
      "type of number", { try model { Attribute("x", .integer16) } }, { try model { Attribute("x", .double) } },
      "transform A -> A", "transform x -> x"),
    Change(
      "attribute to relationship", { try model { Attribute("x", .string) } }, { try model { ToOne("x", "B") } },
      "transform A -> A", "remove x", "add x, relationship"),
    Change(
      "relationship to attribute", { try model { ToOne("x", "B") } }, { try model { Attribute("x", .string) } },
      "transform A -> A", "add x", "remove x, relationship"),
    Change(
      "relationship added", { try model {} }, { try model { ToMany("x", "B") } }, "transform A -> A",
      "add x, relationship"),
    Change(
      "relationship renamed", { try model { ToMany("x", "B") } }, { try model { ToMany("y", "B", renamed: "x") } },
      "transform A -> A", "copy x -> y, relationship"),
    Change(
      "to-one to to-many", { try model { ToOne("x", "B") } }, { try model { ToMany("x", "B") } },
      "transform A -> A", "transform x -> x, relationship"),
    Change(
      "unordered to ordered", { try model { ToMany("x", "B") } }, { try model { ToMany("x", "B", ordered: true) } },
      "transform A -> A", "transform x -> x, relationship"),
    Change(
      "ordered to unordered", { try model { ToMany("x", "B", ordered: true) } }, { try model { ToMany("x", "B") } },
      "transform A -> A", "transform x -> x, relationship"),
    Change(
      "delete rule", { try model { ToOne("x", "B") } }, { try model { ToOne("x", "B", deleteRule: .cascade) } },
      "copy A -> A", "copy x -> x, relationship"),
    Change(
      "composite gathered",
      {
        try model {
          Attribute("x", .string)
          Attribute("y", .integer16)
        }
      },
      {
        try model {
          Attribute("c") { Attribute("x", .string, renamed: "x") }
          Attribute("y", .integer16)
        }
      }, "transform A -> A", "copy y -> y", "add c", "move x -> c.x"),
    Change(
      "composite spread", { try model { Attribute("c") { Attribute("x", .string) } } },
      { try model { Attribute("x", .string, renamed: "c.x") } }, "transform A -> A", "move c.x -> x", "remove c"),
    Change(
      "composite extended", { try model { Attribute("c") { Attribute("x", .string) } } },
      {
        try model {
          Attribute("c") {
            Attribute("x", .string)
            Attribute("y", .string)
          }
        }
      }, "transform A -> A", "transform c -> c"),
    Change(
      "new parent", { try model { Attribute("x", .string) } },
      {
        try ManagedObjectModel {
          Entity("P") { Attribute("x", .string) }
          Entity("A", parent: "P") {}
          Entity("B") { Attribute("b", .string) }
        }
      }, "transform A -> A", "copy x -> x"),
    Change(
      "entity renamed", { try model { Attribute("x", .string) } },
      {
        try ManagedObjectModel {
          Entity("Z", renamed: "A") { Attribute("x", .string) }
          Entity("B") { Attribute("b", .string) }
        }
      }, "transform A -> Z", "copy x -> x"),
  ]

  /// One line a mapping.
  private static func lines(_ mapping: EntityMapping) -> [String] {
    let title = "\(mapping.mappingType) \(mapping.sourceEntityName ?? "") -> \(mapping.destinationEntityName ?? "")"
    let properties = mapping.inferredProperties.map { property in
      let names = [property.sourceName, property.destinationName].compactMap { $0 }.joined(separator: " -> ")
      return "\(property.mappingType) \(names)" + (property.needsValue ? ", needs a value" : "")
        + (property.isRelationship ? ", relationship" : "")
    }
    return [title] + properties
  }

  @Test(arguments: inferable) func typesAreInferred(_ change: Change) throws {
    let mapping = try MappingModel.inferred(from: change.before(), to: change.after())
    let ours = try #require(mapping.entityMappings.first { $0.sourceEntityName == "A" })
    let lines = Self.lines(ours)
    #expect(lines.first == change.expected.first)
    #expect(Set(lines) == Set(change.expected) && lines.count == change.expected.count, "\(lines)")
    // The other entity stays as it is.
    let other = try #require(mapping.entityMappings.first { $0.sourceEntityName == "B" })
    #expect(Self.lines(other) == ["copy B -> B", "copy b -> b"])
  }

  @Test func entitiesAreAddedAndRemoved() throws {
    let mapping = try MappingModel.inferred(
      from: ManagedObjectModel { Entity("A") { Attribute("x", .string) } },
      to: ManagedObjectModel { Entity("C") { Attribute("x", .string) } })
    #expect(
      mapping.entityMappings.map { Self.lines($0) } == [["add  -> C", "add x"], ["remove A -> ", "remove x"]])
  }

  static let refused: [Change] = [
    Change(
      "text to number", { try model { Attribute("x", .string) } }, { try model { Attribute("x", .integer16) } },
      "A.x", "source and destination attribute types are incompatible",
      "In a first step add an attribute of the new type"),
    Change(
      "date to text", { try model { Attribute("x", .date) } }, { try model { Attribute("x", .string) } },
      "A.x", "source and destination attribute types are incompatible", "in a second step drop the old one"),
    Change(
      "to-many to to-one", { try model { ToMany("x", "B") } }, { try model { ToOne("x", "B") } },
      "A.x", "a to-many relationship becomes to-one", "In a first step add a to-one relationship under another name"),
    Change(
      "another destination", { try model { ToMany("x", "B") } }, { try model { ToMany("x", "A") } },
      "A.x", "the relationship leads to A, and led to B", "In a first step add a relationship to A"),
    Change(
      "another name of the destination without an identifier", { try model { ToMany("x", "B") } },
      {
        try ManagedObjectModel {
          Entity("A") { ToMany("x", "C") }
          Entity("C") { Attribute("b", .string) }
        }
      }, "A.x", "the relationship leads to C, and led to B",
      "If C is B under another name, give it the renaming identifier 'B'"),
    Change(
      "hierarchies merged",
      {
        try model({}, others: { [Entity("A1", parent: "A") {}, Entity("B1", parent: "B") {}] })
      },
      {
        try ManagedObjectModel {
          Entity("Root") {}
          Entity("A", parent: "Root") {}
          Entity("B", parent: "Root") { Attribute("b", .string) }
          Entity("A1", parent: "A") {}
          Entity("B1", parent: "B") {}
        }
      }, "B: hierarchies cannot be merged", "let the application copy the objects"),
  ]

  /// What is in the way has a place, a reason, and a way around it.
  @Test(arguments: refused) func whatIsInTheWayIsTold(_ change: Change) throws {
    let error = try #require(cambiumError { _ = try MappingModel.inferred(from: change.before(), to: change.after()) })
    #expect(error.code.rawValue == 134140)
    let under = try #require(error.underlyingErrors.first as? CambiumError)
    #expect(under.code.rawValue == 134190)
    for text in change.expected { #expect(under.message.contains(text), "\(under.message)") }
  }
}

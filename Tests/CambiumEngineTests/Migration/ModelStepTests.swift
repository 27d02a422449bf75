import CambiumEngine
import Testing

/// The drops of a step from one model to another, and its renaming identifiers that name nothing.
@Suite struct ModelStepTests {
  private static func text(_ name: String, was identifier: String? = nil) -> AttributeSchema {
    var attribute = AttributeSchema(name, .string)
    attribute.renamingIdentifier = identifier
    return attribute
  }

  private static func schema(_ entities: [EntitySchema], removed: [String] = []) throws -> Schema {
    var definition = SchemaDefinition(entities)
    definition.removedEntities = removed
    return try Schema(definition)
  }

  private static func trip(_ attributes: [AttributeSchema], removed: [String] = []) throws -> Schema {
    var entity = EntitySchema("Trip", attributes: [text("title")] + attributes)
    entity.removedProperties = removed
    return try schema([entity])
  }

  private static func drops(_ from: Schema, _ to: Schema) -> [String] {
    ModelStep(from: from, to: to).drops.map { $0.name }
  }

  // MARK: Drops

  @Test func nothingIsDroppedThatGoesOn() throws {
    let from = try Self.trip([
      Self.text("notes"), AttributeSchema("start", elements: [Self.text("place"), Self.text("time")]),
    ])
    let same = try Self.trip([
      Self.text("remarks", was: "notes"), Self.text("place", was: "start.place"), Self.text("time", was: "start.time"),
    ])
    #expect(Self.drops(from, from) == [] && Self.drops(from, same) == [])
    let gathered = try Self.trip([
      AttributeSchema("start", elements: [Self.text("place"), Self.text("time"), Self.text("notes", was: "notes")])
    ])
    #expect(Self.drops(from, gathered) == [])
  }

  /// Of a composite that is spread out in part, the rest is dropped; of one that goes, the whole.
  @Test func elementsAreDropped() throws {
    let times = AttributeSchema("times", elements: [Self.text("begin"), Self.text("end")])
    let from = try Self.trip([AttributeSchema("start", elements: [Self.text("place"), times])])
    #expect(Self.drops(from, try Self.trip([])) == ["Trip.start"])
    #expect(Self.drops(from, try Self.trip([Self.text("place", was: "start.place")])) == ["Trip.start.times"])
    let inner = try Self.trip([
      AttributeSchema(
        "start",
        elements: [Self.text("place"), AttributeSchema("times", elements: [Self.text("begin")])])
    ])
    #expect(Self.drops(from, inner) == ["Trip.start.times.end"])
  }

  @Test func whatCanBeHadAgainIsNoDrop() throws {
    var derived = Self.text("upper")
    derived.derivation = "uppercase:(title)"
    var transient = Self.text("cache")
    transient.isTransient = true
    #expect(Self.drops(try Self.trip([derived, transient]), try Self.trip([])) == [])
    #expect(Self.drops(try Self.trip([Self.text("cache")]), try Self.trip([transient])) == ["Trip.cache"])
  }

  /// A migration that cannot be inferred is not made.
  @Test func whatCannotBeInferredDropsNothing() throws {
    let step = ModelStep(
      from: try Self.trip([Self.text("notes"), Self.text("date")]),
      to: try Self.trip([AttributeSchema("date", .date), Self.text("remarks", was: "note")]))
    #expect(step.drops.isEmpty && step.strayIdentifiers.isEmpty)
  }

  /// An attribute that moves to a subentity is lost by the parent's own objects, and by other subentities.
  @Test(arguments: [false, true]) func movesInAHierarchy(isAbstract: Bool) throws {
    func model(_ parent: [AttributeSchema], _ car: [AttributeSchema], _ bus: [AttributeSchema]) throws -> Schema {
      try Self.schema([
        EntitySchema("Vehicle", abstract: isAbstract, attributes: [Self.text("name")] + parent),
        EntitySchema("Car", parent: "Vehicle", attributes: car),
        EntitySchema("Bus", parent: "Vehicle", attributes: bus),
      ])
    }
    let from = try model([Self.text("color")], [], [])
    let toOne = try model([], [Self.text("color")], [])
    #expect(Self.drops(from, toOne) == [isAbstract ? "Bus.color" : "Vehicle.color"])
    let toAll = try model([], [Self.text("color")], [Self.text("color")])
    #expect(Self.drops(from, toAll) == (isAbstract ? [] : ["Vehicle.color"]))
    #expect(Self.drops(toAll, from) == [])
    #expect(Self.drops(from, try model([], [], [])) == ["Vehicle.color"])
  }

  @Test func namesOfDrops() throws {
    let from = try Self.schema([
      EntitySchema(
        "Trip",
        attributes: [
          Self.text("remarks", was: "notes"),
          AttributeSchema(
            "start",
            elements: [
              Self.text("latitude"), Self.text("height", was: "altitude"),
            ]),
        ]),
      EntitySchema("Hotel"),
    ])
    func named(_ removed: [String], _ entities: [String] = []) throws -> [String] {
      var trip = EntitySchema("Trip", attributes: [AttributeSchema("start", elements: [Self.text("latitude")])])
      trip.removedProperties = removed
      return ModelStep(from: from, to: try Self.schema([trip], removed: entities)).drops.filter { $0.isNamed }.map {
        $0.name
      }
    }
    #expect(try named([]) == [])
    #expect(try named(["remarks"]) == ["Trip.remarks"] && named(["notes"]) == ["Trip.remarks"])
    #expect(try named(["start.height", "start.altitude"]) == ["Trip.start.height"])
    #expect(try named(["height", "Hotel"]) == [])
    #expect(try named([], ["Hotel", "Trip.remarks"]) == ["Hotel"])
  }

  @Test func linesAreSwift() throws {
    let drops = ModelStep(from: try Self.trip([Self.text("no\"tes")]), to: try Self.trip([])).drops
    #expect(ModelDrop.lines(drops) == [#"in Entity("Trip"): Removed("no\"tes")"#])
  }

  // MARK: Renaming identifiers

  private static func strays(_ from: Schema, _ to: Schema, known: [Schema] = []) -> [String] {
    ModelStep(from: from, to: to, known: known).strayIdentifiers.map {
      ($0.property ?? $0.entity) + " " + $0.identifier
    }
  }

  @Test func identifiersThatNameNothing() throws {
    let from = try Self.trip([
      Self.text("hours"), AttributeSchema("start", elements: [Self.text("place"), Self.text("time")]),
    ])
    let start = AttributeSchema("start", elements: [Self.text("place"), Self.text("time")])
    #expect(Self.strays(from, try Self.trip([start, Self.text("span", was: "hour")])) == ["span hour"])
    // An identifier that is the property's own name is none.
    #expect(Self.strays(from, try Self.trip([start, Self.text("span", was: "span")])) == [])
    // Without a loss, or with one that is named, a property is just new.
    #expect(Self.strays(from, try Self.trip([start, Self.text("hours"), Self.text("span", was: "hour")])) == [])
    #expect(Self.strays(from, try Self.trip([start, Self.text("span", was: "hour")], removed: ["hours"])) == [])
    // Paths and elements.
    let inner = AttributeSchema("start", elements: [Self.text("place"), Self.text("clock", was: "tim")])
    #expect(Self.strays(from, try Self.trip([Self.text("hours"), inner])) == ["start.clock tim"])
    let flat = [Self.text("hours"), Self.text("place", was: "start.place"), Self.text("clock", was: "start.tim")]
    #expect(Self.strays(from, try Self.trip(flat)) == ["clock start.tim"])
  }

  /// A model that the application knows may have the name, also if its own identifiers are mistaken.
  @Test func knownModelsHaveNames() throws {
    let (from, to) = (try Self.trip([Self.text("hours")]), try Self.trip([Self.text("span", was: "minutes")]))
    #expect(Self.strays(from, to, known: [from, to]) == ["span minutes"])
    #expect(Self.strays(from, to, known: [try Self.trip([Self.text("minutes")])]) == [])
    let other = try Self.schema([EntitySchema("Hotel", attributes: [Self.text("minutes")])])
    #expect(Self.strays(from, to, known: [other]) == ["span minutes"])
  }

  @Test func findings() throws {
    func findings(_ from: Schema, _ to: Schema) -> [String] {
      ModelStep(from: from, to: to).findings.map { "\($0.rule) \($0.place)" }
    }
    // The property `remarks` is looked for as `notes`.
    let from = try Self.trip([Self.text("remarks", was: "notes")])
    #expect(
      findings(from, try Self.trip([Self.text("comment", was: "remarks")])) == ["identifier-of-renamed Trip.comment"])
    #expect(findings(from, try Self.trip([Self.text("comment", was: "notes")])) == [])
    // A flat attribute does not move by its name alone.
    let flat = try Self.trip([Self.text("place")])
    func gathered(_ identifier: String?) throws -> Schema {
      try Self.trip([AttributeSchema("start", elements: [Self.text("place", was: identifier)])])
    }
    #expect(findings(flat, try gathered(nil)) == ["move-without-identifier Trip.start.place"])
    #expect(findings(flat, try gathered("place")) == [])
  }
}

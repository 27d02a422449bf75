import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// What is said of names that are not there, and of models that work and are probably not meant.
@Suite struct MistakenNamesTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Colors") { Attribute("primary", .string) }
      Entity("Boat") {
        Attribute("sail", .string)
        Attribute("length", .double)
        Attribute("colors", composite: "Colors")
        ToOne("harbour", "Harbour", inverse: "boats")
      }
      Entity("Harbour") {
        Attribute("name", .string)
        ToMany("boats", "Boat", inverse: "harbour")
      }
    }
  }

  @Test func errorsTellWhatThereIs() throws {
    let context = try memoryContainer(try model()).viewContext
    func refusal(_ code: CambiumError.Code, _ body: () throws -> Void) -> String {
      do {
        try body()
        return "nothing thrown"
      } catch let error as CambiumError {
        #expect(error.code == code, "\(error)")
        return error.message
      } catch { return "\(error)" }
    }
    let properties = "Boat has sail, length, colors, harbour"
    let boats = "; did you mean 'sail'? " + properties
    let boat = try context.make("Boat", [:])
    #expect(
      refusal(.unknownKey) { try boat.set("x", forKey: "sial") } == "entity 'Boat' has no property 'sial'" + boats)
    func fetch(_ format: String, _ body: (FetchRequest<ManagedObject>) -> Void = { _ in }) throws {
      let request = FetchRequest<ManagedObject>(entityName: "Boat")
      request.predicate = try FetchPredicate(format: format)
      body(request)
      _ = try context.fetch(request)
    }
    #expect(refusal(.invalidPredicate) { try fetch("sial == 'x'") }.hasSuffix("'Boat' has no property 'sial'" + boats))
    #expect(
      refusal(.invalidPredicate) { try fetch("harbour.nam == 'x'") }.hasSuffix(
        "; did you mean 'name'? Harbour has name, boats"))
    #expect(
      refusal(.invalidPredicate) { try fetch("colors.primry == 'x'") }.hasSuffix(
        "; did you mean 'primary'? colors has primary"))
    #expect(
      refusal(.invalidPredicate) { try fetch("SUBQUERY(harbour.boats, $b, $b.sial == 'x').@count > 0") }.hasSuffix(
        boats))
    #expect(
      refusal(.unknownKey) { try fetch("TRUEPREDICATE") { $0.relationshipKeyPathsForPrefetching = ["habour"] } }
        .hasSuffix("'Boat' has no property 'habour'; did you mean 'harbour'? " + properties))
    #expect(
      refusal(.unknownKey) {
        _ = try context.execute(BatchInsertRequest(entityName: "Boat", objects: [["sial": "x"]]))
      }.hasSuffix("'Boat' has no property 'sial'" + boats))
    #expect(
      refusal(.invalidArgument) { _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Boot")) }
        == "no store of this context holds an entity 'Boot'; there are Boat, Harbour")
    let elsewhere = FetchRequest<ManagedObject>(entityName: "Boat")
    elsewhere.affectedStores = []
    #expect(
      refusal(.invalidArgument) { _ = try context.fetch(elsewhere) }
        == "no store in affectedStores holds an entity 'Boat'; name stores in affectedStores, or none")
    let empty = PersistentContainer(name: "Empty", managedObjectModel: try self.model()).newBackgroundContext()
    #expect(
      refusal(.invalidArgument) { _ = try empty.fetch(FetchRequest<ManagedObject>(entityName: "Boat")) }
        == "no store of this context holds an entity 'Boat'; load the stores first")
  }

  /// Whatever a name is made of, it is refused with what there is, and nothing traps.
  @Test(arguments: ["", ".", "..", "colors.", ".sail", "colors..primary", "e\u{301}\u{0}", "\u{1F6A2}.x", "sail.x.y"])
  func oddNamesAreRefused(name: String) throws {
    let context = try memoryContainer(try model()).viewContext
    let boat = try context.make("Boat", [:])
    #expect(throws: CambiumError.self) { try boat.set("x", forKey: name) }
    #expect(boat.value(forKey: name) == nil)
    let schema = try model().schema()
    let entity = try #require(schema.entity(named: "Boat"))
    let told = schema.alternatives(along: name, from: entity.id)
    #expect(told.isEmpty || told.hasPrefix("; Boat has ") || told == "; colors has primary", "\(told)")
  }

  @Test func largeEntitiesAreNotListedAsAWhole() throws {
    let wide = EntityDescription("Wide")
    wide.properties = (0..<45).map { AttributeDescription("a\($0)", .string) }
    let model = ManagedObjectModel(entities: [wide])
    let info = try #require(try model.schema().entity(named: "Wide"))
    #expect(info.alternatives(to: "width").hasPrefix("; Wide has a0, a1, "))
    // The name that was probably meant is told although it is not among those that are listed.
    let told = info.alternatives(to: "a440")
    #expect(told.hasPrefix("; did you mean 'a40'? Wide has a0, ") && told.hasSuffix("a39, and 5 more"))
  }

  @Test func codesSayTheirNames() throws {
    #expect("\(CambiumError.Code.managedObjectMerge)" == "managedObjectMerge (133020)")
    #expect("\(CambiumError.Code(rawValue: 42))" == "42")
    #expect("\(CambiumError(.unknownKey, "no"))" == "unknownKey (2): no")
    // Each constant is among the names: those of the source, since nothing else lists them.
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Sources/Cambium/Errors/CambiumError+Code.swift")
    let constants = try String(contentsOf: sources, encoding: .utf8).matches(
      of: #/public static let (\w+) = Code\(rawValue: (\d+)\)/#)
    #expect(constants.count > 50)
    for constant in constants {
      let number = try #require(Int(constant.2))
      #expect("\(CambiumError.Code(rawValue: number))" == "\(constant.1) (\(number))")
    }
  }

  @Test func findingsOfAModelInCode() throws {
    #expect(try model().findings() == [])
    let model = try ManagedObjectModel {
      Entity("Boat") {
        Attribute("length", .double, minimum: 9, maximum: 3)
        Fetched("longer", "Boat", where: "lenght > $FETCH_SOURCE.length")
      }
      .with { $0.managedObjectClassName = "App.Thing" }
      Entity("Raft") { Attribute("logs", .integer16) }.with { $0.managedObjectClassName = "App.Thing" }
      RequestTemplate("Small", "Raft", where: "log < $MOST")
    }
    let findings = try model.findings()
    #expect(
      findings.map { "\($0.rule) \($0.place)" } == [
        "limits Boat.length", "shared-class Raft", "template Small", "template Boat.longer",
      ])
    #expect(
      findings.last?.text.hasSuffix("'Boat' has no property 'lenght'; did you mean 'length'? Boat has length") == true)
    #expect(findings.first?.description.hasSuffix("exchange them [limits]") == true)
    // The model is not in use for it.
    model.entitiesByName["Boat"]?.attributesByName["length"]?.minimumValue = 1.0
    #expect(try model.findings().contains { $0.rule == "limits" } == false)
    let broken = ManagedObjectModel(entities: [EntityDescription("")])
    #expect(throws: CambiumError.self) { try broken.findings() }
  }

  @ManagedPaths final class Liner: ManagedObject {
    @Managed var name: Int
    @Managed var nope: String?
    @Managed("built") var year: Date?
    @Managed var decks: [Deck]
    @Managed var deck: Set<Deck>
    @Managed var length: Double
    @Managed var flag: String?
  }
  final class Deck: ManagedObject {}

  @Test func whatAClassDeclaresIsLookedForInItsEntity() throws {
    let model = try ManagedObjectModel {
      Entity("Liner", class: Liner.self) {
        Attribute("name", .string)
        Attribute("built", .date)
        Attribute("length", .integer32)
        ToMany("decks", "Deck")
        ToOne("deck", "Deck")
        ToOne("flag", "Deck")
      }
      Entity("Deck", class: Deck.self) { Attribute("number", .integer16) }
    }
    #expect(
      try model.findings().filter { $0.rule == "class-property" }.map { "\($0.place): \($0.text)" } == [
        "Liner.deck: the class declares it as Set<Deck>, and the relationship is to one",
        "Liner.flag: the class declares it as String, and it is a relationship",
        "Liner.name: the class declares it as Int, and the attribute is of type String",
        "Liner.nope: the class declares it, and the entity has no such property",
      ])
  }

  @Test func whatIsSortedByNullsAndConflictsSayWhatToDo() throws {
    let container = try memoryContainer()
    let context = container.newBackgroundContext()
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    request.sortDescriptors = [FetchSortDescriptor(key: "logEntries.@count")]
    #expect(
      cambiumError { _ = try context.fetch(request) }?.message
        == "'logEntries.@count' cannot be sorted by: an attribute that is derived from it can")
    // A name may have one in it.
    let sending = try memoryContainer(ManagedObjectModel { Entity("Letter") { Attribute("e@mail", .string) } })
    let letters = FetchRequest<ManagedObject>(entityName: "Letter")
    letters.sortDescriptors = [FetchSortDescriptor(key: "e@mail")]
    #expect(try sending.viewContext.fetch(letters) == [])
    #expect(
      cambiumError { _ = try FetchPredicate(format: "tailNumber == %@", argumentArray: [NSNull()]) }?.message.hasSuffix(
        "a NSNull, which no attribute holds; no value is nil") == true)
    #expect(
      cambiumError { _ = try FetchPredicate(format: "tailNumber == %@", argumentArray: ["a", "b"]) }?.message.contains(
        "2 arguments were given, but the text has 1 mark for them") == true)

    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let nowhere = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)/copy.cambium")
    #expect(
      cambiumError { try store.backup(to: nowhere) }?.message
        == "'\(nowhere.path)' cannot be made, since the folder '\(nowhere.deletingLastPathComponent().path)' does not exist; make it first"
    )

    let aircraft = try context.make("Aircraft", ["tailNumber": "N1"])
    try context.save()
    let other = container.newBackgroundContext()
    try #require(try other.all("Aircraft").first).set("N2", forKey: "tailNumber")
    try aircraft.set("N3", forKey: "tailNumber")
    try other.save()
    let conflict = try #require(cambiumError { try context.save() }?.conflicts.first)
    #expect(
      "\(conflict)"
        == "\(aircraft.objectID): version \(conflict.oldVersionNumber) here, \(conflict.newVersionNumber) there; "
        + "tailNumber: N1 -> N3 here, N2 there")

    try other.make("Airport", ["faaIdentifier": "A2"])
    try other.save()
    let batch = BatchInsertRequest(entityName: "Airport", objects: [["faaIdentifier": "A9"], ["faaIdentifier": "A2"]])
    let refused = cambiumError { _ = try context.execute(batch) }
    #expect(refused?.message.hasPrefix("object 2 of the batch has the unique values of ") == true)
    #expect(refused?.message.contains("(faaIdentifier: A2)") == true)
  }
}

import Cambium
import CambiumTesting
import Foundation
import Testing

/// Primitive values, and accessors that are written by hand as for Core Data.
@Suite struct PrimitiveValueTests {
  final class Flight: ManagedObject {
    @Managed var number: String?
    @Managed var primitiveNumber: String?
    @Managed var primitiveMinutes: Int
    @Managed var primitiveCrew: ManagedObject?
    var changes = 0

    override func awakeFromInsert() { setPrimitiveValue("new", forKey: "number") }

    /// Core Data's way of keeping what takes time to find out.
    var title: String {
      willAccessValue(forKey: "keptTitle")
      defer { didAccessValue(forKey: "keptTitle") }
      if let known = primitiveValue(forKey: "keptTitle") as? String { return known }
      let made = "Flight \(number ?? "")"
      setPrimitiveValue(made, forKey: "keptTitle")
      return made
    }

    /// And of doing something when a value is set.
    var minutes: Int {
      get {
        willAccessValue(forKey: "minutes")
        defer { didAccessValue(forKey: "minutes") }
        return primitiveMinutes
      }
      set {
        willChangeValue(forKey: "minutes")
        primitiveMinutes = newValue
        didChangeValue(forKey: "minutes")
        changes += 1
        setPrimitiveValue(nil, forKey: "keptTitle")
      }
    }
  }

  private func container() throws -> PersistentContainer {
    try memoryContainer(
      ManagedObjectModel {
        Entity("Flight", class: Flight.self) {
          Attribute("number", .string)
          Attribute("minutes", .integer64)
          Attribute("keptTitle", .string, transient: true)
          Attribute("primitiveNote", .string)
          Attribute("note", .string)
          ToOne("crew", "Crew", inverse: "flights")
        }
        Entity("Crew") { ToMany("flights", "Flight", inverse: "crew") }
      })
  }

  @Test func primitivesAreValues() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let flight = Flight(context: context)
    #expect(flight.number == "new" && flight.primitiveNumber == "new")
    flight.primitiveNumber = "UA 1"
    #expect(flight.value(forKey: "number") as? String == "UA 1")
    #expect(flight.primitiveValue(forKey: "number") as? String == "UA 1")
    #expect(flight.value(forKey: "primitiveNumber") as? String == "UA 1")
    try context.save()
    // Of a fault as well.
    let other = container.newBackgroundContext()
    let found = try #require(try other.existingObject(with: flight.objectID) as? Flight)
    other.refresh(found, mergeChanges: false)
    #expect(found.isFault && found.primitiveNumber == "UA 1" && !found.isFault)
    // What is stored and was set is saved, whatever was said of it.
    found.setPrimitiveValue(90, forKey: "minutes")
    #expect(other.hasChanges && found.changedValues()["minutes"] as? Int == 90)
    try other.save()
    context.refreshAllObjects()
    #expect(flight.minutes == 90)
  }

  @Test func accessorsByHand() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    context.undoManager = ContextUndoManager()
    let flight = Flight(context: context)
    flight.number = "UA 1"
    try context.save()
    #expect(flight.title == "Flight UA 1" && !context.hasChanges)
    flight.number = "UA 2"
    #expect(flight.title == "Flight UA 1")
    flight.minutes = 80
    #expect(flight.title == "Flight UA 2" && flight.changes == 1)
    #expect(flight.changedValuesForCurrentEvent()["minutes"] != nil)
    context.processPendingChanges()
    try context.save()
    flight.minutes = 81
    context.processPendingChanges()
    context.undo()
    #expect(flight.minutes == 80)
    // A primitive value by itself is neither told nor undone.
    flight.setPrimitiveValue(99, forKey: "minutes")
    #expect(flight.changedValuesForCurrentEvent().isEmpty)
    try context.save()
    let other = container.newBackgroundContext()
    #expect(other.object(with: flight.objectID).value(forKey: "minutes") as? Int == 99)
  }

  @Test func rollbackTakesThemBack() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let flight = Flight(context: context)
    try context.save()
    flight.setPrimitiveValue("other", forKey: "number")
    context.rollback()
    #expect(flight.number == "new" && !context.hasChanges)
  }

  /// Names with letters of all kinds, in either normal form; what has no capital letter has no such key.
  @Test func namesOfPrimitivesInUnicode() throws {
    let names = ["\u{E9}tat", "\u{3B1}\u{3B2}", "\u{1C6}ep", "stra\u{DF}e", "\u{540D}\u{524D}", "i\u{307}x"]
    let model = try ManagedObjectModel {
      Entity("Thing") { for name in names { Attribute(name, .string) } }
    }
    let context = try memoryContainer(model).newBackgroundContext()
    let thing = try context.make("Thing", [:])
    for name in names {
      let key = "primitive" + name.prefix(1).uppercased() + name.dropFirst()
      if name == "\u{540D}\u{524D}" {
        #expect(cambiumError { try thing.set("x", forKey: key) }?.code == .unknownKey)
        continue
      }
      try thing.set(name, forKey: key)
      #expect(thing.value(forKey: name) as? String == name, "\(key)")
    }
    try thing.set("x", forKey: "primitiveE\u{301}tat")
    #expect(thing.value(forKey: "e\u{301}tat") as? String == "x")
  }

  @Test func relationshipsKeepBothSides() throws {
    let context = try container().newBackgroundContext()
    let flight = Flight(context: context)
    let crew = try context.make("Crew", [:])
    flight.setPrimitiveValue(crew, forKey: "crew")
    #expect(crew.value(forKey: "flights") as? Set<ManagedObject> == [flight])
    #expect(flight.primitiveValue(forKey: "crew") as? ManagedObject === crew && flight.primitiveCrew === crew)
    flight.primitiveCrew = nil
    #expect(crew.value(forKey: "flights") as? Set<ManagedObject> == [] && context.recordedErrors.isEmpty)
  }

  @Test func valuesOfAKeyAreValidated() throws {
    let model = try ManagedObjectModel {
      Entity("Team") {
        Attribute("name", .string, optional: false)
        Attribute("any", .undefined, transient: true)
        ToMany("members", "Member", inverse: "team", minimum: 2, maximum: 3)
        ToOne("home", "Field", inverse: "team", optional: false)
      }
      Entity("Member") { ToOne("team", "Team", inverse: "members") }
      Entity("Field") { ToOne("team", "Team", inverse: "home") }
    }
    let context = try memoryContainer(model).newBackgroundContext()
    let team = try context.make("Team", [:])
    let members = try (0..<4).map { _ in try context.make("Member", [:]) }
    let field = try context.make("Field", [:])
    func code(_ value: Any?, _ key: String) -> CambiumError.Code? {
      cambiumError { try team.validateValue(value, forKey: key) }?.code
    }
    #expect(code("a", "name") == nil && code(nil, "name") == .validationMissingMandatoryProperty)
    #expect(code(1, "name") == .invalidArgument && code(1, "nothing") == .unknownKey)
    #expect(code(context, "any") == nil)
    #expect(code(Set(members[..<2]), "members") == nil && code(Array(members[..<3]), "members") == nil)
    #expect(code(Array(members[..<1]), "members") == .validationRelationshipLacksMinimumCount)
    #expect(code(members, "members") == .validationRelationshipExceedsMaximumCount)
    #expect(code(field, "members") == .invalidArgument && code("a", "home") == .invalidArgument)
    #expect(code(Set([field]), "members") == .invalidArgument && code(members[0], "home") == .invalidArgument)
    let elsewhere = try memoryContainer(model).newBackgroundContext()
    #expect(code(try elsewhere.make("Field", [:]), "home") == .invalidArgument)
    #expect(code(field, "home") == nil && code(nil, "home") == .validationMissingMandatoryProperty)
    #expect(team.value(forKey: "name") == nil && context.recordedErrors.isEmpty)
  }

  @Test func whatIsWrongIsNoted() throws {
    let context = try container().newBackgroundContext()
    let flight = Flight(context: context)
    #expect(flight.primitiveValue(forKey: "nothing") == nil)
    #expect(context.recordedErrors.last?.code == .unknownKey)
    flight.setPrimitiveValue(1, forKey: "nothing")
    flight.setPrimitiveValue("x", forKey: "minutes")
    #expect(flight.minutes == 0)
    #expect(cambiumError { try context.save() } != nil)
    // A property that is called so is meant itself.
    flight.setValue("a", forKey: "primitiveNote")
    #expect(flight.value(forKey: "note") == nil)
    #expect(flight.value(forKey: "primitiveNote") as? String == "a")
    // Neither the one nor the other.
    #expect(cambiumError { _ = try flight.get("primitivenumber") }?.code == .unknownKey)
    #expect(cambiumError { _ = try flight.get("primitive") }?.code == .unknownKey)
    #expect(cambiumError { try flight.set(1, forKey: "primitiveNothing") }?.code == .unknownKey)
    flight.willChangeValue(forKey: "nothing")
    flight.didChangeValue(forKey: "nothing")
    // Without a context.
    let entity = flight.entity
    let alone = Flight(entity: entity, insertInto: nil)
    alone.willAccessValue(forKey: "number")
    alone.willChangeValue(forKey: "number")
    #expect(alone.primitiveValue(forKey: "number") == nil)
  }
}

import Cambium
import CambiumTesting
import Foundation
import Testing

/// Batch insert requests whose objects a handler fills in.
@Suite struct BatchObjectTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  final class Team: ManagedObject {
    @Managed var title: String?
  }

  struct Home: CompositeRepresentable {
    var street: String?
    var number: Int?

    init(street: String?, number: Int?) { (self.street, self.number) = (street, number) }

    init?(compositeValues values: [String: Any]) {
      self.init(street: values["street"] as? String, number: values["number"] as? Int)
    }

    var compositeValues: [String: Any] { ["street": street as Any, "number": number as Any] }
  }

  final class Person: ManagedObject {
    @Managed(default: "") var name: String
    @Managed var age: Int
    @Managed var home: Home?
    @Managed var team: Team?
    @Managed var note: String?
  }

  private func context(unique: Bool = false, derived: Bool = false) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Person", class: Person.self) {
        Attribute("serial", .integer64)
        Attribute("name", .string, default: "nobody")
        Attribute("age", .integer16, optional: false, default: 7)
        Attribute("home") {
          Attribute("street", .string)
          Attribute("number", .integer16)
        }
        Attribute("note", .string, transient: true)
        Attribute("editor", .objectID)
        ToOne("team", "Team", inverse: "members")
        ToOne("captainOf", "Team", inverse: "captain")
        ToMany("friends", "Person", inverse: "friendOf")
        ToMany("friendOf", "Person", inverse: "friends")
        Index("byAge", "age")
        if unique { Unique("serial") }
      }
      Entity("Team", class: Team.self) {
        Attribute("title", .string)
        if derived { Attribute("size", .integer64, derived: "members.@count") }
        ToMany("members", "Person", inverse: "team")
        ToOne("captain", "Person", inverse: "captainOf")
      }
    }
    return try directory.container("objects", model: model) { $0.tracksHistory = true }.viewContext
  }

  /// As many people as are enough for several threads to encode them.
  @Test(arguments: [3, 5000], [false, true])
  func insertsWhatTheHandlerSets(count: Int, derived: Bool) throws {
    let context = try context(derived: derived)
    let team = Team(context: context)
    team.title = "A"
    try context.save()
    var next = 0
    var request = BatchInsertRequest(entityName: "Person") { (person: Person) in
      if next == count { return true }
      #expect(person.managedObjectContext == nil && person.name == "nobody" && person.age == 7 && person.team == nil)
      person.setValue(next, forKey: "serial")
      if next % 2 == 0 { person.age = next % 100 }
      person.home = Home(street: "Main \(next)", number: next % 1000)
      if next % 3 == 0 { person.team = team }
      person.note = "not kept"
      next += 1
      return false
    }
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.objectIDs.count == count)
    let all = FetchRequest<Person>(entityName: "Person")
    all.sortDescriptors = [FetchSortDescriptor(key: "serial")]
    let found = try context.fetch(all)
    #expect(found.map { $0.objectID } == result.objectIDs)
    for (number, person) in found.enumerated() {
      #expect(person.name == "nobody" && person.age == (number % 2 == 0 ? number % 100 : 7) && person.note == nil)
      #expect(person.home?.street == "Main \(number)" && person.home?.number == number % 1000)
      #expect((person.team === team) == (number % 3 == 0))
    }
    #expect(try context.all("Person", "age == 0").count == (0..<count).count { $0 % 100 == 0 })
    context.refreshAllObjects()
    let members = (count + 2) / 3
    #expect((team.value(forKey: "members") as? Set<ManagedObject>)?.count == members)
    if derived {
      #expect(team.value(forKey: "size") as? Int64 ?? Int64(team.value(forKey: "size") as? Int ?? -1) == Int64(members))
    }
    let told = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?))
    #expect(told.transactions.last?.changes?.filter { $0.changeType == .insert }.count == count)
  }

  @Test func isLikeObjectsOfAContext() throws {
    let context = try context()
    var left = ["Ana", "Bob"]
    try context.execute(
      BatchInsertRequest(entityName: "Person") { (object: ManagedObject) in
        guard let name = left.popLast() else { return true }
        object.setValue(name, forKey: "name")
        object.setValue(["street": "Main"], forKey: "home")
        object.setValue(9, forKeyPath: "home.number")
        object.setPrimitiveValue(name.count, forKey: "age")
        return false
      })
    let people = try context.all("Person", nil, sort: [FetchSortDescriptor(key: "name")])
    #expect(people.map { $0.value(forKey: "name") as? String } == ["Ana", "Bob"])
    #expect(people.allSatisfy { $0.value(forKeyPath: "home.number") as? Int == 9 })
    #expect(people.allSatisfy { $0.value(forKeyPath: "home.street") as? String == "Main" })
    #expect(people.allSatisfy { $0.value(forKey: "age") as? Int == 3 })
  }

  @Test func changesObjectsWithTheSameUniqueValues() throws {
    let context = try context(unique: true)
    let team = Team(context: context)
    let old = try context.make("Person", ["serial": 1, "name": "old", "age": 50, "team": team])
    old.setValue(["street": "Old"], forKey: "home")
    try context.save()
    func request() -> BatchInsertRequest {
      var serials = [1, 2][...]
      return BatchInsertRequest(entityName: "Person") { (person: Person) in
        guard let serial = serials.popFirst() else { return true }
        person.setValue(serial, forKey: "serial")
        person.name = "new"
        return false
      }
    }
    let error = cambiumError { try context.execute(request()) }
    #expect(error?.code == .managedObjectConstraintMerge && error?.message.contains("serial: 1") == true)
    #expect(try context.all("Person", nil).count == 1)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.execute(request())
    context.refreshAllObjects()
    // An object gives the values that it has, defaults as well. The stored one keeps its others.
    #expect(old.value(forKeyPath: "home.street") as? String == "Old")
    #expect(old.value(forKey: "name") as? String == "new" && old.value(forKey: "age") as? Int == 7)
    #expect(old.value(forKey: "team") as? Team === team)
    #expect(try context.all("Person", nil).count == 2)
  }

  struct Stop: Error {}

  @Test func refusesAsAWhole() throws {
    let context = try context()
    let unsaved = Team(context: context)
    func fails(_ code: CambiumError.Code, _ name: String?, _ change: @escaping (Person) throws -> Void) throws {
      var calls = 0
      let error = cambiumError {
        try context.execute(
          BatchInsertRequest(entityName: "Person") { (person: Person) in
            calls += 1
            if calls == 2 { try change(person) }
            return calls > 3
          })
      }
      #expect(error?.code == code && (name == nil || error?.key == name), "\(String(describing: error))")
      #expect(error?.message.hasPrefix("object 2 of the batch: ") == true)
      #expect(try context.all("Person", nil).isEmpty)
    }
    try fails(.unknownKey, "colour") { $0.setValue(1, forKey: "colour") }
    try fails(.invalidArgument, "age") { $0.age = 70_000 }
    try fails(.invalidArgument, "team") { $0.team = unsaved }
    try fails(.invalidArgument, "team") { $0.setValue(5, forKey: "team") }
    try fails(.invalidArgument, "captainOf") { $0.setValue(unsaved, forKey: "captainOf") }
    try fails(.invalidArgument, "friends") { $0.setValue(Set([$0]), forKey: "friends") }
    try fails(.invalidArgument, "friends") { $0.setValue(Set<ManagedObject>(), forKey: "friends") }
    try fails(.managedObjectReferentialIntegrity, nil) { $0.setValue(unsaved.objectID, forKey: "editor") }
    try context.save()
    let saved = try #require(context.all("Team", nil).first)
    try fails(.invalidArgument, "captainOf") { $0.setValue(saved, forKey: "captainOf") }
    let person = Person(context: context)
    try context.save()
    let other = person.objectID
    context.delete(person)
    try context.save()
    try fails(.invalidArgument, "team") { $0.setValue(context.object(with: other), forKey: "team") }
    #expect(throws: Stop.self) {
      try context.execute(BatchInsertRequest(entityName: "Person") { (_: Person) in throw Stop() })
    }
    #expect(throws: Stop.self) {
      try context.execute(BatchInsertRequest(entityName: "Person", dictionaryHandler: { _ in throw Stop() }))
    }
    let mistaken = cambiumError {
      try context.execute(BatchInsertRequest(entityName: "Person") { (_: Team) in true })
    }
    #expect(mistaken?.code == .invalidArgument)
    #expect(try context.all("Person", nil).isEmpty)
  }

  /// An initializer of the application's that sets a property.
  final class Wide: ManagedObject {
    required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
      super.init(entity: entity, insertInto: context)
      setValue(5, forKey: "a39")
    }
  }

  /// More attributes than lie in an overlay, an initializer that sets one, and rows too large for the runs that threads
  /// encode.
  @Test(arguments: [20, 2100]) func wideAndLargeObjects(count: Int) throws {
    let model = try ManagedObjectModel {
      Entity("Wide", class: Wide.self) {
        for number in 0..<40 { Attribute("a\(number)", .integer32, default: number) }
        Attribute("photo", .binary)
        ToOne("next", "Wide", inverse: "previous")
        ToMany("previous", "Wide", inverse: "next")
      }
      Entity("Narrow", parent: "Wide") { Attribute("extra", .string) }
    }
    let context = try directory.container("wide", model: model).viewContext
    let first = try context.make("Narrow", [:])
    try context.save()
    let photo = Data(repeating: 7, count: 20_000)
    var number = 0
    try context.execute(
      BatchInsertRequest(entityName: "Wide") { (object: ManagedObject) in
        if number == count { return true }
        object.setValue(number, forKey: "a38")
        if number % 2 == 0 { object.setValue(photo, forKey: "photo") }
        object.setValue(first, forKey: "next")
        if number % 5 == 0 { object.setValue(nil, forKey: "next") }
        number += 1
        return false
      })
    let request = FetchRequest<ManagedObject>(entityName: "Wide")
    request.includesSubentities = false
    request.sortDescriptors = [FetchSortDescriptor(key: "a38")]
    let found = try context.fetch(request)
    #expect(found.count == count)
    for (number, object) in found.enumerated() {
      #expect(object.value(forKey: "a38") as? Int == number && object.value(forKey: "a39") as? Int == 5)
      #expect(object.value(forKey: "a7") as? Int == 7)
      #expect((object.value(forKey: "photo") as? Data) == (number % 2 == 0 ? photo : nil))
      #expect((object.value(forKey: "next") as? ManagedObject === first) == (number % 5 != 0))
    }
  }

  /// An initializer that inserts its object wherever the caller wants it.
  final class Selfish: ManagedObject {
    nonisolated(unsafe) static var context: ManagedObjectContext?

    required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
      super.init(entity: entity, insertInto: context ?? Self.context)
    }
  }

  @Test func anInitializerThatInsertsIsRefused() throws {
    let model = try ManagedObjectModel { Entity("Selfish", class: Selfish.self) { Attribute("name", .string) } }
    let context = try directory.container("selfish", model: model).viewContext
    Selfish.context = context
    defer { Selfish.context = nil }
    let error = cambiumError {
      try context.execute(BatchInsertRequest(entityName: "Selfish") { (_: Selfish) in false })
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test func aReadOnlyStoreIsRefusedBeforeTheHandlerIsCalled() throws {
    _ = try context()
    let model = try #require(try self.context().persistentStoreCoordinator.managedObjectModel as ManagedObjectModel?)
    let context = try directory.container("objects", model: model) { $0.isReadOnly = true }.viewContext
    var calls = 0
    let error = cambiumError {
      try context.execute(
        BatchInsertRequest(entityName: "Person") { (_: ManagedObject) in
          calls += 1
          return true
        })
    }
    #expect(error?.code == .fileWriteNoPermission && calls == 0)
  }

  /// Nothing reads what an application does to an object that it keeps.
  @Test func anObjectThatIsKeptIsOfNoUse() throws {
    let context = try context()
    var kept: [Person] = []
    try context.execute(
      BatchInsertRequest(entityName: "Person") { (person: Person) in
        kept.append(person)
        person.name = "Ana"
        return kept.count > 1
      })
    #expect(kept.count == 2 && kept[0] !== kept[1])
    kept[0].name = "Bob"
    kept[0].setValue("x", forKey: "colour")
    context.insert(kept[0])
    try context.save()
    #expect(try context.all("Person", nil).map { $0.value(forKey: "name") as? String } == ["Ana"])
  }
}

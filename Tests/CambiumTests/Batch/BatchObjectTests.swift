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
    #expect(told.transactions.last?.changes.count { $0.changeType == .insert } == count)
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
    #expect(error?.code == .managedObjectConstraintMerge && "\(try #require(error))".contains("serial: 1"))
    #expect(try context.all("Person", nil).count == 1)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.execute(request())
    context.refreshAllObjects()
    // An object gives all of its attributes, and the relationships that the handler set.
    #expect(old.value(forKey: "name") as? String == "new" && old.value(forKey: "age") as? Int == 7)
    #expect(old.value(forKey: "team") as? Team === team)
    #expect(try context.all("Person", nil).count == 2)
  }

  struct Stop: Error {}

  @Test func refusesAsAWhole() throws {
    let context = try context()
    let unsaved = Team(context: context)
    func fails(_ code: CambiumError.Code, _ name: String, _ change: @escaping (Person) throws -> Void) throws {
      var calls = 0
      let error = cambiumError {
        try context.execute(
          BatchInsertRequest(entityName: "Person") { (person: Person) in
            calls += 1
            if calls == 2 { try change(person) }
            return calls > 3
          })
      }
      #expect(error?.code == code && error?.key == name, "\(String(describing: error))")
      #expect(try context.all("Person", nil).isEmpty)
    }
    try fails(.unknownKey, "colour") { $0.setValue(1, forKey: "colour") }
    try fails(.invalidArgument, "age") { $0.age = 70_000 }
    try fails(.invalidArgument, "team") { $0.team = unsaved }
    try fails(.invalidArgument, "team") { $0.setValue(5, forKey: "team") }
    try fails(.invalidArgument, "captainOf") { $0.setValue(unsaved, forKey: "captainOf") }
    try fails(.invalidArgument, "friends") { try $0.add($0, toRelationship: "friends") }
    try fails(.invalidArgument, "friends") { $0.setValue(Set<ManagedObject>(), forKey: "friends") }
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

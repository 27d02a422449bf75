import Cambium
import CambiumTesting
import Foundation
import Testing

/// Many objects at once: the same comes of it as of objects that are changed in a context one by one.
@Suite struct BatchRequestTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static func model(derived: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing", abstract: true) {
        Attribute("serial", .integer64)
        Unique("serial")
      }
      Entity("Person", parent: "Thing") {
        Attribute("name", .string, default: "nobody")
        Attribute("age", .integer16, optional: false, default: 7)
        Attribute("home") {
          Attribute("street", .string)
          Attribute("number", .integer16)
        }
        ToOne("team", "Team", inverse: "members")
        ToOne("captainOf", "Team", inverse: "captain")
        ToMany("friends", "Person", inverse: "friendOf")
        ToMany("friendOf", "Person", inverse: "friends")
        Index("byAge", "age")
      }
      Entity("Guest", parent: "Person") { Attribute("note", .string) }
      Entity("Team", parent: "Thing") {
        Attribute("title", .string)
        if derived { Attribute("size", .integer64, derived: "members.@count") }
        ToMany("members", "Person", inverse: "team")
        ToOne("captain", "Person", inverse: "captainOf")
        ToMany("games", "Game", inverse: "team", ordered: true, deleteRule: .cascade)
      }
      Entity("Game", parent: "Thing") {
        Attribute("score", .double)
        ToOne("team", "Team", inverse: "games")
        ToMany("guards", "Guard", inverse: "game", deleteRule: .deny)
      }
      Entity("Guard", parent: "Thing") { ToOne("game", "Game", inverse: "guards") }
    }
  }

  private func context(_ name: String = "batch", derived: Bool = false) throws -> ManagedObjectContext {
    try directory.container(name, model: Self.model(derived: derived)) { $0.tracksHistory = true }.viewContext
  }

  /// Everything, by serial numbers.
  private func content(_ context: ManagedObjectContext) throws -> [String] {
    context.reset()
    var lines: [String] = []
    for object in try context.all("Thing", nil, sort: [FetchSortDescriptor(key: "serial")]) {
      var parts = ["\(object.entity.name)"]
      for (name, _) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
        if let home = object.value(forKey: name) as? [String: Any] {
          parts.append(
            "\(name): " + home.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: " "))
        } else {
          parts.append("\(name): \(object.value(forKey: name).map { "\($0)" } ?? "-")")
        }
      }
      for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
        func serial(_ other: ManagedObject) -> Int { other.value(forKey: "serial") as? Int ?? 0 }
        let value = object.value(forKey: name)
        if let one = value as? ManagedObject {
          parts.append("\(name): \(serial(one))")
        } else if let set = value as? Set<ManagedObject> {
          parts.append("\(name): \(set.map(serial).sorted())")
        } else if let list = value as? [ManagedObject] {
          parts.append("\(name): \(relationship.isOrdered ? list.map(serial) : list.map(serial).sorted())")
        }
      }
      lines.append(parts.joined(separator: ", "))
    }
    return lines
  }

  private func changes(_ context: ManagedObjectContext) throws -> [PersistentHistoryChange] {
    try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)).transactions
      .last?.changes ?? []
  }

  @Test(arguments: [false, true])
  func insertsRows(derived: Bool) throws {
    let context = try context(derived: derived)
    context.transactionAuthor = "importer"
    let team = try context.make("Team", ["serial": 1])
    try context.save()
    var request = BatchInsertRequest(
      entityName: "Person",
      objects: [
        ["serial": 10, "name": "Ana", "age": 30, "home": ["street": "Main", "number": 4], "team": team.objectID],
        ["serial": 11, "name": NSNull?.none as Any, "team": team],
      ])
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.count == 2 && result.objectIDs.count == 2)
    let first = try context.existingObject(with: result.objectIDs[0])
    #expect(first.value(forKey: "name") as? String == "Ana" && first.value(forKey: "age") as? Int == 30)
    #expect((first.value(forKey: "home") as? [String: Any])?["number"] as? Int == 4)
    let second = try context.existingObject(with: result.objectIDs[1])
    #expect(second.value(forKey: "name") == nil && second.value(forKey: "age") as? Int == 7)
    context.refreshAllObjects()
    #expect((team.value(forKey: "members") as? Set<ManagedObject>)?.count == 2)
    #expect(try context.all("Person", "age == 30").count == 1)
    // The team has other members: history tells both ends of a link.
    #expect(try changes(context).map { $0.changeType } == [.insert, .insert, .update])
    var left = 500
    let many = BatchInsertRequest(entityName: "Guest") { values in
      left -= 1
      values["serial"] = 1000 + left
      values["note"] = "g"
      return left < 0
    }
    #expect(try context.execute(many).count == 500)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Person")) == 502)
  }

  @Test(arguments: [
    (["colour": 1] as [String: any Sendable], CambiumError.Code.unknownKey), (["age": "x"], .invalidArgument),
    (["friends": 1], .invalidArgument), (["captainOf": 1], .invalidArgument), (["team": 5], .invalidArgument),
    (["serial": 1], .managedObjectConstraintMerge),
  ])
  func refusesAsAWhole(_ values: [String: any Sendable], _ code: CambiumError.Code) throws {
    let context = try context()
    try context.make("Team", ["serial": 1])
    try context.save()
    let before = try content(context)
    let error = #expect(throws: CambiumError.self) {
      try context.execute(BatchInsertRequest(entityName: "Person", objects: [["serial": 2], values]))
    }
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(try content(context) == before)
    #expect(throws: CambiumError.self) { try context.execute(BatchInsertRequest(entityName: "Thing", objects: [[:]])) }
    #expect(throws: CambiumError.self) {
      try context.execute(BatchInsertRequest(entityName: "Nothing", objects: [[:]]))
    }
  }

  /// Rows that lead to nothing would be damage to who checks the store.
  @Test(arguments: [false, true])
  func refusesToLeadToWhatIsNotThere(derived: Bool) throws {
    let context = try context(derived: derived)
    let team = try context.make("Team", ["serial": 101])
    let other = try context.make("Team", ["serial": 102])
    try context.make("Person", ["serial": 110, "name": "one"])
    try context.save()
    let (gone, there) = (team.objectID, other.objectID)
    context.delete(team)
    try context.save()
    let before = try content(context)
    var update = BatchUpdateRequest(entityName: "Person")
    update.propertiesToUpdate = ["team": gone]
    let insert = BatchInsertRequest(entityName: "Person", objects: [["serial": 112], ["serial": 113, "team": gone]])
    #expect(cambiumError { try context.execute(insert) } != nil)
    #expect(cambiumError { try context.execute(update) } != nil)
    #expect(cambiumError { try context.execute(insert) }?.code == .managedObjectReferentialIntegrity)
    #expect(cambiumError { try context.execute(update) }?.affectedObjectIDs == [gone])
    #expect(try content(context) == before)
    update.propertiesToUpdate = ["team": there]
    #expect(try context.execute(update).count > 0)
  }

  @Test(arguments: [false, true])
  func meetsMergePolicies(derived: Bool) throws {
    let context = try context(derived: derived)
    try context.make("Person", ["serial": 1, "name": "old", "age": 50])
    try context.save()
    context.mergePolicy = .mergeByPropertyStoreTrump
    let rows: [[String: Any]] = [
      ["serial": 1, "name": "new"], ["serial": 2, "name": "two"], ["serial": 2, "name": "again"],
    ]
    #expect(try context.execute(BatchInsertRequest(entityName: "Person", objects: rows)).count == 1)
    #expect(
      try context.all("Person", nil, sort: [FetchSortDescriptor(key: "serial")]).map {
        $0.value(forKey: "name") as? String
      } == ["old", "two"])
    context.mergePolicy = .mergeByPropertyObjectTrump
    let request = BatchInsertRequest(entityName: "Person", objects: rows)
    #expect(try context.execute(request).count == 2)
    context.refreshAllObjects()
    let all = try context.all("Person", nil, sort: [FetchSortDescriptor(key: "serial")])
    #expect(all.map { $0.value(forKey: "name") as? String } == ["new", "again"])
    // A request can be used again.
    #expect(try context.execute(request).count == 2)
    // An object of a relative is not changed by what is said of this one.
    #expect(throws: CambiumError.self) {
      try context.execute(BatchInsertRequest(entityName: "Team", objects: [["serial": 1]]))
    }
    // What was not given stays.
    #expect(all[0].value(forKey: "age") as? Int == 50)
    // An object has one change in a transaction, however often it was changed.
    let told = try changes(context)
    #expect(told.allSatisfy { $0.changeType == .update } && Set(told.map { $0.changedObjectID }).count == told.count)
  }

  @Test func updatesRows() throws {
    let context = try context()
    let team = try context.make("Team", ["serial": 1])
    for n in 0..<10 { try context.make(n % 2 == 0 ? "Person" : "Guest", ["serial": 10 + n, "age": n]) }
    try context.save()
    var request = BatchUpdateRequest(entityName: "Person")
    request.predicate = try FetchPredicate(format: "age >= 4")
    request.propertiesToUpdate = [
      "name": "old", "age": try FetchExpression(format: "age * 2 + 1"), "team": team.objectID,
      "home": ["street": "Main"],
    ]
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.count == 6 && result.objectIDs.count == 6)
    let all = try context.all("Person", nil, sort: [FetchSortDescriptor(key: "serial")])
    #expect(all.map { $0.value(forKey: "age") as? Int } == [0, 1, 2, 3, 9, 11, 13, 15, 17, 19])
    #expect(try context.all("Person", "age > 10 AND team.serial == 1 AND home.street == 'Main'").count == 5)
    let told = try changes(context)
    #expect(told.filter { $0.updatedProperties == ["name", "age", "team", "home"] }.count == 6)
    // The team has other members: history tells both ends of a link.
    #expect(told.count == 7 && told.last?.updatedProperties == ["members"])
    request.includesSubentities = false
    request.resultType = .count
    request.propertiesToUpdate = ["name": NSNull?.none as Any]
    #expect(try context.execute(request).result as? Int == 3)
    // Too large for the attribute: nothing is changed.
    request.includesSubentities = true
    request.predicate = nil
    request.propertiesToUpdate = ["name": "x", "age": try FetchExpression(format: "age * 5000")]
    let before = try content(context)
    #expect(throws: CambiumError.self) { try context.execute(request) }
    #expect(try content(context) == before)
    for (name, value) in [("friends", 1 as Any), ("years", 1), ("age", "old")] {
      request.propertiesToUpdate = [name: value]
      #expect(throws: CambiumError.self) { try context.execute(request) }
    }
    request.propertiesToUpdate = ["serial": 3]
    #expect(throws: CambiumError.self) { try context.execute(request) }
    #expect(try content(context) == before)
  }

  @Test func deletesByTheRules() throws {
    let context = try context()
    let team = try context.make("Team", ["serial": 1])
    let ana = try context.make("Person", ["serial": 2, "team": team])
    let bob = try context.make("Person", ["serial": 3, "team": team])
    ana.setValue(Set([bob]), forKey: "friends")
    team.setValue(ana, forKey: "captain")
    let games = try (0..<3).map { try context.make("Game", ["serial": 10 + $0]) }
    team.setValue(games, forKey: "games")
    let keeper = try context.make("Guard", ["serial": 20, "game": games[1]])
    try context.save()
    func delete(_ objects: [ManagedObject]) throws -> Int {
      try context.execute(BatchDeleteRequest(objectIDs: objects.map { $0.objectID })).count
    }
    // A guard forbids it, even by way of the team.
    for objects in [[games[1]], [team], [ana, team]] {
      let error = #expect(throws: CambiumError.self) { try delete(objects) }
      #expect(error?.code == .validationRelationshipDeniedDelete)
    }
    #expect(try delete([ana]) == 1)
    #expect(try delete([ana]) == 0)
    context.refreshAllObjects()
    #expect(
      team.value(forKey: "captain") == nil && (bob.value(forKey: "friendOf") as? Set<ManagedObject>)?.isEmpty == true)
    let told = Dictionary(uniqueKeysWithValues: try changes(context).map { ($0.changedObjectID, $0.changeType) })
    #expect(told == [ana.objectID: .delete, bob.objectID: .update, team.objectID: .update])
    #expect(try delete([games[0]]) == 1)
    context.refreshAllObjects()
    #expect(
      (team.value(forKey: "games") as? [ManagedObject])?.map { $0.objectID } == [games[1].objectID, games[2].objectID])
    // With the guard it goes, and takes the games along.
    #expect(try delete([team, keeper]) == 2)
    #expect(try context.all("Thing", nil).map { $0.value(forKey: "serial") as? Int } == [3])
    context.refreshAllObjects()
    #expect(bob.value(forKey: "team") == nil)
    #expect(try changes(context).filter { $0.changeType == .delete }.count == 4)
  }

  @Test(arguments: [false, true])
  func theSameComesOfObjects(derived: Bool) throws {
    var random = SplitMix64(seed: testSeed(20_261_125))
    let contexts = [try context("batch", derived: derived), try context("objects", derived: derived)]
    var serial = 0
    func object(_ context: ManagedObjectContext, _ serial: Int) throws -> ManagedObject? {
      try context.all("Thing", "serial == %@", [serial]).first
    }
    var refused = 0
    var deleted = 0
    for _ in 0..<120 {
      // New objects with relationships, in both.
      let kind = random.pick(["Person", "Guest", "Team", "Game", "Guard"])
      serial += 1
      let seed = random.next()
      for context in contexts {
        context.reset()
        var own = SplitMix64(seed: seed)
        let new = try context.make(kind, ["serial": serial])
        for (name, relationship) in new.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) where own.oneIn(2) {
          let others = try context.all(
            relationship.destinationEntity?.name ?? "", nil, sort: [FetchSortDescriptor(key: "serial")])
          guard !others.isEmpty else { continue }
          if !relationship.isToMany {
            new.setValue(own.pick(others), forKey: name)
          } else {
            let some = (0..<own.below(3)).map { _ in own.pick(others) }
            new.setValue(relationship.isOrdered ? some.uniqued() : Set(some), forKey: name)
          }
        }
        try context.save()
      }
      #expect(try content(contexts[0]) == content(contexts[1]))
      if random.oneIn(3) {
        let wanted = (0..<(1 + random.below(3))).map { _ in 1 + random.below(serial) }
        let request = FetchRequest<ManagedObject>(entityName: "Thing")
        request.predicate = try FetchPredicate(format: "serial IN %@", wanted)
        var failures: [Bool] = []
        do {
          deleted += try contexts[0].execute(BatchDeleteRequest(fetchRequest: request)).count
          failures.append(false)
        } catch { failures.append(true) }
        for found in try contexts[1].fetch(request) { contexts[1].delete(found) }
        do {
          try contexts[1].save()
          failures.append(false)
        } catch {
          contexts[1].rollback()
          failures.append(true)
        }
        #expect(failures[0] == failures[1])
        if failures[0] { refused += 1 }
      }
      if random.oneIn(3) {
        let limit = random.below(serial + 1)
        var request = BatchUpdateRequest(entityName: "Person")
        request.predicate = try FetchPredicate(format: "serial < %@ AND age < 3000", limit)
        request.propertiesToUpdate = ["age": try FetchExpression(format: "age * 2 + serial"), "name": "n\(limit)"]
        try contexts[0].execute(request)
        for found in try contexts[1].all("Person", "serial < %@ AND age < 3000", [limit]) {
          let (age, own) = (found.value(forKey: "age") as? Int ?? 0, found.value(forKey: "serial") as? Int ?? 0)
          found.setValue(age * 2 + own, forKey: "age")
          found.setValue("n\(limit)", forKey: "name")
        }
        try contexts[1].save()
      }
      #expect(try content(contexts[0]) == content(contexts[1]))
    }
    #expect(deleted > 10 && refused > 2, "\(deleted) deleted, \(refused) refused")
  }
}

extension Array where Element: Hashable {
  fileprivate func uniqued() -> [Element] {
    var known: Set<Element> = []
    return filter { known.insert($0).inserted }
  }
}

import Cambium
import CambiumTesting
import Foundation
import Testing

/// What a store tells of what was saved, and when it may only be read.
@Suite struct PersistentHistoryTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static func model(color: String = "color", renamed: String? = nil) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string).with { $0.preservesValueInHistoryOnDeletion = true }
        Attribute("engines", .integer16)
        Attribute(color, .string, renamed: renamed)
        ToMany("entries", "Entry", inverse: "aircraft", deleteRule: .cascade)
      }
      Entity("Entry") {
        Attribute("minutes", .integer32)
        ToOne("aircraft", "Aircraft", inverse: "entries")
      }
    }
  }

  private func container(
    _ model: ManagedObjectModel? = nil, tracks: Bool = true
  ) throws -> PersistentContainer {
    try directory.container(model: try model ?? Self.model()) { $0.tracksHistory = tracks }
  }

  private func history(
    _ context: ManagedObjectContext, after token: PersistentHistoryToken? = nil
  ) throws -> [PersistentHistoryTransaction] {
    try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions
  }

  @Test func tellsWhoChangedWhat() throws {
    let container = try container()
    let context = container.viewContext
    context.name = "editor"
    context.transactionAuthor = "ana"
    #expect(try history(context).isEmpty)
    let start = Date()
    let plane = try context.make("Aircraft", ["tailNumber": "N1", "engines": 2])
    let entry = try context.make("Entry", ["minutes": 5, "aircraft": plane])
    try context.save()
    plane.setValue("red", forKey: "color")
    plane.setValue(4, forKey: "engines")
    context.transactionAuthor = nil
    try context.save()
    // A save without changes is none.
    try context.save()
    let other = try context.make("Entry", ["minutes": 6])
    try context.save()
    other.setValue(plane, forKey: "aircraft")
    try context.save()
    context.delete(plane)
    try context.save()

    let all = try history(context)
    #expect(all.map { $0.transactionNumber } == [1, 2, 3, 4, 5])
    #expect(all.map { $0.author } == ["ana", nil, nil, nil, nil])
    #expect(
      all.allSatisfy { $0.contextName == "editor" && $0.processID == "\(ProcessInfo.processInfo.processIdentifier)" })
    #expect(all.allSatisfy { $0.timestamp >= start && $0.timestamp <= Date() && $0.bundleID?.isEmpty == false })
    #expect(all[0].changes?.map { $0.changeType } == [.insert, .insert])
    #expect(all[0].changes?.map { $0.changedObjectID } == [plane.objectID, entry.objectID])
    #expect(all[0].changes?.map { $0.changeID } == [1, 2])
    #expect(all[1].changes?.map { $0.updatedProperties } == [["color", "engines"]])
    // Both ends of a relationship have changed.
    let linked = Dictionary(
      uniqueKeysWithValues: (all[3].changes ?? []).map { ($0.changedObjectID, $0.updatedProperties) })
    #expect(linked == [other.objectID: ["aircraft"], plane.objectID: ["entries"]])
    let gone = all[4].changes ?? []
    #expect(gone.count == 3 && gone.allSatisfy { $0.changeType == .delete })
    let tombstone = gone.first { $0.changedObjectID == plane.objectID }?.tombstone
    #expect(tombstone?.count == 1 && tombstone?["tailNumber"] as? String == "N1")
    #expect(gone.filter { $0.changedObjectID != plane.objectID }.allSatisfy { $0.tombstone == nil })
  }

  @Test func tokensGoOnWhereTheyStand() throws {
    var token: PersistentHistoryToken?
    do {
      let container = try container()
      let context = container.viewContext
      #expect(try container.persistentStoreCoordinator.currentPersistentHistoryToken()?.positions.values.first == 0)
      for n in 0..<3 {
        try context.make("Aircraft", ["tailNumber": "N\(n)"])
        try context.save()
      }
      token = try container.persistentStoreCoordinator.currentPersistentHistoryToken()
      try context.make("Aircraft", ["tailNumber": "N3"])
      try context.save()
    }
    let kept = try JSONEncoder().encode(token)
    token = try JSONDecoder().decode(PersistentHistoryToken.self, from: kept)
    let container = try container()
    let context = container.viewContext
    #expect(try history(context, after: token).map { $0.transactionNumber } == [4])
    var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
    request.fetchLimit = 2
    #expect(try context.execute(request).transactions.map { $0.transactionNumber } == [1, 2])
    request.resultType = .count
    request.fetchLimit = 0
    #expect(try context.execute(request).result as? Int == 4)
    request.resultType = .transactionsOnly
    let bare = try context.execute(request).transactions
    #expect(bare.allSatisfy { $0.changes == nil && $0.changeCount == 1 } && bare.count == 4)
    request.resultType = .changesOnly
    #expect(try context.execute(request).changes.map { $0.transactionNumber } == [1, 2, 3, 4])
    request.resultType = .objectIDs
    #expect(try context.execute(request).objectIDs.count == 4)
    request.affectedStores = ["another"]
    #expect(try context.execute(request).objectIDs.isEmpty)
    let middle = bare[1].timestamp
    let later = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: middle)).transactions
    #expect(later.allSatisfy { $0.timestamp > middle } && later.count <= 2)
    #expect(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: bare[2])).transactions
        .map { $0.transactionNumber } == [4])
  }

  @Test func whatWasDeletedIsExpired() throws {
    let context = try container().viewContext
    var tokens: [PersistentHistoryToken] = []
    for n in 0..<6 {
      try context.make("Aircraft", ["tailNumber": "N\(n)"])
      try context.save()
      tokens.append(try #require(try context.persistentStoreCoordinator.currentPersistentHistoryToken()))
    }
    #expect(try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: tokens[1])).count == 2)
    #expect(try history(context).map { $0.transactionNumber } == [3, 4, 5, 6])
    let fourth = try history(context)[1]
    #expect(try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: fourth)).count == 1)
    #expect(try history(context).map { $0.transactionNumber } == [4, 5, 6])
    // Behind the third nothing is missing.
    #expect(try history(context, after: tokens[2]).count == 3)
    let error = #expect(throws: CambiumError.self) { try self.history(context, after: tokens[1]) }
    #expect(error?.code == .persistentHistoryTokenExpired)
    #expect(try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture)).count == 3)
    #expect(try history(context).isEmpty && history(context, after: tokens[5]).isEmpty)
    try context.make("Aircraft", ["tailNumber": "next"])
    try context.save()
    #expect(try history(context, after: tokens[5]).map { $0.transactionNumber } == [7])
    // A plain nil is no token: of no history, nothing is deleted, and everything fetched.
    #expect(try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: nil)).count == 0)
    #expect(
      try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: nil as PersistentHistoryTransaction?))
        .count == 0)
  }

  @Test func withoutItTheStoreIsReadOnly() throws {
    do {
      let context = try container().viewContext
      try context.make("Aircraft", ["tailNumber": "N1"])
      try context.save()
    }
    do {
      let container = try container(tracks: false)
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      #expect(store.isReadOnly && store.readOnlyReason == .historyNotTracked && !store.tracksHistory)
      let context = container.viewContext
      #expect(try context.all("Aircraft", nil).count == 1)
      try context.make("Aircraft", ["tailNumber": "N2"])
      let error = #expect(throws: CambiumError.self) { try context.save() }
      #expect(error?.code == .fileWriteNoPermission && error?.description.contains("tracksHistory") == true)
      #expect(throws: CambiumError.self) { try store.setMetadata(["a": 1]) }
      context.rollback()
      #expect(try history(context).count == 1)
      // With history it may be written still.
      let tracking = try self.container()
      #expect(tracking.persistentStoreCoordinator.persistentStores.first?.isReadOnly == false)
      try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
      #expect(store.isReadOnly)
    }
    let container = try container(tracks: false)
    #expect(container.persistentStoreCoordinator.persistentStores.first?.isReadOnly == false)
    let context = container.viewContext
    try context.make("Aircraft", ["tailNumber": "N2"])
    try context.save()
    #expect(try history(context).isEmpty)
    // What was saved meanwhile is in no history, and what comes now is again.
    let again = try self.container().viewContext
    try again.make("Aircraft", ["tailNumber": "N3"])
    try again.save()
    #expect(try history(again).map { $0.transactionNumber } == [3])
    // Who knew all there was does not take what came later for all that came.
    let identifier = try #require(again.persistentStoreCoordinator.persistentStores.first).identifier
    let old = try JSONDecoder().decode(
      PersistentHistoryToken.self, from: Data(#"{"positions": {"\#(identifier)": 1}}"#.utf8))
    let error = #expect(throws: CambiumError.self) { try self.history(again, after: old) }
    #expect(error?.code == .persistentHistoryTokenExpired)
  }

  /// Whether history is kept is a matter of the store, which others may open meanwhile.
  @Test func openersDisagree() throws {
    let silent = try container(tracks: false).viewContext
    try silent.make("Aircraft", ["tailNumber": "N1"])
    try silent.save()
    let telling = try container().viewContext
    // It was opened before there was history, and may not save what nobody would be told of.
    try silent.make("Aircraft", ["tailNumber": "N2"])
    let error = #expect(throws: CambiumError.self) { try silent.save() }
    #expect(error?.code == .fileWriteNoPermission)
    silent.rollback()
    // There is nothing in the history yet. The store is read-only all the same until the history is deleted.
    let early = try container(tracks: false)
    #expect(early.persistentStoreCoordinator.persistentStores.first?.readOnlyReason == .historyNotTracked)
    try early.viewContext.execute(PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    // The stack that keeps the history begins it again.
    let second = try container(tracks: false).viewContext
    try second.make("Aircraft", ["tailNumber": "N3"])
    try second.save()
    try telling.make("Aircraft", ["tailNumber": "N4"])
    try telling.save()
    #expect(try history(telling).count == 1)
    try second.make("Aircraft", ["tailNumber": "N5"])
    #expect(throws: CambiumError.self) { try second.save() }
    #expect(try container(tracks: false).persistentStoreCoordinator.persistentStores.first?.isReadOnly == true)
  }

  /// Going back to the state before a migration gives no transaction a number that another one had.
  @Test func rollingBackEndsWhatWasTold() throws {
    var tokens: [PersistentHistoryToken] = []
    func save(_ context: ManagedObjectContext, _ count: Int) throws {
      for n in 0..<count {
        try context.make("Aircraft", ["tailNumber": "\(n)"])
        try context.save()
        tokens.append(try #require(try context.persistentStoreCoordinator.currentPersistentHistoryToken()))
      }
    }
    try save(try container().viewContext, 3)
    do {
      let changed = try directory.container(model: Self.model(color: "paint", renamed: "color")) {
        $0.tracksHistory = true
        $0.keepsStateBeforeMigration = true
      }
      try save(changed.viewContext, 2)
      try changed.persistentStoreCoordinator.rollBackMigration(discardsCommits: true)
    }
    let context = try container().viewContext
    #expect(try context.all("Aircraft").count == 3)
    try save(context, 4)
    for (place, token) in tokens.enumerated() {
      if place >= 5 {
        #expect(try history(context, after: token).count == 8 - place)
      } else {
        let error = #expect(throws: CambiumError.self) { try self.history(context, after: token) }
        #expect(error?.code == .persistentHistoryTokenExpired)
      }
    }
  }

  /// Every kind of result of every kind of request.
  @Test func resultTypes() throws {
    let context = try container().viewContext
    for author in ["a", "b", "a"] {
      context.transactionAuthor = author
      for n in 0..<2 { try context.make("Aircraft", ["tailNumber": "\(author)\(n)"]) }
      try context.save()
    }
    let transactions = FetchRequest<PersistentHistoryTransaction>()
    transactions.predicate = try FetchPredicate(format: "author == 'a'")
    let changes = FetchRequest<PersistentHistoryChange>()
    changes.predicate = try FetchPredicate(format: "changeID == 2")
    // How many transactions, changes and objects there are, and what they are counted as.
    for (request, expected) in [
      (PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?), (3, 6, 6)),
      (.fetchHistory(withFetch: transactions), (2, 4, 4)), (.fetchHistory(withFetch: changes), (3, 3, 3)),
    ] {
      var request = request
      for type in [
        PersistentHistoryResultType.statusOnly, .objectIDs, .count, .transactionsOnly, .changesOnly,
        .transactionsAndChanges,
      ] {
        request.resultType = type
        request.fetchLimit = 0
        let result = try context.execute(request)
        #expect(result.count == expected.0, "\(type)")
        switch type {
        case .statusOnly:
          #expect(result.result as? Bool == true && result.transactions.isEmpty && result.changes.isEmpty)
        case .count: #expect(result.result as? Int == expected.0)
        case .objectIDs: #expect((result.result as? [ManagedObjectID])?.count == expected.2)
        case .changesOnly: #expect(result.changes.count == expected.1)
        case .transactionsOnly, .transactionsAndChanges:
          #expect(result.transactions.count + result.changes.count == expected.0)
        }
        request.fetchLimit = 1
        #expect(try context.execute(request).count == 1, "\(type)")
      }
    }
  }

  @Test func openedForReadingNothingIsDeleted() throws {
    do {
      let context = try container().viewContext
      try context.make("Aircraft", ["tailNumber": "N1"])
      try context.save()
    }
    let container = try directory.container(model: Self.model()) {
      $0.isReadOnly = true
      $0.tracksHistory = true
    }
    #expect(container.persistentStoreCoordinator.persistentStores.first?.readOnlyReason == .requested)
    #expect(try history(container.viewContext).count == 1)
    #expect(throws: CambiumError.self) {
      try container.viewContext.execute(PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    }
  }

  /// As an application passes over what it has saved itself.
  @Test func transactionsOfOthersAfterAToken() throws {
    let context = try container().viewContext
    context.transactionAuthor = "app"
    try context.make("Aircraft", ["tailNumber": "N1"])
    try context.save()
    let token = try context.persistentStoreCoordinator.currentPersistentHistoryToken()
    for (author, tail) in [("app", "N2"), ("import", "N3"), ("app", "N4"), ("import", "N5")] {
      context.transactionAuthor = author
      try context.make("Aircraft", ["tailNumber": tail])
      try context.save()
    }
    var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    request.predicate = try FetchPredicate(format: "author != 'app'")
    #expect(try context.execute(request).transactions.map { $0.transactionNumber } == [3, 5])
    request.fetchLimit = 1
    #expect(try context.execute(request).transactions.map { $0.transactionNumber } == [3])
    request.predicate = try FetchPredicate(format: "nothing == 1")
    #expect(cambiumError { try context.execute(request) }?.code == .invalidPredicate)
  }

  @Test func askedByPredicates() throws {
    let context = try container().viewContext
    for (author, count) in [("a", 1), ("b", 2), ("a", 3)] {
      context.transactionAuthor = author
      for n in 0..<count { try context.make("Aircraft", ["tailNumber": "\(author)\(n)"]) }
      if count == 3 { try context.make("Entry", ["minutes": 1]) }
      try context.save()
    }
    let request = FetchRequest<PersistentHistoryTransaction>()
    request.predicate = try FetchPredicate(format: "author == 'a' AND transactionNumber > 0 AND timestamp < now()")
    var found = try context.execute(PersistentHistoryChangeRequest.fetchHistory(withFetch: request))
    #expect(found.transactions.map { $0.transactionNumber } == [1, 3])
    request.fetchLimit = 1
    request.fetchOffset = 1
    found = try context.execute(PersistentHistoryChangeRequest.fetchHistory(withFetch: request))
    #expect(found.transactions.map { $0.transactionNumber } == [3])
    let changes = FetchRequest<PersistentHistoryChange>()
    changes.predicate = try FetchPredicate(format: "changedEntity == 'Entry' AND changeType == 0")
    #expect(try context.execute(PersistentHistoryChangeRequest.fetchHistory(withFetch: changes)).changes.count == 1)
    changes.predicate = try FetchPredicate(format: "writer == 'a'")
    let error = #expect(throws: CambiumError.self) {
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(withFetch: changes))
    }
    #expect(error?.code == .invalidPredicate)
  }

  @Test func migrationsKeepIt() throws {
    do {
      let context = try container().viewContext
      let plane = try context.make("Aircraft", ["tailNumber": "N1"])
      try context.save()
      plane.setValue("red", forKey: "color")
      plane.setValue(1, forKey: "engines")
      try context.save()
    }
    let context = try container(Self.model(color: "paint", renamed: "color")).viewContext
    let all = try history(context)
    #expect(all.count == 2)
    #expect(all[1].changes?.first?.updatedProperties == ["paint", "engines"])
    let plane = try #require(try context.all("Aircraft", nil).first)
    #expect(all[1].changes?.first?.changedObjectID == plane.objectID)
  }

  @Test func oneTellsTheOtherWhatItDid() throws {
    let here = try container().viewContext
    let there = try container().viewContext
    let plane = try here.make("Aircraft", ["tailNumber": "N1", "color": "red"])
    let doomed = try here.make("Aircraft", ["tailNumber": "N2"])
    try here.save()
    var token = try there.persistentStoreCoordinator.currentPersistentHistoryToken()
    let theirs = try there.existingObject(with: plane.objectID)
    #expect(theirs.value(forKey: "color") as? String == "red")
    let lost = try there.existingObject(with: doomed.objectID)
    #expect(lost.value(forKey: "tailNumber") as? String == "N2")
    plane.setValue("blue", forKey: "color")
    here.delete(doomed)
    try here.make("Aircraft", ["tailNumber": "N3"])
    try here.save()
    for transaction in try history(there, after: token) {
      let notification = transaction.objectIDNotification()
      #expect(notification.updatedObjectIDs == [plane.objectID] && notification.deletedObjectIDs == [lost.objectID])
      #expect(notification.insertedObjectIDs.count == 1)
      there.mergeChanges(fromContextDidSave: notification)
      token = token?.merging(transaction.token)
    }
    #expect(theirs.value(forKey: "color") as? String == "blue")
    #expect(throws: CambiumError.self) { try there.existingObject(with: lost.objectID) }
    #expect(try history(there, after: token).isEmpty)
  }

  @Test func saysThatThereIsSomethingNew() async throws {
    let listening = try container()
    let changes = listening.persistentStoreCoordinator.remoteChanges(interval: .milliseconds(5))
    let store = try #require(listening.persistentStoreCoordinator.persistentStores.first)
    let other = try container().newBackgroundContext()
    try await other.perform {
      try other.make("Aircraft", ["tailNumber": "N1"])
      try other.save()
    }
    var token = PersistentHistoryToken?.none
    for await change in changes {
      #expect(change.storeIdentifier == store.identifier && change.storeURL == store.url)
      token = change.historyToken
      break
    }
    #expect(token?.positions == [store.identifier: 1])
    #expect(try history(listening.viewContext, after: nil).count == 1)
  }

  /// A store that is added while somebody listens tells of all that is saved into it.
  @Test(.timeLimit(.minutes(2))) func tellsOfAStoreThatIsAddedLater() async throws {
    let listening = try container()
    let coordinator = listening.persistentStoreCoordinator
    let changes = coordinator.remoteChanges(interval: .seconds(1))
    // Looks once before there is anything new.
    try await Task.sleep(for: .milliseconds(50))
    let late = PersistentStoreDescription(type: .inMemory)
    late.tracksHistory = true
    let store = try coordinator.addPersistentStore(late)
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    try await context.perform {
      let plane = try context.make("Aircraft", ["tailNumber": "N1"])
      context.assign(plane, to: store)
      try context.save()
    }
    for await change in changes {
      #expect(change.storeIdentifier == store.identifier)
      break
    }
  }

  /// Random saves by two contexts: what history tells, from any of its tokens on, leads from the objects that there
  /// were to those that there are, and names the properties that differ.
  @Test func historyLeadsFromOneStateToTheNext() throws {
    var random = SplitMix64(seed: testSeed(20_261_122))
    let contexts = try [container().viewContext, container().viewContext]
    struct State {
      var token: PersistentHistoryToken?
      var objects: [ManagedObjectID: [String: Int]]
    }
    func state() throws -> State {
      let context = contexts[0]
      context.reset()
      var objects: [ManagedObjectID: [String: Int]] = [:]
      for name in ["Aircraft", "Entry"] {
        for object in try context.all(name, nil) {
          var values: [String: Int] = [:]
          for key in ["engines", "minutes", "color"] where object.entity.attributesByName[key] != nil {
            let value = object.value(forKey: key)
            values[key] = value as? Int ?? (value as? String).flatMap { Int($0) } ?? -1
          }
          objects[object.objectID] = values
        }
      }
      return State(token: try context.persistentStoreCoordinator.currentPersistentHistoryToken(), objects: objects)
    }
    var states = [try state()]
    for _ in 0..<40 {
      let context = random.pick(contexts)
      context.reset()
      for _ in 0..<(1 + random.below(4)) {
        let objects = try context.all(random.pick(["Aircraft", "Entry"]), nil)
        switch random.below(4) {
        case 0: try context.make("Entry", ["minutes": random.below(100)])
        case 1: try context.make("Aircraft", ["engines": random.below(100), "color": "\(random.below(9))"])
        case 2: if let object = objects.randomElement(using: &random) { context.delete(object) }
        default:
          guard let object = objects.randomElement(using: &random), !object.isDeleted else { continue }
          let key = object.entity.name == "Entry" ? "minutes" : "engines"
          object.setValue(random.below(100), forKey: key)
        }
      }
      try context.save()
      states.append(try state())
    }
    let last = try #require(states.last)
    for (n, state) in states.enumerated() {
      var objects = state.objects
      var changed: [ManagedObjectID: Set<String>] = [:]
      for transaction in try history(contexts[1], after: state.token) {
        for change in transaction.changes ?? [] {
          let id = change.changedObjectID
          switch change.changeType {
          case .insert:
            #expect(objects[id] == nil)
            objects[id] = [:]
            changed[id] = ["engines", "minutes", "color"]
          case .update:
            #expect(objects[id] != nil)
            changed[id, default: []].formUnion(change.updatedProperties ?? [])
          case .delete: #expect(objects.removeValue(forKey: id) != nil)
          }
        }
      }
      #expect(Set(objects.keys) == Set(last.objects.keys), "from state \(n)")
      for (id, values) in last.objects {
        for (key, value) in values where state.objects[id]?[key] != value {
          #expect(changed[id]?.contains(key) == true, "from state \(n), \(id) has another \(key)")
        }
      }
    }
  }
}

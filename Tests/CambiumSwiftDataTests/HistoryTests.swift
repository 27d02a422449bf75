import CambiumSwiftData
import Foundation
import Synchronization
import Testing

/// A model whose deletions leave values behind.
@Model final class Ticket {
  @Attribute(.preserveValueOnDeletion) var code: String
  @Attribute(.preserveValueOnDeletion) var rank: Rank?
  @Attribute(.preserveValueOnDeletion) var place: Place?
  @Attribute(.preserveValueOnDeletion) var shape: Shape = Shape.dot
  var price: Int = 0
  var holder: Holder?
  init(_ code: String, rank: Rank? = nil) {
    self.code = code
    self.rank = rank
  }
}

@Model final class Holder {
  var name: String
  @Relationship(inverse: \Ticket.holder) var tickets: [Ticket] = []
  init(_ name: String) { self.name = name }
}

private typealias Transaction = DefaultHistoryTransaction

@Suite struct HistoryTests {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Ticket.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(container)
  }

  private func history(_ predicate: Predicate<Transaction>? = nil) throws -> [Transaction] {
    try context.fetchHistory(HistoryDescriptor(predicate: predicate))
  }

  @Test func everySaveIsATransaction() throws {
    context.author = "desk"
    let before = Date()
    let ticket = Ticket("A1")
    context.insert(ticket)
    try context.save()
    ticket.price = 5
    ticket.holder = Holder("Ada")
    try context.save()
    let found = try history()
    #expect(found.map(\.transactionIdentifier) == [1, 2] && found.map(\.id) == [1, 2])
    #expect(found.allSatisfy { $0.author == "desk" && $0.timestamp >= before.addingTimeInterval(-1) })
    #expect(found.allSatisfy { $0.storeIdentifier == ticket.persistentModelID.storeIdentifier })
    #expect(
      found.allSatisfy {
        !$0.bundleIdentifier.isEmpty && $0.processIdentifier == "\(ProcessInfo.processInfo.processIdentifier)"
      })
    #expect(found[0].changes.map(\.changedPersistentIdentifier) == [ticket.persistentModelID])
    guard case .insert(let insert as DefaultHistoryInsert<Ticket>) = found[0].changes[0] else {
      Issue.record("\(found[0].changes)")
      return
    }
    #expect(insert.transactionIdentifier == 1 && insert.changeIdentifier == 1)
    let updates = found[1].changes.compactMap { change in
      if case .update(let update as DefaultHistoryUpdate<Ticket>) = change { update } else { nil }
    }
    let paths = try #require(updates.first).updatedAttributes
    #expect(paths == [\Ticket.price, \Ticket.holder] as [PartialKeyPath<Ticket>])
    #expect(paths.contains(\Ticket.price) && !paths.contains(\Ticket.code))
  }

  @Test func aTombstoneKeepsTheMarkedValues() throws {
    let ticket = Ticket("B2", rank: .admiral)
    ticket.place = Place(latitude: 1.5, longitude: -2)
    ticket.shape = .circle(radius: 3)
    ticket.price = 9
    context.insert(ticket)
    try context.save()
    let id = ticket.persistentModelID
    context.delete(ticket)
    try context.save()
    let last = try #require(try history().last)
    guard case .delete(let deletion as DefaultHistoryDelete<Ticket>) = try #require(last.changes.first) else {
      Issue.record("\(last.changes)")
      return
    }
    #expect(deletion.changedPersistentIdentifier == id)
    let tombstone = deletion.tombstone
    #expect(tombstone[\.code] as? String == "B2")
    #expect(tombstone[\.rank] as? Rank == .admiral)
    #expect(tombstone[\.place] as? Place == Place(latitude: 1.5, longitude: -2))
    #expect(tombstone[\.shape] as? Shape == .circle(radius: 3))
    #expect(tombstone[\.price] == nil)
    #expect(
      tombstone.map(\.key) == [\Ticket.code, \Ticket.rank, \Ticket.place, \Ticket.shape] as [PartialKeyPath<Ticket>])
  }

  private func saveTickets(_ count: Int, authors: [String]) throws {
    for number in 0..<count {
      context.author = authors[number % authors.count]
      context.insert(Ticket("\(number)"))
      try context.save()
    }
  }

  @Test func transactionsAreFoundByEachProperty() throws {
    try saveTickets(6, authors: ["app", "widget"])
    let all = try history()
    let third = all[2].token
    #expect(try history(#Predicate { $0.token > third }).map(\.id) == [4, 5, 6])
    #expect(try history(#Predicate { $0.token >= third && $0.author == "widget" }).map(\.id) == [4, 6])
    #expect(try history(#Predicate { $0.token < third }).map(\.id) == [1, 2])
    #expect(try history(#Predicate { $0.transactionIdentifier == 5 || $0.author == "app" }).map(\.id) == [1, 3, 5])
    #expect(try history(#Predicate { $0.author != "app" }).count == 3)
    let store = all[0].storeIdentifier
    #expect(try history(#Predicate { $0.storeIdentifier == store }).count == 6)
    #expect(try history(#Predicate { $0.storeIdentifier != store }).isEmpty)
    let time = all[3].timestamp
    #expect(try history(#Predicate { $0.timestamp >= time }).map(\.id).contains(4))
    let process = all[0].processIdentifier
    #expect(try history(#Predicate { $0.processIdentifier == process && $0.bundleIdentifier != "" }).count == 6)
  }

  @Test func orderAndLimitApply() throws {
    try saveTickets(5, authors: ["a", "b"])
    var descriptor = HistoryDescriptor<Transaction>(sortBy: [
      SortDescriptor(\.author), SortDescriptor(\.transactionIdentifier, order: .reverse),
    ])
    #expect(try context.fetchHistory(descriptor).map(\.id) == [5, 3, 1, 4, 2])
    descriptor.fetchLimit = 2
    #expect(try context.fetchHistory(descriptor).map(\.id) == [5, 3])
    descriptor.sortBy = []
    #expect(try context.fetchHistory(descriptor).map(\.id) == [1, 2])
  }

  @Test func whatHistoryCannotAnswerIsRefused() throws {
    try saveTickets(1, authors: ["a"])
    #expect {
      try history(#Predicate { $0.changes.isEmpty })
    } throws: { error in
      guard case SwiftDataError.invalidTransactionFetchRequest = error else { return false }
      return "\(error)".contains("may use token")
    }
    #expect {
      try history(#Predicate { $0.token.id > 1 })
    } throws: { "\($0)".contains("compare the token itself") }
  }

  @Test func aTokenSurvivesCoding() throws {
    try saveTickets(2, authors: ["a"])
    let token = try #require(try history().first).token
    let read = try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(token))
    #expect(read == token && read.hashValue == token.hashValue)
    #expect(try history(#Predicate { $0.token > read }).map(\.id) == [2])
  }

  @Test func tokensAreOrdered() throws {
    let positions: [[String: Int64]] = [[:], ["a": 1], ["a": 1, "b": 2], ["a": 2], ["b": 3]]
    let tokens = try positions.map {
      try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(["tokenValue": $0]))
    }
    for first in tokens {
      for second in tokens {
        // One of `<`, `==` and `>` holds of any two tokens.
        #expect([first < second, first == second, second < first].count { $0 } == 1)
        for third in tokens where first < second && second < third { #expect(first < third) }
      }
    }
  }

  @Test func tokensOfSeveralStoresAreJoined() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try ModelContainer(
      for: Schema([Ticket.self, Depot.self]),
      configurations: ModelConfiguration(
        "tickets", schema: Schema([Ticket.self]), url: folder.appendingPathComponent("a")),
      ModelConfiguration("depots", schema: Schema([Depot.self]), url: folder.appendingPathComponent("b")))
    let context = ModelContext(container)
    func save() throws {
      context.insert(Ticket("a"))
      context.insert(Depot(nil))
      try context.save()
    }
    try save()
    try save()
    let all = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(all.count == 4 && Set(all.map(\.storeIdentifier)).count == 2)
    let last = all.dropFirst().reduce(all[0].token) { $0.merging($1.token) }
    #expect(last.merging(all[0].token) == last && all.allSatisfy { $0.token < last })
    let news = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > last })
    #expect(try context.fetchHistory(news).isEmpty)
    try save()
    #expect(try context.fetchHistory(news).count == 2)
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= last }))
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 2)
  }

  @Test func historyIsDeletedFromItsBeginning() throws {
    try saveTickets(5, authors: ["a", "b"])
    let third = try history()[2].token
    #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
      try context.deleteHistory(HistoryDescriptor<Transaction>(predicate: #Predicate { $0.author == "b" }))
    }
    #expect(try history().count == 5)
    try context.deleteHistory(HistoryDescriptor<Transaction>(predicate: #Predicate { $0.token < third }))
    #expect(try history().map(\.id) == [3, 4, 5])
    // Again, as an application does at each start.
    try context.deleteHistory(HistoryDescriptor<Transaction>(predicate: #Predicate { $0.token < third }))
    try context.deleteHistory(HistoryDescriptor<Transaction>())
    #expect(try history().isEmpty)
    #expect(throws: SwiftDataError.historyTokenExpired) { try history(#Predicate { $0.token > third }) }
    try saveTickets(1, authors: ["a"])
    #expect(try history().map(\.id) == [6])
  }

  @Test func theBoundOfATokenIsTakenFromAnyPlaceOfAConjunction() throws {
    try saveTickets(4, authors: ["a", "b"])
    let second = try history()[1].token
    #expect(try history(#Predicate { $0.author == "a" && second < $0.token }).map(\.id) == [3])
    #expect(try history(#Predicate { !($0.token <= second) || $0.author == "a" }).map(\.id) == [1, 3, 4])
    #expect(try history(#Predicate { $0.transactionIdentifier >= 2 && $0.transactionIdentifier > 3 }).map(\.id) == [4])
    #expect(try history(#Predicate { 3 == $0.transactionIdentifier }).map(\.id) == [3])
  }
}

@Suite struct HistoryObserverTests {
  private func container() throws -> ModelContainer {
    try ModelContainer(for: Ticket.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test func newsSinceTheLastReadingCountOnce() throws {
    let container = try container()
    let context = ModelContext(container)
    context.insert(Ticket("old"))
    try context.save()
    let observer = try HistoryObserver(modelContainer: container)
    #expect(observer.eventCounter == 0)
    for _ in 0..<3 {
      context.insert(Ticket("new"))
      try context.save()
    }
    #expect(observer.eventCounter == 1 && observer.eventCounter == 1)
    context.insert(Holder("Ada"))
    try context.save()
    #expect(observer.eventCounter == 2)
  }

  @Test func classesAndAuthorsAreChosen() throws {
    let container = try container()
    let context = ModelContext(container)
    let holders = try HistoryObserver(observedModels: [Holder.self], modelContainer: container)
    let widget = try HistoryObserver(authors: ["widget"], modelContainer: container)
    context.insert(Ticket("a"))
    try context.save()
    #expect(holders.eventCounter == 0 && widget.eventCounter == 0)
    context.author = "widget"
    context.insert(Holder("Ada"))
    try context.save()
    #expect(holders.eventCounter == 1 && widget.eventCounter == 1)
  }

  @Test func itBeginsBehindATokenAndCountsDeletedHistoryAsNews() throws {
    let container = try container()
    let context = ModelContext(container)
    for code in ["a", "b"] {
      context.insert(Ticket(code))
      try context.save()
    }
    let transactions = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let first = transactions[0]
    let behindFirst = try HistoryObserver(
      historyTokens: [first.storeIdentifier: first.token], modelContainer: container)
    let behindLast = try HistoryObserver(
      historyTokens: [first.storeIdentifier: transactions[1].token], modelContainer: container)
    #expect(behindFirst.eventCounter == 1 && behindLast.eventCounter == 0)
    context.insert(Ticket("c"))
    try context.save()
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(behindLast.eventCounter == 1 && behindLast.eventCounter == 1)
  }

  @Test func readingTheCounterTellsOtherReaders() throws {
    let container = try container()
    let context = ModelContext(container)
    let observer = try HistoryObserver(modelContainer: container)
    let told = Mutex(0)
    withObservationTracking {
      _ = observer.eventCounter
    } onChange: {
      told.withLock { $0 += 1 }
    }
    context.insert(Ticket("a"))
    try context.save()
    #expect(observer.eventCounter == 1 && told.withLock { $0 } == 1)
  }

  @Test func aTokenOfAnotherStoreIsRefused() throws {
    let container = try container()
    let context = ModelContext(container)
    context.insert(Ticket("a"))
    try context.save()
    let token = try #require(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first).token
    #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
      try HistoryObserver(historyTokens: ["default": token], modelContainer: container)
    }
  }

  @Test func observationIsToldOfNews() async throws {
    let container = try container()
    let context = ModelContext(container)
    let observer = try HistoryObserver(modelContainer: container)
    await withCheckedContinuation { (told: CheckedContinuation<Void, Never>) in
      withObservationTracking {
        _ = observer.eventCounter
      } onChange: {
        told.resume()
      }
      context.insert(Ticket("a"))
      do { try context.save() } catch { Issue.record(error) }
    }
    #expect(observer.eventCounter == 1)
  }
}

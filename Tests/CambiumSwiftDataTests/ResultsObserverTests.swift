import CambiumSwiftData
import Foundation
import Observation
import Synchronization
import Testing

@Suite struct ResultsObserverTests {
  private func saved(_ names: [String], in container: ModelContainer) throws {
    let context = ModelContext(container)
    for name in names { context.insert(Person(name, age: name.count)) }
    try context.save()
  }

  @Test func itFollowsItsOwnContextBeforeAndAfterASave() throws {
    let container = try makeContainer()
    try saved(["b", "d"], in: container)
    let context = ModelContext(container)
    let observer = try ResultsObserver<Person, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
    #expect(observer.results.map(\.name) == ["b", "d"] && observer.sections == nil)
    let told = Mutex(0)
    withObservationTracking {
      _ = observer.results
    } onChange: {
      told.withLock { $0 += 1 }
    }
    let c = Person("c")
    context.insert(c)
    context.processPendingChanges()
    #expect(told.withLock { $0 } == 1)
    #expect(observer.results.map(\.name) == ["b", "c", "d"] && observer.results[1] === c)
    #expect(observer.indexPath(for: c) == IndexPath(indexes: [0, 1]))
    #expect(observer.element(at: IndexPath(indexes: [0, 1])) === c)
    #expect(observer.element(at: IndexPath(indexes: [0, 3])) == nil)
    c.name = "e"
    try context.save()
    #expect(observer.results.map(\.name) == ["b", "d", "e"])
    context.delete(c)
    try context.save()
    #expect(observer.results.map(\.name) == ["b", "d"] && observer.indexPath(for: c) == nil)
  }

  @Test func aValueWithoutANewPlaceIsToldByTheModel() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    context.insert(ada)
    try context.save()
    let observer = try ResultsObserver<Person, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
    let told = Mutex((results: 0, model: 0))
    withObservationTracking {
      _ = observer.results
    } onChange: {
      told.withLock { $0.results += 1 }
    }
    withObservationTracking {
      _ = ada.age
    } onChange: {
      told.withLock { $0.model += 1 }
    }
    ada.age = 36
    try context.save()
    #expect(told.withLock { $0 == (0, 1) })
  }

  @Test func theSequenceTellsOfValuesToo() async throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    context.insert(ada)
    try context.save()
    let observer = try ResultsObserver<Person, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
    var iterator = observer.values.makeAsyncIterator()
    #expect(await iterator.next(isolation: #isolation)?.map(\.age) == [0])
    ada.age = 36
    try context.save()
    #expect(await iterator.next(isolation: #isolation)?.map(\.age) == [36])
  }

  @Test func aPlainContextTakesInOtherSavesWhenResultsAreRead() throws {
    let container = try makeContainer()
    try saved(["b"], in: container)
    let context = ModelContext(container)
    let observer = try ResultsObserver<Person, Never>(
      filterBy: #Predicate { $0.age < 3 }, sortBy: [SortDescriptor(\.name)], modelContext: context)
    let told = Mutex(0)
    withObservationTracking {
      _ = observer.results
    } onChange: {
      told.withLock { $0 += 1 }
    }
    try saved(["a", "long"], in: container)
    #expect(told.withLock { $0 } == 1)
    #expect(observer.results.map(\.name) == ["a", "b"])
    // A change of a model that the context has.
    let other = ModelContext(container)
    for person in try other.fetch(FetchDescriptor<Person>()) { person.name += "!" }
    try other.save()
    #expect(observer.results.map(\.name) == ["a!", "b!"])
  }

  @Test func theQuestionMayChange() throws {
    let container = try makeContainer()
    try saved(["a", "bb", "cc"], in: container)
    let context = ModelContext(container)
    let observer = try ResultsObserver<Person, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
    let told = Mutex((results: 0, question: 0))
    withObservationTracking {
      _ = observer.results
    } onChange: {
      told.withLock { $0.results += 1 }
    }
    withObservationTracking {
      _ = observer.filterBy
    } onChange: {
      told.withLock { $0.question += 1 }
    }
    observer.filterBy = #Predicate { $0.age == 2 }
    #expect(told.withLock { $0 == (1, 1) } && observer.results.map(\.name) == ["bb", "cc"])
    observer.sortBy = [SortDescriptor(\.name, order: .reverse)]
    #expect(observer.results.map(\.name) == ["cc", "bb"] && observer.sortBy.count == 1)
    // What has no translation leaves the results as they are.
    observer.filterBy = #Predicate { $0.papers.isEmpty && $0.isSelected }
    #expect(observer.results.map(\.name) == ["cc", "bb"])
    #expect(context.recordedErrors.contains { SwiftDataError.unsupportedPredicate ~= $0 })
  }

  @Test func sectionsFollowAProperty() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    for (name, nickname) in [("a", "x"), ("b", nil), ("c", "x"), ("d", "y")] {
      context.insert(Person(name, nickname: nickname))
    }
    try context.save()
    let observer = try ResultsObserver<Person, String?>(
      sortBy: [SortDescriptor(\.name, order: .reverse)], sectionBy: \.nickname, modelContext: context)
    var sections = try #require(observer.sections)
    #expect(
      sections.sectionTitles == [nil, "x", "y"] && sections.map { $0.map(\.name) } == [["b"], ["c", "a"], ["d"]])
    #expect(sections.index(ofSectionTitled: "y") == 2 && sections.contains(sectionTitle: nil))
    #expect(sections[sectionTitle: "x"]?.count == 2 && sections[sectionTitle: "z"] == nil)
    #expect(observer.results.map(\.name) == ["b", "c", "a", "d"] && sections == observer.sections)
    let person = try #require(sections[sectionTitle: "y"]?.first)
    #expect(observer.indexPath(for: person) == IndexPath(indexes: [2, 0]))
    person.nickname = nil
    try context.save()
    sections = try #require(observer.sections)
    #expect(sections.map { $0.map(\.name) } == [["d", "b"], ["c", "a"]])
    let byName = try ResultsObserver<Person, String>(sectionBy: \.name, modelContainer: container)
    #expect(byName.sections?.sectionTitles == ["a", "b", "c", "d"])
  }

  @Test func sectionsByWhatIsNotStoredAreRefused() throws {
    let context = ModelContext(try makeContainer())
    #expect(throws: SwiftDataError.unsupportedKeyPath) {
      try ResultsObserver<Person, String>(sectionBy: \.name.localizedLowercase, modelContext: context)
    }
  }

  @Test @MainActor func theMainContextIsToldOfOtherContexts() async throws {
    let container = try makeContainer()
    let observer = try ResultsObserver<Person, Never>(
      sortBy: [SortDescriptor(\.name)], modelContext: container.mainContext)
    var seen: [[String]] = []
    for await people in observer.values {
      seen.append(people.map(\.name))
      switch seen.count {
      case 1: try await container.perform { try self.saved(["b"], in: $0.container) }
      case 2: container.mainContext.insert(Person("a"))
      default: break
      }
      if seen.count == 3 { break }
    }
    #expect(seen == [[], ["b"], ["a", "b"]])
  }

  @Test func aModelActorIsToldOnItsExecutor() async throws {
    let container = try makeContainer()
    let watcher = Watcher(modelContainer: container)
    try await watcher.begin()
    try saved(["x"], in: container)
    #expect(await watcher.names(atLeast: 1) == ["x"])
  }

  @Test func anActorWithAPlainContextIsToldInItsIsolation() async throws {
    let container = try makeContainer()
    let actor = PlainActor(container)
    try await actor.begin()
    try saved(["y"], in: container)
    #expect(await actor.nextNames() == ["y"])
  }

  @Test func theSequenceEndsWithTheObserver() async throws {
    let context = ModelContext(try makeContainer())
    var observer: ResultsObserver<Person, Never>? = try ResultsObserver(modelContext: context)
    var iterator = try #require(observer).values.makeAsyncIterator()
    #expect(await iterator.next(isolation: #isolation)?.count == 0)
    observer = nil
    #expect(await iterator.next(isolation: #isolation) == nil)
  }

  // MARK: Unsaved changes

  @Test func unsavedChangesAreInTheResults() throws {
    let context = ModelContext(try makeContainer())
    let observer = try ResultsObserver<Person, Never>(
      filterBy: #Predicate { $0.age == 0 }, sortBy: [SortDescriptor(\.name)], modelContext: context)
    let (a, b) = (Person("a"), Person("b"))
    context.insert(a)
    context.insert(b)
    #expect(observer.results.map(\.name) == ["a", "b"])
    a.name = "c"
    #expect(observer.results.map(\.name) == ["b", "c"])
    b.age = 5
    #expect(observer.results.map(\.name) == ["c"])
    context.delete(a)
    #expect(observer.results.isEmpty)
    context.insert(Person("d"))
    #expect(observer.results.map(\.name) == ["d"])
    context.rollback()
    #expect(observer.results.isEmpty)
  }

  @Test @MainActor func unsavedChangesAreToldAtTheEndOfTheJob() async throws {
    let context = try makeContainer().mainContext
    context.autosaveEnabled = false
    let observer = try ResultsObserver<Person, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
    for name in ["b", "a"] {
      await withCheckedContinuation { (told: CheckedContinuation<Void, Never>) in
        withObservationTracking {
          _ = observer.results
        } onChange: {
          told.resume()
        }
        context.insert(Person(name))
      }
    }
    #expect(observer.results.map(\.name) == ["a", "b"] && context.hasChanges)
  }

  // MARK: Lifetime

  @Test func anObserverDoesNotKeepItsActor() async throws {
    let container = try makeContainer()
    let ended = Mutex(0)
    for keepsHistory in [false, true] {
      let keeper = ObserverKeeper(container) { ended.withLock { $0 += 1 } }
      try await keeper.begin(keepsHistory)
    }
    for _ in 0..<400 where ended.withLock({ $0 }) < 2 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(ended.withLock { $0 } == 2)
  }

  // MARK: Other questions

  @Test func aNewSectionGivesNewTitles() throws {
    let context = ModelContext(try makeContainer())
    let person = Person("a", nickname: "G1")
    person.address = Address(street: "", city: "Oslo", zip: nil, place: nil)
    context.insert(person)
    context.insert(Depot(nil))
    let observer = try ResultsObserver<Person, String?>(sectionBy: \.nickname, modelContext: context)
    #expect(observer.sections?.sectionTitles == ["G1"])
    person.nickname = nil
    observer.sectionBy = \.name
    #expect(observer.sections?.sectionTitles == ["a"])
    observer.sectionBy = \.nickname
    #expect(observer.sections?.sectionTitles == [nil])
    // A relationship and an identifier are no titles.
    observer.sectionBy = \.papers
    observer.sectionBy = \.persistentModelID
    #expect(observer.sectionBy == \Person.nickname)
    #expect(context.recordedErrors.count { SwiftDataError.unsupportedKeyPath ~= $0 } == 2)
    let plain = try ResultsObserver<Person, Never>(modelContext: context)
    plain.sectionBy = \.name
    #expect(plain.sections == nil && plain.results.count == 1)
  }

  @Test func placesAreObservedToo() throws {
    let context = ModelContext(try makeContainer())
    let observer = try ResultsObserver<Person, Never>(modelContext: context)
    let told = Mutex(0)
    withObservationTracking {
      _ = observer.element(at: [0, 0])
    } onChange: {
      told.withLock { $0 += 1 }
    }
    context.insert(Person("a"))
    try context.save()
    #expect(told.withLock { $0 } == 1)
  }

  @Test @MainActor func aClosedContainerIsNamed() async throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    try await container.close()
    func isNamed(_ error: any Error) -> Bool {
      SwiftDataError.loadIssueModelContainer ~= error && "\(error)".contains("closed by close()")
    }
    let all = HistoryDescriptor<DefaultHistoryTransaction>()
    #expect { try context.fetchHistory(all) } throws: { isNamed($0) }
    #expect { try context.deleteHistory(all) } throws: { isNamed($0) }
    #expect { try ResultsObserver<Person, Never>(modelContext: context) } throws: { isNamed($0) }
    #expect { try HistoryObserver(modelContainer: container) } throws: { isNamed($0) }
  }

  // MARK: Other containers

  /// Runs a block with two containers on one file, which stand for two processes.
  private func withTwoContainers(_ body: (_ own: ModelContainer, _ other: ModelContainer) async throws -> Void)
    async throws
  {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("observers-\(UUID()).store")
    defer { try? FileManager.default.removeItem(at: url) }
    let containers = try [0, 1].map { _ in
      try ModelContainer(for: Person.self, configurations: ModelConfiguration(url: url))
    }
    try await body(containers[0], containers[1])
  }

  @Test func savesWhoseHistoryIsGoneAreFoundAllTheSame() async throws {
    try await withTwoContainers { own, other in
      try saved(["a"], in: own)
      let context = ModelContext(own)
      let observer = try ResultsObserver<Person, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
      let a = try #require(observer.results.first)
      for (number, name) in ["b", "c", "d"].enumerated() {
        let foreign = ModelContext(other)
        let same = try #require(try foreign.all(Person.self, by: \.name).first)
        same.age = number + 10
        foreign.insert(Person(name))
        try foreign.save()
        try foreign.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        for _ in 0..<400 where observer.results.last?.name != name { try await Task.sleep(for: .milliseconds(5)) }
        #expect(observer.results.last?.name == name && a.age == number + 10)
      }
      #expect(observer.results.map(\.name) == ["a", "b", "c", "d"])
    }
  }

  /// One observer has no place that runs blocks, the other one an actor. Both are told of a foreign save.
  @Test func eachObserverOfAContextIsTold() async throws {
    try await withTwoContainers { own, other in
      let observer = try makeObserver(of: ModelContext(own))
      let actor = PlainActor(own)
      try await actor.begin()
      let told = Mutex(0)
      withObservationTracking {
        _ = observer.results
      } onChange: {
        told.withLock { $0 += 1 }
      }
      try saved(["y"], in: other)
      #expect(await actor.nextNames() == ["y"])
      for _ in 0..<400 where told.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(told.withLock { $0 } == 1 && observer.results.map(\.name) == ["y"])
    }
  }

  /// Makes an observer outside of any actor.
  private nonisolated func makeObserver(of context: ModelContext) throws -> ResultsObserver<Person, Never> {
    try ResultsObserver(sortBy: [SortDescriptor(\.name)], modelContext: context, isolation: nil)
  }

  /// Two containers stand for two processes: neither learns of the other but by the file.
  @Test func anotherContainerOnTheStoreIsFollowed() async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("observers-\(UUID()).store")
    defer { try? FileManager.default.removeItem(at: url) }
    let own = try ModelContainer(for: Person.self, configurations: ModelConfiguration(url: url))
    let other = try ModelContainer(for: Person.self, configurations: ModelConfiguration(url: url))
    try saved(["a", "b"], in: own)
    let context = ModelContext(own)
    let observer = try ResultsObserver<Person, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
    let a = try #require(observer.results.first)
    let b = try #require(observer.results.last)
    #expect(b.name == "b")
    let told = Mutex(0)
    withObservationTracking {
      _ = a.age
    } onChange: {
      told.withLock { $0 += 1 }
    }
    let foreign = ModelContext(other)
    let people = try foreign.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.name)]))
    people[0].age = 77
    foreign.delete(people[1])
    foreign.insert(Person("c"))
    try foreign.save()
    for _ in 0..<400 where observer.results.map(\.name) != ["a", "c"] { try await Task.sleep(for: .milliseconds(10)) }
    #expect(observer.results.map(\.name) == ["a", "c"] && a.age == 77 && told.withLock { $0 } == 1)
    // A model that was deleted elsewhere reads as its initial values.
    #expect(b.nickname == nil && b.isDeleted)
    // Its own saves are not taken for those of others.
    withObservationTracking {
      _ = a.nickname
    } onChange: {
      told.withLock { $0 += 1 }
    }
    let c = try #require(observer.results.last)
    c.age = 3
    a.age = 78
    try context.save()
    try await Task.sleep(for: .milliseconds(300))
    #expect(observer.results.count == 2 && told.withLock { $0 } == 1)
  }
}

@ModelActor private actor Watcher {
  private var observer: ResultsObserver<Person, Never>?
  private var seen: [String] = []
  private var waiting: (count: Int, done: CheckedContinuation<[String], Never>)?

  func begin() throws {
    observer = try ResultsObserver(sortBy: [SortDescriptor(\.name)], modelContext: modelContext)
    Task { await follow() }
  }

  private func follow() async {
    guard let values = observer?.values else { return }
    for await people in values {
      seen = people.map(\.name)
      guard let (count, done) = waiting, seen.count >= count else { continue }
      waiting = nil
      done.resume(returning: seen)
    }
  }

  func names(atLeast count: Int) async -> [String] {
    if seen.count >= count { return seen }
    return await withCheckedContinuation { waiting = (count, $0) }
  }
}

private actor PlainActor {
  private let context: ModelContext
  private var observer: ResultsObserver<Person, Never>?

  init(_ container: ModelContainer) { context = ModelContext(container) }

  func begin() throws {
    observer = try ResultsObserver(sortBy: [SortDescriptor(\.name)], modelContext: context)
  }

  func nextNames() async -> [String] {
    guard let values = observer?.values else { return [] }
    for await people in values where !people.isEmpty { return people.map(\.name) }
    return []
  }
}

/// Keeps observers, and tells when it ends.
private actor ObserverKeeper {
  private let container: ModelContainer
  private let context: ModelContext
  private let ended: @Sendable () -> Void
  private var results: ResultsObserver<Person, Never>?
  private var history: HistoryObserver?

  init(_ container: ModelContainer, _ ended: @escaping @Sendable () -> Void) {
    (self.container, self.ended) = (container, ended)
    context = ModelContext(container)
  }

  func begin(_ keepsHistory: Bool) throws {
    if keepsHistory {
      history = try HistoryObserver(modelContainer: container)
    } else {
      results = try ResultsObserver(modelContext: context)
    }
  }

  deinit { ended() }
}

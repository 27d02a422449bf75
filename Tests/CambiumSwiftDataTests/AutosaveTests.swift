import Foundation
import Testing

@testable import CambiumSwiftData

@ModelActor actor Keeper {
  func add(_ name: String) { modelContext.insert(Person(name)) }
  func saveByItself() { modelContext.autosaveEnabled = true }
  func hasChanges() -> Bool { modelContext.hasChanges }
  func addThenSave(_ names: [String]) throws -> [PersistentIdentifier] {
    for name in names { modelContext.insert(Person(name)) }
    try modelContext.save()
    return try modelContext.fetchIdentifiers(FetchDescriptor<Person>())
  }
  func name(of id: PersistentIdentifier) -> String? { self[id, as: Person.self]?.name }
  func isOnMainThread() -> Bool { Thread.isMainThread }
}

@Suite struct AutosaveTests {
  @MainActor @Test func theMainContextSavesAtTheEndOfTheJob() async throws {
    let container = try makeContainer()
    let main = container.mainContext
    #expect(main.autosaveEnabled && main === container.mainContext)
    main.insert(Person("Ada"))
    #expect(main.hasChanges)
    for _ in 0..<1000 where main.hasChanges { await Task.yield() }
    #expect(!main.hasChanges)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Person>()) == 1)
  }

  @MainActor @Test func turningItOffAndOnAgainSaves() async throws {
    let container = try makeContainer()
    let main = container.mainContext
    main.insert(Person("Ada"))
    main.autosaveEnabled = false
    for _ in 0..<100 { await Task.yield() }
    #expect(main.hasChanges)
    main.autosaveEnabled = true
    for _ in 0..<1000 where main.hasChanges { await Task.yield() }
    #expect(!main.hasChanges)
  }

  @MainActor @Test func whatIsUndoneIsSaved() async throws {
    let container = try makeContainer()
    let main = container.mainContext
    main.autosaveInterval = 0
    main.undoManager = UndoManager()
    let ada = Person("Ada", age: 36)
    main.insert(ada)
    try main.save()
    main.processPendingChanges()
    ada.age = 37
    main.processPendingChanges()
    for _ in 0..<1000 where main.hasChanges { await Task.yield() }
    main.undoManager?.undo()
    #expect(ada.age == 36 && main.hasChanges)
    for _ in 0..<1000 where main.hasChanges { await Task.yield() }
    #expect(!main.hasChanges)
  }

  @Test func whatAnActorHasChangedIsSavedThoughTheActorIsGone() async throws {
    let container = try makeContainer()
    do {
      let keeper = Keeper(modelContainer: container)
      await keeper.saveByItself()
      await keeper.add("Ada")
      for _ in 0..<1000 where await keeper.hasChanges() { await Task.yield() }
      await keeper.add("Grace")
    }
    for _ in 0..<300 where try ModelContext(container).fetchCount(FetchDescriptor<Person>()) < 2 {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Person>()) == 2)
  }

  @MainActor @Test func aFailureIsToldAndTheChangesStay() async throws {
    let container = try makeContainer()
    let main = container.mainContext
    var failures = main.autosaveErrors.makeAsyncIterator()
    let ada = Person("Ada")
    main.insert(Loan(days: 1, borrower: ada))
    try main.save()
    main.delete(ada)
    let failure = await failures.next()
    #expect(failure.map { SwiftDataError.modelValidationFailure ~= $0 } == true)
    #expect(main.hasChanges)
    main.rollback()
  }

  @Test func aModelActorSavesAtTheEndOfTheJobIfItIsTold() async throws {
    let container = try makeContainer()
    let keeper = Keeper(modelContainer: container)
    await keeper.add("Ada")
    #expect(await keeper.hasChanges())
    await keeper.saveByItself()
    for _ in 0..<1000 where await keeper.hasChanges() { await Task.yield() }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Person>()) == 1)
    await keeper.add("Grace")
    try await container.close()
  }

  @Test func closingSaves() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("close-\(UUID()).store")
    defer { try? FileManager.default.removeItem(at: file) }
    do {
      let container = try ModelContainer(for: Person.self, configurations: ModelConfiguration(url: file))
      let keeper = Keeper(modelContainer: container)
      await keeper.saveByItself()
      await keeper.add("Ada")
      await MainActor.run { container.mainContext.insert(Person("Grace")) }
      try await container.close()
    }
    let again = try ModelContainer(for: Person.self, configurations: ModelConfiguration(url: file))
    #expect(try ModelContext(again).all(Person.self, by: \.name).map(\.name) == ["Ada", "Grace"])
  }

  @MainActor @Test func modelActorsAreNeverOnTheMainThread() async throws {
    let keeper = Keeper(modelContainer: try makeContainer())
    let ids = try await keeper.addThenSave(["Ada", "Grace"])
    #expect(ids.count == 2)
    #expect(await keeper.name(of: ids[0]) == "Ada")
    #expect(await !keeper.isOnMainThread())
  }

  @MainActor @Test func nothingKeepsAContainerThatNobodyHas() async throws {
    weak var gone: ContainerStores?
    weak var goneActor: Keeper?
    do {
      let container = try makeContainer()
      let context = container.mainContext
      context.insert(Person("Ada"))
      try context.save()
      let keeper = Keeper(modelContainer: container)
      await keeper.saveByItself()
      await keeper.add("Grace")
      try await container.close()
      (gone, goneActor) = (container.stores, keeper)
    }
    #expect(goneActor == nil)
    for _ in 0..<1000 where gone != nil { await Task.yield() }
    #expect(gone == nil)
  }

  @MainActor @Test func aMainContextOutlivesItsContainer() throws {
    func context() throws -> ModelContext { try makeContainer().mainContext }
    let context = try context()
    context.insert(Person("Ada"))
    try context.save()
    #expect(context.container.mainContext === context && context.container == context.container)
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Person>()) == 1)
  }

  @Test func manyActorsWorkAtOnce() async throws {
    let container = try makeContainer()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask { _ = try await Keeper(modelContainer: container).addThenSave((0..<5).map { "\(number) \($0)" }) }
      }
      try await group.waitForAll()
    }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Person>()) == 100)
  }
}

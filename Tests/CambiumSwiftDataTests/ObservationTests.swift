import CambiumSwiftData
import Foundation
import Synchronization
import Testing

@Suite struct ObservationTests {
  /// Whether a change of what `read` reads is told.
  private func isTold(_ read: () -> Void, of change: () throws -> Void) rethrows -> Bool {
    let told = Mutex(false)
    withObservationTracking(read) { told.withLock { $0 = true } }
    try change()
    return told.withLock { $0 }
  }

  private struct Scene {
    let container: ModelContainer
    let context: ModelContext
    let ada: Person
    let paper: Paper

    init() throws {
      container = try makeContainer()
      context = ModelContext(container)
      ada = Person("Ada", age: 36)
      paper = Paper("Notes")
      ada.papers = [paper]
      context.insert(ada)
      try context.save()
    }
  }

  @Test func settingAPropertyIsTold() throws {
    let scene = try Scene()
    #expect(isTold({ _ = scene.ada.name }, of: { scene.ada.name = "Augusta" }))
    #expect(!isTold({ _ = scene.ada.name }, of: { scene.ada.age = 37 }))
    #expect(isTold({ _ = scene.ada.address?.city }, of: { scene.ada.address = Address(street: "", city: "Rom") }))
  }

  @Test func aNewModelTells() {
    let person = Person("new")
    #expect(isTold({ _ = person.name }, of: { person.name = "other" }))
  }

  @Test func theOtherSideOfARelationshipIsTold() throws {
    let scene = try Scene()
    #expect(isTold({ _ = scene.ada.papers }, of: { scene.paper.author = nil }))
    #expect(isTold({ _ = scene.paper.author }, of: { scene.ada.papers.append(scene.paper) }))
    #expect(isTold({ _ = scene.ada.papers }, of: { scene.context.insert(Paper("unrelated")) }) == false)
  }

  @Test func deletingATargetIsTold() throws {
    let scene = try Scene()
    #expect(isTold({ _ = scene.ada.papers }, of: { scene.context.delete(scene.paper) }))
    #expect(scene.ada.papers.isEmpty)
  }

  @Test func rollbackAndUndoAreTold() throws {
    let scene = try Scene()
    scene.ada.age = 40
    #expect(isTold({ _ = scene.ada.age }, of: { scene.context.rollback() }))
    scene.context.undoManager = UndoManager()
    scene.ada.age = 41
    scene.context.processPendingChanges()
    #expect(isTold({ _ = scene.ada.age }, of: { scene.context.undoManager?.undo() }))
    #expect(scene.ada.age == 36)
  }

  /// What is read by a relationship is observed, though nobody has the models in between.
  @Test func modelsThatNobodyHasAreObserved() throws {
    let scene = try Scene()
    let context = ModelContext(scene.container)
    let paper = try #require(context.model(for: scene.paper.persistentModelID) as? Paper)
    #expect(isTold({ _ = paper.author?.name }, of: { paper.author?.name = "Augusta" }))
    let ada = try #require(context.model(for: scene.ada.persistentModelID) as? Person)
    #expect(isTold({ _ = ada.papers.map(\.title) }, of: { ada.papers[0].title = "Other" }))
    #expect(isTold({ _ = paper.author?.name }, of: { context.rollback() }))
    scene.ada.name = "Lovelace"
    try scene.context.save()
    #expect(try isTold({ _ = paper.author?.name }, of: { _ = try context.fetch(FetchDescriptor<Person>()) }))
    #expect(paper.author?.name == "Lovelace")
  }

  @Test func modelsThatReadEachOtherEndWithTheirContext() throws {
    weak var gone: Person?
    do {
      let scene = try Scene()
      _ = (scene.ada.name, scene.paper.title, scene.ada.papers, scene.paper.author)
      gone = scene.ada
    }
    #expect(gone == nil)
  }

  @Test func anUpsertIsTold() throws {
    let scene = try Scene()
    let topic = Topic("engines")
    scene.context.insert(topic)
    try scene.context.save()
    let other = ModelContext(scene.container)
    let again = Topic("engines")
    other.insert(again)
    try other.save()
    #expect(again.persistentModelID == topic.persistentModelID)
  }

  @MainActor @Test func mergesAreTold() async throws {
    let container = try makeContainer()
    let main = container.mainContext
    let ada = Person("Ada", age: 36)
    main.insert(ada)
    try main.save()
    let told = Mutex(false)
    withObservationTracking {
      _ = ada.age
    } onChange: {
      told.withLock { $0 = true }
    }
    let id = ada.persistentModelID
    try await container.perform { context in
      (context.model(for: id) as? Person)?.age = 50
      try context.save()
    }
    for _ in 0..<1000 where ada.age != 50 { await Task.yield() }
    #expect(ada.age == 50 && told.withLock { $0 })
  }
}

import Cambium
import CambiumTesting
import Foundation
import Testing

/// Batch requests and history where several stores hold an entity.
@Suite struct SeveralStoresTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Two stores, each with some notes; the second may be opened for reading only.
  private func container(secondIsReadOnly: Bool = false, tracksHistory: Bool = true) throws -> PersistentContainer {
    AttributeTransformers.register(CodableTransformer<[String]>(), forName: "SeveralStoresTests.words")
    let model = try ManagedObjectModel {
      Entity("Note") {
        Attribute("name", .string)
        Attribute("count", .integer64)
        Attribute("words", .transformable).with {
          $0.valueTransformerName = "SeveralStoresTests.words"
          $0.preservesValueInHistoryOnDeletion = true
        }
        Attribute("title", .string).with { $0.preservesValueInHistoryOnDeletion = true }
        ToMany("parts", "Part", inverse: "note", deleteRule: .cascade)
      }
      Entity("Part") {
        Attribute("weight", .integer64)
        ToOne("note", "Note", inverse: "parts")
      }
      Entity("Sum") {
        Attribute("total", .integer64, derived: "notes.@count")
        ToMany("notes", "Tagged", inverse: "sum")
      }
      Entity("Tagged") { ToOne("sum", "Sum", inverse: "notes") }
    }
    let container = PersistentContainer(name: "two", managedObjectModel: model)
    container.persistentStoreDescriptions = [false, secondIsReadOnly].enumerated().map { place, isReadOnly in
      let description = PersistentStoreDescription(url: directory.url.appendingPathComponent("\(place).cambium"))
      description.tracksHistory = tracksHistory
      description.isReadOnly = isReadOnly
      return description
    }
    try container.loadPersistentStores()
    return container
  }

  private func fill(_ container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    for store in container.persistentStoreCoordinator.persistentStores {
      for n in 0..<3 {
        let note = try context.make("Note", ["name": "n\(n)", "count": n, "words": ["a", "b"], "title": "t\(n)"])
        context.assign(note, to: store)
      }
    }
    try context.save()
  }

  private func counts(_ container: PersistentContainer) throws -> [[Int]] {
    let context = container.newBackgroundContext()
    return try container.persistentStoreCoordinator.persistentStores.map { store in
      let request = FetchRequest<ManagedObject>(entityName: "Note")
      request.affectedStores = [store]
      return try context.fetch(request).map { $0.value(forKey: "count") as? Int ?? -1 }.sorted()
    }
  }

  @Test func anUpdateIsOfAllStoresThatAreMeant() throws {
    let container = try container()
    try fill(container)
    let stores = container.persistentStoreCoordinator.persistentStores
    let context = container.newBackgroundContext()
    var request = BatchUpdateRequest(entityName: "Note")
    request.predicate = try FetchPredicate(format: "count > 0")
    request.propertiesToUpdate = ["count": try FetchExpression(format: "count + 10")]
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.count == 4 && Set(result.objectIDs.map { $0.storeIdentifier }).count == 2)
    #expect(try counts(container) == [[0, 11, 12], [0, 11, 12]])
    request.affectedStores = [stores[1]]
    #expect(try context.execute(request).count == 2)
    #expect(try counts(container) == [[0, 11, 12], [0, 21, 22]])
    request.affectedStores = []
    #expect(cambiumError { _ = try context.execute(request) }?.code == .invalidArgument)
  }

  @Test func anUpdateChangesNothingWhereAStoreCannotBe() throws {
    try fill(try container())
    let container = try container(secondIsReadOnly: true)
    let stores = container.persistentStoreCoordinator.persistentStores
    let context = container.newBackgroundContext()
    var request = BatchUpdateRequest(entityName: "Note")
    request.propertiesToUpdate = ["count": 7]
    #expect(cambiumError { _ = try context.execute(request) }?.code == .fileWriteNoPermission)
    #expect(try counts(container) == [[0, 1, 2], [0, 1, 2]])
    request.affectedStores = [stores[0]]
    #expect(try context.execute(request).count == 3)
    #expect(try counts(container) == [[7, 7, 7], [0, 1, 2]])
  }

  @Test func objectsAreMadeInTheStoreThatIsMeant() throws {
    let container = try container()
    let stores = container.persistentStoreCoordinator.persistentStores
    let context = container.newBackgroundContext()
    var request = BatchInsertRequest(entityName: "Note", objects: [["count": 5]])
    request.affectedStores = [stores[1]]
    try context.execute(request)
    #expect(try counts(container) == [[], [5]])
    request.affectedStores = nil
    try context.execute(request)
    #expect(try counts(container) == [[5], [5]])
    // Also where objects have to be made, since something is derived from them.
    var derived = BatchInsertRequest(entityName: "Tagged", objects: [[:]])
    derived.affectedStores = [stores[1]]
    derived.resultType = .objectIDs
    #expect(try context.execute(derived).objectIDs.map { $0.storeIdentifier } == [stores[1].identifier])
  }

  @Test func whatCannotBeOfAllStoresChangesNone() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let stores = container.persistentStoreCoordinator.persistentStores
    var notes: [ManagedObject] = []
    for store in stores {
      let (note, part) = (try context.make("Note", ["name": "n"]), try context.make("Part", ["weight": 1]))
      for object in [note, part] { context.assign(object, to: store) }
      notes.append(note)
    }
    try context.save()
    var request = BatchUpdateRequest(entityName: "Part")
    request.propertiesToUpdate = ["note": notes[0].objectID]
    #expect(cambiumError { _ = try context.execute(request) }?.code == .invalidArgument)
    let fresh = container.newBackgroundContext()
    #expect(try fresh.all("Part").allSatisfy { $0.value(forKey: "note") == nil })
    request.affectedStores = [stores[0]]
    #expect(try context.execute(request).count == 1)
  }

  @Test func objectsThatAreNamedTwiceAreDeletedOnce() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let sum = try context.make("Sum", [:])
    let tagged = try (0..<2).map { _ in try context.make("Tagged", ["sum": sum]) }
    try context.save()
    let ids = tagged.map { $0.objectID }
    // By way of objects, since what is derived changes.
    let result = try context.execute(BatchDeleteRequest(objectIDs: ids + ids))
    #expect(result.count == 2)
    context.refreshAllObjects()
    #expect(sum.value(forKey: "total") as? Int == 0)
  }

  @Test func historyIsDeletedWhereItCanBe() throws {
    try fill(try container())
    let container = try container(secondIsReadOnly: true)
    let stores = container.persistentStoreCoordinator.persistentStores
    let context = container.newBackgroundContext()
    // One that was opened for reading only is passed over, unless it is named.
    var request = PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture)
    request.affectedStores = stores.map { $0.identifier }
    #expect(cambiumError { try context.execute(request) }?.code == .fileWriteNoPermission)
    let all = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    #expect(try context.execute(all).transactions.count == 2)
    request.affectedStores = nil
    #expect(try context.execute(request).count == 1)
    #expect(try context.execute(all).transactions.map { $0.storeID } == [stores[1].identifier])
  }

  @Test func tombstonesHaveWhatTransformersMake() throws {
    let container = try container()
    try fill(container)
    let context = container.newBackgroundContext()
    for note in try context.all("Note", "count == 1") { context.delete(note) }
    try context.save()
    let all = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    let changes = try context.execute(all).transactions.flatMap { $0.changes ?? [] }
    let deletions = changes.filter { $0.changeType == .delete }
    #expect(deletions.count == 2)
    for change in deletions {
      #expect(change.tombstone?["words"] as? [String] == ["a", "b"])
      #expect(change.tombstone?["title"] as? String == "t1")
    }
  }
}

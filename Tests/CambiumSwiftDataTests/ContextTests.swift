import CambiumSwiftData
import Foundation
import Testing

@Suite struct ContextTests {
  @Test func insertingARootInsertsWhatItLeadsTo() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    let notes = Paper("Notes")
    notes.topics = [Topic("engines")]
    ada.papers = [notes]
    #expect(ada.modelContext == nil && notes.modelContext == nil && ada.papers.first === notes)
    context.insert(ada)
    #expect(ada.modelContext === context && notes.modelContext === context && notes.author === ada)
    #expect(notes.topics.first?.papers.first === notes)
    #expect(context.insertedModelsArray.count == 3 && context.hasChanges && ada.hasChanges)
    try context.save()
    #expect(!context.hasChanges && !ada.hasChanges)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Topic>()) == 1)
  }

  @Test func aModelLedToIsInserted() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    context.insert(ada)
    let paper = Paper("Late")
    ada.papers.append(paper)
    #expect(paper.modelContext === context && paper.author === ada)
    let loan = Loan(days: 3, borrower: ada)
    #expect(loan.modelContext == nil)
    context.insert(loan)
    #expect(ada.loans.first === loan)
    try context.save()
  }

  @Test func bothSidesOfANewRelationshipCount() throws {
    let context = ModelContext(try makeContainer())
    let (engines, looms) = (Topic("engines"), Topic("looms"))
    let (notes, letters) = (Paper("Notes"), Paper("Letters"))
    notes.topics = [engines, looms]
    looms.papers.append(letters)
    context.insert(notes)
    context.insert(letters)
    #expect(notes.topics.map(\.name) == ["engines", "looms"] && letters.topics.map(\.name) == ["looms"])
    #expect(Set(looms.papers.map(\.title)) == ["Notes", "Letters"])
  }

  @Test func toManyArraysAreInTheOrderOfInsertion() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    context.insert(ada)
    for number in 0..<20 { ada.papers.append(Paper("\(number)")) }
    #expect(ada.papers.map(\.title) == (0..<20).map { "\($0)" })
    try context.save()
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Person>()).first)
    #expect(read.papers.map(\.title) == (0..<20).map { "\($0)" })
  }

  @Test func rollbackTakesEverythingBack() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada", age: 36)
    context.insert(ada)
    try context.save()
    ada.age = 37
    let grace = Person("Grace")
    context.insert(grace)
    ada.papers.append(Paper("x"))
    context.rollback()
    #expect(ada.age == 36 && ada.papers.isEmpty && grace.modelContext == nil && !context.hasChanges)
    #expect(try context.fetchCount(FetchDescriptor<Person>()) == 1)
  }

  @Test func changesAreUndoneAndRedone() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    context.undoManager = UndoManager()
    let ada = Person("Ada", age: 36)
    context.insert(ada)
    try context.save()
    ada.age = 37
    context.processPendingChanges()
    ada.nickname = "A"
    context.processPendingChanges()
    context.undoManager?.undo()
    #expect(ada.nickname == nil && ada.age == 37)
    context.undoManager?.undo()
    #expect(ada.age == 36)
    context.undoManager?.redo()
    #expect(ada.age == 37)
  }

  @Test func aTransactionSaves() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    try context.transaction { context.insert(Person("Ada")) }
    #expect(!context.hasChanges)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Person>()) == 1)
  }

  @Test func aSaveTellsWhatItChanged() throws {
    final class Heard: @unchecked Sendable { var names: [String] = []; var counts: [Int] = [] }
    let heard = Heard()
    let container = try makeContainer()
    let context = ModelContext(container)
    let center = NotificationCenter.default
    let will = center.addObserver(forName: ModelContext.willSave, object: context, queue: nil) { _ in
      heard.names.append("will")
    }
    let did = center.addObserver(forName: ModelContext.didSave, object: context, queue: nil) { notification in
      heard.names.append("did")
      for key in [ModelContext.NotificationKey.insertedIdentifiers, .updatedIdentifiers, .deletedIdentifiers] {
        heard.counts.append((notification.userInfo?[key.rawValue] as? [PersistentIdentifier])?.count ?? -1)
      }
    }
    defer {
      center.removeObserver(will)
      center.removeObserver(did)
    }
    let ada = Person("Ada")
    ada.papers = [Paper("a"), Paper("b")]
    context.insert(ada)
    try context.save()
    try context.save()
    context.delete(ada)
    try context.save()
    #expect(heard.names == ["will", "did", "will", "did"])
    #expect(heard.counts == [3, 0, 0, 0, 0, 3])
  }

  @Test func modelsAreLookedUpByTheirIdentifiers() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    context.insert(ada)
    let temporary = ada.persistentModelID
    #expect(temporary.storeIdentifier == nil && temporary.entityName == "Person")
    #expect(context.registeredModel(for: temporary) as Person? === ada)
    try context.save()
    let id = ada.persistentModelID
    #expect(id != temporary && id.storeIdentifier != nil && ada.id == id)
    let other = ModelContext(container)
    #expect(other.registeredModel(for: id) as Person? == nil)
    let found = try #require(other.model(for: id) as? Person)
    #expect(found.name == "Ada" && other.registeredModel(for: id) as Person? === found)
    #expect(try other.existingModel(for: id) as Person? === found)
    #expect(try other.existingModel(for: id) as Paper? == nil)
    let coded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(id))
    #expect(coded == id && coded.hashValue == id.hashValue && (other.model(for: coded) as? Person) === found)
    let made = try PersistentIdentifier.identifier(
      for: try #require(id.storeIdentifier), entityName: "Person",
      primaryKey: "p\(id.description.dropFirst("Person/p".count))")
    #expect(made == id)
  }

  @Test func anIdentifierOfAnotherStoreGivesAModelWithoutContext() throws {
    let context = ModelContext(try makeContainer())
    let ada = Person("Ada", age: 36)
    context.insert(ada)
    try context.save()
    let other = ModelContext(try makeContainer())
    let stranger = try #require(other.model(for: ada.persistentModelID) as? Person)
    #expect(stranger.modelContext == nil && stranger.name == "" && stranger.age == 0)
    #expect(other.recordedErrors.count == 1 && !other.hasChanges)
    #expect(try other.existingModel(for: ada.persistentModelID) as Person? == nil)
    #expect(other.registeredModel(for: ada.persistentModelID) as Person? == nil)
    let id = ada.persistentModelID
    #expect(try other.fetchCount(FetchDescriptor<Person>(predicate: #Predicate { $0.persistentModelID == id })) == 0)
  }

  @Test func aModelKeepsItsContext() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    ada.papers = [Paper("Notes")]
    context.insert(ada)
    try context.save()
    #expect(try ModelContext(container).fetch(FetchDescriptor<Person>())[0].papers[0].author?.name == "Ada")
  }

  @Test func aContextIsNotKeptByItsUnsavedModels() throws {
    let container = try makeContainer()
    weak var gone: ModelContext?
    do {
      let context = ModelContext(container)
      context.insert(Person("Ada"))
      gone = context
      #expect(gone != nil)
    }
    #expect(gone == nil)
  }

  @Test func oneInstanceForEachRow() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    ada.papers = [Paper("Notes")]
    context.insert(ada)
    try context.save()
    let again = try #require(try context.fetch(FetchDescriptor<Person>()).first)
    #expect(again === ada && again == ada && ada.papers[0] === again.papers[0] && ada.papers[0].author === ada)
  }

  /// Of two models with one unique value one row stays, which both show.
  @Test func aModelThatAnUpsertJoinsShowsTheRowThatStays() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let first = Topic("engines")
    context.insert(first)
    try context.save()
    let second = Topic("engines")
    let paper = Paper("Notes")
    second.papers = [paper]
    context.insert(second)
    try context.save()
    #expect(second.name == "engines" && second.persistentModelID == first.persistentModelID)
    #expect(second.modelContext === context && first.papers.map(\.title) == ["Notes"])
    second.name = "numbers"
    #expect(first.name == "numbers")
    try context.save()
    #expect(try ModelContext(container).fetch(FetchDescriptor<Topic>()).map(\.name) == ["numbers"])
    let other = ModelContext(container)
    let (third, fourth) = (Topic("new"), Topic("new"))
    other.insert(third)
    other.insert(fourth)
    try other.save()
    fourth.name = "newer"
    try other.save()
    #expect(third.name == "newer" && third.persistentModelID == fourth.persistentModelID)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Topic>()) == 2)
  }

  @Test func pendingChangesCountUnlessTheyAreLeftOut() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada", age: 36)
    context.insert(ada)
    try context.save()
    ada.age = 40
    context.insert(Person("Grace", age: 50))
    var descriptor = FetchDescriptor<Person>(predicate: #Predicate { $0.age > 39 }, sortBy: [SortDescriptor(\.name)])
    #expect(try context.fetch(descriptor).map(\.name) == ["Ada", "Grace"])
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).isEmpty)
    #expect(try context.fetchIdentifiers(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.name)])).count == 2)
  }

  @Test func resultsComeInBatches() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    for number in 0..<50 { context.insert(Person("\(number)", age: number)) }
    try context.save()
    let other = ModelContext(container)
    let found = try other.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.age)]), batchSize: 10)
    #expect(found.count == 50 && found[49].age == 49 && found.map(\.age) == Array(0..<50))
    var ages: [Int] = []
    try other.enumerate(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.age)]), batchSize: 7) { ages.append($0.age) }
    #expect(ages == Array(0..<50))
    #expect(throws: (any Error).self) { try other.enumerate(FetchDescriptor<Person>()) { $0.age += 1 } }
    other.rollback()
    try other.enumerate(FetchDescriptor<Person>(), allowEscapingMutations: true) { $0.age += 1 }
    try other.save()
    #expect(try ModelContext(container).aggregate(.sum(\.age), of: FetchDescriptor<Person>()) == 1275)
  }
}

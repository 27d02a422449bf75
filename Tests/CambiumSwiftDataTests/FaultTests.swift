import Cambium
import CambiumSwiftData
import Foundation
import Testing

// SwiftData's known faults, by the numbers of `Specs/13-swiftdata.md`; each has a test of what happens here instead.
// The faults of migration, history and observers are not in it.
@Suite struct FaultTests {
  // 1, 2: predicates that compile end the process there, or are not answered.
  @Test func whatTheStoreCannotAnswerIsRefusedWithItsName() throws {
    let context = ModelContext(try makeContainer())
    let wanted = "a"
    #expect {
      _ = try context.fetch(FetchDescriptor<Values>(predicate: #Predicate { $0.texts.contains(wanted) }))
    } throws: { error in
      SwiftDataError.unsupportedPredicate ~= error && "\(error)".contains("Values.texts")
    }
  }

  // 3: saving by itself.
  @Test func aContextWithoutAnExecutorRefusesToSaveByItself() throws {
    let context = ModelContext(try makeContainer())
    context.autosaveEnabled = true
    #expect(!context.autosaveEnabled && context.recordedErrors.count == 1)
    context.insert(Person("Ada"))
    #expect(throws: SwiftDataError.missingModelContext) { try context.save() }
  }

  // 6: access to a deleted model.
  @Test func aModelWhoseRowIsGoneReadsAsItsInitialValues() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada", age: 36)
    ada.papers = [Paper("Notes")]
    context.insert(ada)
    try context.save()
    let other = ModelContext(container)
    let same = try #require(other.model(for: ada.persistentModelID) as? Person)
    context.delete(ada)
    try context.save()
    #expect(same.name == "" && same.age == 0 && same.rank == .civil && same.nickname == nil && same.papers.isEmpty)
    #expect(same.isDeleted)
    // The context that deleted it.
    #expect(ada.modelContext == nil && !ada.isDeleted)
    _ = (ada.name, ada.age, ada.rank, ada.papers, ada.address)
    #expect(try other.existingModel(for: ada.persistentModelID) as Person? == nil)
  }

  @Test func aModelThatIsDeletedUnsavedLeavesItsContext() throws {
    let context = ModelContext(try makeContainer())
    context.undoManager = UndoManager()
    let ada = Person("Ada")
    context.insert(ada)
    context.processPendingChanges()
    context.delete(ada)
    context.processPendingChanges()
    #expect(ada.modelContext == nil && !ada.isDeleted && !ada.hasChanges && !context.hasChanges)
    context.undoManager?.undo()
    #expect(ada.modelContext === context && context.hasChanges)
    try context.save()
    context.delete(ada)
    #expect(ada.modelContext === context && ada.isDeleted)
  }

  @Test func aDeletedModelCannotBeInsertedAgain() throws {
    let context = ModelContext(try makeContainer())
    let (ada, grace, bo) = (Person("Ada"), Person("Grace"), Person("Bo"))
    context.insert(bo)
    context.rollback()
    context.insert(ada)
    try context.save()
    context.insert(grace)
    context.delete(grace)
    context.delete(ada)
    try context.save()
    for person in [ada, grace, bo] {
      context.insert(person)
      #expect(throws: SwiftDataError.missingModelContext, "\(person.name)") { try context.save() }
      context.rollback()
    }
    #expect(try context.fetchCount(FetchDescriptor<Person>()) == 0)
  }

  @Test func aRequiredDestinationThatIsGoneIsAModelWithoutValues() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let loan = Loan(days: 3, borrower: Person("Ada"))
    context.insert(loan)
    try context.save()
    context.delete(loan)
    try context.save()
    #expect(loan.borrower.name == "" && loan.modelContext == nil)
    _ = loan.days
  }

  // 7: relating models of two contexts.
  @Test func relatingModelsOfTwoContextsIsAnError() throws {
    let container = try makeContainer()
    let (first, second) = (ModelContext(container), ModelContext(container))
    let ada = Person("Ada")
    let paper = Paper("Notes")
    first.insert(ada)
    second.insert(paper)
    ada.papers.append(paper)
    #expect(ada.papers.isEmpty)
    #expect {
      try first.save()
    } throws: {
      SwiftDataError.missingModelContext ~= $0 && "\($0)".contains("papers") && "\($0)".contains("model(for:")
    }
    second.delete(ada)
    second.insert(ada)
    #expect(throws: SwiftDataError.missingModelContext) { try second.save() }
  }

  // 8: inverses of required to-one relationships, and what deleting leaves behind.
  @Test func inversesOfRequiredRelationshipsAreKept() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let (ada, grace) = (Person("Ada"), Person("Grace"))
    let loan = Loan(days: 1, borrower: ada)
    context.insert(loan)
    context.insert(grace)
    #expect(ada.loans.map(\.days) == [1])
    loan.borrower = grace
    #expect(ada.loans.isEmpty && grace.loans.first === loan)
    try context.save()
    context.delete(loan)
    try context.save()
    #expect(grace.loans.isEmpty)
  }

  // 9: the rule deny.
  @Test func deletingWhatIsDeniedThrows() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    context.insert(Loan(days: 3, borrower: ada))
    try context.save()
    context.delete(ada)
    #expect {
      try context.save()
    } throws: { error in
      let cause = (error as? SwiftDataError)?.cambiumError
      return SwiftDataError.modelValidationFailure ~= error && cause?.code == .validationRelationshipDeniedDelete
        && cause?.key == "loans" && cause?.entityName == "Person"
    }
    context.rollback()
    #expect(ada.name == "Ada" && ada.loans.count == 1)
  }

  // 10: deleting by a predicate.
  @Test func deletingByAPredicateFollowsRulesAndTells() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    for name in ["Ada", "Adrian", "Grace"] {
      let person = Person(name)
      person.papers = [Paper("of \(name)")]
      context.insert(person)
    }
    try context.save()
    try context.delete(model: Person.self, where: #Predicate { $0.name.starts(with: "Ad") })
    #expect(context.deletedModelsArray.count == 4 && context.hasChanges)
    #expect(try context.fetch(FetchDescriptor<Paper>()).map(\.title) == ["of Grace"])
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Paper>()) == 1)
    try context.delete(model: Person.self)
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Person>()) == 0)
  }

  // 13: where the default store is.
  @Test func theDefaultStoreIsInAFolderOfTheApplication() {
    let configuration = ModelConfiguration()
    #expect(configuration.url.lastPathComponent == "default.store")
    #expect(configuration.url.deletingLastPathComponent().lastPathComponent == ProcessInfo.processInfo.processName)
    #expect(ModelConfiguration("Archive").url.lastPathComponent == "Archive.store")
  }

  // 17: errors without explanation.
  @Test func errorsOfContainersSayWhatIsWrong() throws {
    #expect {
      _ = try ModelContainer(
        for: First.Note.self, Second.Note.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    } throws: { error in
      SwiftDataError.loadIssueModelContainer ~= error && "\(error)".contains("'Note'")
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("missing-\(UUID())")
    #expect {
      _ = try ModelContainer(
        for: Person.self, configurations: ModelConfiguration(url: folder.appendingPathComponent("a.store")))
    } throws: { error in
      SwiftDataError.loadIssueModelContainer ~= error && (error as? SwiftDataError)?.cambiumError != nil
    }
  }

  // A class that the schema lacks ends the process there.
  @Test func aClassThatTheSchemaLacksIsAnError() throws {
    let container = try ModelContainer(for: Topic.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    context.insert(Values())
    #expect { try context.save() } throws: { "\($0)".contains("Values") }
    #expect(throws: SwiftDataError.unknownSchema) { _ = try context.fetch(FetchDescriptor<Values>()) }
  }

  @Test func anArrayOfOneModelIsRefused() {
    #expect {
      _ = try ModelContainer(for: Solo.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    } throws: { error in
      SwiftDataError.loadIssueModelContainer ~= error && "\(error)".contains("'Solo.members'")
        && "\(error)".contains("'Topic?'")
    }
  }

  @Test func tooFewDestinationsAreNotSaved() throws {
    let container = try ModelContainer(
      for: Band.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    context.insert(Band())
    #expect {
      try context.save()
    } throws: { error in
      let cause = (error as? SwiftDataError)?.cambiumError
      return cause?.code == .validationRelationshipLacksMinimumCount && cause?.key == "members"
    }
    #expect(context.insertedModelsArray.count == 1)
    #expect(container.schema.entity(for: Band.self)?.relationshipsByName["members"]?.isOptional == false)
    #expect(container.schema.entity(for: Band.self)?.relationshipsByName["guests"]?.isOptional == true)
  }

  @Test func aRequiredRelationshipThatLeadsNowhereIsNotSaved() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    let loan = Loan(days: 1, borrower: ada)
    context.insert(loan)
    try context.save()
    // The rule of the other side is deny, so that a model of another kind has to go first.
    context.delete(loan)
    context.delete(ada)
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Person>()) == 0)
  }
}

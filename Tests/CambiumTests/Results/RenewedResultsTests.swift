import Foundation
import Testing

@testable import Cambium

/// Results tell what a fetch of theirs has read anew, whoever had it read, and what a merge policy has taken back.
@Suite struct RenewedResultsTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let items: [ManagedObject]

  init() throws {
    let model = try ManagedObjectModel {
      Entity("Item") {
        Attribute("number", .integer64)
        Attribute("name", .string)
        Attribute("code", .string)
        Attribute("isOpen", .boolean)
        Unique("code")
      }
    }
    container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    self.context = context
    items = try context.performAndWait {
      let items = try ["A", "B", "C"].enumerated().map { place, code in
        try context.make("Item", ["number": place, "name": code.lowercased(), "code": code, "isOpen": place > 0])
      }
      try context.save()
      return items
    }
  }

  private func controller(limit: Int = 0, sections: String? = nil) throws -> (
    FetchedResultsController<ManagedObject>, ToldResults
  ) {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.sortDescriptors = [FetchSortDescriptor(key: "number")]
    request.fetchLimit = limit
    return try context.controller(request, sections: sections)
  }

  @Test(arguments: [0, 10]) func whatAPolicyTookBack(limit: Int) throws {
    for policy in [MergePolicy.mergeByPropertyStoreTrump, .rollback] {
      context.mergePolicy = policy
      try context.performAndWait {
        let (controller, told) = try controller(limit: limit)
        try items[0].set("B", forKey: "code")
        try items[0].set("changed", forKey: "name")
        context.processPendingChanges()
        #expect(told.take() == ["update 0.0 0.0"])
        try context.save()
        #expect(items[0].value(forKey: "code") as? String == "A")
        #expect(told.take() == ["update 0.0 0.0"])
        withExtendedLifetime(controller) {}
      }
    }
  }

  /// An event has the results fetched again before the word of the batch comes.
  @Test(arguments: [0, 10]) func whatABatchChanged(limit: Int) throws {
    try context.performAndWait {
      let (controller, told) = try controller(limit: limit)
      var batch = BatchUpdateRequest(entityName: "Item")
      batch.predicate = try FetchPredicate(format: "code == 'A'")
      batch.propertiesToUpdate = ["name": "by the batch"]
      batch.resultType = .objectIDs
      let result = try context.execute(batch)
      try items[1].set("changed", forKey: "name")
      context.processPendingChanges()
      context.mergeChanges(fromContextDidSave: result.objectIDNotification())
      #expect(items[0].value(forKey: "name") as? String == "by the batch")
      #expect(Set(told.take()) == ["update 0.0 0.0", "update 0.1 0.1"])
      withExtendedLifetime(controller) {}
    }
  }

  @Test func whatWasPinned() throws {
    let other = container.newBackgroundContext()
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      let (controller, told) = try controller()
      try other.object(with: items[0].objectID).set("theirs", forKey: "name")
      try other.save()
      controller.processPendingChanges()
      #expect(told.take().isEmpty)
      try items[1].set("mine", forKey: "name")
      try context.save()
      controller.processPendingChanges()
      // The context is at its own save, which is behind the other's.
      #expect(items[0].value(forKey: "name") as? String == "theirs")
      #expect(told.take().contains("update 0.0 0.0"))
    }
  }

  /// What others have deleted as well does not come back with the undone deletion.
  @Test func undoneDeletionOfWhatIsGone() throws {
    let other = container.newBackgroundContext()
    try context.performAndWait {
      context.undoManager = ContextUndoManager()
      let (controller, told) = try controller()
      _ = items[0].value(forKey: "name")
      context.delete(items[0])
      context.processPendingChanges()
      #expect(told.take() == ["delete 0.0 -"])
      other.delete(other.object(with: items[0].objectID))
      try other.save()
      controller.processPendingChanges()
      context.undo()
      controller.processPendingChanges()
      #expect(controller.fetchedObjects?.count == 2 && told.take().isEmpty)
      #expect(try context.fetch(controller.fetchRequest).count == 2)
      #expect(items[0].isDeleted)
    }
  }

  @Test func sectionsOfABoolean() throws {
    try context.performAndWait {
      let (controller, _) = try controller(sections: "isOpen")
      #expect(controller.sections.map { "\($0.name): \($0.numberOfObjects)" } == ["0: 1", "1: 2"])
    }
  }
}

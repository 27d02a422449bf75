import Cambium
import Testing

/// Results are what a fetch gives, whatever identifiers objects get, others delete, and generation is read.
@Suite struct ResultsAgreementTests {
  private func container() throws -> PersistentContainer {
    try memoryContainer(
      ManagedObjectModel {
        Entity("Item") {
          Attribute("number", .integer64)
          Attribute("text", .string)
        }
      })
  }

  private var request: FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.sortDescriptors = [FetchSortDescriptor(key: "number")]
    return request
  }

  private func numbers(_ objects: [ManagedObject]?) -> [Int] {
    (objects ?? []).map { $0.value(forKey: "number") as? Int ?? -1 }
  }

  @Test func permanentIdentifiersDoNotDouble() throws {
    let container = try container()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: container.viewContext)
    let item = try child.make("Item", ["number": 1])
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: child)
    try controller.performFetch()
    #expect(numbers(controller.fetchedObjects) == [1])
    try child.obtainPermanentIDs(for: [item])
    try child.save()
    #expect(numbers(controller.fetchedObjects) == [1])
    #expect(numbers(try child.fetch(request)) == [1])
  }

  @Test func whatOthersDeletedAndIsChangedStays() throws {
    let container = try container()
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    let items = try (0..<3).map { try mine.make("Item", ["number": $0]) }
    try mine.save()
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: mine)
    try controller.performFetch()
    items[1].setValue("changed", forKey: "text")
    theirs.delete(theirs.object(with: items[1].objectID))
    theirs.delete(theirs.object(with: items[2].objectID))
    try theirs.save()
    controller.processPendingChanges()
    #expect(numbers(controller.fetchedObjects) == numbers(try mine.fetch(request)))
    #expect(numbers(controller.fetchedObjects) == [0, 1])
    mine.rollback()
    mine.refreshAllObjects()
    try theirs.make("Item", ["number": 7])
    try theirs.save()
    controller.processPendingChanges()
    #expect(numbers(controller.fetchedObjects) == [0, 7])
  }

  @Test func generationsAreCaughtUpWith() throws {
    let container = try container()
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    let items = try (0..<3).map { try mine.make("Item", ["number": $0 * 10]) }
    try mine.save()
    try mine.setQueryGenerationFrom(.current)
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: mine)
    try controller.performFetch()
    try theirs.make("Item", ["number": 5])
    theirs.delete(theirs.object(with: items[1].objectID))
    try theirs.save()
    controller.processPendingChanges()
    #expect(numbers(controller.fetchedObjects) == [0, 10, 20])
    items[2].setValue(30, forKey: "number")
    try mine.save()
    controller.processPendingChanges()
    #expect(numbers(try mine.fetch(request)) == [0, 5, 30])
    #expect(numbers(controller.fetchedObjects) == [0, 5, 30])
    try mine.setQueryGenerationFrom(nil)
    try theirs.make("Item", ["number": 6])
    try theirs.save()
    controller.processPendingChanges()
    #expect(numbers(controller.fetchedObjects) == [0, 5, 6, 30])
    try theirs.make("Item", ["number": 7])
    try theirs.save()
    controller.processPendingChanges()
    #expect(numbers(controller.fetchedObjects) == [0, 5, 6, 7, 30])
  }
}

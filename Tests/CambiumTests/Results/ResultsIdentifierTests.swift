import Foundation
import Testing

@testable import Cambium

/// By which identifiers results name their objects: of what is saved meanwhile, and of what another coordinator has
/// saved.
@Suite struct ResultsIdentifierTests {
  private static func controller(_ context: ManagedObjectContext) throws -> FetchedResultsController<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Pilot")
    request.sortDescriptors = [FetchSortDescriptor(key: "name")]
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    try controller.performFetch()
    return controller
  }

  @Test(arguments: [true, false]) func objectsAreFoundBySavedIdentifiers(isEarly: Bool) async throws {
    let context = try memoryContainer().newBackgroundContext()
    let controller = try Self.controller(context)
    var snapshots = controller.snapshots().makeAsyncIterator()
    var differences = controller.differences().makeAsyncIterator()
    #expect(await snapshots.next()?.count == 0)
    let (ada, bea) = try context.performAndWait {
      (try context.make("Pilot", ["name": "Ada"]), try context.make("Pilot", ["name": "Bea"]))
    }
    let temporary = ada.objectID
    try context.performAndWait {
      if isEarly { context.processPendingChanges() }
      try context.save()
    }
    let saved = try #require(await snapshots.next())
    #expect(saved.objectIDs == [ada.objectID, bea.objectID] && saved.temporaryIDs == 0)
    // Who was told of it when it was not saved finds it.
    var told: [ManagedObjectID] = []
    for change in try #require(await differences.next()).changes {
      if case .insert(let id, _) = change { told.append(id) }
    }
    context.performAndWait {
      #expect(told.map { context.object(with: $0) } == [ada, bea])
      #expect(context.object(with: temporary) === ada && context.registeredObjects.count == 2)
    }
  }

  @Test func identifiersOfAnotherCoordinator() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container().viewContext
    let other = try directory.container().viewContext
    let controller = try Self.controller(context)
    let ada = try other.make("Pilot", ["name": "Ada"])
    try other.save()
    context.mergeChanges(fromContextDidSave: ObjectIDNotification(inserted: [ada.objectID]))
    #expect(controller.fetchedObjects?.map { $0.value(forKey: "name") as? String } == ["Ada"])
    try ada.set("Bea", forKey: "name")
    try other.save()
    context.mergeChanges(fromContextDidSave: ObjectIDNotification(updated: [ada.objectID]))
    #expect(controller.fetchedObjects?.map { $0.value(forKey: "name") as? String } == ["Bea"])
  }

  /// Identifiers that are asked for ahead are told as those of a save are, also of a parent whose child asks for them.
  @Test(arguments: [true, false]) func identifiersThatAreAskedFor(isByChild: Bool) async throws {
    let context = try memoryContainer().newBackgroundContext()
    let controller = try context.performAndWait { try Self.controller(context) }
    var snapshots = controller.snapshots().makeAsyncIterator()
    #expect(await snapshots.next()?.count == 0)
    let ada = try context.performAndWait {
      let ada = try context.make("Pilot", ["name": "Ada"])
      context.processPendingChanges()
      return ada
    }
    let temporary = ada.objectID
    #expect(await snapshots.next()?.objectIDs == [temporary])
    if isByChild {
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
      try await child.perform { try child.obtainPermanentIDs(for: [child.object(with: temporary)]) }
    } else {
      try context.performAndWait { try context.obtainPermanentIDs(for: [ada]) }
    }
    #expect(!ada.objectID.isTemporaryID)
    #expect(await snapshots.next()?.objectIDs == [ada.objectID])
    context.performAndWait {
      #expect(context.object(with: temporary) === ada && controller.fetchedObjects?.first === ada)
    }
  }
}

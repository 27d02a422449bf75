import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Contexts without a queue.
struct ConfinementTests {
  private func context(_ container: PersistentContainer) -> ManagedObjectContext {
    ManagedObjectContext(
      concurrencyType: .confinement, persistentStoreCoordinator: container.persistentStoreCoordinator)
  }

  @Test func blocksRunWhereTheyAreCalled() async throws {
    let context = context(try memoryContainer())
    let pilot = try context.insertNewObject(forEntityName: "Pilot")
    pilot.setValue("Amelia", forKey: "name")
    let ended = Locked(false)
    context.start { ended.withLock { $0 = true } }
    #expect(ended.withLock { $0 })
    #expect(await context.perform { 7 } == 7)
    try context.save()
    #expect(pilot.value(forKey: "name") as? String == "Amelia")
  }

  @Test func savesOfOthersAreSeenAfterAFetch() async throws {
    let container = try memoryContainer()
    let context = context(container)
    context.automaticallyMergesChangesFromParent = true
    let pilot = try context.insertNewObject(forEntityName: "Pilot")
    pilot.setValue("Amelia", forKey: "name")
    try context.save()
    let id = pilot.objectID
    try await container.performBackgroundTask { other in
      other.object(with: id).setValue("Earhart", forKey: "name")
      try other.save()
    }
    #expect(pilot.value(forKey: "name") as? String == "Amelia")
    #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Pilot")).first === pilot)
    #expect(pilot.value(forKey: "name") as? String == "Earhart")
  }

  @Test func aFetchBesideItIsRefused() throws {
    let context = context(try memoryContainer())
    #expect {
      try context.execute(AsynchronousFetchRequest(FetchRequest<ManagedObject>(entityName: "Pilot")))
    } throws: {
      ($0 as? CambiumError)?.code == .unsupported
    }
  }

  /// An object that belongs to no context has a number, which it keeps when it is inserted.
  @Test func newObjectsKeepTheirNumbers() throws {
    let container = try memoryContainer()
    let context = context(container)
    let entity = try #require(container.managedObjectModel.entitiesByName["Pilot"])
    let early = EarlyEntity(entity)
    let (first, second) = (
      ManagedObject(entity: early.twin, insertInto: nil), ManagedObject(entity: early.twin, insertInto: nil)
    )
    #expect(first.newNumber != second.newNumber && first.isNew)
    first.setValue("Amelia", forKey: "name")
    #expect(first.value(forKey: "name") as? String == "Amelia")
    let number = first.newNumber
    context.insert(first)
    #expect(first.objectID.number == number && !first.isNew && first.value(forKey: "name") as? String == "Amelia")
    second.takeOver(first)
    #expect(second.value(forKey: "name") == nil)
    try context.save()
    #expect(first.objectID.number != number)
  }
}

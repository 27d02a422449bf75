import CambiumTesting
import Foundation
import Testing

@testable import Cambium
@testable import CambiumNotifications

/// What contexts tell of objects that they give up or refresh, and of the generation that they read.
@Suite struct GivenUpObjectsTests {
  /// The last notification of a kind, and what is posted for it.
  private final class Last: Sendable {
    private let last = Locked<[ContextNotification]>([])
    // What is told is used on the context's queue only, on which the tests are.
    private let observation = Locked<ContextObservation?>(nil)

    init(_ context: ManagedObjectContext, _ kind: ContextNotification.Kind) {
      let last = last
      let made = context.observe { told in
        if told.kind == kind { last.withLock { $0 = [told] } }
      }
      observation.withLock { $0 = made }
    }

    func take() -> ContextNotification? { last.withLock { $0.popLast() } }
  }

  @Test func resettingTellsWhatIsGone() throws {
    let context = try memoryContainer().newBackgroundContext()
    try context.performAndWait {
      let stored = try context.make("Aircraft", ["tailNumber": "A"])
      let doomed = try context.make("Aircraft", ["tailNumber": "B"])
      try context.save()
      let changed = Last(context, .objectsDidChange)
      stored.setValue("C", forKey: "tailNumber")
      context.delete(doomed)
      let new = try context.make("Aircraft", ["tailNumber": "D"])
      let ids = Set([stored, doomed, new].map { $0.objectID })
      context.reset()
      let told = try #require(changed.take())
      #expect(told.isInvalidatedAll && told.invalidatedObjects == [stored, doomed, new])
      #expect(told.objectIDs.invalidatedObjectIDs == ids)
      #expect(told.insertedObjects.isEmpty && told.updatedObjects.isEmpty && told.refreshedObjects.isEmpty)
      let info = CambiumNotifications.objects(of: told)
      #expect(info["invalidated"] as? Set<ManagedObject> == [stored, doomed, new])
      #expect(info["invalidatedAll"] as? Bool == true && info.count == 2)
      #expect(CambiumNotifications.identifiers(of: told)["invalidated_objectIDs"] as? Set<ManagedObjectID> == ids)
      // Of an empty context nothing is gone.
      context.reset()
      let again = changed.take()
      #expect(again?.isInvalidatedAll == true && again?.invalidatedObjects.isEmpty == true)
    }
  }

  @Test func refreshingAllTellsWhatIsRefreshed() throws {
    let context = try memoryContainer().newBackgroundContext()
    try context.performAndWait {
      let stored = try context.make("Aircraft", ["tailNumber": "A"])
      try context.save()
      let new = try context.make("Aircraft", ["tailNumber": "B"])
      context.processPendingChanges()
      let changed = Last(context, .objectsDidChange)
      context.refreshAllObjects()
      #expect(changed.take() == nil)
      context.processPendingChanges()
      let told = try #require(changed.take())
      #expect(told.refreshedObjects == [stored] && told.invalidatedObjects.isEmpty && !told.isInvalidatedAll)
      #expect(CambiumNotifications.objects(of: told)["refreshed"] as? Set<ManagedObject> == [stored])
      withExtendedLifetime(new) {}
    }
  }

  @Test func generationsAreTold() throws {
    let container = try memoryContainer()
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    try context.performAndWait {
      let aircraft = try context.make("Aircraft", ["tailNumber": "A"])
      try context.save()
      let changed = Last(context, .objectsDidChange)
      let saved = Last(context, .didSave)
      func change(_ text: String) -> ContextNotification? {
        aircraft.setValue(text, forKey: "tailNumber")
        context.processPendingChanges()
        return changed.take()
      }
      #expect(change("B").map { $0.queryGeneration == nil } == true)
      try context.setQueryGenerationFrom(.current)
      // Not read since.
      #expect(change("C").map { $0.queryGeneration == nil } == true)
      _ = try context.all("Aircraft")
      let told = try #require(change("D"))
      let generation = try #require(told.queryGeneration)
      #expect(generation == context.queryGenerationToken)
      #expect(CambiumNotifications.objects(of: told)["queryGeneration"] as? QueryGenerationToken == generation)
      try context.save()
      let after = try #require(saved.take()?.queryGeneration)
      #expect(after != generation)
      // Who reads what the save has made finds that, and nothing later.
      context.performAndWait { aircraft.setValue("E", forKey: "tailNumber") }
      try context.save()
      try other.setQueryGenerationFrom(after)
      #expect(try other.all("Aircraft").map { $0.value(forKey: "tailNumber") as? String } == ["D"])
    }
  }
}

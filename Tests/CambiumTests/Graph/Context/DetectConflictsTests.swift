import Cambium
import Testing

/// Objects whose changes by others are a conflict though the context has not changed them.
@Suite struct DetectConflictsTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel { Entity("A") { Attribute("name", .string) } }
  }

  @Test(arguments: ["fetch", "refresh all", "merge", "nothing"]) func readingAgainDoesNotMatter(how: String) throws {
    for isChild in [false, true] {
      let container = try memoryContainer(model())
      let root = container.newBackgroundContext()
      let saved = try root.make("A", ["name": "a"])
      try root.save()
      let context =
        isChild
        ? ManagedObjectContext(concurrencyType: .privateQueue, parent: root) : container.newBackgroundContext()
      let watched = context.object(with: saved.objectID)
      #expect(watched.value(forKey: "name") as? String == "a")
      try context.detectConflicts(for: watched)
      saved.setValue("b", forKey: "name")
      try root.save()
      switch how {
      case "fetch": _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "A"))
      case "refresh all": context.refreshAllObjects()
      case "merge":
        var told = ObjectIDNotification()
        told.updatedObjectIDs = [saved.objectID]
        context.mergeChanges(fromContextDidSave: told)
      default: break
      }
      try context.make("A", ["name": "decided by the other's name"])
      let error = cambiumError { try context.save() }
      #expect(error?.conflicts.map(\.objectID) == [saved.objectID], "\(how), child: \(isChild)")
      // Who has refreshed the object itself knows its values.
      context.refresh(watched, mergeChanges: true)
      #expect(watched.value(forKey: "name") as? String == "b")
      try context.save()
    }
  }
}

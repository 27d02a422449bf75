import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Contexts that read from a parent and save into it.
@Suite struct ChildContextTests {
  private func contexts(
    _ depth: Int = 1
  ) throws -> (directory: TemporaryDirectory, root: ManagedObjectContext, levels: [ManagedObjectContext]) {
    let directory = try TemporaryDirectory()
    let root = try directory.container().newBackgroundContext()
    var levels: [ManagedObjectContext] = []
    for _ in 0..<depth {
      levels.append(ManagedObjectContext(concurrencyType: .privateQueue, parent: levels.last ?? root))
    }
    return (directory, root, levels)
  }

  private func tails(_ context: ManagedObjectContext, _ format: String? = nil) throws -> [String] {
    try context.all("Aircraft", format, sort: [FetchSortDescriptor(key: "tailNumber", ascending: true)])
      .map { try $0.get("tailNumber", as: String.self) ?? "-" }
  }

  /// What another context finds in the store.
  private func stored(_ context: ManagedObjectContext) throws -> [String] {
    let other = ManagedObjectContext(
      concurrencyType: .privateQueue, persistentStoreCoordinator: context.persistentStoreCoordinator)
    return try tails(other)
  }

  @Test func aChildSeesWhatTheParentHasNotSaved() throws {
    let (directory, root, levels) = try contexts(3)
    let child = levels[2]
    let kept = try root.make("Aircraft", ["tailNumber": "A", "engines": 1])
    let changed = try root.make("Aircraft", ["tailNumber": "B", "engines": 2])
    let gone = try root.make("Aircraft", ["tailNumber": "C"])
    try root.save()
    changed.setValue("B2", forKey: "tailNumber")
    root.delete(gone)
    let new = try root.make("Aircraft", ["tailNumber": "D", "engines": 4])
    let entry = try root.make("LogEntry", ["number": 1, "aircraft": new])
    #expect(try tails(child) == ["A", "B2", "D"])
    #expect(try tails(child, "engines > 1") == ["B2", "D"])
    #expect(try child.count(for: FetchRequest<ManagedObject>(entityName: "Aircraft")) == 3)
    #expect(try child.all("LogEntry", "aircraft.tailNumber == 'D'").count == 1)
    let aircraft = child.object(with: new.objectID)
    #expect(!aircraft.isInserted)
    #expect(aircraft.value(forKey: "engines") as? Int == 4)
    #expect((aircraft.value(forKey: "logEntries") as? Set<ManagedObject>)?.first?.objectID == entry.objectID)
    #expect(child.object(with: entry.objectID).value(forKey: "aircraft") as? ManagedObject === aircraft)
    // What it has of its parent's is all that an object has besides, and goes with it.
    #expect(aircraft.parentState != nil && aircraft.heldOverlay != nil)
    aircraft.setValue(9, forKey: "engines")
    child.rollback()
    #expect(aircraft.value(forKey: "engines") as? Int == 4 && aircraft.parentState != nil)
    child.refresh(aircraft, mergeChanges: false)
    #expect(aircraft.isFault && aircraft.parentState == nil && aircraft.heldOverlay == nil)
    #expect(aircraft.value(forKey: "engines") as? Int == 4)
    // Its own changes come on top.
    child.object(with: kept.objectID).setValue("A2", forKey: "tailNumber")
    child.delete(child.object(with: changed.objectID))
    try child.make("Aircraft", ["tailNumber": "E"])
    child.object(with: entry.objectID).setValue(child.object(with: kept.objectID), forKey: "aircraft")
    #expect(try tails(child) == ["A2", "D", "E"])
    #expect(try child.all("LogEntry", "aircraft.tailNumber == 'D'").isEmpty)
    #expect(try child.all("Aircraft", "ANY logEntries.number == 1").map(\.objectID) == [kept.objectID])
    let limited = FetchRequest<ManagedObject>(entityName: "Aircraft")
    limited.sortDescriptors = [FetchSortDescriptor(key: "tailNumber", ascending: false)]
    limited.fetchOffset = 1
    limited.fetchLimit = 1
    #expect(try child.fetch(limited).first?.get("tailNumber", as: String.self) == "D")
    #expect(try tails(root) == ["A", "B2", "D"])
    #expect(try stored(root) == ["A", "B", "C"])
    withExtendedLifetime(directory) {}
  }

  @Test func savesGoUpOneLevel() throws {
    let (directory, root, levels) = try contexts(3)
    let child = levels[2]
    let aircraft = try child.make("Aircraft", ["tailNumber": "A"])
    let entry = try child.make("LogEntry", ["number": 1, "aircraft": aircraft])
    let temporary = aircraft.objectID
    for (place, level) in levels.enumerated().reversed() {
      #expect(level.hasChanges)
      try level.save()
      #expect(!level.hasChanges)
      let upper = place == 0 ? root : levels[place - 1]
      #expect(upper.insertedObjects.count == 2)
      #expect(upper.insertedObjects.contains { $0.objectID == temporary })
      #expect(try tails(upper) == ["A"])
      #expect(try tails(child) == ["A"])
    }
    #expect(aircraft.objectID == temporary && aircraft.objectID.isTemporaryID)
    #expect(aircraft.value(forKey: "tailNumber") as? String == "A")
    #expect(try stored(root).isEmpty)
    // A change that is pending in the child when the identifiers change.
    let second = try child.make("LogEntry", ["number": 2, "aircraft": aircraft])
    try root.save()
    #expect(try stored(root) == ["A"])
    #expect(!aircraft.objectID.isTemporaryID && !entry.objectID.isTemporaryID)
    #expect(child.object(with: temporary) === aircraft)
    #expect(child.registeredObject(for: temporary) === aircraft)
    #expect(levels[1].object(with: temporary).objectID == aircraft.objectID)
    for level in levels.reversed() { try level.save() }
    try root.save()
    #expect(!second.objectID.isTemporaryID)
    let reopened = try directory.container().newBackgroundContext()
    let found = try reopened.all("Aircraft")
    #expect(try found.first?.count(ofRelationship: "logEntries") == 2)
    #expect(child.object(with: second.objectID).value(forKey: "aircraft") as? ManagedObject === aircraft)
    // And deletions, with what they take along.
    child.delete(aircraft)
    for level in levels.reversed() { try level.save() }
    #expect(root.deletedObjects.count == 3)
    try root.save()
    #expect(try stored(root).isEmpty)
    #expect(try child.all("LogEntry").isEmpty)
  }

  @Test func relationshipsOfAllKinds() throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    let pilot = try root.make("Pilot", ["name": "Amelia"])
    let other = try root.make("Pilot", ["name": "Bessie"])
    let titles = try ["A", "B", "C"].map { try root.make("Endorsement", ["title": $0]) }
    pilot.setValue(Array(titles[0...1]), forKey: "endorsements")
    let entries = try (0..<3).map { try root.make("LogEntry", ["number": $0]) }
    try root.save()
    // In the child: the list in another order, with one more; entries with both pilots; a licence that changes hands.
    let mine = child.object(with: pilot.objectID)
    let licence = try child.make("Licence", ["number": "7", "pilot": mine])
    mine.setValue([2, 0, 1].map { child.object(with: titles[$0].objectID) }, forKey: "endorsements")
    for entry in entries { try mine.add(child.object(with: entry.objectID), toRelationship: "logEntries") }
    try child.save()
    func list(_ pilot: ManagedObject) -> String {
      (pilot.value(forKey: "endorsements") as? [ManagedObject] ?? [])
        .map { $0.value(forKey: "title") as? String ?? "-" }.joined()
    }
    #expect(list(pilot) == "CAB")
    #expect(try pilot.count(ofRelationship: "logEntries") == 3)
    #expect((pilot.value(forKey: "licence") as? ManagedObject)?.objectID == licence.objectID)
    #expect(titles[2].value(forKey: "pilot") as? ManagedObject === pilot)
    // The parent goes on before the child does.
    licence.setValue(child.object(with: other.objectID), forKey: "pilot")
    try mine.remove(child.object(with: entries[0].objectID), fromRelationship: "logEntries")
    try other.add(entries[1], toRelationship: "logEntries")
    try child.save()
    #expect(pilot.value(forKey: "licence") == nil)
    #expect((other.value(forKey: "licence") as? ManagedObject)?.objectID == licence.objectID)
    #expect(try entries[1].count(ofRelationship: "pilots") == 2)
    #expect(try entries[0].count(ofRelationship: "pilots") == 0)
    try root.save()
    let reopened = try directory.container().newBackgroundContext()
    let found = try #require(try reopened.all("Pilot", "name == 'Amelia'").first)
    #expect(list(found) == "CAB")
    #expect(try found.count(ofRelationship: "logEntries") == 2)
  }

  @Test func siblingsInConflict() throws {
    for policy in [MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback] {
      let (directory, root, levels) = try contexts()
      let first = levels[0]
      let second = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
      let aircraft = try root.make("Aircraft", ["tailNumber": "A", "engines": 1, "aircraftType": "x"])
      try root.save()
      let (mine, theirs) = (first.object(with: aircraft.objectID), second.object(with: aircraft.objectID))
      mine.setValue("Mine", forKey: "tailNumber")
      mine.setValue(2, forKey: "engines")
      theirs.setValue("Theirs", forKey: "tailNumber")
      theirs.setValue("y", forKey: "aircraftType")
      try second.save()
      first.mergePolicy = policy
      let error = cambiumError { try first.save() }
      let state = ["tailNumber", "engines", "aircraftType"].map { "\(aircraft.value(forKey: $0) ?? "-")" }
      switch policy.mergeType {
      case .error:
        #expect(error?.code == .managedObjectMerge)
        #expect(error?.conflicts.map(\.objectID) == [aircraft.objectID])
        #expect(state == ["Theirs", "1", "y"])
        #expect(first.hasChanges)
        first.refresh(mine, mergeChanges: true)
        try first.save()
        #expect(aircraft.value(forKey: "tailNumber") as? String == "Mine")
      case .mergeByPropertyStoreTrump: #expect(state == ["Theirs", "2", "y"])
      case .mergeByPropertyObjectTrump: #expect(state == ["Mine", "2", "y"])
      case .overwrite: #expect(state == ["Mine", "2", "x"])
      case .rollback: #expect(state == ["Theirs", "1", "y"])
      }
      if policy != .error { #expect(error == nil) }
      #expect(mine.value(forKey: "tailNumber") as? String == aircraft.value(forKey: "tailNumber") as? String)
      // Deleted beside a change.
      theirs.setValue("Again", forKey: "aircraftType")
      second.mergePolicy = policy
      root.delete(aircraft)
      let late = cambiumError { try second.save() }
      #expect((late?.code == .managedObjectMerge) == (policy == .error))
      try root.save()
      #expect(try stored(root).isEmpty)
      withExtendedLifetime(directory) {}
    }
  }

  /// Keeps what the child has of engines, and what the parent has of everything else.
  private final class EnginesFirst: MergePolicy, @unchecked Sendable {
    override func resolve(optimisticLockingConflicts conflicts: [MergeConflict]) throws {
      for conflict in conflicts {
        let engines = conflict.objectSnapshot["engines"]
        #expect(conflict.persistedSnapshot?["tailNumber"] as? String == "Theirs")
        try MergePolicy.mergeByPropertyStoreTrump.resolve(optimisticLockingConflicts: [conflict])
        conflict.sourceObject.setValue(engines, forKey: "engines")
      }
    }
  }

  @Test func policiesOfOnesOwn() throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    child.mergePolicy = EnginesFirst(merge: .error)
    let aircraft = try root.make("Aircraft", ["tailNumber": "A", "engines": 1])
    try root.save()
    let mine = child.object(with: aircraft.objectID)
    mine.setValue("Mine", forKey: "tailNumber")
    mine.setValue(2, forKey: "engines")
    aircraft.setValue("Theirs", forKey: "tailNumber")
    aircraft.setValue(3, forKey: "engines")
    try child.save()
    #expect(!child.hasChanges)
    for object in [mine, aircraft] {
      #expect(object.value(forKey: "tailNumber") as? String == "Theirs")
      #expect(object.value(forKey: "engines") as? Int == 2)
    }
    withExtendedLifetime(directory) {}
  }

  @Test func aFailedSaveLeavesTheParentAlone() throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    let undo = ContextUndoManager()
    root.undoManager = undo
    try child.make("Aircraft", ["tailNumber": "A"])
    try child.make("Pilot", [:])
    #expect(cambiumError { try child.save() }?.code == .validationMissingMandatoryProperty)
    #expect(!root.hasChanges)
    for pilot in child.insertedObjects where pilot.entity.name == "Pilot" { pilot.setValue("P", forKey: "name") }
    try child.save()
    #expect(root.insertedObjects.count == 2)
    // What a child saved is one change of the parent, which can be undone there.
    root.undo()
    #expect(!root.hasChanges)
    #expect(try tails(child).isEmpty)
    root.redo()
    #expect(try tails(child) == ["A"])
    try root.save()
    #expect(try stored(root) == ["A"])
    withExtendedLifetime(directory) {}
  }

  @Test func theParentsChangesReachTheChild() async throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    let id = try root.performAndWait {
      let aircraft = try root.make("Aircraft", ["tailNumber": "A"])
      try root.save()
      return aircraft.objectID
    }
    child.retainsRegisteredObjects = true
    func tail() -> String? { child.performAndWait { child.object(with: id).value(forKey: "tailNumber") as? String } }
    func change(_ text: String) {
      root.performAndWait {
        root.object(with: id).setValue(text, forKey: "tailNumber")
        root.processPendingChanges()
      }
    }
    #expect(tail() == "A")
    change("B")
    #expect(tail() == "A")
    child.performAndWait { child.refresh(child.object(with: id), mergeChanges: true) }
    #expect(tail() == "B")
    child.automaticallyMergesChangesFromParent = true
    change("C")
    try await expect { tail() == "C" }
    // A sibling's save.
    let sibling = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
    try sibling.performAndWait {
      sibling.object(with: id).setValue("D", forKey: "tailNumber")
      try sibling.save()
    }
    try await expect { tail() == "D" }
    // Another context of the stores, first into the root.
    root.automaticallyMergesChangesFromParent = true
    try root.performAndWait { try root.save() }
    let other = ManagedObjectContext(
      concurrencyType: .privateQueue, persistentStoreCoordinator: root.persistentStoreCoordinator)
    try other.performAndWait {
      other.object(with: id).setValue("E", forKey: "tailNumber")
      try other.save()
    }
    try await expect { tail() == "E" }
    withExtendedLifetime(directory) {}
  }

  @Test func whatAParentRollsBackIsGoneInTheChild() async throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    child.automaticallyMergesChangesFromParent = true
    child.retainsRegisteredObjects = true
    let id = try root.performAndWait { try root.make("Aircraft", ["tailNumber": "A"]).objectID }
    func tail() -> String? { child.performAndWait { child.object(with: id).value(forKey: "tailNumber") as? String } }
    #expect(tail() == "A")
    root.performAndWait { root.rollback() }
    try await expect { tail() == nil }
    #expect(try child.performAndWait { try tails(child) }.isEmpty)
    withExtendedLifetime(directory) {}
  }

  /// Waits for something that happens in its own time.
  private func expect(_ condition: () -> Bool) async throws {
    for _ in 0..<2000 where !condition() { try await Task.sleep(for: .milliseconds(5)) }
    #expect(condition())
  }

  @Test func resultsAndBatchesOfAChild() throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    for number in 0..<10 { try root.make("LogEntry", ["number": number]) }
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.sortDescriptors = [FetchSortDescriptor(key: "number", ascending: true)]
    request.fetchBatchSize = 3
    let batches = try child.fetchBatches(request)
    #expect(try (0..<batches.count).map { try batches[$0].get("number", as: Int.self) } == Array(0..<10))
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: child)
    try controller.performFetch()
    let upper = FetchedResultsController(fetchRequest: request, managedObjectContext: root)
    try upper.performFetch()
    // With the turn of the context, because its queue may be taking in what another context saved.
    func numbers(_ controller: FetchedResultsController<ManagedObject>) -> [Int] {
      controller.managedObjectContext.performAndWait {
        (controller.fetchedObjects ?? []).map { $0.value(forKey: "number") as? Int ?? -1 }
      }
    }
    try child.make("LogEntry", ["number": 20])
    child.delete(batches.objectIDs.first.map { child.object(with: $0) } ?? ManagedObject(context: child))
    try child.save()
    #expect(numbers(controller) == Array(1..<10) + [20])
    #expect(numbers(upper) == Array(1..<10) + [20])
    try root.save()
    #expect(numbers(controller) == Array(1..<10) + [20])
    withExtendedLifetime(directory) {}
  }

  @Test func undoInAChild() throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    child.undoManager = ContextUndoManager()
    let aircraft = try child.make("Aircraft", ["tailNumber": "A"])
    try child.make("LogEntry", ["number": 1, "aircraft": aircraft])
    try child.save()
    child.delete(aircraft)
    try child.save()
    #expect(try tails(root).isEmpty)
    child.undo()
    #expect(try tails(child) == ["A"])
    try child.save()
    try root.save()
    #expect(try stored(root) == ["A"])
    #expect(try root.all("LogEntry", "aircraft.tailNumber == 'A'").count == 1)
    child.undo()
    try child.save()
    try root.save()
    #expect(try stored(root).isEmpty)
    withExtendedLifetime(directory) {}
  }

  @Test func threads() async throws {
    let (directory, root, levels) = try contexts(2)
    let count = 40
    let children = levels + [ManagedObjectContext(concurrencyType: .privateQueue, parent: root)]
    for child in children { child.mergePolicy = .mergeByPropertyObjectTrump }
    await withTaskGroup(of: Void.self) { group in
      for (place, child) in children.enumerated() {
        group.addTask {
          for number in 0..<count {
            await child.perform {
              do {
                let aircraft = try child.make("Aircraft", ["tailNumber": "\(place)-\(number)"])
                try child.make("LogEntry", ["number": number, "aircraft": aircraft])
                _ = try child.all("Aircraft", "logEntries.@count > 0").count
                try child.save()
              } catch { Issue.record(error) }
            }
          }
        }
      }
      group.addTask {
        for _ in 0..<count {
          await root.perform {
            do { try root.save() } catch { Issue.record(error) }
          }
          await Task.yield()
        }
      }
    }
    for child in levels.reversed() { try await child.perform { try child.save() } }
    let found = try await root.perform {
      try root.save()
      return try stored(root).count
    }
    #expect(found == count * children.count)
    for child in children {
      try await child.perform {
        let all = try child.all("Aircraft")
        #expect(Set(all).count == count * children.count)
        for aircraft in all {
          #expect(!aircraft.objectID.isTemporaryID)
          let entries = try aircraft.count(ofRelationship: "logEntries")
          #expect(entries == 1)
        }
      }
    }
    withExtendedLifetime(directory) {}
  }

  // MARK: Identifiers and the rest

  @Test func permanentIdentifiers() throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    let aircraft = try child.make("Aircraft", ["tailNumber": "A"])
    try child.save()
    let entry = try child.make("LogEntry", ["number": 1, "aircraft": aircraft])
    try child.obtainPermanentIDs(for: [aircraft, entry])
    #expect(!aircraft.objectID.isTemporaryID && !entry.objectID.isTemporaryID)
    #expect(root.insertedObjects.map(\.objectID) == [aircraft.objectID])
    #expect(entry.isInserted)
    let ids = [aircraft.objectID, entry.objectID]
    #expect(try child.all("LogEntry", "aircraft.tailNumber == 'A'").count == 1)
    try child.save()
    try root.save()
    #expect([aircraft.objectID, entry.objectID] == ids)
    let reopened = try directory.container().newBackgroundContext()
    let id = reopened.persistentStoreCoordinator.managedObjectID(forURIRepresentation: ids[1].uriRepresentation())
    let found = try reopened.existingObject(with: try #require(id))
    #expect(found.value(forKeyPath: "aircraft.tailNumber") as? String == "A")
    // One that is never saved leaves nothing.
    let lost = try root.make("Aircraft", ["tailNumber": "B"])
    try root.obtainPermanentIDs(for: [lost])
    root.rollback()
    try root.make("Aircraft", ["tailNumber": "C"])
    try root.save()
    #expect(try stored(root) == ["A", "C"])
    #expect(
      cambiumError { _ = try root.existingObject(with: lost.objectID) }?.code == .managedObjectReferentialIntegrity)
  }

  @Test func watchedObjects() throws {
    let (directory, root, levels) = try contexts()
    let child = levels[0]
    let aircraft = try root.make("Aircraft", ["tailNumber": "A"])
    try root.save()
    let other = ManagedObjectContext(
      concurrencyType: .privateQueue, persistentStoreCoordinator: root.persistentStoreCoordinator)
    func change() throws {
      other.refreshAllObjects()
      other.object(with: aircraft.objectID).setValue(UUID().uuidString, forKey: "tailNumber")
      try other.save()
    }
    try root.detectConflicts(for: aircraft)
    try root.make("Aircraft", ["tailNumber": "B"])
    try change()
    #expect(cambiumError { try root.save() }?.conflicts.map(\.objectID) == [aircraft.objectID])
    root.refresh(aircraft, mergeChanges: true)
    try root.save()
    // Once saved, it is not watched any more.
    try change()
    try root.make("Aircraft", ["tailNumber": "C"])
    try root.save()
    root.refreshAllObjects()
    try child.detectConflicts(for: child.object(with: aircraft.objectID))
    try child.make("Aircraft", ["tailNumber": "D"])
    aircraft.setValue("Changed", forKey: "tailNumber")
    #expect(cambiumError { try child.save() }?.code == .managedObjectMerge)
    withExtendedLifetime(directory) {}
  }

  @Test func faultsWithoutRows() throws {
    let (directory, root, _) = try contexts()
    let aircraft = try root.make("Aircraft", ["tailNumber": "A"])
    try root.save()
    #expect(aircraft.hasFault(forRelationshipNamed: "logEntries"))
    #expect(!aircraft.hasPersistentChangedValues)
    let other = ManagedObjectContext(
      concurrencyType: .privateQueue, persistentStoreCoordinator: root.persistentStoreCoordinator)
    other.delete(other.object(with: aircraft.objectID))
    try other.save()
    for deletes in [false, true] {
      root.reset()
      root.shouldDeleteInaccessibleFaults = deletes
      let fault = root.object(with: aircraft.objectID)
      #expect(!fault.isDeleted)
      #expect(fault.value(forKey: "tailNumber") == nil)
      #expect(fault.isDeleted == deletes)
      #expect(root.recordedErrors.isEmpty == deletes)
      #expect(!root.hasChanges)
    }
    withExtendedLifetime(directory) {}
  }

  @Test func storesOfOnesChoice() throws {
    let directory = try TemporaryDirectory()
    let container = PersistentContainer(name: "two", managedObjectModel: try FlightModel.make())
    container.persistentStoreDescriptions = ["one", "two"].map {
      PersistentStoreDescription(url: directory.url.appendingPathComponent($0))
    }
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let stores = container.persistentStoreCoordinator.persistentStores
    let first = try context.make("Aircraft", ["tailNumber": "1"])
    let second = try context.make("Aircraft", ["tailNumber": "2"])
    context.assign(second, to: stores[1])
    let entry = try context.make("LogEntry", ["aircraft": first])
    context.assign(entry, to: stores[1])
    #expect(cambiumError { try context.save() }?.code == .invalidArgument)
    try context.save()
    #expect([first, second].map(\.objectID.storeIdentifier) == stores.map(\.identifier))
    context.assign(first, to: stores[1])
    #expect(context.recordedErrors.last?.code == .invalidArgument)
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    request.affectedStores = [stores[1]]
    #expect(try context.fetch(request).map { try $0.get("tailNumber", as: String.self) } == ["2"])
  }

  @Test func objectsAreKept() throws {
    let (directory, root, _) = try contexts()
    try root.make("Aircraft", ["tailNumber": "A"])
    try root.save()
    #expect(root.registeredObjects.isEmpty)
    root.retainsRegisteredObjects = true
    _ = try root.all("Aircraft")
    #expect(root.registeredObjects.count == 1)
    root.reset()
    #expect(root.registeredObjects.isEmpty)
    withExtendedLifetime(directory) {}
  }
}

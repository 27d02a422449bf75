import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Results follow what is not saved yet, and a save tells nothing twice.
@Suite struct PendingResultsTests {
  private static func model(hasDerived: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Item") {
        Attribute("text", .string)
        Attribute("number", .integer64, optional: false, default: 0)
        Attribute("group", .string)
        if hasDerived { Attribute("upper", .string, derived: "uppercase:(text)") }
        ToOne("box", "Box", inverse: "items")
      }
      Entity("Box") {
        Attribute("name", .string)
        ToMany("items", "Item", inverse: "box")
      }
    }
  }

  private func request(_ format: String? = nil, sort: String = "number") throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = try format.map { try FetchPredicate(format: $0) }
    request.sortDescriptors = [FetchSortDescriptor(key: sort)]
    return request
  }

  private func numbers(_ controller: FetchedResultsController<ManagedObject>) -> [Int] {
    (controller.fetchedObjects ?? []).map { $0.value(forKey: "number") as? Int ?? -1 }
  }

  @Test func eventsAreFollowedAndSavesTellNothingTwice() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    try context.performAndWait {
      let items = try (0..<4).map { try context.make("Item", ["number": $0 * 10, "group": $0 < 2 ? "a" : "b"]) }
      try context.save()
      let (controller, told) = try context.controller(try request("number < 100"), sections: "group")
      // Nothing before the event ends.
      let new = try context.make("Item", ["number": 5, "group": "a"])
      #expect(told.take() == [])
      context.processPendingChanges()
      #expect(told.take() == ["insert - 0.1"])
      #expect(numbers(controller) == [0, 5, 10, 20, 30])
      try items[0].set("changed", forKey: "text")
      context.processPendingChanges()
      #expect(told.take() == ["update 0.0 0.0"])
      try items[3].set(15, forKey: "number")
      context.processPendingChanges()
      #expect(told.take() == ["move 1.1 1.0"])
      try items[2].set("a", forKey: "group")
      try new.set(7, forKey: "number")
      context.processPendingChanges()
      #expect(told.take() == ["update 0.1 0.1", "move 1.1 0.3"])
      try items[3].set("c", forKey: "group")
      context.processPendingChanges()
      #expect(told.take() == ["section 1 delete b", "section 1 insert c", "move 1.0 1.0"])
      context.delete(items[1])
      context.processPendingChanges()
      #expect(told.take() == ["delete 0.2 -"])
      try items[0].set(100, forKey: "number")
      context.processPendingChanges()
      #expect(told.take() == ["delete 0.0 -"])
      let before = controller.sections.map { $0.objects }
      try context.save()
      #expect(told.take() == [])
      #expect(controller.sections.map { $0.objects } == before)
      #expect(try controller.fetchedObjects.map { Set($0) } == Set(context.fetch(controller.fetchRequest)))
      // A save ends the event, which is told once.
      try new.set("once", forKey: "text")
      try context.save()
      #expect(told.take() == ["update 0.0 0.0"])
      context.processPendingChanges()
      try context.save()
      #expect(told.take() == [])
      // What is changed and changed back is nothing to a save.
      for text in ["twice", "once"] {
        try new.set(text, forKey: "text")
        context.processPendingChanges()
        #expect(told.take() == ["update 0.0 0.0"])
      }
      try context.save()
      #expect(told.take() == [])
      #expect(context.recordedErrors.isEmpty)
    }
  }

  @Test func undoAndRollback() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    try context.performAndWait {
      let items = try (0..<3).map { try context.make("Item", ["number": $0 * 10]) }
      try context.save()
      context.undoManager = ContextUndoManager()
      let (controller, told) = try context.controller(try request())
      try items[0].set(50, forKey: "number")
      context.processPendingChanges()
      #expect(told.take() == ["move 0.0 0.2"])
      context.undoManager?.undo()
      #expect(told.take() == ["move 0.2 0.0"])
      context.undoManager?.redo()
      #expect(told.take() == ["move 0.0 0.2"])
      context.delete(items[1])
      try context.make("Item", ["number": 1])
      context.processPendingChanges()
      #expect(told.take() == ["delete 0.0 -", "insert - 0.0"])
      #expect(numbers(controller) == [1, 20, 50])
      context.rollback()
      #expect(told.take() == ["delete 0.0 -", "move 0.2 0.0", "insert - 0.1"])
      #expect(told.take() == [] && numbers(controller) == [0, 10, 20])
      // What is refreshed is told if it shows something else by that.
      try items[2].set("dropped", forKey: "text")
      context.processPendingChanges()
      context.refresh(items[2], mergeChanges: false)
      context.refresh(items[1], mergeChanges: false)
      context.processPendingChanges()
      #expect(told.take() == ["update 0.2 0.2", "update 0.2 0.2"])
    }
  }

  /// What a save does itself is told by the save.
  @Test func whatSavesChange() throws {
    let container = try memoryContainer(Self.model(hasDerived: true))
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    try context.performAndWait {
      let items = try (0..<3).map { try context.make("Item", ["number": $0 * 10, "text": "\($0)"]) }
      try context.save()
      let (controller, told) = try context.controller(try request("number < 100"))
      let (byDerived, derivedTold) = try context.controller(try request(sort: "upper"))
      try items[0].set("z", forKey: "text")
      context.processPendingChanges()
      #expect(told.take() == ["update 0.0 0.0"])
      #expect(derivedTold.take() == ["update 0.0 0.0"])
      try context.save()
      // The derived value is another one now.
      #expect(told.take() == ["update 0.0 0.0"])
      // A new object that has nothing to derive from does not change.
      try context.make("Item", ["number": 99])
      try context.save()
      #expect(told.take() == ["insert - 0.3"])
      #expect(derivedTold.take() == ["move 0.0 0.2", "insert - 0.0"])
      context.delete(try #require(controller.fetchedObjects?.last))
      try context.save()
      #expect(told.take() == ["delete 0.3 -"] && derivedTold.take() == ["delete 0.0 -"])
      #expect(byDerived.fetchedObjects?.last === items[0])

      func changeElsewhere(_ object: ManagedObject, _ number: Int) throws {
        try other.performAndWait {
          try other.existingObject(with: object.objectID).set(number, forKey: "number")
          try other.save()
        }
      }
      // Others' value of another property comes with the save that merges it.
      context.mergePolicy = .mergeByPropertyObjectTrump
      try items[1].set("mine", forKey: "text")
      context.processPendingChanges()
      #expect(told.take() == ["update 0.1 0.1"])
      try changeElsewhere(items[1], 1)
      try context.save()
      #expect(told.take() == ["update 0.1 0.1"] && numbers(controller) == [0, 1, 20])
      // A change that the policy gives up is taken back.
      context.mergePolicy = .rollback
      try items[2].set(200, forKey: "number")
      context.processPendingChanges()
      #expect(told.take() == ["delete 0.2 -"])
      try changeElsewhere(items[2], 30)
      try context.save()
      #expect(told.take() == ["insert - 0.2"] && numbers(controller) == [0, 1, 30])
      controller.processPendingChanges()
      #expect(told.take() == [])
    }
  }

  @Test func requestsWithoutPendingChanges() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    try context.performAndWait {
      try context.make("Item", ["number": 1])
      try context.save()
      let request = try request()
      request.includesPendingChanges = false
      let (controller, told) = try context.controller(request)
      try context.make("Item", ["number": 0])
      context.processPendingChanges()
      #expect(told.take() == [] && numbers(controller) == [1])
      try context.save()
      #expect(told.take() == ["insert - 0.0"] && numbers(controller) == [0, 1])
    }
  }

  /// What others save is told once, however it comes into the context.
  @Test(arguments: [false, true]) func merging(automatically: Bool) async throws {
    let container = try memoryContainer(Self.model())
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    context.automaticallyMergesChangesFromParent = automatically
    let (controller, told) = try context.performAndWait {
      for number in 0..<3 { try context.make("Item", ["number": number * 10]) }
      try context.save()
      return try context.controller(try request())
    }
    try other.performAndWait {
      let items = try other.all("Item", sort: [FetchSortDescriptor(key: "number")])
      try items[1].set("elsewhere", forKey: "text")
      other.delete(items[2])
      try other.make("Item", ["number": 5])
      try other.save()
    }
    // Behind what the save has started.
    for _ in 0..<3 { await withCheckedContinuation { next in context.perform { next.resume() } } }
    context.performAndWait {
      context.processPendingChanges()
      controller.processPendingChanges()
      #expect(told.take() == ["delete 0.2 -", "insert - 0.1", "update 0.1 0.2"])
      #expect(numbers(controller) == [0, 5, 10])
    }
  }

  @Test func children() throws {
    let parent = try memoryContainer(Self.model()).newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    for number in 0..<2 { try parent.make("Item", ["number": number * 10]) }
    try parent.save()
    let (ofParent, parentTold) = try parent.controller(try request())
    let (ofChild, childTold) = try child.controller(try request())
    let item = try #require(ofChild.fetchedObjects?.first)
    try item.set(15, forKey: "number")
    let new = try child.make("Item", ["number": 3])
    child.processPendingChanges()
    #expect(childTold.take() == ["insert - 0.0", "move 0.0 0.2"] && parentTold.take() == [])
    try child.save()
    #expect(childTold.take() == [])
    #expect(parentTold.take() == ["insert - 0.0", "move 0.0 0.2"])
    #expect(numbers(ofParent) == [3, 10, 15] && numbers(ofChild) == [3, 10, 15])
    try new.set("again", forKey: "text")
    try child.save()
    #expect(childTold.take() == ["update 0.0 0.0"] && parentTold.take() == ["update 0.0 0.0"])
    try parent.save()
    #expect(parentTold.take() == [])
  }

  /// A delegate may change objects while it is told, which is told behind that.
  @Test func changesByTheDelegate() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let (controller, told) = try context.controller(try request())
    told.afterwards = { [unowned context] in
      guard context.insertedObjects.count < 3 else { return }
      _ = try? context.make("Item", ["number": 10 - context.insertedObjects.count])
      context.processPendingChanges()
    }
    try context.make("Item", ["number": 10])
    context.processPendingChanges()
    #expect(told.take() == ["section 0 insert ", "insert - 0.0", "insert - 0.0", "insert - 0.0"])
    #expect(numbers(controller) == [8, 9, 10])
    told.afterwards = nil
    try context.save()
    #expect(told.take() == [])
    #expect(context.recordedErrors.isEmpty)
  }

  /// An event costs what it has changed, and a request with a limit is fetched when something of its entity was
  /// changed.
  @Test func otherObjectsAreNotLookedAt() throws {
    let container = try memoryContainer(Self.model())
    let context = container.newBackgroundContext()
    let items = try (0..<500).map { try context.make("Item", ["number": $0, "text": "\($0 + 1000)"]) }
    try context.save()
    let comparisons = Locked(0)
    let request = try request()
    request.sortDescriptors = [
      FetchSortDescriptor(
        key: "text",
        comparator: FetchSortComparator(name: "counted") { a, b in
          comparisons.withLock { $0 += 1 }
          return a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
        })
    ]
    let (all, told) = try context.controller(request)
    defer { withExtendedLifetime(all) {} }
    let limited = try self.request()
    limited.fetchLimit = 5
    let (ofFirst, firstTold) = try context.controller(limited)
    let fetches = Locked(0)
    container.persistentStoreCoordinator.setEventHandler { event in
      if case (.fetch, .begin) = (event.activity, event.phase) { fetches.withLock { $0 += 1 } }
    }
    comparisons.withLock { $0 = 0 }
    try items[250].set(1000, forKey: "number")
    context.processPendingChanges()
    #expect(told.take() == ["update 0.250 0.250"])
    #expect(comparisons.withLock { $0 } <= 1)
    try items[250].set("1100x", forKey: "text")
    context.processPendingChanges()
    #expect(told.take() == ["move 0.250 0.101"])
    #expect(2...30 ~= comparisons.withLock { $0 })
    #expect(fetches.withLock { $0 } == 2, "of the first five alone")
    try context.make("Box", ["name": "none"])
    context.processPendingChanges()
    #expect(fetches.withLock { $0 } == 2)
    #expect(firstTold.take() == [])
    try items[2].set(3000, forKey: "number")
    context.processPendingChanges()
    #expect(firstTold.take() == ["delete 0.2 -", "insert - 0.4"] && numbers(ofFirst) == [0, 1, 3, 4, 5])
  }

  /// What a predicate through relationships looks at may be changed elsewhere.
  @Test func predicatesThroughRelationships() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let box = try context.make("Box", ["name": "a"])
    try context.make("Item", ["number": 1, "box": box])
    try context.make("Item", ["number": 2])
    try context.save()
    let (controller, told) = try context.controller(try request("box.name == 'a'"))
    #expect(numbers(controller) == [1])
    try box.set("b", forKey: "name")
    context.processPendingChanges()
    #expect(told.take() == ["section 0 delete ", "delete 0.0 -"])
    try box.set("a", forKey: "name")
    context.processPendingChanges()
    #expect(told.take() == ["section 0 insert ", "insert - 0.0"])
    try context.save()
    #expect(told.take() == [])
  }

  /// What is changed of the request counts from the next fetch on.
  @Test func requestsThatAreChanged() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let items = try (0..<3).map { try context.make("Item", ["number": $0 * 10, "text": "\(9 - $0)"]) }
    try context.save()
    let (controller, told) = try context.controller(try request())
    controller.fetchRequest.sortDescriptors = [FetchSortDescriptor(key: "text"), FetchSortDescriptor(key: "number")]
    controller.fetchRequest.predicate = try FetchPredicate(format: "number > 0")
    try items[0].set("changed", forKey: "group")
    context.processPendingChanges()
    #expect(told.take() == ["update 0.0 0.0"])
    try items[0].set(15, forKey: "number")
    try context.make("Item", ["number": -1])
    try context.save()
    #expect(told.take() == ["insert - 0.0", "move 0.0 0.2"] && numbers(controller) == [-1, 10, 15, 20])
    try controller.performFetch()
    #expect(numbers(controller) == [20, 10, 15])
    // A fetch that throws leaves what there was, and how it is ordered.
    controller.fetchRequest.sortDescriptors = [FetchSortDescriptor(key: "nothing")]
    #expect(throws: CambiumError.self) { try controller.performFetch() }
    try items[1].set("0", forKey: "text")
    context.processPendingChanges()
    #expect(told.take() == ["move 0.1 0.0"] && numbers(controller) == [10, 20, 15])
    #expect(context.recordedErrors.isEmpty)
  }

  /// A rollback in the event in which something was done that was to be told.
  @Test func rollbackWithinAnEvent() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    try context.performAndWait {
      let item = try context.make("Item", ["number": 1])
      try context.save()
      let (controller, told) = try context.controller(try request())
      let limited = try request()
      limited.fetchLimit = 5
      let (ofFirst, firstTold) = try context.controller(limited)
      let new = try context.make("Item", ["number": 0])
      context.processPendingChanges()
      #expect(told.take() == ["insert - 0.0"] && firstTold.take() == ["insert - 0.0"])
      context.delete(new)
      context.rollback()
      #expect(told.take() == ["delete 0.0 -"] && numbers(controller) == [1])
      #expect(firstTold.take() == ["delete 0.0 -"] && numbers(ofFirst) == [1])
      // What a refresh has dropped is not of the rollback any more.
      try item.set("dropped", forKey: "text")
      context.processPendingChanges()
      _ = (told.take(), firstTold.take())
      let refreshed = Locked(0)
      let observation = context.observe { notification in
        let count = notification.refreshedObjects.count
        refreshed.withLock { $0 += count }
      }
      context.refresh(item, mergeChanges: false)
      context.rollback()
      #expect(told.take() == ["update 0.0 0.0"] && firstTold.take() == ["update 0.0 0.0"])
      #expect(refreshed.withLock { $0 } == 1)
      // A reset tells nothing of what was refreshed.
      context.refresh(item, mergeChanges: false)
      context.reset()
      context.processPendingChanges()
      #expect(refreshed.withLock { $0 } == 1)
      withExtendedLifetime(observation) {}
      #expect(context.recordedErrors.isEmpty)
    }
  }

  /// A change that is there before the fetch is new to one who follows saves only.
  @Test func updatesWithoutPendingChanges() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    try context.performAndWait {
      let item = try context.make("Item", ["number": 1])
      try context.save()
      try item.set("begun", forKey: "text")
      context.processPendingChanges()
      let request = try request()
      request.includesPendingChanges = false
      let (controller, told) = try context.controller(request)
      try item.set("changed", forKey: "text")
      context.processPendingChanges()
      #expect(told.take() == [])
      try context.save()
      #expect(told.take() == ["update 0.0 0.0"] && numbers(controller) == [1])
      try context.save()
      #expect(told.take() == [])
    }
  }

  /// A context that merges what others save does not make their events and saves build what nobody hears of.
  @Test func whatNobodyFollowsIsNotNoted() throws {
    let container = try memoryContainer(Self.model(hasDerived: true))
    let (merging, context) = (container.newBackgroundContext(), container.newBackgroundContext())
    merging.automaticallyMergesChangesFromParent = true
    let listener = Listener()
    container.persistentStoreCoordinator.saveObservers.add(listener)
    try context.performAndWait {
      let item = try context.make("Item", ["text": "a"])
      // Other tests may observe all contexts of the process meanwhile.
      let isObserved = context.isObserved
      context.processPendingChanges()
      #expect(listener.events == [] || isObserved || context.isObserved)
      try context.save()
      try item.set("b", forKey: "text")
      let noted = Locked([Int]())
      let observation = context.observe { [unowned context] notification in
        if notification.kind == .didSave { noted.withLock { $0.append(context.events.changedBySaving.count) } }
      }
      try context.save()
      listener.followed = context
      try item.set("c", forKey: "text")
      try context.save()
      withExtendedLifetime(observation) {}
      #expect(noted.withLock { $0 } == [0, 1])
      try item.set("d", forKey: "text")
      context.processPendingChanges()
      #expect(listener.events.last == 1)
    }
  }

  /// What the first controller has read of the save, the others have.
  @Test func savedRowsAreReadOnce() throws {
    let context = try memoryContainer(Self.model(hasDerived: true)).newBackgroundContext()
    try context.performAndWait {
      let item = try context.make("Item", ["number": 1, "text": "a"])
      try context.save()
      let (first, firstTold) = try context.controller(try request())
      let (second, secondTold) = try context.controller(try request())
      try item.set("b", forKey: "text")
      context.processPendingChanges()
      #expect(firstTold.take() == ["update 0.0 0.0"] && secondTold.take() == ["update 0.0 0.0"])
      // Is gone when the row is given up.
      firstTold.afterwards = { item.fetchedValues["first"] = [] }
      try context.save()
      #expect(firstTold.take() == ["update 0.0 0.0"] && secondTold.take() == ["update 0.0 0.0"])
      #expect(item.fetchedValues["first"] != nil)
      #expect(item.value(forKey: "upper") as? String == "B")
      withExtendedLifetime((first, second)) {}
    }
  }

  /// Of what others have deleted, no object is made.
  @Test func deletionsAreNotLookedFor() throws {
    let container = try memoryContainer(Self.model())
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let items = try other.performAndWait {
      let items = try (0..<3).map { try other.make("Item", ["number": $0]) }
      try other.save()
      return items
    }
    let ids = items.map { $0.objectID }
    let (controller, told) = try context.performAndWait {
      context.retainsRegisteredObjects = true
      return try context.controller(try request("number > 1"))
    }
    try other.performAndWait {
      for item in items { other.delete(item) }
      try other.save()
    }
    context.performAndWait {
      controller.processPendingChanges()
      #expect(told.take() == ["section 0 delete ", "delete 0.0 -"] && numbers(controller) == [])
      #expect(ids.prefix(2).allSatisfy { context.registered($0) == nil })
    }
  }

  /// What waits to be taken in when a fetch throws is taken in afterwards.
  @Test func fetchesThatThrowLoseNothing() throws {
    let container = try memoryContainer(Self.model())
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    try context.performAndWait {
      let (controller, told) = try context.controller(try request())
      try other.performAndWait {
        try other.make("Item", ["number": 1])
        try other.save()
      }
      controller.fetchRequest.sortDescriptors = [FetchSortDescriptor(key: "nothing")]
      #expect(throws: CambiumError.self) { try controller.performFetch() }
      controller.processPendingChanges()
      #expect(told.take() == ["section 0 insert ", "insert - 0.0"] && numbers(controller) == [1])
    }
  }

  @Test func titlesOfSections() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    for group in ["apple", "avocado", nil, "beet"] { try context.make("Item", ["group": group]) }
    try context.save()
    let (controller, told) = try context.controller(try request(sort: "group"), sections: "group")
    #expect(controller.sections.map { $0.name } == ["", "apple", "avocado", "beet"])
    #expect(controller.sections.map { $0.indexTitle } == [nil, "A", "A", "B"])
    #expect(controller.sectionIndexTitles == ["A", "A", "B"])
    #expect(controller.section(forSectionIndexTitle: "A", at: 1) == 2)
    #expect(controller.section(forSectionIndexTitle: "B", at: 2) == 3)
    for (title, index) in [("A", 2), ("B", 3), ("C", 0), ("A", -1), ("", 0)] {
      #expect(controller.section(forSectionIndexTitle: title, at: index) == nil)
    }
    told.title = { $0.isEmpty ? "#" : String($0.prefix(2)) }
    #expect(controller.sectionIndexTitles == ["#", "ap", "av", "be"])
    #expect(controller.section(forSectionIndexTitle: "av", at: 2) == 2)
  }
}

/// Notes how many objects each event has changed that it is told of.
private final class Listener: SaveObserver, @unchecked Sendable {
  // `@unchecked`: one thread's.
  var followed: ManagedObjectContext?
  var events: [Int] = []

  func follows(_ context: ManagedObjectContext) -> Bool { context === followed }
  func hear(_ news: ContextNews, of context: ManagedObjectContext) {
    if case .ended(let list) = news { events.append(list.changes.count) }
  }
}

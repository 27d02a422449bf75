import CambiumTesting
import Foundation
import Synchronization
import Testing

@testable import Cambium

/// Undo and redo of changes, insertions and deletions with their relationships, beside saves.
@Suite struct UndoTests {
  private func context() throws -> (TemporaryDirectory, ManagedObjectContext) {
    let directory = try TemporaryDirectory()
    let context = try directory.container().newBackgroundContext()
    context.undoManager = ContextUndoManager()
    return (directory, context)
  }

  /// What another context finds in the store: the tail numbers, and the numbers of the entries of each aircraft.
  private func stored(_ context: ManagedObjectContext) throws -> [String: [Int]] {
    let other = ManagedObjectContext(
      concurrencyType: .privateQueue, persistentStoreCoordinator: context.persistentStoreCoordinator)
    return try other.performAndWait { try fleet(other) }
  }

  private func fleet(_ context: ManagedObjectContext) throws -> [String: [Int]] {
    var result: [String: [Int]] = [:]
    for aircraft in try context.all("Aircraft") {
      let entries = try aircraft.get("logEntries") as? Set<ManagedObject> ?? []
      result[try aircraft.get("tailNumber", as: String.self) ?? "-"] = try entries.map { entry in
        let back = try entry.get("aircraft") as? ManagedObject
        #expect(back === aircraft)
        return try entry.get("number", as: Int.self) ?? -1
      }.sorted()
    }
    return result
  }

  @Test func values() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let aircraft = try context.make("Aircraft", ["tailNumber": "N1", "colorScheme": ["primary": "white"]])
      try context.save()
      aircraft.setValue("N2", forKey: "tailNumber")
      context.processPendingChanges()
      aircraft.setValue("blue", forKeyPath: "colorScheme.primary")
      aircraft.setValue("N3", forKey: "tailNumber")
      context.undo()
      #expect(aircraft.value(forKey: "tailNumber") as? String == "N2")
      #expect(aircraft.value(forKeyPath: "colorScheme.primary") as? String == "white")
      context.undo()
      #expect(aircraft.value(forKey: "tailNumber") as? String == "N1")
      #expect(!context.hasChanges)
      #expect(!aircraft.hasChanges)
      context.redo()
      context.redo()
      context.redo()
      #expect(aircraft.value(forKey: "tailNumber") as? String == "N3")
      #expect(aircraft.value(forKeyPath: "colorScheme.primary") as? String == "blue")
      try context.save()
      #expect(try stored(context) == ["N3": []])
      // What was saved can be undone, which is a change.
      context.undo()
      #expect(context.hasChanges)
      try context.save()
      #expect(try stored(context) == ["N2": []])
      context.undo()
      context.undo()
      #expect(context.undoManager?.canUndo == false)
      #expect(aircraft.isDeleted)
      try context.save()
      #expect(try stored(context) == [:])
      context.redo()
      context.redo()
      try context.save()
      #expect(try stored(context) == ["N2": []])
      #expect(!aircraft.isDeleted && !aircraft.objectID.isTemporaryID)
      #expect(aircraft.value(forKeyPath: "colorScheme.primary") as? String == "white")
    }
    withExtendedLifetime(directory) {}
  }

  @Test func aNewChangeEndsWhatCanBeRedone() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let aircraft = try context.make("Aircraft", ["tailNumber": "N1"])
      context.processPendingChanges()
      aircraft.setValue("N2", forKey: "tailNumber")
      context.undo()
      #expect(context.undoManager?.canRedo == true)
      aircraft.setValue("N3", forKey: "tailNumber")
      context.processPendingChanges()
      #expect(context.undoManager?.canRedo == false)
      context.redo()
      #expect(aircraft.value(forKey: "tailNumber") as? String == "N3")
      context.undo()
      #expect(aircraft.value(forKey: "tailNumber") as? String == "N1")
    }
    withExtendedLifetime(directory) {}
  }

  @Test func insertionsAndDeletionsWithRelationships() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let aircraft = try context.make("Aircraft", ["tailNumber": "N1"])
      for number in 1...3 { try context.make("LogEntry", ["number": number, "aircraft": aircraft]) }
      try context.save()
      context.undoManager?.removeAllActions()
      // A cascade, unsaved.
      context.delete(aircraft)
      #expect(try fleet(context) == [:])
      #expect(try context.all("LogEntry").isEmpty)
      context.undo()
      #expect(try fleet(context) == ["N1": [1, 2, 3]])
      #expect(!context.hasChanges)
      // A new entry.
      let fourth = try context.make("LogEntry", ["number": 4, "aircraft": aircraft])
      context.undo()
      #expect(try fleet(context) == ["N1": [1, 2, 3]])
      #expect(fourth.isDeleted)
      #expect(!context.hasChanges)
      context.redo()
      #expect(try fleet(context) == ["N1": [1, 2, 3, 4]])
      try context.save()
      // A cascade, saved.
      context.delete(aircraft)
      try context.save()
      #expect(try stored(context) == [:])
      context.undo()
      #expect(try fleet(context) == ["N1": [1, 2, 3, 4]])
      #expect(context.insertedObjects.count == 5)
      try context.save()
      #expect(try stored(context) == ["N1": [1, 2, 3, 4]])
      context.redo()
      try context.save()
      #expect(try stored(context) == [:])
      #expect(try context.all("LogEntry").isEmpty)
      context.undo()
      context.undo()
      try context.save()
      #expect(try stored(context) == ["N1": [1, 2, 3]])
    }
    let reopened = try directory.container().newBackgroundContext()
    let found = try reopened.performAndWait { try fleet(reopened) }
    #expect(found == ["N1": [1, 2, 3]])
  }

  @Test func orderedAndManyToMany() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let pilot = try context.make("Pilot", ["name": "Amelia"])
      let titles = try ["A", "B", "C"].map { try context.make("Endorsement", ["title": $0]) }
      pilot.setValue(titles, forKey: "endorsements")
      let entry = try context.make("LogEntry", ["number": 1, "pilots": Set([pilot])])
      try context.save()
      func state() throws -> String {
        let list = try (pilot.get("endorsements") as? [ManagedObject] ?? []).map {
          try $0.get("title", as: String.self)!
        }
        let pilots = try entry.get("pilots") as? Set<ManagedObject> ?? []
        let entries = try pilot.get("logEntries") as? Set<ManagedObject> ?? []
        #expect(pilots.contains(pilot) == entries.contains(entry))
        return list.joined() + " \(pilots.count)"
      }
      pilot.setValue([titles[2], titles[0]], forKey: "endorsements")
      context.processPendingChanges()
      try entry.remove(pilot, fromRelationship: "pilots")
      context.processPendingChanges()
      context.delete(titles[0])
      context.processPendingChanges()
      let before = ["ABC 1", "CA 1", "CA 0", "C 0"]
      #expect(try state() == before[3])
      for saves in [false, true] {
        if saves { try context.save() }
        for expected in before.dropLast().reversed() {
          context.undo()
          if saves { try context.save() }
          #expect(try state() == expected)
        }
        for expected in before.dropFirst() {
          context.redo()
          if saves { try context.save() }
          #expect(try state() == expected)
        }
      }
    }
    withExtendedLifetime(directory) {}
  }

  @Test func groups() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let manager = try #require(context.undoManager)
      let aircraft = try context.make("Aircraft", ["tailNumber": "0"])
      func tail() -> String? { aircraft.value(forKey: "tailNumber") as? String }
      func set(_ text: String) {
        aircraft.setValue(text, forKey: "tailNumber")
        context.processPendingChanges()
      }
      manager.beginUndoGrouping()
      manager.beginUndoGrouping()
      manager.setActionName("Number")
      set("1")
      set("2")
      manager.endUndoGrouping()
      set("3")
      manager.endUndoGrouping()
      manager.endUndoGrouping()
      set("4")
      #expect(manager.undoActionName == "")
      context.undo()
      #expect(tail() == "3")
      #expect(manager.undoActionName == "Number")
      context.undo()
      #expect(tail() == "0")
      #expect(manager.redoActionName == "Number")
      context.redo()
      #expect(tail() == "3")
      manager.levelsOfUndo = 2
      for text in ["5", "6", "7"] { set(text) }
      context.undo()
      context.undo()
      context.undo()
      #expect(tail() == "5")
      manager.disableUndoRegistration()
      set("8")
      manager.enableUndoRegistration()
      #expect(!manager.canUndo)
      var count = 0
      func increase(_ by: Int) {
        count += by
        manager.registerUndo { increase(-by) }
      }
      increase(3)
      context.undo()
      #expect(count == 0)
      context.redo()
      #expect(count == 3)
      context.undo()
      #expect(count == 0)
    }
    withExtendedLifetime(directory) {}
  }

  @Test func whatIsForgotten() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let aircraft = try context.make("Aircraft", ["tailNumber": "N1"])
      try context.save()
      aircraft.setValue("N2", forKey: "tailNumber")
      context.processPendingChanges()
      context.rollback()
      #expect(context.undoManager?.canUndo == false)
      context.undo()
      #expect(aircraft.value(forKey: "tailNumber") as? String == "N1")
      // Relationships that others have changed.
      let entry = try context.make("LogEntry", ["number": 1])
      try context.save()
      aircraft.setValue("N3", forKey: "tailNumber")
      context.processPendingChanges()
      entry.setValue(aircraft, forKey: "aircraft")
      try context.save()
      aircraft.setValue("N4", forKey: "tailNumber")
      context.processPendingChanges()
      let other = ManagedObjectContext(
        concurrencyType: .privateQueue, persistentStoreCoordinator: context.persistentStoreCoordinator)
      let event = Told()
      let observation = other.observe { event.note($0) }
      let id = entry.objectID
      try other.performAndWait {
        other.object(with: id).setValue(nil, forKey: "aircraft")
        try other.save()
      }
      context.mergeChanges(fromContextDidSave: try #require(event.saved))
      context.undo()
      #expect(aircraft.value(forKey: "tailNumber") as? String == "N3")
      #expect(context.undoManager?.canUndo == false)
      withExtendedLifetime(observation) {}
    }
    withExtendedLifetime(directory) {}
  }

  private final class Told: @unchecked Sendable {
    // `@unchecked`: used by one thread.
    var saved: ObjectIDNotification?
    func note(_ notification: ContextNotification) {
      if notification.kind == .didSave { saved = notification.objectIDs }
    }
  }

  /// An object that counts how many there are of its kind.
  private final class Counted: ManagedObject {
    static let count = Locked(0)
    required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
      Self.count.withLock { $0 += 1 }
      super.init(entity: entity, insertInto: context)
    }
    deinit { Self.count.withLock { $0 -= 1 } }
  }

  @Test func nothingIsKeptForever() throws {
    let model = try ManagedObjectModel {
      Entity("Counted") {
        ToOne("next", "Counted", inverse: "previous", deleteRule: .cascade)
        ToOne("previous", "Counted", inverse: "next")
      }
    }
    let container = try memoryContainer(model)
    weak var gone: ManagedObjectContext?
    do {
      let context = container.newBackgroundContext()
      gone = context
      context.undoManager = ContextUndoManager()
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
      try context.performAndWait {
        let first = Counted(context: context)
        let second = Counted(context: context)
        first.setValue(second, forKey: "next")
        try context.save()
        #expect(try child.all("Counted").count == 2)
        context.delete(first)
        try context.save()
        context.undo()
        #expect(second.value(forKey: "previous") as? ManagedObject === first)
        try context.save()
        context.delete(second)
        try context.save()
        context.delete(first)
        try context.save()
      }
      #expect(Counted.count.withLock { $0 } > 0)
    }
    #expect(gone == nil)
    #expect(Counted.count.withLock { $0 } == 0)
  }

  @Test func whatOthersDeletedIsLeftOut() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let first = try context.make("Aircraft", ["tailNumber": "N1"])
      let second = try context.make("Aircraft", ["tailNumber": "N2"])
      let entry = try context.make("LogEntry", ["number": 1, "aircraft": first])
      try context.save()
      first.setValue("N3", forKey: "tailNumber")
      second.setValue("N4", forKey: "tailNumber")
      entry.setValue(second, forKey: "aircraft")
      try context.save()
      let id = first.objectID
      let other = ManagedObjectContext(
        concurrencyType: .privateQueue, persistentStoreCoordinator: context.persistentStoreCoordinator)
      try other.performAndWait {
        other.delete(try other.existingObject(with: id))
        try other.save()
      }
      context.undo()
      #expect(second.value(forKey: "tailNumber") as? String == "N2")
      #expect(first.isDeleted && entry.value(forKey: "aircraft") == nil)
      try context.save()
      #expect(try stored(context) == ["N2": []])
      context.redo()
      try context.save()
      #expect(try stored(context) == ["N4": [1]])
    }
    withExtendedLifetime(directory) {}
  }

  @Test func whatLeadsToAnUndoneInsertion() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let manager = try #require(context.undoManager)
      let entry = try context.make("LogEntry", ["number": 1])
      let pilot = try context.make("Pilot", ["name": "Amelia"])
      try context.save()
      let aircraft = try context.make("Aircraft", ["tailNumber": "N1"])
      let licence = try context.make("Licence", ["number": "1"])
      context.processPendingChanges()
      manager.disableUndoRegistration()
      entry.setValue(aircraft, forKey: "aircraft")
      pilot.setValue(licence, forKey: "licence")
      manager.enableUndoRegistration()
      context.undo()
      #expect(entry.value(forKey: "aircraft") == nil && pilot.value(forKey: "licence") == nil)
      try context.save()
      #expect(try stored(context) == [:])
      #expect(try context.all("Licence").isEmpty)
      context.redo()
      try context.save()
      #expect(try stored(context) == ["N1": [1]])
      #expect(try context.all("Pilot", "licence.number == '1'") == [pilot])
    }
    withExtendedLifetime(directory) {}
  }

  @Test func redoEndsAGroup() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let manager = try #require(context.undoManager)
      let aircraft = try context.make("Aircraft", ["tailNumber": "0"])
      func tail() -> String? { aircraft.value(forKey: "tailNumber") as? String }
      context.processPendingChanges()
      aircraft.setValue("1", forKey: "tailNumber")
      context.undo()
      // A group without changes leaves what can be redone.
      manager.beginUndoGrouping()
      context.redo()
      #expect(tail() == "1" && manager.groupingLevel == 0)
      context.undo()
      manager.beginUndoGrouping()
      aircraft.setValue("2", forKey: "tailNumber")
      context.redo()
      #expect(tail() == "2" && manager.groupingLevel == 0)
      context.undo()
      #expect(tail() == "0")
      try context.save()
      #expect(try stored(context) == ["0": []])
    }
    withExtendedLifetime(directory) {}
  }

  /// One who is told of the last event before a save begins another, which lasts longer than the save.
  @Test func anEventAroundASave() throws {
    let (directory, context) = try context()
    try context.performAndWait {
      let entry = try context.make("LogEntry", ["number": 1])
      let pilot = try context.make("Pilot", ["name": "Amelia"])
      try context.save()
      let count = Atomic(0)
      let (id, pilotID) = (entry.objectID, pilot.objectID)
      let observation = context.observe { notification in
        guard notification.kind == .objectsDidChange, count.load(ordering: .relaxed) < 2 else { return }
        let number = count.add(1, ordering: .relaxed).newValue
        notification.context.object(with: id).setValue("\(number)", forKey: "remarks")
        notification.context.object(with: pilotID).setValue("\(number)", forKey: "name")
      }
      entry.setValue(try context.make("Aircraft", ["tailNumber": "N1"]), forKey: "aircraft")
      pilot.setValue(try context.make("Licence", ["number": "1"]), forKey: "licence")
      try context.save()
      #expect(count.load(ordering: .relaxed) == 2)
      observation.cancel()
      context.undo()
      #expect(entry.value(forKey: "remarks") as? String == "1")
      #expect(pilot.value(forKey: "licence") != nil)
      try context.save()
      #expect(try stored(context) == ["N1": [1]])
      #expect(try context.all("Pilot", "licence.number == '1'") == [pilot])
    }
    withExtendedLifetime(directory) {}
  }

  @Test func transientValues() throws {
    let model = try ManagedObjectModel {
      Entity("Item") {
        Attribute("name", .string)
        Attribute("mark", .string, transient: true)
      }
    }
    let context = try memoryContainer(model).newBackgroundContext()
    context.undoManager = ContextUndoManager()
    try context.performAndWait {
      let item = try context.make("Item", ["name": "a", "mark": "x"])
      try context.save()
      item.setValue("y", forKey: "mark")
      context.undo()
      #expect(item.value(forKey: "mark") as? String == "x")
      #expect(!item.hasChanges)
      context.redo()
      #expect(item.value(forKey: "mark") as? String == "y")
    }
  }

  /// What is undone or redone at the moment, and whether changes are registered.
  @Test func whatTheManagerIsDoing() throws {
    let (directory, context) = try context()
    defer { withExtendedLifetime(directory) {} }
    let manager = try #require(context.undoManager)
    var told: [String] = []
    func state() -> String { "\(manager.isUndoing) \(manager.isRedoing) \(manager.isUndoRegistrationEnabled)" }
    func register() {
      manager.registerUndo {
        told.append(state())
        register()
      }
    }
    register()
    #expect(state() == "false false true")
    manager.undo()
    manager.redo()
    #expect(told == ["true false true", "false true true"] && state() == "false false true")
    manager.disableUndoRegistration()
    manager.disableUndoRegistration()
    manager.enableUndoRegistration()
    #expect(state() == "false false false")
    try context.make("Aircraft", ["tailNumber": "N1"])
    manager.enableUndoRegistration()
    #expect(state() == "false false true")
    manager.undo()
    #expect(try context.all("Aircraft").count == 1 && told.count == 3)
  }
}

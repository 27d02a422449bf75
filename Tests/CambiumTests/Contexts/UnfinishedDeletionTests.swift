import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Objects that are deleted while the device cannot be read: a deletion is whole, or there is none.
@Suite(.serialized) struct UnfinishedDeletionTests {
  /// A context of a store that was opened again, whose device fails for good from the call of `fail` until that of `mend`.
  private struct Opened {
    let device: FaultDevice
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
      let disk = SimulatedDisk()
      let made = try DeviceStory.open(disk)
      let context = DeviceStory.context(made)
      for step in DeviceStory.steps.prefix(2) { try step.run(context) }
      device = FaultDevice(SimulatedDisk(disk.contents))
      container = try DeviceStory.open(device)
      self.context = DeviceStory.context(container)
    }

    func hangar() throws -> ManagedObject { try #require(try context.all("Hangar", "name == 'south'").first) }

    func fail() { device.plan(FaultDevice.Fault(at: device.operationCount, forGood: true)) }
    func mend() { device.reset() }
  }

  @Test func theNextSaveGoesOnWithIt() throws {
    let opened = try Opened()
    let context = opened.context
    let hangar = try opened.hangar()
    opened.fail()
    context.delete(hangar)
    #expect(context.recordedErrors.count == 1 && context.hasChanges)
    // As often as it is tried.
    for _ in 0..<2 {
      #expect(cambiumError { try context.save() }?.message.hasSuffix("; save once more, or roll back") == true)
      #expect(context.hasChanges)
    }
    opened.mend()
    try context.save()
    #expect(!context.hasChanges && hangar.managedObjectContext == nil)
    let left = try DeviceStory.content(opened.container)
    #expect(!left.contains("hangar south") && !left.contains("in south") && !left.contains("aircraft N1:"))
    #expect(left.contains("hangar west") && left.contains("aircraft N3:"))
  }

  @Test func rollingBackGivesItUp() throws {
    let opened = try Opened()
    let before = try DeviceStory.content(opened.container)
    let other = try Opened()
    let hangar = try other.hangar()
    other.fail()
    other.context.delete(hangar)
    other.context.rollback()
    #expect(!other.context.hasChanges && !hangar.isDeleted)
    other.mend()
    try other.context.save()
    #expect(try DeviceStory.content(other.container) == before)
  }

  final class Told: ManagedObject {
    nonisolated(unsafe) static var told: [String] = []
    nonisolated(unsafe) static var deletes: ManagedObject?

    override func prepareForDeletion() { Self.told.append(value(forKey: "name") as? String ?? "-") }
    override func willSave() {
      guard let object = Self.deletes else { return }
      Self.deletes = nil
      managedObjectContext?.delete(object)
    }
  }

  private static func tree() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Told", class: Told.self) {
        Attribute("name", .string)
        Attribute("filler", .binary)
        ToOne("parent", "Told", inverse: "children")
        ToMany("children", "Told", inverse: "parent", deleteRule: .cascade)
      }
    }
  }

  /// Wherever it is interrupted, each object is told once, and all of them go; and nothing of it is saved before.
  @Test(arguments: [false, true]) func whereverItIsInterrupted(isWithinSave: Bool) throws {
    func open(_ device: any StorageDevice) throws -> PersistentContainer {
      let container = PersistentContainer(name: "tree", managedObjectModel: try Self.tree())
      let description = PersistentStoreDescription(type: .inMemory)
      description.device = device
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      return container
    }
    let disk = SimulatedDisk()
    let made = try open(disk).newBackgroundContext()
    for (name, parent) in [("a", nil), ("b", "a"), ("c", "a"), ("d", "c"), ("e", "d"), ("x", nil)]
      as [(String, String?)]
    {
      let object = try made.make("Told", ["name": name, "filler": Data(repeating: 1, count: 3_000)])
      if let parent { try object.set(made.all("Told", "name == %@", [parent]).first, forKey: "parent") }
    }
    try made.save()
    defer { (Told.told, Told.deletes) = ([], nil) }
    var interrupted = 0
    for index in 0..<200 {
      let device = FaultDevice(SimulatedDisk(disk.contents))
      let container = try open(device)
      let context = container.newBackgroundContext()
      let root = try #require(try context.all("Told", "name == 'a'").first)
      let other = try #require(try context.all("Told", "name == 'x'").first)
      Told.told = []
      device.plan(FaultDevice.Fault(.read, at: device.operationCount(of: .read) + index))
      if isWithinSave {
        other.setValue("y", forKey: "name")
        Told.deletes = root
        let error = cambiumError { try context.save() }
        // It is whole in the save within which it was begun, or there is none of either.
        let left = try container.newBackgroundContext().count(for: FetchRequest<ManagedObject>(entityName: "Told"))
        if device.failureCount == 0 { break }
        #expect(left == (error == nil ? 1 : 6), "operation \(index)")
        if error != nil { try context.save() }
      } else {
        context.delete(root)
        if device.failureCount == 0 { break }
        #expect(context.hasChanges && context.recordedErrors.count == 1)
        try context.save()
      }
      interrupted += 1
      #expect(Told.told.sorted() == ["a", "b", "c", "d", "e"], "operation \(index)")
      let reading = container.newBackgroundContext()
      #expect(try reading.all("Told").count == 1)
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      #expect(try store.check().findings.isEmpty)
    }
    #expect(interrupted > 3)
  }

  /// A child's deletion that the parent cannot read comes to the parent whole, or not at all.
  @Test func aChildsDeletionIsWholeInTheParent() throws {
    var refused = 0
    for index in 0..<60 {
      let opened = try Opened()
      let (parent, device) = (opened.context, opened.device)
      let before = try DeviceStory.content(opened.container)
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
      let id = try opened.hangar().objectID
      device.plan(FaultDevice.Fault(.read, at: device.operationCount(of: .read) + index))
      let error = cambiumError {
        try child.performAndWait {
          child.delete(child.object(with: id))
          try child.save()
        }
      }
      if device.failureCount == 0 { break }
      if error != nil {
        refused += 1
        child.performAndWait { child.rollback() }
        #expect(!parent.hasChanges, "operation \(index)")
      }
      try parent.save()
      let after = try DeviceStory.content(opened.container)
      let isDeleted = !after.contains("hangar south") && !after.contains("aircraft N1:")
      #expect(error == nil ? isDeleted : after == before, "operation \(index)")
    }
    #expect(refused > 0)
  }

  enum Undoing: CaseIterable { case byContext, byManager, withoutManager, unregistered, anotherEvent }

  /// Undone with its event, whatever of it had been done; in any other case the save finishes it.
  @Test(arguments: Undoing.allCases) func undoing(_ how: Undoing) throws {
    var half = 0
    for index in 0..<40 {
      let opened = try Opened()
      let (context, device) = (opened.context, opened.device)
      context.undoManager = how == .withoutManager ? nil : ContextUndoManager()
      let before = try DeviceStory.content(opened.container)
      let hangar = try opened.hangar()
      if how == .unregistered { context.undoManager?.disableUndoRegistration() }
      device.plan(FaultDevice.Fault(.read, at: device.operationCount(of: .read) + index))
      context.delete(hangar)
      if device.failureCount == 0 { break }
      if !context.updatedObjects.isEmpty || !context.deletedObjects.isEmpty { half += 1 }
      if how == .anotherEvent {
        context.processPendingChanges()
        let person = try #require(try context.all("Person", "name == 'Ada'").first)
        try person.set("Eva", forKey: "name")
      }
      if how == .unregistered {
        context.processPendingChanges()
        context.undoManager?.enableUndoRegistration()
      }
      if how == .byManager { context.undoManager?.undo() } else { context.undo() }
      if [.byContext, .byManager].contains(how) {
        #expect(!context.hasChanges && context.undoManager?.canRedo == false)
      }
      try context.save()
      let after = try DeviceStory.content(opened.container)
      if [.byContext, .byManager].contains(how) {
        #expect(after == before, "operation \(index)")
      } else {
        #expect(
          !after.contains("hangar south") && !after.contains("aircraft N1:") && !after.contains("Eva"),
          "operation \(index)")
      }
    }
    #expect(half > 0)
  }
}

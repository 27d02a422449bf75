import CambiumTesting
import Testing

@testable import Cambium

/// Objects that are deleted while the device cannot be read: a deletion is whole, or there is none.
@Suite struct UnfinishedDeletionTests {
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
      #expect(cambiumError { try context.save() } != nil)
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
}

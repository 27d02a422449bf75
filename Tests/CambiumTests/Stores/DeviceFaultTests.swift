import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Contexts on devices that lose their power, fail, and fill up: whatever a save wrote is there whole or not at all,
/// with its history, and the context still has what could not be saved.
@Suite struct DeviceFaultTests {
  /// What the store holds after so many steps, and how many operations the device had had by then.
  private struct Run {
    var contents: [String] = []
    var points: [Int] = []
  }

  /// Runs the whole story on a disk that nothing happens to.
  private static func undisturbed(_ disk: SimulatedDisk) throws -> Run {
    var run = Run()
    let container = try DeviceStory.open(disk)
    run.contents.append(try DeviceStory.content(container))
    run.points.append(disk.operationCount)
    let context = DeviceStory.context(container)
    try context.performAndWait {
      for step in DeviceStory.steps {
        try step.run(context)
        run.contents.append(try DeviceStory.content(container))
        run.points.append(disk.operationCount)
      }
    }
    return run
  }

  @Test func theStoryIsWhatItSays() throws {
    let run = try Self.undisturbed(SimulatedDisk())
    // Each step changes something, and makes one commit that history tells of.
    for (n, content) in run.contents.enumerated() { #expect(content.hasSuffix("history of \(n)")) }
    #expect(Set(run.contents.map { $0.split(separator: "\n").dropLast() }).count == run.contents.count)
    #expect(run.contents.last?.contains("aircraft N201: 77.0") == false)
    #expect(run.contents[7].contains("aircraft N201: 77.0"))
    #expect(run.contents[4].contains("aircraft N8: 80.0, black, white, photo 7200 of 8, in north"))
  }

  @Test func aPowerCutAtAnyWriteLeavesTheGraphOfOneSave() throws {
    let disk = SimulatedDisk()
    let run = try Self.undisturbed(disk)
    let limit = testCount("CAMBIUM_GRAPH_CRASHES", short: 4, full: 40)
    var images = 0
    for point in run.points[0]...disk.operationCount {
      // Which saves had come back, each of which was durable then.
      let saved = run.points.lastIndex { $0 <= point } ?? 0
      for image in disk.crashImages(at: point, limit: limit, seed: UInt64(point)) {
        images += 1
        let container = try DeviceStory.open(SimulatedDisk(image.bytes))
        let found = try DeviceStory.content(container)
        let allowed = run.contents[saved...min(saved + 1, run.contents.count - 1)]
        #expect(allowed.contains(found), "\(image)")
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let report = try store.check()
        #expect(report.findings.isEmpty, "\(image)")
        // The application goes on where it was.
        guard let step = allowed.firstIndex(of: found), step < DeviceStory.steps.count else { continue }
        let context = DeviceStory.context(container)
        try context.performAndWait { try DeviceStory.steps[step].run(context) }
        #expect(try DeviceStory.content(container) == run.contents[step + 1], "\(image)")
      }
    }
    #expect(images > run.contents.count * 4)
  }

  /// How far a device lets the story go.
  private struct Walk {
    /// How many steps were done.
    var done = 0
    var error: CambiumError?
    /// What the store held after it, as far as it could still be read.
    var content: String?
    /// Whether the next step was done when it was tried again.
    var isDoneAgain = false
    /// What is wrong with what the context has left.
    var wrong: String?
  }

  private static func walk(_ device: any StorageDevice) throws -> Walk {
    let container = try DeviceStory.open(device)
    let context = DeviceStory.context(container)
    var walk = Walk()
    try context.performAndWait {
      for step in DeviceStory.steps {
        var isCommitting = false
        do {
          try step.change(context)
          isCommitting = true
          try step.commit(context)
          walk.done += 1
        } catch let error as CambiumError {
          walk.error = error
          walk.content = try? DeviceStory.content(container)
          guard isCommitting else { return }
          if step.isSave, !context.hasChanges {
            // A change that could not be made was noted, and the save has thrown that: it is made again.
            if context.recordedErrors.isEmpty { walk.wrong = "the context has nothing left of what was not saved" }
            try? step.change(context)
          }
          walk.isDoneAgain = (try? step.commit(context)) != nil
          return
        }
      }
      walk.content = try? DeviceStory.content(container)
    }
    return walk
  }

  @Test(arguments: [false, true])
  func aFaultAtAnyOperationLosesNothing(forGood: Bool) throws {
    let run = try Self.undisturbed(SimulatedDisk())
    let counting = FaultDevice(SimulatedDisk())
    _ = try DeviceStory.open(counting)
    let first = counting.operationCount
    counting.reset()
    let whole = FaultDevice(SimulatedDisk())
    _ = try Self.walk(whole)
    var met = 0
    var refused = 0
    var again = 0
    for index in first..<whole.operationCount {
      let disk = SimulatedDisk()
      let device = FaultDevice(disk, FaultDevice.Fault(at: index, forGood: forGood))
      let walk = try Self.walk(device)
      guard device.failureCount > 0 else { continue }
      met += 1
      if let wrong = walk.wrong { Issue.record("operation \(index): \(wrong)") }
      var allowed = [run.contents[walk.done]]
      if let error = walk.error {
        refused += 1
        if walk.isDoneAgain { again += 1 }
        // This process sees nothing of what it was told was not saved.
        if let content = walk.content { #expect(content == allowed[0], "operation \(index): \(error)") }
        // One that opens the store again finds it as it was; or with it, if it was written and could not be told to be
        // durable.
        if walk.isDoneAgain { allowed = [] }
        allowed.append(run.contents[walk.done + 1])
      }
      let opened = try DeviceStory.open(SimulatedDisk(disk.contents))
      #expect(
        allowed.contains(try DeviceStory.content(opened)),
        "operation \(index): \(walk.error?.description ?? "no error")")
      let store = try #require(opened.persistentStoreCoordinator.persistentStores.first)
      #expect(try store.check().findings.isEmpty, "operation \(index)")
    }
    #expect(refused > met / 2)
    // A device that fails once does not end the work of who tries again; one that fails for good does.
    #expect(forGood ? again == 0 : again * 4 > refused, "\(again) of \(refused)")
  }

  /// An application that does not look at errors, and saves whatever its context has.
  @Test func whatASloppyApplicationSavesAgreesWithItself() throws {
    let counting = FaultDevice(SimulatedDisk())
    _ = try DeviceStory.open(counting)
    let first = counting.operationCount
    let whole = FaultDevice(SimulatedDisk())
    _ = try Self.walk(whole)
    var met = 0
    for index in first..<whole.operationCount {
      let disk = SimulatedDisk()
      let device = FaultDevice(disk, FaultDevice.Fault(at: index))
      let container = try DeviceStory.open(device)
      let context = DeviceStory.context(container)
      context.performAndWait {
        for step in DeviceStory.steps where device.failureCount == 0 {
          try? step.change(context)
          try? step.commit(context)
          try? context.save()
        }
      }
      guard device.failureCount > 0 else { continue }
      met += 1
      let opened = try DeviceStory.open(SimulatedDisk(disk.contents))
      let store = try #require(opened.persistentStoreCoordinator.persistentStores.first)
      let report = try store.check()
      #expect(
        report.findings.isEmpty && report.looseRelationships.isEmpty,
        "operation \(index): \(report.findings) \(report.looseRelationships)")
      let reading = opened.newBackgroundContext()
      try reading.performAndWait {
        for hangar in try reading.all("Hangar") {
          let count = try hangar.count(ofRelationship: "aircraft")
          #expect(try hangar.get("size", as: Int64.self) == Int64(count), "operation \(index)")
        }
      }
    }
    #expect(met > DeviceStory.steps.count)
  }

  @Test func aFullDeviceRefusesSavesUntilThereIsRoom() throws {
    let run = try Self.undisturbed(SimulatedDisk())
    let counting = FillingDevice(SimulatedDisk())
    _ = try DeviceStory.open(counting)
    let first = counting.growthCount
    let whole = FillingDevice(SimulatedDisk())
    #expect(try Self.walk(whole).error == nil)
    var refused = 0
    for index in first..<whole.growthCount {
      let device = FillingDevice(SimulatedDisk(), fullAt: index)
      let container = try DeviceStory.open(device)
      let context = DeviceStory.context(container)
      try context.performAndWait {
        for (n, step) in DeviceStory.steps.enumerated() {
          try step.change(context)
          if let error = cambiumError({ try step.commit(context) }) {
            refused += 1
            #expect(error.code == .fileWriteOutOfSpace, "\(error)")
            #expect(context.hasChanges == step.isSave)
            // Reading goes on, and nothing of it is there.
            #expect(try DeviceStory.content(container) == run.contents[n])
            device.makeRoom()
            try step.commit(context)
          }
          #expect(try DeviceStory.content(container) == run.contents[n + 1])
        }
      }
    }
    // Each time that the file was to become longer by a commit.
    #expect(refused == whole.growthCount - first)
  }
}

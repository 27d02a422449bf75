import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// What an application does to look after a store.
@Suite struct StoreUpkeepTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func store(_ container: PersistentContainer) throws -> PersistentStore {
    try #require(container.persistentStoreCoordinator.persistentStores.first)
  }

  /// Log entries with remarks of some hundred bytes, every fiftieth of which is a large value.
  private func fill(_ container: PersistentContainer, count: Int) throws {
    let context = container.newBackgroundContext()
    for number in 0..<count {
      let remarks = String(repeating: "\(number) ", count: number % 50 == 1 ? 4000 : 60)
      try context.make("LogEntry", ["number": number, "remarks": remarks])
    }
    try context.save()
  }

  private func numbers(_ container: PersistentContainer) throws -> [Int] {
    let context = container.newBackgroundContext()
    return try context.all("LogEntry").compactMap { $0.value(forKey: "number") as? Int }.sorted()
  }

  private func deleteMost(_ container: PersistentContainer) throws {
    try delete(container, "modulus:by:(number, 10) != 0")
  }

  private func delete(_ container: PersistentContainer, _ format: String) throws {
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.predicate = try FetchPredicate(format: format)
    try container.newBackgroundContext().execute(BatchDeleteRequest(fetchRequest: request))
  }

  @Test(arguments: [PersistentStoreType.file, .inMemory])
  func compactingGivesRoomBack(type: PersistentStoreType) throws {
    let container = try type == .file ? directory.container() : memoryContainer()
    try fill(container, count: 6000)
    try deleteMost(container)
    let store = try store(container)
    let before = try store.statistics()
    var steps: [PersistentStore.CompactionProgress] = []
    try store.compact {
      steps.append($0)
      return true
    }
    let after = try store.statistics()
    #expect(before.freeBytes > 1 << 16 && after.freeBytes < after.fileBytes / 20)
    #expect(after.deadBytes <= max(after.fileBytes / 20, 32 << 10))
    #expect(after.fileBytes + before.freeBytes <= before.fileBytes + after.freeBytes)
    #expect(steps.last?.fileBytes == after.fileBytes && steps.last?.liveBytes == after.liveBytes)
    #expect(after.liveBytes > 0 && after.liveBytes < after.fileBytes)
    if let path = store.url?.path {
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      #expect(size.map { UInt64($0) } == after.fileBytes)
    }
    #expect(try numbers(container) == Array(stride(from: 0, to: 6000, by: 10)))
    let report = try store.check()
    #expect(report.isSound && report.objectCount == 600 && report.pageCount > 0)
  }

  /// What a context with a query generation reads stays where it is, and it goes on to read it.
  @Test func compactingBesideReadersAndWriters() async throws {
    let container = try directory.container()
    try fill(container, count: 4000)
    let reading = container.newBackgroundContext()
    try reading.setQueryGenerationFrom(.current)
    #expect(try reading.count(for: FetchRequest<ManagedObject>(entityName: "LogEntry")) == 4000)
    try deleteMost(container)
    let store = try store(container)
    let twin = try directory.container()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try store.compact() }
      group.addTask {
        try await twin.performBackgroundTask { context in
          for number in 10_000..<10_040 {
            try context.make("LogEntry", ["number": number, "remarks": String(repeating: "y", count: 5000)])
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    let old = try reading.performAndWait {
      try reading.all("LogEntry").compactMap { $0.value(forKey: "number") as? Int }.sorted()
    }
    var isRight = old == Array(0..<4000)
    #expect(isRight)
    isRight = try numbers(container) == Array(stride(from: 0, to: 4000, by: 10)) + Array(10_000..<10_040)
    #expect(isRight)
    try reading.setQueryGenerationFrom(nil)
    try store.compact()
    let figures = try store.statistics()
    #expect(figures.deadBytes <= max(figures.fileBytes / 20, 32 << 10) && figures.freeBytes < figures.fileBytes / 4)
    #expect(try store.check().isSound)
  }

  @Test func compactingMayBeStopped() throws {
    let container = try directory.container()
    try fill(container, count: 24_000)
    // More stays than one step moves.
    try delete(container, "modulus:by:(number, 3) == 0")
    let store = try store(container)
    var steps = 0
    try store.compact { _ in
      steps += 1
      return false
    }
    #expect(steps == 1)
    let stopped = try store.statistics().fileBytes
    try store.compact()
    #expect(try store.statistics().fileBytes < stopped)
    #expect(try numbers(container).count == 16_000)
  }

  @Test func whatMayOnlyBeRead() throws {
    do { try fill(try directory.container(), count: 20) }
    let container = try directory.container { $0.isReadOnly = true }
    let store = try store(container)
    #expect(cambiumError { try store.compact() }?.code == .fileWriteNoPermission)
    let report = try store.check()
    #expect(report.isSound && report.objectCount == 20)
    #expect(try store.statistics().fileBytes > 0)
    // A store that was given up for a while is neither looked at nor changed.
    try store.suspend()
    #expect(cambiumError { _ = try store.check() } != nil)
    #expect(cambiumError { _ = try store.statistics() } != nil)
    try store.resume()
    #expect(try store.check() == report)
  }

  /// A store that is given up while it is looked at is not told to be damaged.
  @Test func suspendedWhileItIsChecked() throws {
    let container = try directory.container()
    try fill(container, count: 3000)
    let store = try store(container)
    var (rounds, refused) = (0, 0)
    while rounds < 100, refused < 3 {
      rounds += 1
      let report = Locked<PersistentStore.CheckReport?>(nil)
      let ended = DispatchGroup()
      ended.enter()
      Thread.detachNewThread {
        let found = try? store.check()
        report.withLock { $0 = found }
        ended.leave()
      }
      Thread.sleep(forTimeInterval: 0.005)
      // Waits for the pages to be gone through, as a rule, and comes before the objects.
      try store.suspend()
      Thread.sleep(forTimeInterval: 0.02)
      try store.resume()
      ended.wait()
      if let report = report.withLock({ $0 }) {
        #expect(report.isSound, "\(report.findings.prefix(3))")
      } else {
        refused += 1
      }
    }
    #expect(refused > 0)
    #expect(try store.check().objectCount == 3000)
  }

  /// A bit of every so many bytes is turned. Either the store does not open, or the check tells it, or nothing reads
  /// that place.
  @Test func damageIsTold() throws {
    do { try fill(try directory.container(), count: 300) }
    let url = directory.url.appendingPathComponent("flights.cambium")
    let whole = try Data(contentsOf: url)
    var (refused, told) = (0, 0)
    for offset in stride(from: 5, to: whole.count, by: max(1, whole.count / 97)) {
      var damaged = whole
      damaged[offset] ^= 0x10
      try damaged.write(to: url)
      let container: PersistentContainer
      do { container = try directory.container { $0.isReadOnly = true } } catch {
        refused += 1
        continue
      }
      let report = try store(container).check()
      if report.isSound {
        #expect(try numbers(container) == Array(0..<300), "byte \(offset)")
      } else {
        told += 1
        // Copies of the superblock and pages are named with their place.
        #expect(report.findings.contains { $0.offset != nil }, "byte \(offset): \(report.findings)")
        #expect(report.findings.allSatisfy { $0.description.contains($0.detail) })
      }
    }
    #expect(told > 10, "\(told) were told, \(refused) were refused")
    try whole.write(to: url)
    #expect(try store(directory.container()).check().isSound)
  }
}

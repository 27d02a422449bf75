import CambiumKernel
import Foundation
import Testing

@testable import Cambium

/// Earlier states of a store, read with the model that it had then.
@Suite(.serialized) struct StoreSnapshotTests {
  private func tails(_ container: PersistentContainer) throws -> [String] {
    try container.viewContext.all("Aircraft", sort: [FetchSortDescriptor(key: "tailNumber")])
      .compactMap { $0.value(forKey: "tailNumber") as? String }
  }

  @Test func aRetainedStateIsReadWithItsModel() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let commit: RetainedCommit
    let later: RetainedCommit
    do {
      let container = try directory.container(model: MigrationTests.v1())
      commit = try container.retain(reason: "before the new model", expires: Date(timeIntervalSinceNow: 3600))
      #expect(try container.retainedCommits() == [commit])
      #expect((commit.expirationDate ?? .distantPast) > Date())
      for aircraft in try container.viewContext.all("Aircraft", "engines == 0") {
        container.viewContext.delete(aircraft)
      }
      try container.viewContext.save()
      later = try container.retain(reason: "fewer aircraft")
    }
    // It survives the process's end, a migration, and what is saved after.
    let container = try directory.container(model: MigrationTests.v3())
    for aircraft in try container.viewContext.all("Aircraft") { container.viewContext.delete(aircraft) }
    try container.viewContext.save()
    #expect(try container.retainedCommits().map { $0.reason } == ["before the new model", "fewer aircraft"])

    let then = try container.snapshot(at: commit)
    try MigrationTests.check(then.viewContext, color: "color", seats: false)
    #expect(
      try then.viewContext.all("Aircraft", "color BEGINSWITH 'blue 1' AND ANY flights.number == 'F10'").count == 1)
    #expect(try tails(try container.snapshot(at: later)).count == 15)
    #expect(try tails(container).isEmpty)

    // For reading only.
    try then.viewContext.make("Flight", ["number": "not to be"])
    #expect(cambiumError { try then.viewContext.save() }?.code == .fileWriteNoPermission)
    #expect(cambiumError { _ = try then.retain(reason: "a state of a state") }?.code == .fileWriteNoPermission)

    // What is held stays when the state is released.
    try container.release(commit)
    #expect(try tails(then).count == 20)
    let error = cambiumError { _ = try container.snapshot(at: commit) }
    #expect(error?.code == .snapshotExpired)
    #expect(error?.underlyingErrors.first as? StoreError == .snapshotExpired)
    #expect(cambiumError { try container.release(commit) }?.code == .snapshotExpired)
    #expect(try container.retainedCommits().map { $0.id } == [later.id])
  }

  @Test func aSnapshotOutlivesTheContainerThatMadeIt() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let then: PersistentContainer
    do {
      let container = try directory.container(model: MigrationTests.v1())
      then = try container.snapshot(at: container.retain(reason: "now"))
    }
    #expect(try tails(then).count == 20)
  }

  @Test func statesLapse() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let container = try directory.container(model: MigrationTests.v1())
    let past = try container.retain(reason: "yesterday", expires: Date(timeIntervalSinceNow: -86400))
    let ancient = try container.retain(reason: "long ago", expires: .distantPast)
    #expect(try container.retainedCommits().isEmpty)
    #expect(cambiumError { _ = try container.snapshot(at: ancient) }?.code == .snapshotExpired)
    let now = try container.retain(reason: "now", limitBytes: 1 << 30)
    #expect(try container.retainedCommits().map { $0.id } == [now.id])
    for commit in [past, ancient] {
      #expect(cambiumError { _ = try container.snapshot(at: commit) }?.code == .snapshotExpired)
    }
    #expect(
      cambiumError { _ = try container.retain(reason: String(repeating: "long", count: 300)) }?.code
        == .persistentStoreOperation)
  }

  @Test func storesInMemoryHaveThemToo() throws {
    let container = PersistentContainer(name: "Flights", managedObjectModel: try MigrationTests.v1())
    container.persistentStoreDescriptions = [PersistentStoreDescription(type: .inMemory)]
    #expect(cambiumError { _ = try container.retain(reason: "too early") }?.code == .invalidArgument)
    try container.loadPersistentStores()
    try container.viewContext.make("Aircraft", ["tailNumber": "N1"])
    try container.viewContext.save()
    let commit = try container.retain(reason: "one")
    try container.viewContext.make("Aircraft", ["tailNumber": "N2"])
    try container.viewContext.save()
    #expect(try tails(try container.snapshot(at: commit)) == ["N1"])
    #expect(try tails(container) == ["N1", "N2"])
  }

  /// A backup of an earlier state is of that state, of a store in a file or in memory, and not of what was saved since.
  @Test(arguments: [true, false]) func anEarlierStateIsBackedUp(isInFile: Bool) throws {
    let directory = try TemporaryDirectory()
    let container = isInFile ? try directory.container() : try memoryContainer()
    let context = container.viewContext
    try context.make("Aircraft", ["tailNumber": "N1"])
    try context.save()
    let commit = try container.retain(reason: "before the import")
    for number in 2..<50 { try context.make("Aircraft", ["tailNumber": "N\(number)"]) }
    try context.save()
    let then = try container.snapshot(at: commit)
    let state = try #require(then.persistentStoreCoordinator.persistentStores.first)
    try state.backup(to: directory.url.appendingPathComponent("then.cambium"))
    #expect(try tails(try directory.container("then")) == ["N1"])
    #expect(
      cambiumError { try state.backup(to: directory.url.appendingPathComponent("none.cambium")) { _ in false } }?.code
        == .userCancelled)
    // It can be moved as well, and is what it was there.
    let moved = directory.url.appendingPathComponent("moved.cambium")
    try then.persistentStoreCoordinator.migratePersistentStore(state, to: moved)
    #expect(try tails(then) == ["N1"])
    #expect(try tails(try directory.container("moved") { $0.isReadOnly = true }) == ["N1"])
    #expect(try container.retainedCommits() == [commit] && tails(container).count == 49)
    // What is not kept any more is not to be copied, whoever has got its identifier.
    let again = try #require(try container.snapshot(at: commit).persistentStoreCoordinator.persistentStores.first)
    try container.release(commit)
    let url = directory.url.appendingPathComponent("late.cambium")
    #expect(cambiumError { try again.backup(to: url) }?.code == .snapshotExpired)
    _ = try container.retain(reason: "another")
    #expect(cambiumError { try again.backup(to: url) }?.code == .snapshotExpired)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  /// A state that is released while it is copied, with others saving, leaves no file.
  @Test func aStateThatIsReleasedWhileItIsCopied() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let context = container.viewContext
    for number in 0..<200 { try context.make("Aircraft", ["tailNumber": "N\(number)", "photo": Data(count: 40_000)]) }
    try context.save()
    let commit = try container.retain(reason: "short")
    let then = try container.snapshot(at: commit)
    let state = try #require(then.persistentStoreCoordinator.persistentStores.first)
    let url = directory.url.appendingPathComponent("late.cambium")
    var calls = 0
    let error = cambiumError {
      try state.backup(to: url) { _ in
        calls += 1
        guard calls == 1 else { return true }
        try? container.release(commit)
        _ = try? container.retain(reason: "another")
        for aircraft in (try? context.all("Aircraft")) ?? [] { context.delete(aircraft) }
        try? context.save()
        return true
      }
    }
    #expect(error?.code == .snapshotExpired && calls > 0)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    #expect(try tails(then).count == 200 && context.all("Aircraft").isEmpty)
  }
}

import CambiumEngine
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Work that a migration put off, done in parts within a budget.
@Suite struct DeferredBudgetTests {
  private static let key = PersistentStoreCoordinator.deferredLightweightMigrationOption
  private static let rows = 3000

  private func model(_ hasNote: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(version: hasNote ? 1 : 2) {
      Entity("Flight") {
        Attribute("number", .integer64)
        if hasNote { Attribute("note", .string) }
      }
      Entity("Gate") {
        Attribute("name", .string)
        if hasNote { Attribute("note", .string) }
      }
    }
  }

  /// A store with two tasks: one of 3,000 rows, one of 10.
  private func prepared(_ directory: TemporaryDirectory) throws -> PersistentContainer {
    let context = try directory.container(model: model(true)).viewContext
    for n in 0..<Self.rows {
      try context.make("Flight", ["number": n, "note": "a note of some length, number \(n)"])
    }
    for n in 0..<10 { try context.make("Gate", ["name": "A\(n)", "note": "by the stairs"]) }
    try context.save()
    return try directory.container(model: model(false)) { $0.setOption(true, forKey: Self.key) }
  }

  /// Who finishes the work of a read-only store is told that it can't be: a loop until nothing is left would never end.
  @Test func readOnlyStoresAreNotFinished() throws {
    let directory = try TemporaryDirectory()
    withExtendedLifetime(try prepared(directory)) {}
    let coordinator = try directory.container(model: model(false)) { $0.isReadOnly = true }.persistentStoreCoordinator
    #expect(try coordinator.deferredLightweightMigrationTasks().count == 2)
    let calls: [() throws -> Void] = [
      coordinator.finishDeferredLightweightMigration, coordinator.finishDeferredLightweightMigrationTask,
      { try coordinator.finishDeferredLightweightMigration { _ in true } },
      { try coordinator.finishDeferredLightweightMigration(within: DeferredMigrationBudget(pages: 4)) },
    ]
    for call in calls {
      let error = cambiumError(call)
      #expect(error?.code == .fileWriteNoPermission && error?.message.contains("the store is read-only") == true)
      #expect(error?.storeURL?.lastPathComponent == "flights.cambium")
    }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let writing = try directory.container(model: model(false)).persistentStoreCoordinator
    try writing.finishDeferredLightweightMigration()
    // With nothing left there is nothing to refuse.
    let url = directory.url.appendingPathComponent("flights.cambium")
    try coordinator.addPersistentStore(type: .file, at: url, isReadOnly: true)
    for call in calls { try call() }
  }

  @Test func nothingIsBegunWithoutABudget() throws {
    let directory = try TemporaryDirectory()
    let coordinator = try prepared(directory).persistentStoreCoordinator
    let before = try coordinator.deferredLightweightMigrationTasks()
    #expect(before.map { $0.rows } == [UInt64(Self.rows), 10] && before.allSatisfy { $0.nextRow == 0 && $0.pages > 0 })
    var told = 0
    for budget in [DeferredMigrationBudget(duration: .zero), DeferredMigrationBudget(pages: 0)] {
      #expect(try !coordinator.finishDeferredLightweightMigration(within: budget, progress: { _ in told += 1 }))
    }
    #expect(
      try !coordinator.finishDeferredLightweightMigration(
        within: DeferredMigrationBudget(), isExpired: { true }, progress: { _ in told += 1 }))
    #expect(try told == 0 && coordinator.deferredLightweightMigrationTasks() == before)
  }

  /// What is told to be freed is what the rows then take less, nearly: notes of about 33 bytes with what they take in a
  /// row.
  @Test func tasksTellWhatTheyWillFree() throws {
    let directory = try TemporaryDirectory()
    let container = try prepared(directory)
    let coordinator = container.persistentStoreCoordinator
    let task = try #require(coordinator.deferredLightweightMigrationTasks().first)
    let freed = try #require(task.freedBytes)
    #expect(freed > UInt64(Self.rows) * 30 && freed < UInt64(Self.rows) * 40 && freed < task.bytes)
    #expect(task.description.hasSuffix("bytes, of which about \(freed) will be free)"))
    // Rows that were written again are not counted.
    let context = container.viewContext
    for flight in try context.fetch(FetchRequest<ManagedObject>(entityName: "Flight")).prefix(Self.rows / 2) {
      flight.setValue(-1, forKey: "number")
    }
    try context.save()
    let less = try #require(coordinator.deferredLightweightMigrationTasks().first?.freedBytes)
    #expect(less > freed / 3 && less < freed * 2 / 3)
    try coordinator.finishDeferredLightweightMigration()
    #expect(try coordinator.deferredLightweightMigrationTasks().isEmpty)
  }

  @Test func workGoesOnWhereItStopped() throws {
    let directory = try TemporaryDirectory()
    let container = try prepared(directory)
    let coordinator = container.persistentStoreCoordinator
    // Half of the pages: more than nothing, and not all.
    let pages = try #require(coordinator.deferredLightweightMigrationTasks().first?.pages)
    #expect(pages >= 4)
    var told: [DeferredMigrationProgress] = []
    let half = DeferredMigrationBudget(duration: .seconds(600), pages: Int(pages / 2))
    #expect(try !coordinator.finishDeferredLightweightMigration(within: half, progress: { told.append($0) }))
    let done = try #require(told.last?.rows)
    #expect(done > 0 && done <= UInt64(Self.rows) * 2 / 3)
    #expect(told.last?.tasksLeft == 2 && told.last?.task.nextRow ?? 0 > 0)
    // Ended from outside after one part more; objects are saved meanwhile.
    var parts = 0
    let context = container.viewContext
    let isDone = try coordinator.finishDeferredLightweightMigration(
      within: DeferredMigrationBudget(), isExpired: { parts == 1 },
      progress: { _ in
        parts += 1
        do {
          try context.make("Gate", ["name": "B\(parts)"])
          try context.save()
        } catch { Issue.record(error) }
      })
    #expect(!isDone && parts == 1)
    told = []
    #expect(
      try coordinator.finishDeferredLightweightMigration(
        within: DeferredMigrationBudget(duration: .seconds(600)), progress: { told.append($0) }))
    #expect(zip(told, told.dropFirst()).allSatisfy { $0.rows < $1.rows })
    #expect(told.last?.tasksLeft == 0)
    #expect(try coordinator.deferredLightweightMigrationTasks().isEmpty)
    #expect(coordinator.persistentStores.first?.metadata[Self.key] == nil)
    context.reset()
    #expect(try context.all("Flight").count == Self.rows)
    #expect(try context.all("Gate").count == 11)
    // Nothing is left.
    #expect(try coordinator.finishDeferredLightweightMigration(within: DeferredMigrationBudget(pages: 0)))
  }

  @Test func budgetsBeyondAllMeasureAreUsed() throws {
    let directory = try TemporaryDirectory()
    let coordinator = try prepared(directory).persistentStoreCoordinator
    let least = DeferredMigrationBudget(duration: .seconds(Int64.min), pages: .min)
    #expect(try !coordinator.finishDeferredLightweightMigration(within: least))
    let most = DeferredMigrationBudget(duration: .seconds(Int64.max), pages: .max)
    #expect(try coordinator.finishDeferredLightweightMigration(within: most))
    #expect(try coordinator.deferredLightweightMigrationTasks().isEmpty)
  }

  /// Lets parts be as long as `time` says, of others between or not; answers how many were durable.
  @discardableResult
  private func run(
    _ size: inout DeferredPartSize, _ newest: inout UInt64, _ parts: Int, isAlone: Bool, _ time: (Int) -> Duration
  ) -> Int {
    var durable = 0
    for _ in 0..<parts {
      newest += isAlone ? 0 : 1
      let part = DeferredPart(rows: size.rows, nextRow: 1, isLeft: true, base: newest, sequence: newest + 1)
      newest += 1
      if size.isDurable { durable += 1 }
      // A sync takes five milliseconds.
      size.note(time(size.rows) + (size.isDurable ? .milliseconds(5) : .zero), part)
    }
    return durable
  }

  @Test func partsBecomeAsLongAsTheyAreToBe() {
    // A microsecond a row.
    let time = { (rows: Int) in Duration.microseconds(rows) }
    let short = 100...400
    let long = 20_000...65_536
    var size = DeferredPartSize()
    var newest: UInt64 = 10
    run(&size, &newest, 20, isAlone: true, time)
    #expect(short.contains(size.rows))
    run(&size, &newest, 2000, isAlone: true, time)
    #expect(long.contains(size.rows))
    // Somebody comes, and is gone.
    run(&size, &newest, 4, isAlone: false, time)
    #expect(short.contains(size.rows))
    let durable = run(&size, &newest, 2000, isAlone: false, time)
    #expect(short.contains(size.rows) && (5...40).contains(durable))
    run(&size, &newest, 2000, isAlone: true, time)
    #expect(long.contains(size.rows))
    // Neither none nor all.
    run(&size, &newest, 100, isAlone: false) { _ in .seconds(1) }
    #expect(size.rows == 64)
    run(&size, &newest, 100, isAlone: true) { _ in .zero }
    #expect(size.rows == 65_536)
    // Those beside which others write are as long as who wants to stop the work may wait, and leave the others as they
    // are.
    size = DeferredPartSize()
    let rows = size.rows
    // Where nobody did, they are shorter.
    for (othersWrote, aim) in [(true, DeferredPartSize.aimBesideOthers), (false, DeferredPartSize.aimBesideNobody)] {
      for microseconds in [0.2, 1, 10, 400] {
        for _ in 0..<40 {
          let part = DeferredPart(
            rows: size.rowsBesideOthers, nextRow: 1, isLeft: true, base: newest, sequence: newest + 1,
            isBesideOthers: true, othersWrote: othersWrote)
          newest += 1
          #expect(!size.isDurable)
          size.note(.nanoseconds(Int(microseconds * 1000) * part.rows), part)
        }
        let time = Duration.nanoseconds(Int(microseconds * 1000) * size.rowsBesideOthers)
        let isBounded = size.rowsBesideOthers == 1024 || size.rowsBesideOthers == 262_144
        #expect(isBounded || (aim / 2...aim * 2).contains(time))
      }
    }
    #expect(size.rows == rows)
    // Three syncs of 20 ms do not make them ever shorter.
    size = DeferredPartSize()
    for _ in 0..<40 {
      let part = DeferredPart(
        rows: size.rowsBesideOthers, nextRow: 1, isLeft: true, base: newest, sequence: newest + 1, isBesideOthers: true)
      size.note(.milliseconds(60) + time(part.rows), part)
    }
    #expect(size.rowsBesideOthers >= 16_384)
    // A commit of others now and then, and none of the parts becomes long.
    size = DeferredPartSize()
    for _ in 0..<50 {
      run(&size, &newest, 10, isAlone: true, time)
      run(&size, &newest, 1, isAlone: false, time)
      #expect(size.rows <= 400)
    }
  }
}

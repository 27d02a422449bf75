import Foundation
import Testing

@testable import Cambium

/// What the log tells of migrations. In the suite of ``MigrationTests``, one after the other: who listens is known to
/// the process.
extension MigrationTests {
  private static func before() throws -> ManagedObjectModel {
    try ManagedObjectModel(version: 1) {
      Entity("A") {
        Attribute("x", .string)
        Attribute("n", .integer64)
        ToOne("one", "B")
        ToMany("many", "B")
        Index("byX", "x")
      }
      Entity("B") {
        Attribute("b", .string)
        ToOne("owner", "K")
        Unique("b")
      }
      Entity("K") { Attribute("k", .string) }
      Entity("Old") { Attribute("o", .string) }
      Entity("P") { Attribute("p", .string) }
      Entity("Q", parent: "P") {}
    }
  }

  private static func after() throws -> ManagedObjectModel {
    try ManagedObjectModel(version: 2) {
      Entity("A") {
        Attribute("x", .string)
        Attribute("n", .integer16)
        ToOne("one", "B", inverse: "all")
        Index("byN", "n")
        Unique("n")
      }
      Entity("B") {
        Attribute("b", .string)
        ToMany("owner", "K")
        ToMany("all", "A", inverse: "one")
      }
      Entity("K") {
        Attribute("k", .string)
        Attribute("added", .string, optional: false, default: "-")
      }
      Entity("P") { Attribute("p", .string) }
    }
  }

  private static func fillAll(_ directory: TemporaryDirectory, _ name: String, same: Bool) throws {
    let context = try directory.container(name, model: before()).viewContext
    for n in 0..<12 {
      let k = try context.make("K", ["k": "K\(n)"])
      let b = try context.make("B", ["b": "B\(n)", "owner": k])
      try context.make("A", ["x": "X", "n": same ? 7 : n, "one": b, "many": Set([b])])
      try context.make("Old", ["o": "O"])
      try context.make(n < 4 ? "Q" : "P", ["p": "P"])
    }
    try context.save()
  }

  /// The lines about a file while `body` runs.
  private static func lines(_ file: String, _ body: () throws -> Void) rethrows -> [String] {
    let lines = try LoggedLines.collect(.migration) { lines in
      try body()
      return lines.all
    }
    return lines.filter { $0.hasPrefix(file + ": ") }.map { String($0.dropFirst(file.count + 2)) }
  }

  private static let dropped = [
    "write the model", "drop the rows of Old (12 entries, 1 pages)", "drop the links of A.many (12 entries, 1 pages)",
    "drop index A.byX (12 entries, 1 pages)", "drop index B.b (12 entries, 1 pages)",
  ]
  private static let eager =
    dropped + [
      "keep the rows of K, to be read as the new model has them", "write the links of B.owner (12 entries, 1 pages)",
      "remove the rows of Q (4 entries, 1 pages)", "rewrite the rows of A (12 entries, 1 pages)",
      "rewrite the rows of B (12 entries, 1 pages)", "build the way back of A.one (12 entries, 1 pages)",
      "build index A.byN (12 entries, 0 pages)", "build the uniqueness constraint A.n (12 entries, 0 pages)",
    ]
  private static let deferred =
    dropped + [
      "keep the rows of B, to be read as the new model has them",
      "keep the rows of K, to be read as the new model has them", "remove the rows of Q (4 entries, 1 pages)",
      "rewrite the rows of A (12 entries, 1 pages)", "build the way back of A.one (12 entries, 1 pages)",
      "build the uniqueness constraint A.n (12 entries, 0 pages)", "later, build index A.byN (12 entries, 1 pages)",
      "later, rewrite the rows of B (12 entries, 1 pages)",
    ]

  /// Which models the migration is between, and its steps.
  private static func begin(_ steps: [String]) throws -> [String] {
    let (old, new) = (try before().versionChecksum, try after().versionChecksum)
    return ["model \(old) is not \(new); these entities differ: A, B, K, Old, Q"]
      + steps.enumerated().map { "step \($0 + 1): \($1)" }
  }

  @Test(arguments: [false, true]) func everyKindOfStepIsLogged(defers: Bool) throws {
    let directory = try TemporaryDirectory()
    let name = defers ? "later" : "steps"
    try Self.fillAll(directory, name, same: false)
    // A plan tells the same.
    let plan = try Migration.plan(
      storeAt: directory.url.appendingPathComponent(name + ".cambium"), to: Self.after(), defers: defers)
    #expect(plan.steps.map { $0.description } == (defers ? Self.deferred : Self.eager))
    let lines = try Self.lines(name + ".cambium") {
      _ = try directory.container(name, model: Self.after()) {
        if defers { $0.setOption(true, forKey: PersistentStoreCoordinator.deferredLightweightMigrationOption) }
      }
    }
    #expect(
      try lines == Self.begin(defers ? Self.deferred : Self.eager) + ["migrated, model \(Self.after().versionChecksum)"]
    )
  }

  /// What ends a migration is the last line.
  @Test func whatIsInTheWayIsLogged() throws {
    let directory = try TemporaryDirectory()
    try Self.fillAll(directory, "blocked", same: true)
    let lines = Self.lines("blocked.cambium") {
      #expect(cambiumError { _ = try directory.container("blocked", model: Self.after()) }?.code.rawValue == 134111)
    }
    #expect(try lines.dropLast() == ArraySlice(Self.begin(Self.eager)))
    let last = lines.last ?? ""
    #expect(
      last.hasPrefix("not migrated: objects in the store stand in the way of the migration: A is to be unique by n"))
    #expect(last.contains("12 objects (A/p"))
  }

  /// Stages, their handlers, the way back, and what failed, by name.
  @Test func stagesAreLogged() throws {
    typealias Notes = NoteVersions
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 2)
    let file = "flights.cambium"
    let custom = try Notes.reading()
    var fails = true
    custom.didMigrateHandler = { _, _ in if fails { throw StagedMigrationTests.Killed() } }
    let manager = try StagedMigrationManager([custom, Notes.lightweight(4, 5, named: "stars")])
    func open() throws {
      _ = try directory.container(model: try Notes.model(5)) {
        $0.stagedMigrationManager = manager
        $0.keepsStateBeforeMigration = true
      }
    }
    let failed = Self.lines(file) { #expect(cambiumError { try open() } != nil) }
    let sums = (2...5).map { Notes.checksum($0) }
    #expect(
      failed == [
        "stage '2 to 3', from \(sums[0]) to \(sums[1])", "stage '2 to 3': willMigrateHandler",
        "step 1: write the model",
        "step 2: rewrite the rows of Note (10 entries, 1 pages)", "migrated, model \(sums[1])",
        "stage '2 to 3': didMigrateHandler",
        "not migrated: migration (134110): the didMigrateHandler of the migration stage '2 to 3' failed, and will be called again when the "
          + "store is next opened: Killed()",
      ])
    fails = false
    let gone = try Self.lines(file) { try open() }
    #expect(
      gone == [
        "stage '2 to 3': didMigrateHandler", "stage '2 to 3': finished", "stage 'stars', from \(sums[1]) to \(sums[3])",
        "step 1: write the model",
        "step 2: keep the rows of Note, to be read as the new model has them", "migrated, model \(sums[3])",
      ])
    let finished = try Self.lines(file) {
      let coordinator = try directory.container(model: try Notes.model(5)).persistentStoreCoordinator
      #expect(try coordinator.deferredLightweightMigrationTasks().isEmpty)
    }
    #expect(finished.isEmpty)
    let back = try Self.lines(file) {
      try directory.container(model: try Notes.model(5)).persistentStoreCoordinator.rollBackMigration()
    }
    #expect(back == ["went back behind the migration"])
    #expect(try Notes.stored(directory) == "3")
  }

  /// A lightweight step has the name of the stage that it departs by, also where a custom stage follows.
  @Test func stepsHaveTheNameOfTheirStage() throws {
    typealias Notes = NoteVersions
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    let lines = try Self.lines("flights.cambium") {
      _ = try Notes.open(directory, 3, [Notes.lightweight(1, named: "amounts"), try Notes.reading()])
    }
    let sums = (1...3).map { Notes.checksum($0) }
    #expect(lines.first == "stage 'amounts', from \(sums[0]) to \(sums[1])")
    #expect(lines.contains("stage '2 to 3', from \(sums[1]) to \(sums[2])"))
  }

  /// Work that was put off is logged when it is done.
  @Test func finishingIsLogged() throws {
    let directory = try TemporaryDirectory()
    try Self.fillAll(directory, "later", same: false)
    let container = try directory.container("later", model: Self.after()) { $0.shouldDeferLightweightMigration = true }
    let coordinator = container.persistentStoreCoordinator
    let first = try #require(coordinator.deferredLightweightMigrationTasks().first)
    let one = try Self.lines("later.cambium") { try coordinator.finishDeferredLightweightMigrationTask() }
    #expect(one == ["finished \(first.subject)"])
    let rest = try Self.lines("later.cambium") { try coordinator.finishDeferredLightweightMigration() }
    #expect(rest == ["finished what migrations put off"])
    #expect(try Self.lines("later.cambium") { try coordinator.finishDeferredLightweightMigration() } == [])
  }
}

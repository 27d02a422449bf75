import CambiumEngine
import CambiumKernel
import CambiumSystem
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Migrations in one process beside readers in others, and migrations that are killed. `CAMBIUM_MIGRATION_KILLS` sets
/// how many.
@Suite(.serialized) struct MigrationProcessesTests {
  private static var kills: Int { testCount("CAMBIUM_MIGRATION_KILLS", short: 12, full: 100) }

  private static let count = 2000

  /// The first of the worker's models.
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string, renamed: "text")
        Attribute("number", .integer64)
        Attribute("old", .string, optional: false, default: "none")
        Index("byNumber", "number")
      }
    }
  }

  private func makeNotes(_ directory: TemporaryDirectory) throws -> String {
    let context = try directory.container("notes", model: Self.model()).viewContext
    for n in 0..<Self.count { try context.make("Note", ["text": "note \(n)", "number": n, "old": "old \(n)"]) }
    try context.save()
    return directory.url.appendingPathComponent("notes.cambium").path
  }

  private func start(_ arguments: [String], _ errors: Pipe, _ output: Pipe? = nil) throws -> Process {
    let process = Process()
    process.executableURL =
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("StoreWorker")
    process.arguments = arguments
    process.standardError = errors
    if let output { process.standardOutput = output } else { process.standardOutput = FileHandle.nullDevice }
    try process.run()
    return process
  }

  private func text(_ pipe: Pipe) -> String { String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self) }

  private func runWorker(_ arguments: [String]) throws {
    let errors = Pipe()
    let process = try start(arguments, errors)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(text(errors))")
  }

  /// A context of the old model, while another process migrates the file.
  @Test func contextsReadOnWhileAnotherProcessMigrates() throws {
    let directory = try TemporaryDirectory()
    let path = try makeNotes(directory)
    let container = try directory.container("notes", model: Self.model())
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let notes = try context.all("Note", sort: [FetchSortDescriptor(key: "number")])
      // Once, without a rollback.
      try runWorker(["migrate", path, "1"])
      for (n, note) in notes.enumerated() {
        guard note.value(forKey: "old") as? String == "old \(n)", note.value(forKey: "text") as? String == "note \(n)"
        else {
          Issue.record("note \(n) is not what it was")
          break
        }
      }
      #expect(notes.count == Self.count)
      let error = cambiumError { _ = try context.all("Note") }
      #expect(error?.code == .persistentStoreIncompatibleSchema)
      #expect(error?.message.contains("open it again") ?? false)
    }
  }

  private func check(_ path: String, _ text: String) throws -> Set<String> {
    let device = try FileDevice(path: path, access: .readWrite, sharing: .shared)
    let kernel = try Store.open(on: device, environment: SystemEnvironment())
    let store = try EntityStore.open(kernel)
    let entity = try #require(store.schema.entity(named: "Note"))
    let report = try store.check()
    #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
    let names = entity.allAttributes.map { $0.name }
    #expect([["text", "number", "old"], ["title", "number"]].contains(names), "\(text): \(names)")
    var n = 0
    var originals = 0
    let number = try #require(entity.attribute(named: "number"))
    let title = try #require(entity.attribute(named: names[0]))
    var wrong = 0
    try store.view().rows(entity: entity, includesSubentities: false) { (row) throws(EngineError) in
      switch try row.value(number) {
      case .integer(Int64(n)), .double(Double(n)): break
      default: wrong += 1
      }
      if try row.value(title) != .string("note \(n)") { wrong += 1 }
      if let old = entity.attribute(named: "old") {
        let value = try row.value(old)
        if value == .string("old \(n)") { originals += 1 } else if value != .string("none") { wrong += 1 }
      }
      n += 1
      return true
    }
    #expect(
      n == Self.count && wrong == 0 && (originals == 0 || originals == n), "\(text): \(n), \(wrong), \(originals)")
    try kernel.close()
    return [names.joined(separator: " ") + " \(number.type)"]
  }

  @Test func killedMigrationsLeaveTheOldModelOrTheNew() throws {
    let seed = testSeed(20_261_124)
    print("killed migrations from seed \(seed)")
    var random = SplitMix64(seed: seed)
    let directory = try TemporaryDirectory()
    let template = try makeNotes(directory)
    var models: Set<String> = []
    var readers: [(process: Process, errors: Pipe)] = []
    defer { for (process, _) in readers where process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    var path = template
    for round in 0..<Self.kills {
      if round % 4 == 0 {
        for (process, errors) in readers {
          #expect(process.isRunning, "a reader ended: \(process.isRunning ? "" : text(errors))")
          kill(process.processIdentifier, SIGKILL)
          process.waitUntilExit()
        }
        path = directory.url.appendingPathComponent("notes-\(round).cambium").path
        try FileManager.default.copyItem(atPath: template, toPath: path)
        let errors = Pipe()
        readers = [(try start(["notes", path], errors), errors)]
      }
      let errors = Pipe()
      let steps = Pipe()
      let process = try start(["migrate", path, "1000000"], errors, steps)
      // At some step, however fast it goes, or a little later.
      var left = random.below(40)
      while left > 0 {
        let count = steps.fileHandleForReading.availableData.count
        if count == 0 { break }
        left -= count
      }
      usleep(UInt32(random.below(3000)))
      let hasEnded = !process.isRunning
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      #expect(!hasEnded, "round \(round): the migrating process ended: \(hasEnded ? text(errors) : "")")
      models.formUnion(try check(path, "round \(round), \(path)"))
    }
    for (process, errors) in readers {
      #expect(process.isRunning, "a reader ended: \(process.isRunning ? "" : text(errors))")
    }
    print("killed \(Self.kills) times, found \(models.sorted())")
    // Where so few kills fall is chance.
    #expect(models.count >= min(2, Self.kills / 10))
  }

  /// What notes have on their way through the stages of `StoreWorker stages`: nothing is lost, and nothing is half
  /// done. Answers how far the store is.
  private func checkStages(_ path: String, _ text: String, isDone: Bool = false) throws -> String {
    let device = try FileDevice(path: path, access: .readWrite, sharing: .shared)
    let kernel = try Store.open(on: device, environment: SystemEnvironment())
    let store = try EntityStore.open(kernel)
    let report = try store.check()
    #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
    let entity = try #require(store.schema.entity(named: "Note"))
    var wrong: [String] = []
    var counts: [String: Int] = [:]
    var n = 0
    try store.view().rows(entity: entity, includesSubentities: false) { (row) throws(EngineError) in
      let expected: [(String, Value, isLater: Bool)] = [
        ("text", .string("note \(n)"), false), ("number", .integer(Int64(n)), false),
        ("old", .string("old \(n)"), false),
        ("square", .integer(Int64(n * n)), true), ("label", .string("old \(n)"), true),
      ]
      for (name, value, isLater) in expected {
        guard let attribute = entity.attribute(named: name) else { continue }
        let found = try row.value(attribute)
        if found == value {
          counts[name, default: 0] += 1
        } else if !isLater || isDone || !found.isNull {
          wrong.append("\(name) of note \(n) is \(found)")
        }
      }
      n += 1
      return true
    }
    #expect(n == Self.count && wrong.isEmpty, "\(text): \(n) notes, \(wrong.prefix(3))")
    let isWhole = counts["label"] == Self.count && counts["square"] == Self.count && counts["old"] == nil
    #expect(!isDone || isWhole, "\(text): \(counts)")
    // Without what is old all have their labels.
    #expect(entity.attribute(named: "old") != nil || isWhole, "\(text): \(counts)")
    let isLeft = try !store.deferredTasks().isEmpty
    let stage = try store.view().stageRecord().map { "\($0.phase)" } ?? "no stage"
    try kernel.close()
    return "\(entity.allAttributes.map { $0.name }) \(stage)\(isLeft ? ", tasks left" : "")"
  }

  @Test func killedStagesGoOnWhereTheyWere() throws {
    let seed = testSeed(20_261_125)
    print("killed stages from seed \(seed)")
    var random = SplitMix64(seed: seed)
    let directory = try TemporaryDirectory()
    let template = try makeNotes(directory)
    var found: Set<String> = []
    var kills = 0
    var finished = 0
    while kills < Self.kills || finished == 0 {
      let path = directory.url.appendingPathComponent("stages-\(finished).cambium").path
      try FileManager.default.copyItem(atPath: template, toPath: path)
      var isDone = false
      while !isDone {
        let errors = Pipe()
        let steps = Pipe()
        let process = try start(["stages", path], errors, steps)
        // Another one wants to do the same now and then, waits, and then finds it done or goes on.
        let other = random.oneIn(3) ? try start(["stages", path], Pipe()) : nil
        var left = kills < Self.kills ? 1 + random.below(30) : .max
        while left > 0 {
          let count = steps.fileHandleForReading.availableData.count
          if count == 0 { break }
          left -= count
        }
        if left <= 0 {
          usleep(UInt32(random.below(2000)))
          kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        if let other {
          if left <= 0 { kill(other.processIdentifier, SIGKILL) }
          other.waitUntilExit()
        }
        isDone = process.terminationReason == .exit && process.terminationStatus == 0
        if !isDone, left > 0 {
          Issue.record("the process ended by itself: \(text(errors))")
          return
        }
        if !isDone { kills += 1 }
        found.insert(try checkStages(path, "after \(kills) kills", isDone: isDone))
      }
      finished += 1
    }
    print("killed \(kills) times, \(finished) stores done, found \(found.sorted())")
    #expect(found.count >= min(3, Self.kills / 4))
  }
}

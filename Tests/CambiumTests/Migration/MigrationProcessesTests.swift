import CambiumEngine
import CambiumKernel
import CambiumSystem
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Migrations in one process beside readers in others, and migrations that are killed. `CAMBIUM_MIGRATION_KILLS` sets how
/// many.
@Suite(.serialized) struct MigrationProcessesTests {
  private static var kills: Int { testCount("CAMBIUM_MIGRATION_KILLS", debug: 12, release: 100) }

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
}

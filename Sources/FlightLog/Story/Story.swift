import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A log that began as one flat table, and became what ``FlightLogModel/make()`` says, by stages.
struct Story {
  let data: DataFolder
  /// The store; what was there is replaced.
  let store: String
  /// No more flights than these.
  var flightLimit = Int.max

  /// What came of it.
  struct Outcome {
    var flights = 0
    /// Rows that were rewritten after the log was in use again.
    var deferredRows: UInt64 = 0
    var deferredIndexes = 0
    /// Questions that were answered meanwhile.
    var answeredMeanwhile = 0
    /// How many objects were compared with those of a plain import.
    var compared = 0
    /// The first that differs, if one does.
    var difference: String?
  }

  /// Tells it, on standard output.
  ///
  /// - Throws: Also if the log does not become what a plain import makes.
  func tell() throws {
    let start = ContinuousClock.now
    let outcome = try run()
    if let difference = outcome.difference { throw ImportError(description: "the logs differ: \(difference)") }
    say("\(grouped(outcome.compared)) objects are what a plain import makes, value by value")
    say("done in \((ContinuousClock.now - start).text)")
  }

  /// Does all of it.
  func run() throws -> Outcome {
    var outcome = Outcome()
    try remove(store)
    outcome.flights = try importFlat()
    try migrate()
    try finish(&outcome)
    let plain = store + ".plain"
    try remove(plain)
    defer { try? remove(plain) }
    try importPlainly(plain)
    let (mine, theirs) = (try contents(store), try contents(plain))
    outcome.compared = mine.count
    if mine != theirs {
      let place = zip(mine, theirs).first { $0 != $1 }
      outcome.difference = place.map { "\($0) became of what should be \($1)" } ?? "\(mine.count) and \(theirs.count)"
    }
    return outcome
  }

  private func remove(_ path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    if type != .typeRegular {
      throw ImportError(description: "\(path) is no file; give the story another one (--store)")
    }
    try FileManager.default.removeItem(atPath: path)
  }

  // MARK: The flat log

  private func importFlat() throws -> Int {
    let log = try FlightLog(path: store, model: try FlightLogModel.version1())
    let context = log.newContext()
    let count = try context.performAndWait {
      try FlatImporter(data: data, context: context, flightLimit: flightLimit).run()
    }
    try log.close()
    say("version 1: \(grouped(count)) flights in one flat table, \(grouped(log.fileBytes)) bytes")
    return count
  }

  // MARK: The stages

  private func migrate() throws {
    let start = ContinuousClock.now
    let versions = try [
      FlightLogModel.version1(), FlightLogModel.version2(), FlightLogModel.version3(), FlightLogModel.make(),
    ].map { model in
      ManagedObjectModelReference(model: model, versionChecksum: try model.versionChecksum)
    }
    let toObjects = CustomMigrationStage(migratingFrom: versions[0], to: versions[1])
    toObjects.label = "airlines, airports and aircraft become objects"
    toObjects.didMigrateHandler = { manager, _ in try link(manager) }
    // By a stage of its own, so that nobody skips it: from version 2 to 4 at once, times would be dropped, not
    // gathered.
    let toComposites = CustomMigrationStage(migratingFrom: versions[1], to: versions[2])
    toComposites.label = "times become composites"
    let withoutCodes = CustomMigrationStage(migratingFrom: versions[2], to: versions[3])
    withoutCodes.label = "codes are dropped"
    let manager = try StagedMigrationManager([toObjects, toComposites, withoutCodes])
    let log = try FlightLog(path: store) { description in
      description.setOption(manager, forKey: PersistentStoreCoordinator.stagedMigrationManagerOption)
      description.shouldDeferLightweightMigration = true
    }
    try log.close()
    say("version 4: migrated by \(manager.stages.count) stages in \((ContinuousClock.now - start).text)")
    for stage in manager.stages { say("  \(stage.label ?? "")") }
  }

  /// Makes the objects that codes stand for, and links the entries with them. What is linked stays so if it is cut
  /// short.
  private func link(_ manager: StagedMigrationManager) throws {
    guard let context = manager.container?.newBackgroundContext() else { return }
    try context.performAndWait {
      var objects = try Importer(from: data, into: context)
      try objects.importReferences()
      while true {
        let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
        request.predicate = try FetchPredicate(format: "airline == nil")
        request.fetchLimit = Importer.batchSize
        let entries = try context.fetch(request)
        if entries.isEmpty { return }
        for entry in entries {
          func code(_ key: String) -> String? { entry.value(forKey: key) as? String }
          try entry.assign(try code("carrierCode").map { try objects.airline($0) }, to: "airline")
          try entry.assign(try code("originCode").map { try objects.airport($0) }, to: "origin")
          try entry.assign(try code("destinationCode").map { try objects.airport($0) }, to: "destination")
          try entry.assign(try code("aircraftTailNumber").map { try objects.aircraft($0) }, to: "aircraft")
        }
        try objects.saveBatch()
      }
    }
  }

  // MARK: What was put off

  /// Frees the room of the codes, while questions are answered.
  private func finish(_ outcome: inout Outcome) throws {
    let log = try FlightLog(path: store)
    let context = log.newContext()
    let tasks = try log.coordinator.deferredLightweightMigrationTasks()
    func rows(_ tasks: [DeferredMigrationTask]) -> UInt64 { tasks.reduce(0) { $0 + $1.rows } }
    let all = rows(tasks)
    outcome.deferredRows = rows(tasks.filter { $0.kind == .rewriteRows })
    outcome.deferredIndexes = tasks.count { $0.kind == .buildIndex }
    var progress = ProgressBar("freeing", total: Int(clamping: all))
    var questions = Question.all[...]
    var answered = 0
    var failure: (any Error)?
    try log.coordinator.finishDeferredLightweightMigration(rowsAtATime: max(1, Int(clamping: all) / 10)) { tasks in
      // Rows of a task are numbered about from 1 on.
      let done = Int(clamping: all - min(all, rows(tasks)) + (tasks.first.map { min($0.nextRow, $0.rows) } ?? 0))
      progress.show(done, rows: done)
      guard let question = questions.popFirst() else { return true }
      do {
        let lines = try context.performAndWait {
          defer { context.reset() }
          return try question.answer(context)
        }
        say("  meanwhile: \(question.title): \(lines.first ?? "none")")
        answered += 1
      } catch { failure = error }
      return failure == nil
    }
    if let failure { throw failure }
    progress.finish()
    outcome.answeredMeanwhile = answered
    try log.close()
    say(
      "\(grouped(Int(clamping: outcome.deferredRows))) rows rewritten and \(outcome.deferredIndexes) indexes built while the "
        + "log was in use")
  }

  // MARK: The same, plainly

  private func importPlainly(_ path: String) throws {
    let log = try FlightLog(path: path)
    let context = log.newContext()
    _ = try context.performAndWait {
      var importer = try Importer(from: data, into: context)
      importer.flightLimit = flightLimit
      return try importer.run()
    }
    try log.close()
  }

  /// Every object of a log as a line with all its values, in an order that depends on nothing else.
  private func contents(_ path: String) throws -> [String] {
    let log = try FlightLog(path: path)
    let context = log.newContext()
    let lines = try context.performAndWait {
      var lines: [String] = []
      for airline in try context.find("Airline") as [Airline] { lines.append(airline.contents) }
      for airport in try context.find("Airport") as [Airport] { lines.append(airport.contents) }
      for aircraft in try context.find("Aircraft") as [Aircraft] { lines.append(aircraft.contents) }
      for entry in try context.find("LogEntry") as [LogEntry] { lines.append(entry.contents) }
      return lines
    }
    if let error = context.recordedErrors.first { throw error }
    try log.close()
    return lines.sorted()
  }
}

extension ManagedObject {
  /// The object with all its attributes, and what it leads to by what that is called.
  fileprivate var contents: String {
    var parts = [entity.name]
    for name in entity.attributesByName.keys.sorted() { parts.append("\(name) \(text(value(forKey: name)))") }
    for (name, key) in [
      ("airline", "code"), ("origin", "faaIdentifier"), ("destination", "faaIdentifier"), ("aircraft", "tailNumber"),
    ] where entity.relationshipsByName[name]?.isToMany == false {
      parts.append("\(name) \(text((value(forKey: name) as? ManagedObject)?.value(forKey: key)))")
    }
    for name in ["logEntries", "departures", "arrivals"] {
      if let there = value(forKey: name, ofMany: true) { parts.append("\(name) \(there)") }
    }
    return parts.joined(separator: ", ")
  }

  private func value(forKey key: String, ofMany: Bool) -> Int? {
    guard entity.relationshipsByName[key] != nil else { return nil }
    return (value(forKey: key) as? Set<ManagedObject>)?.count ?? 0
  }

  private func text(_ value: Any?) -> String {
    switch value {
    case nil: return "nil"
    case let elements as [String: Any]:
      return "{" + elements.sorted { $0.key < $1.key }.map { "\($0.key) \(text($0.value))" }.joined(separator: ", ")
        + "}"
    case let date as Date: return "\(date.timeIntervalSinceReferenceDate)"
    case let value?: return "\(value)"
    }
  }
}

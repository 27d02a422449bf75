import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Imports, opens again, asks.
struct Program {
  /// What the command line asked for.
  let options: Options

  /// Runs all of it.
  func run() throws {
    let start = ContinuousClock.now
    try importData()
    say("")
    try askQuestions()
    say("\ndone in \((ContinuousClock.now - start).text)\(Self.peakMemory.map { ", at most \($0) of memory" } ?? "")")
  }

  private func importData() throws {
    let data = try DataFolder(path: options.data)
    let log = try FlightLog(path: options.store)
    let start = ContinuousClock.now
    let context = log.newContext()
    let outcome = try context.performAndWait {
      var importer = try Importer(from: data, into: context)
      return try importer.run()
    }
    let duration = ContinuousClock.now - start
    try log.close()
    if outcome.added == 0 {
      say("\(options.store) has the \(grouped(outcome.present)) flights already; remove it to import them again")
    } else {
      let objects = outcome.added + outcome.airlines + outcome.airports + outcome.aircraft
      let resumed = outcome.present > 0 ? " (\(grouped(outcome.present)) were there)" : ""
      say(
        "\(grouped(outcome.added)) flights\(resumed), \(grouped(outcome.aircraft)) aircraft, \(grouped(outcome.airports)) "
          + "airports, \(outcome.airlines) airlines in \(duration.text), "
          + "\(grouped(Int(Double(objects) / max(duration.inSeconds, 0.001)))) objects a second")
    }
    say("\(options.store): \(grouped(log.fileBytes)) bytes")
  }

  private func askQuestions() throws {
    let start = ContinuousClock.now
    let log = try FlightLog(path: options.store)
    say("opened again in \((ContinuousClock.now - start).text)")
    let context = log.newContext()
    for question in Question.all {
      let start = ContinuousClock.now
      // A context of one question's objects: nothing is remembered from the one before.
      let lines = try context.performAndWait {
        defer { context.reset() }
        return try question.answer(context)
      }
      say("\n\(question.title)  [\((ContinuousClock.now - start).text)]")
      for line in lines { say("  " + line) }
    }
    if let error = context.recordedErrors.first { throw error }
    try log.close()
  }

  /// The most memory that the process has had, where the system tells it in a file.
  private static var peakMemory: String? {
    guard let status = try? String(contentsOf: URL(fileURLWithPath: "/proc/self/status"), encoding: .utf8) else {
      return nil
    }
    for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
      let digits = line.filter { $0.isNumber }
      return Int(digits).map { "\(grouped($0 / 1024)) MiB" }
    }
    return nil
  }
}

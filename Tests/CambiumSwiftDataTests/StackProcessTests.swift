import CambiumSwiftData
import CambiumTesting
import Foundation
import Testing

/// The model class of the program `StackWorker`.
@Model private final class Note {
  var stack: String
  var number: Int
  init(stack: String, number: Int) {
    self.stack = stack
    self.number = number
  }
}

/// Two processes, one with each stack, on one store. `CAMBIUM_STACK_SAVES` sets how often each of them saves.
@Suite struct StackProcessTests {
  private func start(_ stack: String, _ url: URL, _ count: Int) throws -> (process: Process, output: Pipe) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("StackWorker")
    process.arguments = [stack, url.path, "\(count)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    return (process, output)
  }

  /// Runs one process with each stack. Both make the store, if there is none.
  private func runBoth(_ url: URL, _ count: Int) throws {
    let workers = [try start("models", url, count), try start("objects", url, count)]
    for (process, output) in workers {
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(text == "saw \(count)\n")
    }
  }

  /// The models of the stacks differ in their classes. So each stack gives the store its own model when it opens the
  /// store, and the other one may be opening the store at that moment.
  @Test func bothStacksMayOpenAtOnce() throws {
    for _ in 0..<30 {
      let url = FileManager.default.temporaryDirectory.appendingPathComponent("stacks-\(UUID()).store")
      defer { try? FileManager.default.removeItem(at: url) }
      try runBoth(url, 1)
    }
  }

  @Test func twoProcessesShareAStore() throws {
    let count = testCount("CAMBIUM_STACK_SAVES", short: 500, full: 10_000)
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("stacks-\(UUID()).store")
    defer { try? FileManager.default.removeItem(at: url) }
    try runBoth(url, count)
    let container = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    for stack in ["models", "objects"] {
      let numbers = try context.fetch(
        FetchDescriptor<Note>(predicate: #Predicate { $0.stack == stack }, sortBy: [SortDescriptor(\.number)]))
      #expect(numbers.map(\.number) == Array(0..<count))
      let history = try context.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == stack }))
      #expect(history.count == count && Set(history.map(\.processIdentifier)).count == 1)
    }
    let all = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(all.map(\.id) == (1...Int64(2 * count)).map { $0 } && Set(all.map(\.processIdentifier)).count == 2)
  }
}

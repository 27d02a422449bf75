import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumSystem

/// Real processes on one store. `CAMBIUM_PROCESS_ROUNDS` sets how often one of them is killed (500 are a long run, of
/// about a minute), and `CAMBIUM_ALTERNATIONS` how often two of them write in turn.
@Suite(.serialized) struct ProcessesTests {
  /// The program of the tests, beside the tests.
  static var worker: URL {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("StoreWorker")
  }

  private func start(_ arguments: [String]) throws -> Process {
    let process = Process()
    process.executableURL = Self.worker
    process.arguments = arguments
    try process.run()
    return process
  }

  private func makeStore(_ path: String) throws {
    let environment = SystemEnvironment()
    let device = try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment)
    }
    device.close()
    let store = try open(path)
    let t = try store.beginWrite()
    for expected in [UInt32(16), 17, 18] {
      let tree = try t.createTree(.integer)
      #expect(tree.rawValue == expected)
    }
    try t.commit()
    try store.close()
  }

  private func open(_ path: String, sharing: FileDevice.Sharing = .shared, isReadOnly: Bool = false) throws -> Store {
    var options = StoreOptions()
    options.isReadOnly = isReadOnly
    let device = try FileDevice(path: path, access: isReadOnly ? .readOnly : .readWrite, sharing: sharing)
    return try Store.open(on: device, environment: SystemEnvironment(), options: options)
  }

  private func number(_ bytes: [UInt8]?) -> UInt64 {
    (bytes ?? []).prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }

  private func acknowledged(_ path: String) throws -> UInt64 {
    number([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
  }

  /// Two writers and three readers, of which one after the other is killed: what a writer was told of is there, no
  /// reader sees half a commit, and the others go on.
  @Test func killsLoseNothing() throws {
    let rounds = testCount("CAMBIUM_PROCESS_ROUNDS", short: 10, full: 100)
    try withTemporaryDirectory { directory in
      let path = directory + "/shared.store"
      try makeStore(path)
      let acknowledgements = (0..<2).map { directory + "/acknowledged\($0)" }
      for file in acknowledgements { _ = FileManager.default.createFile(atPath: file, contents: Data()) }
      func start(_ n: Int) throws -> Process {
        try n < 2 ? self.start(["write", path, "\(n)", acknowledgements[n]]) : self.start(["read", path])
      }
      var processes = try (0..<5).map(start)
      defer { for process in processes where process.isRunning { kill(process.processIdentifier, SIGKILL) } }
      let store = try open(path, isReadOnly: true)
      var deaths = 0
      for round in 0..<rounds {
        usleep(UInt32.random(in: 2_000...40_000))
        for n in 0..<5 where !processes[n].isRunning {
          Issue.record("process \(n) ended by itself in round \(round)")
          return
        }
        // Mostly a writer.
        let n = round % 4 == 3 ? Int.random(in: 2..<5) : Int.random(in: 0..<2)
        kill(processes[n].processIdentifier, SIGKILL)
        processes[n].waitUntilExit()
        deaths += 1
        for (id, file) in acknowledgements.enumerated() {
          let count = try acknowledged(file)
          let view = try store.snapshot()
          let there = number(try view.value(TreeID(rawValue: 18), UInt64(id)))
          #expect(there >= count, "writer \(id) was told of \(count) commits, and \(there) are there")
        }
        processes[n] = try start(n)
        // The others go on: nothing of the turn was left behind.
        let other = n < 2 ? 1 - n : 0
        let before = try acknowledged(acknowledgements[other])
        var waits = 0
        while try acknowledged(acknowledgements[other]) == before, processes[other].isRunning, waits < 30_000 {
          usleep(1_000)
          waits += 1
        }
        #expect(try acknowledged(acknowledgements[other]) > before, "writer \(other) does not go on")
      }
      for process in processes {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
      try store.close()
      let commits = try acknowledgements.map { try acknowledged($0) }
      print("processes: \(deaths) kills, \(commits) commits")
      #expect(commits.allSatisfy { $0 > 0 })
      // No lock was left behind, and the store is sound.
      let alone = try open(path, sharing: .exclusive)
      let report = try alone.check()
      #expect(report.problems.isEmpty, "\(report.problems)")
      for id in 0..<2 {
        #expect(number(try alone.snapshot().value(TreeID(rawValue: 18), UInt64(id))) >= commits[id])
      }
      try alone.close()
    }
  }

  /// Two processes that write strictly in turn, with checkpoints by both, agree with what one would have made of it.
  @Test func writersInTurnAgreeWithTheModel() throws {
    let total = testCount("CAMBIUM_ALTERNATIONS", short: 600, full: 20_000)
    try withTemporaryDirectory { directory in
      let path = directory + "/turns.store"
      try makeStore(path)
      let processes = try (0..<2).map { try start(["alternate", path, "\($0)", "\(total / 2)"]) }
      for process in processes {
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
      }
      var model: [UInt64: [UInt8]] = [:]
      for number in 0..<UInt64(total / 2 * 2) {
        let key = number &* 7919 % 1500
        model[key] =
          number % 5 == 4
          ? nil
          : (0..<Int(20 + number % 90)).map {
            $0 < 8 ? UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) : UInt8(truncatingIfNeeded: $0)
          }
      }
      let store = try open(path, sharing: .exclusive)
      let view = try store.snapshot()
      let rows = TreeID(rawValue: 16)
      #expect(try view.counter(rows, 0) == Int64(total / 2 * 2))
      #expect(try view.count(rows) == UInt64(model.count))
      for (key, value) in model { #expect(try view.value(rows, key) == value) }
      let report = try store.check()
      #expect(report.problems.isEmpty, "\(report.problems)")
      try store.close()
    }
  }

  @Test func aForkedChildIsRefused() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/fork.store"
      try makeStore(path)
      let process = try start(["fork", path])
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
  }
}

import Foundation

/// Runs this program again to do something in a process of its own.
enum ChildProcess {
  struct Failure: Error { let text: String }

  /// Runs to the end, however that comes, and answers what was printed.
  static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--child"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// As ``run(_:)``, for a number.
  static func number(_ arguments: [String]) throws -> Int {
    let text = try run(arguments)
    if text == "unsupported" { throw NotSupported() }
    guard let number = Int(text) else { throw Failure(text: "a child process printed '\(text)'") }
    return number
  }
}

/// What child processes do. The arguments: what, peer, directory, a number.
struct ChildProgram {
  let arguments: [String]

  func run() throws {
    guard arguments.count == 4, let number = Int(arguments[3]) else { throw ChildProcess.Failure(text: "arguments") }
    let peer = try Program.peer(arguments[1], directory: arguments[2])
    switch arguments[0] {
    case "kill": try fillLogAndDie(peer, firstID: number)
    case "memory": try measureMemory(peer, rows: number)
    default: throw ChildProcess.Failure(text: arguments[0])
    }
  }

  /// Commits rows until the log is nearly full, says how many, and dies as by `kill -9`.
  private func fillLogAndDie(_ peer: any Peer, firstID: Int) throws {
    try peer.open(.unsynced)
    var count = 0
    do {
      while try peer.logBytes() < UInt64(Tuning.logBytes) * 9 / 10, count < 1_000_000 {
        for _ in 0..<100 {
          try peer.insert(Aircraft(id: firstID + count))
          count += 1
        }
      }
    } catch is NotSupported {
      print("unsupported")
      return
    }
    print(count)
    fflush(nil)
    kill(getpid(), SIGKILL)
  }

  /// Loads rows and says how much more memory that took at most.
  private func measureMemory(_ peer: any Peer, rows: Int) throws {
    let data = Dataset(rows: rows)
    try peer.create(.synced)
    // Sets the peak back to what is resident now.
    try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    let before = ProcessCounters.peakMemory()
    try peer.load(data.aircraft[...])
    print(ProcessCounters.peakMemory() - before)
    try peer.close()
  }
}

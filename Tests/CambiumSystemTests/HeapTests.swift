#if canImport(Glibc)
  import Foundation
  import Testing

  /// The heap that a store takes, counted in a process of its own (`Tests/MemoryWorker`).
  struct HeapTests {
    private struct Step {
      var name: String
      var peakBytes: Int
      var liveBytes: Int
    }

    private static func steps(_ arguments: [String]) throws -> [Step] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("MemoryWorker")
      process.arguments = arguments
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      return output.split(separator: "\n").compactMap { line in
        let fields = line.split(separator: "\t")
        guard fields.count == 3, let peak = Int(fields[1]), let live = Int(fields[2]) else { return nil }
        return Step(name: String(fields[0]), peakBytes: peak, liveBytes: live)
      }
    }

    /// A store of some thousand rows with an index works in 128 KiB, recoveries of full logs included, with pointers of
    /// 64 bits. Once it is closed, a transaction that is kept holds a few KiB.
    @Test(arguments: [("kernel", 10), ("logger", 6)])
    func aSmallStoreWorksIn128KiB(_ layer: String, _ count: Int) throws {
      let steps = try Self.steps([layer, "small", "3000"])
      #expect(steps.count == count)
      for step in steps { #expect(step.peakBytes <= 128 << 10, "\(step)") }
      if let kept = steps.first(where: { $0.name == "close with a transaction that is kept" }) {
        #expect(kept.liveBytes <= 32 << 10, "\(kept)")
      }
      print("a small store, \(layer): \(steps.map(\.peakBytes).max() ?? 0) bytes of heap at most")
    }
  }
#endif

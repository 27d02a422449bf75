// A release build has no programs: see `CAMBIUM_PROGRAMS` in `Package.swift`.
#if DEBUG
  import Foundation
  import Testing

  /// The programs in the manner of tutorials. Each has the output that it must have in its head, under
  /// `// Expected output:`, as lines that begin with `//   `. A program is a folder of `Tests/SwiftDataPrograms`, and a
  /// name in `Package.swift`.
  @Suite struct ProgramTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("SwiftDataPrograms")

    static var names: [String] {
      get throws {
        let found = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
          .sorted()
        #if canImport(Darwin)
          // It would import Apple's module.
          return found.filter { $0 != "20-bookshelf" }
        #else
          return found
        #endif
      }
    }

    /// The lines of the head of a program; `nil` if it has none.
    static func expectedOutput(of source: String) -> [String]? {
      let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
      guard let start = lines.firstIndex(of: "// Expected output:") else { return nil }
      let output = lines[(start + 1)...].prefix { $0.hasPrefix("//   ") }.map { String($0.dropFirst(5)) }
      return output.isEmpty ? nil : output
    }

    /// The executable, beside that of the tests.
    private static func executable(of name: String) -> URL {
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("SwiftData" + name.replacing("-", with: ""))
    }

    @Test(arguments: try names) func programHasItsExpectedOutput(name: String) throws {
      let file = Self.folder.appendingPathComponent(name).appendingPathComponent(name + ".swift")
      let expected = try #require(
        Self.expectedOutput(of: try String(contentsOf: file, encoding: .utf8)), "\(name) has no expected output")
      let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("program-\(UUID())")
      try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: scratch) }

      let process = Process()
      process.executableURL = Self.executable(of: name)
      process.currentDirectoryURL = scratch
      // A program with a default store has it there.
      process.environment = ProcessInfo.processInfo.environment.merging(["XDG_DATA_HOME": scratch.path]) { $1 }
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      // One that hangs is a failure of its own, and does not keep the others from being run.
      let identifier = process.processIdentifier
      let guardian = Task.detached {
        try await Task.sleep(for: .seconds(120))
        kill(identifier, SIGKILL)
      }
      defer { guardian.cancel() }
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.dropLast(lines.last == "" ? 1 : 0).map(String.init) == expected)
    }

    @Test func aProgramWithoutExpectedOutputIsFound() {
      #expect(Self.expectedOutput(of: "// A program.\nimport Foundation\n") == nil)
      #expect(Self.expectedOutput(of: "// Expected output:\nimport Foundation\n") == nil)
      #expect(Self.expectedOutput(of: "// Expected output:\n//   a\n//   b\nimport Foundation\n") == ["a", "b"])
    }
  }
#endif

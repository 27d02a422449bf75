#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
  import Foundation
  import Testing

  @testable import CambiumMacroSupport

  /// The plug-in as the process that the compiler starts.
  @Suite struct PluginProcessTests {
    private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("CambiumMacros-tool")

    private func run(_ input: [UInt8]) throws -> (output: [UInt8], status: Int32) {
      let process = Process()
      process.executableURL = Self.program
      let toProcess = Pipe()
      let fromProcess = Pipe()
      process.standardInput = toProcess
      process.standardOutput = fromProcess
      try process.run()
      try toProcess.fileHandleForWriting.write(contentsOf: Data(input))
      try toProcess.fileHandleForWriting.close()
      let output = try fromProcess.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(process.terminationReason == .exit)
      return ([UInt8](output), process.terminationStatus)
    }

    private func framed(_ text: String) -> [UInt8] { StandardStreams.header(text.utf8.count) + Array(text.utf8) }

    @Test func answersUntilTheEnd() throws {
      let one = #"{"getCapability":{}}"#
      let other = "{\"unheardOf\":\"" + String(repeating: "x", count: 300_000) + "\"}"
      let (output, status) = try run(framed(one) + framed(other) + framed(one))
      #expect(status == 0)
      let capability = Plugin.answer(Array(one.utf8))
      let refusal = Plugin.answer(Array(other.utf8))
      let expected = [capability, refusal, capability].flatMap { StandardStreams.header($0.count) + $0 }
      #expect(output == expected)
    }

    @Test func streamsThatAreCutOff() throws {
      #expect(try run([]).status == 0)
      #expect(try run([1, 0, 0]).status == 1)
      #expect(try run(StandardStreams.header(100) + [0x7B]).status == 1)
      #expect(try run([UInt8](repeating: 0xFF, count: 40)).status == 1)
      #expect(StandardStreams.length(StandardStreams.header(0x0102_0304)) == 0x0102_0304)
    }
  }
#endif

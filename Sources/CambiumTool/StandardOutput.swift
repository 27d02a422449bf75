import CambiumSystem

/// Where rows are written.
protocol RowOutput {
  /// Takes lines in, to be written soon; `force` says at once.
  func write(_ text: String, force: Bool) throws(ToolError)
  /// Takes a hint about the question, which is no part of the answer.
  func note(_ text: String)
}

/// Standard output, with a buffer that does not keep anybody waiting: the first rows are written one by one, later ones
/// together, as they come fast.
final class StandardOutput: RowOutput {
  private var buffer: [UInt8] = []
  private var writes = 0
  private var last = ContinuousClock.now

  /// Writes that are made at once, however little there is.
  private static let prompt = 200
  private static let capacity = 1 << 16

  func note(_ text: String) { StandardError.write(line: "note: \(text)") }

  func write(_ text: String, force: Bool) throws(ToolError) {
    buffer.append(contentsOf: text.utf8)
    let now = ContinuousClock.now
    guard force || writes < Self.prompt || buffer.count >= Self.capacity || now - last > .milliseconds(20) else {
      return
    }
    last = now
    writes += 1
    if buffer.isEmpty { return }
    let failure = writeStandardOutput(buffer)
    buffer.removeAll(keepingCapacity: true)
    if let failure { throw .failed("the output cannot be written: \(systemErrorText(failure))") }
  }
}

import Foundation

@testable import Cambium

/// The lines of the log about a topic that come while something runs. One test at a time: there is one handler.
final class LoggedLines: @unchecked Sendable {
  // `@unchecked`: touched with `lock` held only.
  private let lock = NSLock()
  private var lines: [String] = []
  private static let turn = NSRecursiveLock()

  /// What has come so far.
  var all: [String] { lock.withLock { lines } }

  /// What has come since this was last asked.
  func take() -> [String] {
    lock.withLock {
      defer { lines = [] }
      return lines
    }
  }

  /// - Parameter isOn: Whether there are lines about the topic from the beginning.
  static func collect<R>(
    _ topic: DebugLog.Topic, isOn: Bool = true, _ body: (LoggedLines) throws -> R
  ) rethrows -> R {
    turn.lock()
    defer { turn.unlock() }
    let collected = LoggedLines()
    DebugLog.setHandler { about, line in
      if about == topic { collected.lock.withLock { collected.lines.append(line) } }
    }
    if isOn { DebugLog.set(topic, isOn: true) }
    defer {
      DebugLog.set(topic, isOn: false)
      DebugLog.setHandler(nil)
    }
    return try body(collected)
  }
}

import Synchronization

/// Tells of objects that are used where their context is not: ``DebugLog/Topic/concurrency``.
///
/// Methods of contexts take the context's lock and may be called anywhere; reading and setting properties does not.
enum QueueCheck {
  /// Asked at every use of a property. Not part of anything that is made when it is first asked for, which would be looked at each time.
  static var isOn: Bool {
    @inline(__always) get { queueCheckIsOn.load(ordering: .relaxed) }
  }

  static func turn(on isOn: Bool) { queueCheckIsOn.store(isOn, ordering: .relaxed) }

  static let told = Told()

  /// What was told already: a loop says the same thing many times.
  final class Told: @unchecked Sendable {
    // `@unchecked`: touched with `lock` held only.
    private let lock = StateLock()
    private var lines: Set<String> = []

    func isNew(_ line: String) -> Bool {
      lock.locked {
        if lines.count >= 1000 { lines = [] }
        return lines.insert(line).inserted
      }
    }
  }

  /// Tells of a block that has not begun for so long.
  static func tellOfStalledBlock(_ milliseconds: Int) {
    let line =
      "a block of a context has not begun for \(milliseconds) ms, because the blocks before it do not end. A block must not wait for "
      + "another one by a semaphore or by sync(): await it outside of the block, or call performAndWait(_:)"
    if told.isNew(line) { DebugLog.write(.concurrency, line) }
  }
}

private let queueCheckIsOn = Atomic(false)

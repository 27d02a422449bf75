import Synchronization

/// Tells of objects that are used where their context is not: ``DebugLog/Topic/concurrency``.
///
/// Methods of contexts take the context's lock and may be called anywhere; reading and setting properties does not.
enum QueueCheck {
  /// Asked at every use of a property. Not part of anything that is made when it is first asked for, which would be
  /// looked at each time.
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
}

private let queueCheckIsOn = Atomic(false)

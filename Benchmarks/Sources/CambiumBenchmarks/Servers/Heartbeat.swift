import Synchronization

/// Sleeps for 2 ms again and again, as a task among others, and notes how long each time took: a server whose tasks get
/// no thread answers nothing for so long.
final class Heartbeat: Sendable {
  private let isOver = Atomic(false)

  /// Has no further beat follow.
  func end() { isOver.store(true, ordering: .relaxed) }

  /// The milliseconds of each beat.
  func beats() async -> [Double] {
    var beats: [Double] = []
    while !isOver.load(ordering: .relaxed) {
      let began = now()
      try? await Task.sleep(nanoseconds: 2_000_000)
      beats.append(1e3 * (now() - began))
    }
    return beats
  }
}

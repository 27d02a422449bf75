import Foundation
import Synchronization

/// Runs `body` on `count` threads of its own, and waits for them all. Answers the first error.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let failure = Mutex<(any Error)?>(nil)
  let done = DispatchSemaphore(value: 0)
  for i in 0..<count {
    let thread = Thread {
      do { try body(i) } catch { failure.withLock { if $0 == nil { $0 = error } } }
      done.signal()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
  for _ in 0..<count { done.wait() }
  if let error = failure.withLock({ $0 }) { throw error }
}

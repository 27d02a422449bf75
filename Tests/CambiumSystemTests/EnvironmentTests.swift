import CambiumKernel
import CambiumSystem
import CambiumTesting
import Dispatch
import Foundation
import Testing

@Suite struct EnvironmentTests {
  /// Counts under a lock from several threads, which take turns by its condition.
  ///
  /// Not from tasks, of which no more may run at a time than there are cores, and all may be waiting.
  private func countInTurns(_ environment: any StoreEnvironment) -> Int {
    final class Turns: @unchecked Sendable { var count = 0 }
    let lock = environment.makeLock()
    let turns = Turns()
    let group = DispatchGroup()
    for parity in 0..<2 {
      group.enter()
      Thread.detachNewThread {
        for _ in 0..<500 {
          lock.lock()
          while turns.count % 2 != parity { lock.wait() }
          turns.count += 1
          lock.wakeAll()
          lock.unlock()
        }
        group.leave()
      }
    }
    group.wait()
    return turns.count
  }

  @Test func locksExcludeAndWake() {
    #expect(countInTurns(SystemEnvironment()) == 1000)
    #expect(countInTurns(TestEnvironment()) == 1000)
  }

  @Test func otherThreadsAreNotTheMainThread() async {
    // Which thread the main actor has here, depends on how the tests are run.
    #if !os(WASI)
      #expect(await Task.detached { SystemEnvironment.isMainThread() }.value == false)
    #endif
  }

  @Test func systemGivesChanceAndTime() {
    let environment = SystemEnvironment()
    #expect(Set((0..<16).map { _ in environment.randomBits() }).count == 16)
    // 2025-01-01 to 2100-01-01.
    #expect((1_735_689_600_000..<4_102_444_800_000).contains(environment.nowMilliseconds()))
  }

  @Test func givesMemoryOfAnySize() {
    let environment: any StoreEnvironment = SystemEnvironment()
    for byteCount in [1, 4096, (2 << 20) - 1, 2 << 20, 5 << 20] {
      let start = environment.allocateMemory(byteCount: byteCount)
      defer { environment.freeMemory(start, byteCount: byteCount) }
      // Where huge pages may be had, the piece begins with one.
      let alignment: UInt = byteCount >= 2 << 20 ? 2 << 20 : 128
      #expect(UInt(bitPattern: start) % alignment == 0)
      let bytes = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
      for i in stride(from: 0, to: byteCount, by: 997) { bytes[i] = UInt8(truncatingIfNeeded: i) }
      for i in stride(from: 0, to: byteCount, by: 997) { #expect(bytes[i] == UInt8(truncatingIfNeeded: i)) }
    }
  }

  @Test func testEnvironmentRepeatsItself() {
    let a = TestEnvironment(seed: 5, milliseconds: 10)
    let b = TestEnvironment(seed: 5)
    #expect((0..<8).map { _ in a.randomBits() } == (0..<8).map { _ in b.randomBits() })
    #expect(a.randomBits() != TestEnvironment(seed: 6).randomBits())
    #expect(a.nowMilliseconds() == 10)
    a.advanceClock(milliseconds: 5)
    #expect(a.nowMilliseconds() == 15)
    a.setClock(milliseconds: -1)
    #expect(a.nowMilliseconds() == -1)
  }

  /// Each number is called once, the first on the calling thread, and all have ended when the call returns.
  @Test func worksOnSeveralThreads() {
    let environment = SystemEnvironment()
    #expect(environment.processorCount() == ProcessInfo.processInfo.activeProcessorCount)
    for count in [0, 1, 2, 7] {
      let called = Locked<[Int: Thread]>([:])
      environment.runConcurrently(count) { n in
        called.withLock { all in
          #expect(all[n] == nil)
          all[n] = Thread.current
        }
      }
      let threads = called.withLock { $0 }
      #expect(threads.keys.sorted() == Array(0..<count))
      if count > 0 { #expect(threads[0] === Thread.current) }
    }
  }
}

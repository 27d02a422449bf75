import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// The threads that blocks of contexts run on.
@Suite(.timeLimit(.minutes(5))) struct BlockThreadTests {
  /// Blocks that hold their threads up leave the threads of the concurrency runtime to other tasks.
  @Test func tasksGoOnBesideBlocksThatHoldThreadsUp() async throws {
    let container = try memoryContainer()
    let isTime = DispatchSemaphore(value: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask { await container.performBackgroundTask { _ in isTime.wait() } }
      }
      // Each of these needs a thread of the runtime.
      for _ in 0..<16 {
        group.addTask {
          for _ in 0..<100 { await Task.yield() }
          isTime.signal()
        }
      }
    }
  }

  /// What is asynchronous gets the call that waits, also where the block neither throws nor returns anything.
  @Test func asynchronousCodeWaitsForItsBlocks() async throws {
    let container = try memoryContainer()
    for context in [container.newBackgroundContext(), container.viewContext] {
      let isDone = Locked(false)
      await context.perform { isDone.withLock { $0 = true } }
      #expect(isDone.withLock { $0 })
    }
    let isDone = Locked(false)
    await container.performBackgroundTask { _ in isDone.withLock { $0 = true } }
    #expect(isDone.withLock { $0 })
  }

  /// A context's executor knows whether the thread is on the context's queue.
  @Test func executorsKnowTheirThreads() async throws {
    let context = try memoryContainer().newBackgroundContext()
    let queue = context.runner.queue
    #expect(queue.isIsolatingCurrentContext() == false)
    let (inBlock, onQueue) = await context.perform { (queue.isIsolatingCurrentContext(), context.lock.isHeldHere) }
    #expect(inBlock == true && onQueue)
    #expect(context.performAndWait { queue.isIsolatingCurrentContext() } == true)
    #expect(queue.isIsolatingCurrentContext() == false)
  }

  /// What is awaited runs in the task that awaits it.
  @Test func blocksRunInTheirTasks() async throws {
    let context = try memoryContainer().newBackgroundContext()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await context.perform { Task.isCancelled }
    }
    task.cancel()
    #expect(await task.value)
  }

  // MARK: How many run

  /// No more blocks run at a time than were asked for, and one that waits for a lock does not count.
  @Test(arguments: [1, 2, 3]) func asManyRunAsProcessors(most: Int) async throws {
    let threads = WorkerThreads(mostRunning: most)
    let running = Locked((now: 0, most: 0, done: 0))
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      for _ in 0..<40 {
        threads.run {
          running.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
          }
          for _ in 0..<100 { sched_yield() }
          let isLast = running.withLock {
            $0.now -= 1
            $0.done += 1
            return $0.done == 40
          }
          if isLast { continuation.resume() }
        }
      }
    }
    #expect(running.withLock { $0.most } <= most)
  }

  /// A thread that waits for another context's lock is replaced, so that who holds the lock can end.
  @Test func waitingThreadsAreReplaced() async throws {
    let threads = WorkerThreads(mostRunning: 1)
    let lock = ContextLock()
    let (isHeld, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let holder = Thread {
      lock.run {
        isHeld.signal()
        mayGo.wait()
      }
    }
    holder.start()
    Self.wait(isHeld)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let left = Locked(8)
      // Eight wait for the lock, and the one behind them has the lock be given up.
      for _ in 0..<8 {
        threads.run {
          lock.run {}
          let isLast = left.withLock { left in
            left -= 1
            return left == 0
          }
          if isLast { continuation.resume() }
        }
      }
      threads.run { mayGo.signal() }
    }
  }

  private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  /// Threads without work end.
  @Test func idleThreadsEnd() async throws {
    let threads = WorkerThreads(mostRunning: 2, patience: 1)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      threads.run { continuation.resume() }
    }
    while threads.threadCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
    // Others are started when there is work again.
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      threads.run { continuation.resume() }
    }
  }

  /// Queues take turns: a queue with much work does not keep another one from its first block.
  @Test func queuesTakeTurns() async throws {
    let threads = WorkerThreads(mostRunning: 1)
    let order = Locked<[String]>([])
    let (busy, other) = (WorkQueue(ContextLock(), threads), WorkQueue(ContextLock(), threads))
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      busy.start {
        // All of it is in line before any of it can run.
        for number in 1...3 { busy.start { order.withLock { $0.append("busy \(number)") } } }
        other.start { order.withLock { $0.append("other") } }
        busy.start { continuation.resume() }
      }
    }
    #expect(order.withLock { $0 } == ["other", "busy 1", "busy 2", "busy 3"])
  }

  // MARK: No deadlocks

  /// Blocks that take another context's lock, all in one order.
  @Test func blocksThatTakeTwoContexts() async throws {
    let container = try memoryContainer()
    let contexts = (0..<4).map { _ in container.newBackgroundContext() }
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    let count = Locked(0)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        let (first, second) = pairs[number % pairs.count]
        group.addTask {
          await contexts[first].perform { contexts[second].performAndWait { count.withLock { $0 += 1 } } }
        }
      }
    }
    #expect(count.withLock { $0 } == 200)
  }

  /// A parent and many children that save into it.
  @Test func aParentAndManyChildren() async throws {
    let container = try memoryContainer()
    let parent = container.newBackgroundContext()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
          try await child.perform {
            try child.make("Pilot", ["name": "\(number)"])
            try child.save()
          }
          try await parent.perform { try parent.save() }
        }
      }
      try await group.waitForAll()
    }
    let count = try await parent.perform { try parent.count(for: FetchRequest<ManagedObject>(entityName: "Pilot")) }
    #expect(count == 64)
  }

  /// More saves than threads, which wait for the disk together.
  @Test(arguments: [1, 3, 64]) func savesAtTheLimitOfThreads(most: Int) async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    container.persistentStoreCoordinator.maximumBlockThreads = most
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          try await container.performBackgroundTask { context in
            try context.make("Pilot", ["name": "\(number)"])
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    let context = container.newBackgroundContext()
    let count = try await context.perform { try context.count(for: FetchRequest<ManagedObject>(entityName: "Pilot")) }
    #expect(count == 64)
  }

  // MARK: What goes wrong

  /// A block that waits for one behind it is told of while it waits.
  @Test func stalledBlocksAreToldOf() {
    // The same line is written once in a process.
    let stall = Int.random(in: 1...50)
    let threads = WorkerThreads(mostRunning: 1, stall: stall)
    let isOver = DispatchSemaphore(value: 0)
    LoggedLines.collect(.stalledBlocks) { told in
      threads.run {
        while !told.all.contains(where: { $0.contains("has not begun for \(stall) ms") }) {
          Thread.sleep(forTimeInterval: 0.001)
        }
      }
      threads.run { isOver.signal() }
      Self.wait(isOver)
    }
  }

  // MARK: Attempts

  /// Blocks that change one object at the same time all succeed.
  @Test func conflictsAreTriedAgain() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    try await container.performBackgroundTask { context in
      try context.make("LogEntry", ["number": 0])
      try context.save()
    }
    let begun = Locked(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await container.performBackgroundTask(attempts: 8) { context in
            begun.withLock { $0 += 1 }
            let entry = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "LogEntry")).first)
            entry["number"] = (entry["number"] as? Int ?? 0) + 1
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    let context = container.newBackgroundContext()
    let entry = try #require(
      try context.performAndWait { try context.fetch(FetchRequest<ManagedObject>(entityName: "LogEntry")) }.first)
    #expect(context.performAndWait { entry["number"] as? Int } == 8)
  }

  /// The last attempt's conflict is thrown, other errors are at once, and a task that was cancelled begins no further
  /// attempt.
  @Test func attemptsEnd() async throws {
    struct Other: Error {}
    let container = try memoryContainer()
    for (attempts, expected) in [(-1, 1), (0, 1), (1, 1), (3, 3)] {
      let begun = Locked(0)
      let error = await #expect(throws: CambiumError.self) {
        try await container.performBackgroundTask(attempts: attempts) { _ in
          begun.withLock { $0 += 1 }
          throw CambiumError(.managedObjectMerge, "as a save would")
        }
      }
      #expect(error?.code == .managedObjectMerge)
      #expect(begun.withLock { $0 } == expected)
    }
    let begun = Locked(0)
    await #expect(throws: Other.self) {
      try await container.performBackgroundTask(attempts: 3) { _ in
        begun.withLock { $0 += 1 }
        throw Other()
      }
    }
    let task = Task {
      try await container.performBackgroundTask(attempts: 3) { _ in
        begun.withLock { $0 += 1 }
        withUnsafeCurrentTask { $0?.cancel() }
        throw CambiumError(.managedObjectConstraintMerge, "as a save would")
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(begun.withLock { $0 } == 2)
  }
}

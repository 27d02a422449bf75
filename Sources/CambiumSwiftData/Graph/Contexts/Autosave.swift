import Foundation
import Synchronization

/// Saves a context by itself.
///
/// The first change starts a save behind the present job of the context's executor, so that all changes of the job are
/// saved together. If the context saved by itself a short time ago, the save waits until that time is over.
final class Autosave {
  /// Who runs the save.
  enum Place {
    case nobody
    case mainActor
    case executor
  }

  private(set) var place: Place
  private(set) weak var executor: DefaultSerialModelExecutor?
  var isEnabled = false
  /// Between two saves that are made so, in seconds.
  var interval = 0.5
  let failures = AutosaveFailures()
  private var isScheduled = false
  private var lastSave: ContinuousClock.Instant?

  init(_ place: Place) { self.place = place }

  /// Has an actor's executor run the saves.
  func run(on executor: DefaultSerialModelExecutor) {
    place = .executor
    self.executor = executor
  }

  /// A save begins, however it came about.
  func didBegin() { isScheduled = false }

  /// Starts a save, unless one was started.
  func schedule(_ context: ModelContext) {
    guard !isScheduled else { return }
    isScheduled = true
    let delay = lastSave.map { max(0, interval - $0.duration(to: .now).seconds) } ?? 0
    // `nonisolated(unsafe)`: what is started here runs where the context is used, and nothing else of it touches the
    // context. It keeps the context, and an executor keeps its own, so that what was changed is saved though nobody has
    // the context any more.
    nonisolated(unsafe) let kept = context
    switch place {
    case .nobody: break
    case .mainActor:
      Task { @MainActor in
        if delay > 0 { try? await Task.sleep(for: .seconds(delay)) }
        kept.autosave.save(kept)
      }
    case .executor:
      guard let executor else { return }
      guard delay > 0 else { return executor.start { $0.autosave.save($0) } }
      Task {
        try? await Task.sleep(for: .seconds(delay))
        executor.start { $0.autosave.save($0) }
      }
    }
  }

  /// Saves, on the context's executor.
  private func save(_ context: ModelContext) {
    guard isScheduled else { return }
    isScheduled = false
    guard isEnabled else { return }
    lastSave = .now
    do { try context.save() } catch { failures.tell(error) }
  }
}

/// Hands the errors of saves to those who listen.
final class AutosaveFailures: Sendable {
  private let listeners = Mutex<[UUID: AsyncStream<any Error>.Continuation]>([:])

  var stream: AsyncStream<any Error> {
    let id = UUID()
    return AsyncStream(bufferingPolicy: .bufferingNewest(100)) { continuation in
      listeners.withLock { $0[id] = continuation }
      continuation.onTermination = { [weak self] _ in self?.listeners.withLock { $0[id] = nil } }
    }
  }

  func tell(_ error: any Error) {
    for listener in listeners.withLock({ Array($0.values) }) { listener.yield(error) }
  }

  deinit { for listener in listeners.withLock({ Array($0.values) }) { listener.finish() } }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension ModelContext {
  /// Whether changes are saved by themselves. On for ``ModelContainer/mainContext``, and off at first for all others.
  ///
  /// The first change starts a save that runs at the end of the present job of the main actor, or of the model actor.
  /// If the context saved by itself less than ``autosaveInterval`` ago, the save waits for the rest of it. A failure
  /// goes to ``autosaveErrors``; the changes stay, and the next change starts another save. Nothing is saved when the
  /// process ends: call ``ModelContainer/close()`` or ``save()`` before.
  ///
  /// A context that belongs to neither has no job at whose end it could be saved. To turn this on notes an error, and
  /// the next save throws it.
  public var autosaveEnabled: Bool {
    get { autosave.isEnabled }
    set {
      if newValue, case .nobody = autosave.place {
        return managedObjectContext.note(
          SwiftDataError(
            .missingModelContext,
            "a context that is neither the mainContext nor a model actor's cannot save by itself; call save()"),
          losesChange: true)
      }
      autosave.isEnabled = newValue
      if newValue, hasChanges { autosave.schedule(self) }
    }
  }

  /// How many seconds are at least between two saves that the context makes by itself; so long a change waits at most.
  /// 0.5 at first.
  public var autosaveInterval: TimeInterval {
    get { autosave.interval }
    set { autosave.interval = max(0, newValue) }
  }

  /// The errors of saves that the context made by itself. Each call gives a stream of its own, which ends with the
  /// context.
  public var autosaveErrors: AsyncStream<any Error> { autosave.failures.stream }
}

import Cambium

/// The place where the code of a context runs: an actor, or nothing that could run a block later.
struct JobPlace: Sendable {
  private enum Kind: Sendable {
    case mainActor
    case executor(DefaultSerialModelExecutor)
    case actor(WeakActor)
    case nowhere
  }

  /// An actor that may keep the observer of the place, and so must not be kept by it.
  private final class WeakActor: @unchecked Sendable {
    // `@unchecked`: nothing sets the reference after `init`, and reading a weak reference is thread-safe.
    weak var actor: (any Actor)?
    init(_ actor: any Actor) { self.actor = actor }
  }

  private let kind: Kind

  /// The place of a context.
  ///
  /// - Parameter isolation: The actor of the caller. It counts for a context that is neither the main one nor a model
  ///   actor's.
  init(of context: ModelContext, isolation: (any Actor)?) {
    switch context.autosave.place {
    case .mainActor: kind = .mainActor
    case .executor: kind = context.autosave.executor.map { .executor($0) } ?? .nowhere
    case .nobody: kind = JobPlace(isolation: isolation).kind
    }
  }

  /// The place of an observer that has no context.
  init(isolation: (any Actor)?) { kind = isolation.map { .actor(WeakActor($0)) } ?? .nowhere }

  /// Whether the place can run a block later.
  var runsBlocks: Bool {
    if case .nowhere = kind { return false }
    return true
  }

  /// Starts a block at the place, and returns. Where nothing runs blocks, the block runs here. If the actor has ended,
  /// the block does not run.
  func start(_ block: @escaping @Sendable () -> Void) {
    switch kind {
    case .mainActor: Task { @MainActor in block() }
    case .executor(let executor): executor.start { _ in block() }
    case .actor(let held):
      guard let actor = held.actor else { return }
      Task { await Self.run(on: actor, block) }
    case .nowhere: block()
    }
  }

  private static func run(on actor: isolated any Actor, _ block: @Sendable () -> Void) { block() }
}

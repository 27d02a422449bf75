import Cambium
import Foundation

/// Runs the jobs of a model actor, and has its context. SwiftData: `ModelExecutor`.
public protocol ModelExecutor: Executor {
  /// The context.
  var modelContext: ModelContext { get }
}

/// Runs the jobs of a model actor one after the other. SwiftData: `SerialModelExecutor`.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs the jobs of a model actor on the threads of the container's coordinator: never on the main thread, and never on
/// those of Swift's concurrency pool, which a job that reads or saves would hold up. SwiftData:
/// `DefaultSerialModelExecutor`.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  // `@unchecked`: the context is used by jobs of this executor alone, and by who makes the actor, before there are any.

  /// The context, which the actor's code alone may use.
  public let modelContext: ModelContext

  /// An executor for a context that nobody else uses.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    modelContext.autosave.run(on: self)
    modelContext.stores.add(self)
  }

  /// Runs a job behind those that came before.
  public func enqueue(_ job: consuming ExecutorJob) { modelContext.managedObjectContext.serialExecutor.enqueue(job) }

  /// The queue of the context.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    modelContext.managedObjectContext.serialExecutor.asUnownedSerialExecutor()
  }

  /// Starts a block behind the jobs.
  func start(_ block: @escaping @Sendable (ModelContext) -> Void) {
    modelContext.managedObjectContext.startOnExecutor { block(self.modelContext) }
  }

  /// Saves behind the jobs that came before, if the context saves by itself.
  func saveAtEnd() async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      start { context in
        done.resume(with: Result { if context.autosaveEnabled { try context.save() } })
      }
    }
  }
}

/// An actor with a context of its own. ``ModelActor()`` makes an actor conform. SwiftData: `ModelActor`.
///
///     @ModelActor actor Importer {
///       func add(_ names: [String]) throws {
///         for name in names { modelContext.insert(Trip(name: name)) }
///         try modelContext.save()
///       }
///     }
///     try await Importer(modelContainer: container).add(names)
public protocol ModelActor: Actor {
  /// The container.
  nonisolated var modelContainer: ModelContainer { get }
  /// What runs the actor's jobs.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  /// What runs the actor's jobs.
  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    if let serial = modelExecutor as? any SerialExecutor { return serial.asUnownedSerialExecutor() }
    // One that is not serial cannot run an actor; the queue of its context can.
    return modelExecutor.modelContext.managedObjectContext.serialExecutor.asUnownedSerialExecutor()
  }

  /// The context.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The model of an identifier; `nil` if there is none, or it is of another class.
  public subscript<T: PersistentModel>(id: PersistentIdentifier, as as: T.Type) -> T? {
    try? modelContext.existingModel(for: id)
  }
}

import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A state of a store that is kept although it was changed since.
public typealias RetainedCommit = CambiumKernel.RetainedCommit

extension RetainedCommit {
  /// When it was made.
  public var date: Date { Date(timeIntervalSince1970: Double(made) / 1000) }
  /// When it lapses; `nil` for never.
  public var expirationDate: Date? { expires.map { Date(timeIntervalSince1970: Double($0) / 1000) } }
}

extension PersistentStore {
  /// Keeps the present state, to be looked at later (``snapshot(at:)``), until it is released. It survives the process,
  /// and holds back the room of what is changed or deleted from now on.
  ///
  /// - Parameters:
  ///   - reason: For people who wonder what takes the room; at most 1,024 bytes of UTF-8. Reasons that begin with
  ///     "Cambium: " are the store's own.
  ///   - limitBytes: Lets the state go when it holds back more than this as room is given up, at a checkpoint or a
  ///     compaction; `nil` for no limit.
  ///   - expires: Lets it go then; `nil` for never.
  /// - Throws: ``CambiumError/Code/fileWriteNoPermission`` if the store is read-only; what writing throws.
  public func retain(
    reason: String, limitBytes: UInt64? = nil, expires: Date? = nil
  ) throws -> RetainedCommit {
    if isReadOnly { throw readOnlyError }
    let milliseconds = try expires.flatMap { try Self.milliseconds(until: $0) }
    return try mapping { () throws(EngineError) in
      try currentEngine().retain(reason: reason, limitBytes: limitBytes, expires: milliseconds)
    }
  }

  /// A moment in milliseconds since 1970; nil if it is so late that it never comes.
  private static func milliseconds(until date: Date) throws -> UInt64? {
    let value = (date.timeIntervalSince1970 * 1000).rounded()
    if value.isNaN { throw CambiumError(.invalidArgument, "the date at which a state lapses is no date") }
    // 0 stands for never; the first moment is in the past all the same.
    return value < 1 ? 1 : UInt64(exactly: value)
  }

  /// The states that are kept, the oldest first: those of ``retain(reason:limitBytes:expires:)``, and those before
  /// migrations.
  ///
  /// - Throws: What reading throws.
  public func retainedCommits() throws -> [RetainedCommit] {
    try mapping { () throws(EngineError) in try engine.retainedCommits() }
  }

  /// Lets a state go; the room that it held back is free. Containers that ``snapshot(at:)`` has made go on.
  ///
  /// - Throws: ``CambiumError/Code/snapshotExpired`` if it is not kept any more; ``CambiumError/Code/invalidArgument``
  ///   for the state before a migration or a stage of one, which `confirmMigration()` gives up; what writing throws.
  public func release(_ commit: RetainedCommit) throws {
    if isReadOnly { throw readOnlyError }
    if commit.isKeptForMigration {
      throw CambiumError(
        .invalidArgument,
        "the store keeps this state for a migration (\(commit.reason)); PersistentStoreCoordinator.confirmMigration() gives "
          + "the states before migrations up")
    }
    do { try engine.kernel.release(retained: commit.id, sequence: commit.sequence) } catch { throw CambiumError(error) }
  }
}

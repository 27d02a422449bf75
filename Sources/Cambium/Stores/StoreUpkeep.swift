import CambiumEngine
import CambiumKernel

extension PersistentStore {
  /// Figures about a store.
  public struct Statistics: Sendable, Equatable {
    /// Bytes of the file, or of the memory in its place.
    public let fileBytes: UInt64
    /// Bytes of it that hold what can be read now, and its indexes; without the log, which the next checkpoint brings
    /// there.
    public let liveBytes: UInt64
    /// Bytes of the log since the last checkpoint.
    public let logBytes: UInt64
    /// Bytes of the file that are used before it grows.
    public let freeBytes: UInt64
    /// Bytes between what is live that nothing leads to any more, or only open contexts and retained states: what
    /// changes leave behind until it is worth moving what is live. These and ``freeBytes`` are about what
    /// ``PersistentStore/compact(progress:)`` can give back.
    public let deadBytes: UInt64
    /// States of the store that are retained (``PersistentStore/retainedCommits()``).
    public let retainedCommits: Int
  }

  /// How far ``PersistentStore/compact(progress:)`` has come.
  public struct CompactionProgress: Sendable, Equatable {
    /// Bytes of the file now.
    public let fileBytes: UInt64
    /// Bytes of it that hold what can be read, which stay.
    public let liveBytes: UInt64
  }

  /// What ``PersistentStore/check()`` found.
  public struct CheckReport: Sendable, Equatable {
    /// Something that is wrong.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
      /// The part of the store.
      public let place: String
      /// Where, in bytes from the beginning of the file; `nil` if it is no one place.
      public let offset: UInt64?
      /// What is wrong with it.
      public let detail: String

      /// All three.
      public var description: String { place + (offset.map { ", byte \($0)" } ?? "") + ": " + detail }
    }

    /// What is wrong: 2,000 findings at most.
    public let findings: [Finding]
    /// What relationships say that does not fit, a sentence each, 1,000 at most: one leads to an object that is gone,
    /// though a delete rule takes it back from there, or to one that does not lead back. That is no damage: a migration
    /// leaves it that gives a relationship an inverse or another rule. To set the relationship mends it.
    public let looseRelationships: [String]
    /// Objects that were looked at.
    public let objectCount: Int
    /// Pages of the file that were looked at.
    public let pageCount: UInt64

    /// Whether nothing is wrong.
    public var isSound: Bool { findings.isEmpty }
  }

  /// Figures about the store; of an earlier state, those of the store that it is a state of. Waits for a save that is
  /// under way, unless the store is open for reading only. O(segments of the file).
  ///
  /// - Throws: ``CambiumError`` if the store is suspended, or the file cannot be asked for its size.
  public func statistics() throws -> Statistics {
    let found: StoreStatistics
    do { found = try engine.kernel.statistics() } catch { throw CambiumError(error) }
    return Statistics(
      fileBytes: found.fileBytes, liveBytes: found.liveBytes, logBytes: found.logBytes, freeBytes: found.freeBytes,
      deadBytes: found.segmentBytes - min(found.segmentBytes, found.liveBytes), retainedCommits: found.retainedCommits)
  }

  /// Looks at everything that can be verified of the newest state: checksums and order of all pages, read past the
  /// cache, large values, the accounts of the file's room; then each object, whether indexes and uniqueness constraints
  /// agree with it, whether what it leads to is there, and whether that leads back. What SQLite's
  /// `PRAGMA integrity_check` is.
  ///
  ///     let report = try store.check()
  ///     for finding in report.findings { print(finding) }
  ///
  /// Nothing is mended: a store that is damaged is replaced by a backup
  /// (``PersistentStoreCoordinator/replacePersistentStore(at:withPersistentStoreFrom:progress:)``). What only states
  /// that are retained have is not looked at; of an earlier state the objects are, beside the pages of the newest.
  ///
  /// Takes as long as to read the file twice. Contexts read meanwhile. While the pages are gone through, which is the
  /// first part, saves of all processes and ``suspend()`` wait, and a save with ``PersistentStoreDescription/timeout``
  /// may fail; in a store that is open for reading only, nobody waits but fetches that would see what another process
  /// has saved since. Keeps the keys of indexes, constraints and to-one relationships in memory. O(n log n).
  ///
  /// - Throws: ``CambiumError`` if the store is suspended, also meanwhile;
  ///   ``CambiumError/Code/persistentStoreIncompatibleSchema`` if another coordinator or process has migrated it.
  ///   Damage is reported, not thrown.
  public func check() throws -> CheckReport {
    let report: EngineCheckReport = try using {
      do throws(EngineError) { return try engine.check() } catch {
        guard case .modelChanged = error else { throw CambiumError(error) }
        return try mapping { () throws(EngineError) in try currentEngine().check() }
      }
    }
    let pages = report.kernel.problems.map {
      CheckReport.Finding(place: "\($0.place)", offset: $0.knownOffset, detail: "\($0.detail)")
    }
    let objects = report.problems.map { CheckReport.Finding(place: "entities", offset: nil, detail: $0) }
    return CheckReport(
      findings: pages + objects, looseRelationships: report.relationships, objectCount: report.rows,
      pageCount: report.kernel.pages)
  }

  /// Gives room that is not used any more back to the file system, by moving what lies behind it; what SQLite's
  /// `VACUUM` is. After much has been deleted, or a migration has written all anew: room that becomes free is used
  /// again in any case, and a file gets shorter by itself only where its end is free.
  ///
  ///     try store.compact { print($0.fileBytes); return !isCancelled }
  ///
  /// Contexts and other processes read and save meanwhile, between steps of 4 MiB or so, by as much as which the file
  /// may be longer during a step. Less than a twentieth of it is dead afterwards, or some 32 KiB of a small one; but
  /// what an open context, a query generation or a retained state can see stays where it is, and where the device has
  /// no room for a step, what that would have moved stays as well. O(n) reads and writes.
  ///
  /// - Parameter progress: Called after each step; the rest is left if it answers false, and what was done stays so.
  /// - Throws: ``CambiumError/Code/fileWriteNoPermission`` if the store is read-only; what writing throws.
  public func compact(progress: (CompactionProgress) -> Bool = { _ in true }) throws {
    if isReadOnly { throw readOnlyError }
    try using {
      do throws(StoreError) {
        try engine.kernel.compact {
          progress(CompactionProgress(fileBytes: $0.fileBytes, liveBytes: $0.liveBytes))
        }
      } catch { throw CambiumError(error, during: .persistentStoreSave) }
    }
  }
}

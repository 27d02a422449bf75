import CambiumEngine
import CambiumKernel

extension PersistentStore {
  /// Figures about a store.
  public struct Statistics: Sendable, Equatable {
    /// Bytes of the file, or of the memory in its place.
    public let fileBytes: UInt64
    /// Bytes of it that hold what can be read now, and indexes of that; the log, which the next checkpoint brings there, aside.
    public let liveBytes: UInt64
    /// Bytes of the log since the last checkpoint.
    public let logBytes: UInt64
    /// Bytes of the file that nothing uses, and that are used before the file grows.
    public let freeBytes: UInt64
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
    /// Objects that were looked at.
    public let objectCount: Int
    /// Pages of the file that were looked at.
    public let pageCount: UInt64

    /// Whether nothing is wrong.
    public var isSound: Bool { findings.isEmpty }
  }

  /// Figures about the store. Waits for a save that is under way. O(segments of the file).
  ///
  /// - Throws: ``CambiumError`` if the store was closed or is suspended, or the file cannot be asked for its size.
  public func statistics() throws -> Statistics {
    let found: StoreStatistics
    do { found = try engine.kernel.statistics() } catch { throw CambiumError(error) }
    return Statistics(
      fileBytes: found.fileBytes, liveBytes: found.liveBytes, logBytes: found.logBytes, freeBytes: found.freeBytes,
      retainedCommits: found.retainedCommits)
  }

  /// Looks at everything that can be verified: checksums and order of all pages, large values, the accounts of the file's room; then each
  /// object, and whether indexes, uniqueness constraints and both sides of relationships agree with the objects. What SQLite's `PRAGMA
  /// integrity_check` is.
  ///
  ///     let report = try store.check()
  ///     if !report.isSound { for finding in report.findings { log(finding.description) } }
  ///
  /// Reads the whole file, past the cache, while contexts read; saves wait for the first part of it. Keeps the keys of all indexes in
  /// memory. O(n log n). Nothing is mended: a store that is damaged is replaced by a backup
  /// (``PersistentStoreCoordinator/replacePersistentStore(at:withPersistentStoreFrom:)``).
  ///
  /// - Throws: ``CambiumError`` if the store was closed or is suspended; damage is reported, not thrown.
  public func check() throws -> CheckReport {
    do {
      let report = try mapping { () throws(EngineError) in try currentEngine().check() }
      return CheckReport(
        findings: Self.findings(report.kernel)
          + report.problems.map { CheckReport.Finding(place: "entities", offset: nil, detail: $0) },
        objectCount: report.rows, pageCount: report.kernel.pages)
    } catch let error as CambiumError where error.code == .fileReadCorruptFile {
      // Not even the model can be read: what the pages say is still worth knowing.
      let report: CambiumKernel.CheckReport
      do { report = try engine.kernel.check() } catch { throw CambiumError(error) }
      return CheckReport(
        findings: Self.findings(report) + [CheckReport.Finding(place: "model", offset: nil, detail: error.message)],
        objectCount: 0, pageCount: report.pages)
    }
  }

  private static func findings(_ report: CambiumKernel.CheckReport) -> [CheckReport.Finding] {
    report.problems.map { CheckReport.Finding(place: "\($0.place)", offset: $0.offset, detail: "\($0.detail)") }
  }

  /// Gives room that is not used any more back to the file system, by moving what lies behind it; what SQLite's `VACUUM` is. After much has
  /// been deleted, or a migration has written all anew: room that becomes free is used again in any case, and a file gets shorter by itself
  /// only where its end is free.
  ///
  ///     try store.compact { print($0.fileBytes); return !isCancelled }
  ///
  /// Contexts and other processes read and save meanwhile, between steps of 4 MiB or so. Less than a twentieth of the file is unused then,
  /// or some 32 KiB of a small one; but what an open context, a query generation or a retained state can see stays where it is. O(n) reads and
  /// writes.
  ///
  /// - Parameter progress: Called after each step; the rest is left if it answers false, and what was done stays so.
  /// - Throws: ``CambiumError/Code/fileWriteNoPermission`` if the store is read-only; what writing throws.
  public func compact(progress: (CompactionProgress) -> Bool = { _ in true }) throws {
    if isReadOnly { throw readOnlyError }
    do {
      try engine.kernel.compact {
        progress(CompactionProgress(fileBytes: $0.fileBytes, liveBytes: $0.liveBytes))
      }
    } catch { throw CambiumError(error, during: .persistentStoreSave) }
  }
}

import CambiumKernel

// How far a migration by stages has come, kept in the catalogue under "stage" while code of the application's is part of a
// stage that is not done. All integers little-endian:
//
//      0        1       2        4               36              68             76
//     +--------+-------+--------+---------------+---------------+--------------+
//     | form 1 | phase | zero   | current model | next model    | retained     |
//     | (1)    | (1)   | (2)    | (32)          | (32)          | commit (8)   |
//     +--------+-------+--------+---------------+---------------+--------------+
//
// The models are named by the 32 bytes of their version checksums; the retained commit is the state before, 0 if none is
// kept.

/// The stage of a migration that is under way: which handler of the application's runs, or ran when the process ended.
public struct StageRecord: Sendable, Equatable {
  /// What is under way.
  public enum Phase: UInt8, Sendable {
    /// The application prepares objects of the stage's current model.
    case willMigrate = 1
    /// The store has the next model, and the application works on its objects.
    case didMigrate = 2
    /// The store has the next model, and the application carries over what it reads of the state before.
    case migrate = 3
  }

  /// What is under way.
  public var phase: Phase
  /// The version checksum of the model that the stage departs from.
  public var current: VersionHash
  /// The version checksum of the model that the stage leads to.
  public var next: VersionHash
  /// The retained commit that holds the state before the stage's migration; 0 if there is none.
  public var retainedCommit: UInt64

  /// A record.
  public init(phase: Phase, current: VersionHash, next: VersionHash, retainedCommit: UInt64 = 0) {
    self.phase = phase
    self.current = current
    self.next = next
    self.retainedCommit = retainedCommit
  }

  static let form: UInt8 = 1
  static let size = 76
  static let key = Catalogue.key("stage")

  /// The record as bytes.
  func encoded() -> [UInt8] {
    [Self.form, phase.rawValue, 0, 0] + current.bytes + next.bytes
      + (0..<8).map { UInt8(truncatingIfNeeded: retainedCommit >> UInt64(8 * $0)) }
  }

  /// Reads what ``encoded()`` wrote.
  ///
  /// - Throws: ``EngineError/unsupported(_:)`` for a form or phase of a later version; ``EngineError/corrupt(_:)``.
  init(_ bytes: [UInt8]) throws(EngineError) {
    guard let form = bytes.first else { throw .corrupt("the record of the migration stage under way is empty") }
    guard form == Self.form else {
      throw .unsupported(
        "the record of the migration stage under way has form \(form), which this version does not know: open the store "
          + "with the version that began the stage, or a later one")
    }
    guard bytes.count == Self.size, let current = VersionHash(bytes: bytes[4..<36]),
      let next = VersionHash(bytes: bytes[36..<68])
    else { throw .corrupt("the record of the migration stage under way has \(bytes.count) bytes, not \(Self.size)") }
    guard let phase = Phase(rawValue: bytes[1]) else {
      throw .unsupported(
        "the record of the migration stage under way names phase \(bytes[1]), which this version does not know: open the "
          + "store with the version that began the stage, or a later one")
    }
    self.init(
      phase: phase, current: current, next: next,
      retainedCommit: bytes[68..<76].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// Notes how far a migration is; nil: no stage is under way.
  static func put(_ record: StageRecord?, _ t: WriteTransaction) throws(EngineError) {
    try storing { () throws(StoreError) in
      if let record {
        try t.put(Catalogue.tree, key, record.encoded())
      } else if try t.value(Catalogue.tree, key) != nil {
        _ = try t.delete(Catalogue.tree, key)
      }
    }
  }
}

extension EntityView {
  /// The stage of a migration that is under way; nil if there is none.
  ///
  /// - Throws: ``EngineError/unsupported(_:)`` for a record of a later version; ``EngineError/corrupt(_:)``; kernel errors.
  public func stageRecord() throws(EngineError) -> StageRecord? {
    let bytes = try storing { () throws(StoreError) in try trees.value(Catalogue.tree, StageRecord.key) }
    guard let bytes else { return nil }
    return try StageRecord(bytes)
  }
}

extension EntityTransaction {
  /// Notes how far a migration by stages is; nil: no stage is under way.
  public func setStageRecord(_ record: StageRecord?) throws(EngineError) { try StageRecord.put(record, transaction) }
}

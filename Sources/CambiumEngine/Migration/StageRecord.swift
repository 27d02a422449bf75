import CambiumKernel

// How far a migration by stages has come, kept in the catalogue under "stage" while code of the application's is part
// of a stage that is not done. All integers little-endian:
//
//      0        1       2        4               36              68            76          84
//     +--------+-------+--------+---------------+---------------+-------------+-----------+
//     | form 1 | phase | zero   | current model | next model    | retained    | its       |
//     | (1)    | (1)   | (2)    | (32)          | (32)          | commit (8)  | sequence  |
//     +--------+-------+--------+---------------+---------------+-------------+-----------+
//
// The models are named by the 32 bytes of their version checksums; the retained commit is the state before, both 0 if
// none is kept. Identifiers of retained commits are used again, so its sequence tells it from others.

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
  /// The retained commit that holds the state before the stage's migration, in the phase ``Phase/migrate``.
  public var retained: Retained?

  /// A retained commit.
  public struct Retained: Sendable, Equatable {
    /// Its identifier.
    public var id: UInt64
    /// The commit.
    public var sequence: UInt64
  }

  /// A record.
  public init(phase: Phase, current: VersionHash, next: VersionHash) {
    self.phase = phase
    self.current = current
    self.next = next
  }

  static let form: UInt8 = 1
  static let size = 84
  /// Why the kernel retains the state before a stage.
  static let reason = PriorCommit.reservedPrefix + "the state before a migration stage"
  static let key = Catalogue.key("stage")

  /// The record as bytes.
  func encoded() -> [UInt8] {
    var bytes = [Self.form, phase.rawValue, 0, 0] + current.bytes + next.bytes
    for number in [retained?.id ?? 0, retained?.sequence ?? 0] {
      for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
    }
    return bytes
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
    self.init(phase: phase, current: current, next: next)
    let id = bytes[68..<76].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let sequence = bytes[76..<84].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    if id != 0 { retained = Retained(id: id, sequence: sequence) }
  }

  /// Whether a store of a model has the stage's next one, but is not done with the stage.
  public func isPending(in schema: Schema) -> Bool {
    phase != .willMigrate && next.base64 == schema.versionChecksum
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
  /// - Throws: ``EngineError/unsupported(_:)`` for a record of a later version; ``EngineError/corrupt(_:)``; kernel
  ///   errors.
  public func stageRecord() throws(EngineError) -> StageRecord? {
    let bytes = try storing { () throws(StoreError) in try trees.value(Catalogue.tree, StageRecord.key) }
    guard let bytes else { return nil }
    return try StageRecord(bytes)
  }
}

extension EntityTransaction {
  /// Notes how far a migration by stages is; nil: no stage is under way.
  ///
  /// - Parameter expected: What was noted before. A process that was suspended may have been overtaken by another one,
  ///   which did its work.
  /// - Throws: ``EngineError/modelChanged`` if something else is noted; what ``EntityView/stageRecord()`` throws.
  public func setStageRecord(_ record: StageRecord?, replacing expected: StageRecord?) throws(EngineError) {
    guard try stageRecord() == expected else { throw .modelChanged }
    try setStageRecord(record)
  }

  /// Notes how far a migration by stages is, whatever was noted before; nil: no stage is under way.
  public func setStageRecord(_ record: StageRecord?) throws(EngineError) {
    try StageRecord.put(record, transaction)
    try storing { () throws(StoreError) in try transaction.addToCounter(Catalogue.tree, Catalogue.upkeepCounter, 1) }
  }
}

extension EntityStore {
  /// The entities as they were before the stage that is under way, with the model of then.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the record names no such state, or it is not kept any more; kernel errors.
  public func state(before record: StageRecord) throws(EngineError) -> EntityStore {
    guard let retained = record.retained else { throw .misuse("no state is kept from before the migration stage") }
    do throws(EngineError) {
      let state = try Self.state(retained: retained.id, in: kernel)
      if try state.view().sequence == retained.sequence { return state }
    } catch {
      guard case .store(.snapshotExpired) = error else { throw error }
    }
    throw .misuse("the state from before the migration stage is not kept any more: restore the store from a backup")
  }
}

/// A transaction as history tells of it: who changed which objects, and when. Made by the layer above, in the same
/// commit as the changes; see ``EntityTransaction/appendHistory(_:)``.
public struct HistoryTransaction: Equatable, Sendable {
  /// Its place in the store's history, from 1; 0 as long as it is in none.
  public var number: UInt64 = 0
  /// When it was made, in seconds since 2001-01-01 00:00:00 UTC.
  public var timestamp: Double
  /// Who made it, if that was said.
  public var author: String?
  /// The name of what it was made with, if it had one.
  public var contextName: String?
  /// The program that made it.
  public var programName: String?
  /// The process that made it, as the system calls it.
  public var processName: String?
  /// What was changed, in the order of its saving.
  public var changes: [HistoryChange] = []
  /// How many changes there are, also where they were not read.
  public var changeCount = 0

  /// A transaction at a time.
  public init(timestamp: Double) { self.timestamp = timestamp }
}

/// What became of an object.
public struct HistoryChange: Equatable, Sendable {
  /// What happened, with Core Data's raw values.
  public enum Kind: UInt8, CaseIterable, Sendable {
    /// The object was made.
    case insert = 0
    /// Some of its properties were changed.
    case update = 1
    /// It was deleted.
    case delete = 2
  }

  /// What happened.
  public var kind: Kind
  /// The object.
  public var reference: ObjectReference
  /// The identifiers of the properties that were changed (``AttributeSchema/id``), which stay what they are through
  /// migrations; of updates only.
  public var properties: [UInt32] = []
  /// What a deleted object had in attributes that are kept in history, by their identifiers.
  public var tombstone: [UInt32: Value] = [:]

  /// A change of an object.
  public init(_ kind: Kind, _ reference: ObjectReference) {
    self.kind = kind
    self.reference = reference
  }
}

/// What a store has of its history.
public struct HistoryBounds: Equatable, Sendable {
  /// Whether transactions are to be told of.
  public var isOn: Bool
  /// The number of the newest transaction that history had; 0 if it never had any.
  public var last: UInt64
  /// The number up to which transactions were deleted; 0 if none were.
  public var deletedTo: UInt64

  /// Whether no transaction is left.
  public var isEmpty: Bool { last <= deletedTo }
}

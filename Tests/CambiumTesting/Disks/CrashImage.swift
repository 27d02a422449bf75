/// A state in which a power cut may leave a disk.
public struct CrashImage: Sendable, CustomStringConvertible {
  /// After how many operations the power was cut.
  public let point: Int
  /// What the disk holds.
  public let bytes: [UInt8]
  /// A hash of ``bytes``, for counting distinct states.
  public let contentHash: UInt64
  /// What became of each volatile operation.
  let fates: [(operation: Int, fate: Fate)]
  let reordered: Bool

  /// What a power cut does to a volatile operation.
  enum Fate: Sendable {
    case lost
    /// Of a write that made the file longer: the length is there, the bytes are not.
    case sizeOnly
    case kept
    case torn(seed: UInt64)

    var text: String {
      switch self {
      case .lost: "lost"
      case .sizeOnly: "size only"
      case .kept: "kept"
      case .torn: "torn"
      }
    }
  }

  /// The point and what became of each volatile operation, for the message of a failed test.
  public var description: String {
    let parts = fates.map { "\($0.operation) \($0.fate.text)" }.joined(separator: ", ")
    return "cut after \(point) operations: \(parts.isEmpty ? "all durable" : parts)\(reordered ? "; reordered" : "")"
  }
}

/// How a power cut may split a write.
public enum Tearing: Equatable, Sendable {
  /// Not at all: each write is kept or lost whole.
  case none
  /// At any byte within the range written. Bytes outside it are never harmed ("powersafe overwrite").
  case byteRange
  /// Between sectors of this many bytes (512 or 4096), which each are old or new; a sector that was being written may
  /// instead hold garbage in all of its bytes, those outside the range written included.
  case sector(bytes: Int)
}

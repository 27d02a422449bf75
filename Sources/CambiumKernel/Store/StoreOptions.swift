/// How durable an acknowledged commit is.
public enum Durability: UInt8, Sendable {
  /// Every commit is synced before it is acknowledged: it survives a power cut. Assumes that writing some bytes of a
  /// sector does not harm the others (powersafe overwrite), as SQLite does by default.
  case full
  /// Like ``full``, but every commit begins a 4 KiB block of its own, and nothing is assumed of the medium.
  case strict
  /// Commits are ordered, and synced by checkpoints: a power cut may take the last ones, and leaves an earlier commit.
  /// A killed process loses nothing.
  case normal
  /// Nothing is synced: a killed process loses nothing, a power cut may damage the store (which is then reported).
  case none
}

/// How a store is made and run.
public struct StoreOptions: Sendable {
  /// The longest page in bytes: a power of two from 4,096 to 65,536. Fixed when the store is made.
  public var pageSize = 4096
  /// Memory for pages, in bytes.
  public var cacheBytes = 64 << 20
  /// Memory for changes that no checkpoint has taken in yet, in bytes: a checkpoint begins when it is reached. A
  /// transaction whose own changes reach it goes on in pages.
  public var deltaBytes = 64 << 20
  /// Length of log, in bytes, at which a checkpoint begins. Opening after a crash reads at most about twice as much.
  public var logBytes = 16 << 20
  /// Longer records are committed by a checkpoint instead, in bytes.
  public var maxRecordBytes = 256 << 10
  /// Longer values are written to the large-value segments at once instead of travelling through the log, in bytes.
  public var logValueLimit = 64 << 10
  /// See ``Durability``.
  public var durability = Durability.full
  /// How many threads one call may use at a time, the caller's included: going through a large table, building an index,
  /// writing all rows anew. 0 for as many as the host has processors; with 1 everything is done on the caller's. Small work is
  /// in any case. Unless it is 1, the pages of a large transaction are made and written with the help of two threads more.
  public var maximumThreads = 0
  /// How many milliseconds are waited for the turn to write while another process has it, and when the store is opened; 0, the
  /// default, for as long as it takes. When they are over, the call ends with ``StoreError/busy``, and nothing has happened. With a limit the
  /// lock is asked for again and again, up to 25 ms apart, so that writers in turn wait longer for each other.
  public var turnTimeoutMilliseconds = 0
  /// Whether nothing may be written, recovery included.
  public var isReadOnly = false
  /// The Unicode version that the keys of the layer above are normalised with; noted when the store is made.
  public var unicodeVersion: UInt32 = 0
  /// The identifier that a new store is to have; nil for one by chance. For a file that takes the place of another.
  public var uuid: (UInt64, UInt64)?

  /// The default options.
  public init() {}

  static func isPageSize(_ n: Int) -> Bool { n >= 4096 && n <= 65536 && n & (n - 1) == 0 }
}

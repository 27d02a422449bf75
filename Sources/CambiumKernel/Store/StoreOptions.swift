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
///
/// These options set the memory that a store takes. It is about the sum of
///
/// - ``cacheBytes``, as pages are read and written;
/// - twice ``deltaBytes``: the changes of a checkpoint under way, and those that come meanwhile;
/// - two buffers of ``bufferBytes`` or a page each, while a checkpoint writes, and one while the store is opened;
/// - during a checkpoint, about nine pages, and one more for each level of the tree that it merges;
/// - a record of up to four times ``maxRecordBytes`` while a transaction commits, whose own changes come on top of
///   that.
///
/// ``small`` has values for a device with little memory.
public struct StoreOptions: Sendable {
  /// The longest page in bytes: a power of two from 4,096 to 65,536. Fixed when the store is made.
  public var pageSize = 4096
  /// Memory for pages, in bytes; at least that of four pages, each of which takes up to 128 bytes more than
  /// ``pageSize``. With less, a store is neither made nor opened: ``StoreError/tooLittleMemory(_:neededBytes:)``.
  public var cacheBytes = 64 << 20
  /// Memory for changes that no checkpoint has taken in yet, in bytes: a checkpoint begins when it is reached. A
  /// transaction whose own changes reach it goes on in pages.
  public var deltaBytes = 64 << 20
  /// The length of a buffer, in bytes, at least 1,024; no more than 1 MiB is used. Pages and large values go through it
  /// on their way to the device, the log while the store is opened, and pages that a scan reads ahead. Buffers exist
  /// while they are used. A shorter one takes more calls of the device. Where a page or a log record is longer, the
  /// buffer for it is as long.
  public var bufferBytes = 64 << 10
  /// Length of log, in bytes, at which a checkpoint begins. Opening after a crash reads at most about twice as much.
  public var logBytes = 16 << 20
  /// Longer records are committed by a checkpoint instead, in bytes.
  public var maxRecordBytes = 256 << 10
  /// Longer values are written to the large-value segments at once instead of travelling through the log, in bytes.
  public var logValueLimit = 64 << 10
  /// How much longer than the content asks for the file may be, in bytes. A checkpoint moves what is left in segments
  /// that are mostly dead if the dead room exceeds this and half of the live room.
  public var spareBytes = 1 << 20
  /// See ``Durability``.
  public var durability = Durability.full
  /// How many threads one call may use at a time, the caller's included: going through a large table, building an
  /// index, writing all rows anew. 0 for as many as the host has processors; with 1 everything is done on the caller's.
  /// Small work is in any case. Unless it is 1, the pages of a large transaction are made and written with the help of
  /// two threads more.
  public var maximumThreads = 0
  /// How many milliseconds are waited for the turn to write while another process has it, and when the store is opened;
  /// 0, the default, for as long as it takes. When they are over, the call ends with ``StoreError/busy``, and nothing
  /// has happened. With a limit the lock is asked for again and again, up to 25 ms apart, so that writers in turn wait
  /// longer for each other.
  public var turnTimeoutMilliseconds = 0
  /// Whether nothing may be written, recovery included.
  public var isReadOnly = false
  /// The Unicode version that the keys of the layer above are normalised with; noted when the store is made.
  public var unicodeVersion: UInt32 = 0
  /// The identifier that a new store is to have; nil for one by chance. For a file that takes the place of another.
  public var uuid: (UInt64, UInt64)?

  /// The default options.
  public init() {}

  /// Options for a device with little memory. A store of some thousand rows with an index works in 128 KiB of heap, the
  /// recovery of a full log included; a kernel store by itself takes a tenth less.
  ///
  /// Commits are synced as they are by default. Checkpoints come more often, after 16 KiB of log, and more pages are
  /// read from the device.
  public static var small: StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 20 << 10
    // With 32 bits a change takes less, and heaps are smaller.
    options.deltaBytes = Int.bitWidth < 64 ? 4 << 10 : 6 << 10
    options.bufferBytes = 4 << 10
    options.logBytes = 16 << 10
    options.maxRecordBytes = 4 << 10
    options.logValueLimit = 1 << 10
    options.spareBytes = 64 << 10
    options.maximumThreads = 1
    return options
  }

  /// Throws unless the memory is enough for a store whose pages are so long.
  func requireMemory(pageSize: Int) throws(StoreError) {
    let cache = PageCache.leastFrames * FrameMemory.stride(pageSize)
    guard cacheBytes >= cache else { throw .tooLittleMemory(.cacheBytes, neededBytes: cache) }
    guard bufferBytes >= Self.leastBuffer else { throw .tooLittleMemory(.bufferBytes, neededBytes: Self.leastBuffer) }
  }

  private static let leastBuffer = 1024

  /// The length that buffers have.
  var bufferLength: Int { min(bufferBytes, 1 << 20) }

  /// So much memory at a time is asked for changes, at most, unless a change is longer: an eighth of what they may
  /// take.
  var largestDeltaChunk: Int { max(1024, min(Arena.usualLargest, deltaBytes / 8)) }

  /// So many changes of the log are gathered when the store is opened, at most, before they are put in order.
  var mostReplayedNodes: Int { max(64, deltaBytes / 64) }

  static func isPageSize(_ n: Int) -> Bool { n >= 4096 && n <= 65536 && n & (n - 1) == 0 }
}

/// The storage seam: what the kernel asks of a file. The real file, memory, and the simulated, failing and counting
/// disks of the tests stand behind it.
///
/// Every method may be called from any thread; calls that change the device are made by one thread at a time, but for
/// writes where ``allowsConcurrentWrites`` says so; reads and `sync` may run beside them. Throws only
/// `StoreError.device` and `StoreError.deviceFull`.
public protocol StorageDevice: AnyObject, Sendable {
  /// The size in bytes.
  func size() throws(StoreError) -> UInt64

  /// Fills `buffer` with the bytes from `offset` on, and returns how many there were: fewer than asked only at the end
  /// of the device.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int

  /// Writes all of `bytes` at `offset`, growing the device if it ends before. What was written is durable when a
  /// `sync` begun afterwards has returned; until then a power cut may keep any part of it.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError)

  /// Begins to bring what was written from `offset` on to the medium, if it can be begun without waiting: a sync
  /// afterwards has less to wait for. Nothing is durable by it. May do nothing.
  func beginSync(at offset: UInt64, byteCount: Int)

  /// Makes everything written before the call durable, the size included.
  func sync() throws(StoreError)

  /// Returns the present state of the file under the device, or nil if the device cannot tell. The store calls this
  /// after each sync, before it acknowledges a commit. So it must be cheap: one system call, which looks up no path and
  /// asks for no times.
  func fileState() -> DeviceFileState?

  /// Makes the device `size` bytes long. New bytes read as zero and their room is reserved, so that writing to them
  /// later cannot fail for want of room.
  func resize(to size: UInt64) throws(StoreError)

  /// Gives up the device, and its locks. Nothing else is called afterwards.
  func close()

  /// How the processes that share the device agree; nil if it is this store's alone.
  var locks: (any StoreLocks)? { get }

  /// Whether one thread at a time may use it, against the rule above: work is not divided among threads then.
  var isForOneThread: Bool { get }

  /// Whether the device takes all of a medium, so that nothing is gained by making it shorter. The store makes it
  /// shorter only when it is made anew.
  var isOfFixedSize: Bool { get }

  /// Whether several threads may write at the same time, to ranges that have nothing in common, and beside a resize
  /// that has no part in them: then a second one writes the pages that a first one makes, for which a third one reads.
  /// Otherwise only the caller's does.
  var allowsConcurrentWrites: Bool { get }
}

/// The state of the file under a device.
public struct DeviceFileState: Equatable, Sendable {
  /// The length of the file in bytes.
  public var sizeBytes: UInt64
  /// Whether the file had a name when the device was opened, and has none now. Somebody deleted it, or renamed another
  /// file over it: what is written to it is gone when the last process closes it.
  public var isDeleted: Bool

  /// Makes a state of these values.
  public init(sizeBytes: UInt64, isDeleted: Bool) {
    self.sizeBytes = sizeBytes
    self.isDeleted = isDeleted
  }
}

extension StorageDevice {
  /// Returns nil: the device cannot tell.
  public func fileState() -> DeviceFileState? { nil }

  /// The device is this store's alone.
  public var locks: (any StoreLocks)? { nil }

  /// Any thread may use it.
  public var isForOneThread: Bool { false }

  /// The device can grow and shrink.
  public var isOfFixedSize: Bool { false }

  /// Everything is left to the sync.
  public func beginSync(at offset: UInt64, byteCount: Int) {}

  /// One at a time.
  public var allowsConcurrentWrites: Bool { false }
}

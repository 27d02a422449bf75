/// What went wrong in the kernel: what, where, and (in ``description``) what to do about it.
///
/// Everything that comes from a file, a device or a caller is answered with one of these, never with a trap.
public enum StoreError: Error, Equatable, Sendable {
  /// The device failed. `code` is the platform's error number (`errno` on POSIX systems).
  case device(operation: DeviceOperation, offset: UInt64, code: Int32)
  /// There is no room left on the device for `bytes` more bytes. Nothing was changed. Free space, then try again.
  case deviceFull(bytes: UInt64)
  /// A commit was refused because it would use the room kept for the next checkpoint. Nothing was changed.
  /// Free space on the device, or commit less; deleting is possible again after a checkpoint.
  case reserveExhausted(neededBytes: UInt64)
  /// The file is not what was written: `detail` says which check failed, `place` and `offset` (bytes from the start of
  /// the file) where. Restore from a backup; nothing of the damaged part was returned as data.
  case corrupt(place: StorePlace, offset: UInt64, detail: StaticString)
  /// The file is not a Cambium store.
  case notAStore
  /// The file is a Cambium store of a format or with features that this version does not know.
  case unsupportedFormat(version: UInt32, features: UInt64)
  /// A write or a sync failed at a point after which nothing more can be promised: this call's, or an earlier one's. If
  /// the device is full, free room on it. Reads go on; close the store and open it again.
  case poisoned
  /// Somebody deleted the store's file, or cut it, while it was open. The commit that met this, and whatever was saved
  /// since the file was lost, may be gone.
  ///
  /// The store writes nothing more. Views read on from what is left of the file. Save what the open views show to
  /// another store, then open a file that is whole. A copy of the store itself is refused, because it begins with a
  /// commit.
  ///
  /// The store looks at its file after each sync. At ``Durability/normal`` and ``Durability/none`` every 64th commit
  /// looks too. The store does not notice a renamed file, and notices nothing on NFS, on file systems without link
  /// counts, on WASI and Windows, and in memory.
  case fileLost(FileLoss)
  /// The store was closed.
  case closed
  /// The store was opened for reading only.
  case readOnly
  /// Another handle or process has the store open, or has had the turn to write for longer than
  /// ``StoreOptions/turnTimeoutMilliseconds``.
  case busy
  /// An option of ``StoreOptions`` gives less memory than the store needs, which is `neededBytes`. Nothing was changed.
  case tooLittleMemory(StoreMemoryOption, neededBytes: Int)
  /// A key is longer than a quarter of a page (`limit` bytes).
  case keyTooLong(length: Int, limit: Int)
  /// A value is longer than the format, or the address space of this machine, allows (`limit` bytes).
  case valueTooLong(length: UInt64, limit: UInt64)
  /// No tree has this identifier, or it was dropped.
  case noSuchTree(TreeID)
  /// The tree has the other kind of keys.
  case wrongTreeKind(TreeID)
  /// A snapshot or retained commit is no longer there.
  case snapshotExpired
  /// The store was suspended: ``Store/resume()`` it first.
  case suspended
  /// The store was opened by the process that this one was forked from.
  case forked
  /// The caller did what the documentation rules out; `detail` says what.
  case misuse(StaticString)

  /// Whether kind and figures are the same; texts do not count.
  public static func == (a: StoreError, b: StoreError) -> Bool {
    switch (a, b) {
    case (.device(let o, let x, let c), .device(let p, let y, let d)): return o == p && x == y && c == d
    case (.deviceFull(let x), .deviceFull(let y)): return x == y
    case (.reserveExhausted(let x), .reserveExhausted(let y)): return x == y
    case (.corrupt(let p, let x, _), .corrupt(let q, let y, _)): return p == q && x == y
    case (.notAStore, .notAStore), (.poisoned, .poisoned), (.closed, .closed), (.readOnly, .readOnly),
      (.busy, .busy), (.snapshotExpired, .snapshotExpired), (.suspended, .suspended),
      (.forked, .forked):
      return true
    case (.fileLost(let x), .fileLost(let y)): return x == y
    case (.unsupportedFormat(let v, let f), .unsupportedFormat(let w, let g)): return v == w && f == g
    case (.tooLittleMemory(let o, let x), .tooLittleMemory(let p, let y)): return o == p && x == y
    case (.keyTooLong(let x, let l), .keyTooLong(let y, let m)): return x == y && l == m
    case (.valueTooLong(let x, let l), .valueTooLong(let y, let m)): return x == y && l == m
    case (.noSuchTree(let x), .noSuchTree(let y)): return x == y
    case (.wrongTreeKind(let x), .wrongTreeKind(let y)): return x == y
    case (.misuse, .misuse): return true
    default: return false
    }
  }
}

/// An option that sets how much memory a store has.
public enum StoreMemoryOption: Equatable, Sendable {
  /// ``StoreOptions/cacheBytes``.
  case cacheBytes
  /// ``StoreOptions/bufferBytes``.
  case bufferBytes
}

/// How a store lost its file.
public enum FileLoss: Equatable, Sendable {
  /// The file has no name any more. Somebody deleted it, or renamed another file over it.
  case deleted
  /// Somebody cut the file to `sizeBytes`, although the store's content reaches to `neededBytes`.
  case cut(sizeBytes: UInt64, neededBytes: UInt64)
}

/// The device operation that failed.
public enum DeviceOperation: UInt8, Equatable, Sendable {
  /// Opening the file.
  case open
  /// Asking for its length.
  case size
  /// Reading bytes.
  case read
  /// Writing bytes.
  case write
  /// Making what was written durable.
  case sync
  /// Changing its length.
  case resize
  /// Taking a lock.
  case lock
  /// Giving it a name.
  case rename
  /// Closing it.
  case close
}

/// The part of a store that a corruption report names.
public enum StorePlace: Equatable, Sendable {
  /// The copies at the start of the file, which lead to all else.
  case superblock
  /// What a checkpoint publishes: the trees, the segments, the retained commits.
  case directory
  /// A segment: a range of the file.
  case segment
  /// The redo log.
  case log
  /// A page of a tree.
  case page(tree: TreeID)
  /// A part of a large value, which has this number.
  case extent(value: UInt64)
  /// The fields of a row.
  case record
  /// The bytes of a key.
  case key
}

extension StoreError: CustomStringConvertible {
  /// One or two sentences: what, where, and what to do about it.
  public var description: String {
    switch self {
    case .device(let operation, let offset, let code):
      return "the device failed to \(operation.verb) at byte \(offset) (error \(code))"
    case .deviceFull(let bytes):
      return "there is no room for \(bytes) more bytes on the device; free some, or call compact() if the store has"
        + " dead room, then try again (nothing was changed)"
    case .reserveExhausted(let needed):
      return "the commit would use the room kept for the next checkpoint (\(needed) bytes); free room on the device,"
        + " or call compact() if the store has dead room, then try again (nothing was changed)"
    case .corrupt(let place, let offset, let detail):
      return "the store is damaged: \(detail) (\(place.description), byte \(offset)); restore it from a backup"
    case .notAStore: return "the file is not a Cambium store"
    case .unsupportedFormat(let version, _) where version < Superblock.formatVersion:
      return
        "the store has format \(version), and this version of Cambium reads format \(Superblock.formatVersion) alone;"
        + " open the store with the version that wrote it, and copy its data into a new store"
    case .unsupportedFormat(let version, let features):
      return "the store has format \(version) with features \(features), which this version does not know;"
        + " use a newer version of Cambium"
    case .poisoned:
      return "a write failed, and nothing more can be promised: if the device is full, free room on it; then close the"
        + " store and open it again"
    case .fileLost(let loss):
      return "the store's file was \(loss.description) while it was open; what was saved since may be lost, and the"
        + " store writes nothing more: save what the open views show to another store, then reopen"
    case .closed: return "the store was closed"
    case .readOnly: return "the store was opened for reading only"
    case .busy: return "the store is in use by another process or handle"
    case .tooLittleMemory(let option, let needed):
      return "the option \(option.name) is too small for this store: set it to \(needed) bytes at least"
    case .keyTooLong(let length, let limit): return "a key of \(length) bytes is longer than the limit of \(limit)"
    case .valueTooLong(let length, let limit): return "a value of \(length) bytes is longer than the limit of \(limit)"
    case .noSuchTree(let tree): return "there is no tree \(tree.rawValue)"
    case .wrongTreeKind(let tree): return "tree \(tree.rawValue) has the other kind of keys"
    case .snapshotExpired: return "the snapshot or retained commit is no longer there"
    case .suspended: return "the store is suspended; resume it first"
    case .forked:
      return "the store was opened by the process that this one was forked from; open it anew in this process"
    case .misuse(let text): return "\(text)"
    }
  }
}

extension FileLoss: CustomStringConvertible {
  /// The loss in words, as in "the file was deleted".
  public var description: String {
    switch self {
    case .deleted: return "deleted"
    case .cut(let size, let needed): return "cut to \(size) of the \(needed) bytes that it needs"
    }
  }
}

extension StoreMemoryOption {
  fileprivate var name: String {
    switch self {
    case .cacheBytes: return "cacheBytes"
    case .bufferBytes: return "bufferBytes"
    }
  }
}

extension DeviceOperation {
  fileprivate var verb: String {
    switch self {
    case .open: return "open"
    case .size: return "tell its size"
    case .read: return "read"
    case .write: return "write"
    case .sync: return "sync"
    case .resize: return "change its size"
    case .lock: return "lock"
    case .rename: return "rename"
    case .close: return "close"
    }
  }
}

extension StorePlace: CustomStringConvertible {
  /// The place in words.
  public var description: String {
    switch self {
    case .superblock: return "superblock"
    case .directory: return "directory"
    case .segment: return "segment"
    case .log: return "log"
    case .page(let tree): return "page of tree \(tree.rawValue)"
    case .extent(let value): return "extent of value \(value)"
    case .record: return "record"
    case .key: return "key"
    }
  }
}

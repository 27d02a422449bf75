import CambiumKernel

/// Which file a path or a descriptor leads to, whatever the path is called: its device and its number there. It stays
/// the file's own until the last link and the last descriptor are gone, so it is comparable while a ``FileDevice`` is
/// open.
public struct FileIdentity: Hashable, Sendable {
  /// The file system's number (`st_dev`; the volume serial number on Windows).
  public let device: UInt64
  /// The file's number in it (`st_ino`; the file index on Windows).
  public let inode: UInt64

  init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// The identity of the file at `path`, symbolic links followed.
  ///
  /// Throws `StoreError.device(operation: .open, ...)` if there is none or it can't be looked at; see
  /// ``CambiumKernel/StoreError/meansNoSuchFile``.
  public init(path: String) throws(StoreError) {
    var status = FileStatus()
    let result = FileCalls.system.pathStatus(try checkedPath(path), &status)
    if result < 0 { throw .device(operation: .open, offset: 0, code: Int32(-result)) }
    self = status.identity
  }
}

/// Refuses a path that C would read only a part of.
func checkedPath(_ path: String) throws(StoreError) -> String {
  if path.isEmpty { throw .device(operation: .open, offset: 0, code: ErrorCode.missing) }
  if path.utf8.contains(0) { throw .device(operation: .open, offset: 0, code: ErrorCode.invalid) }
  return path
}

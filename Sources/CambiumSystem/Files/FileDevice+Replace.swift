import CambiumKernel

// A file takes the place of another at once:
//
//   make it under a temporary name, locked -> initialize -> sync -> rename over the path -> sync the directory
//
// Until the rename the path leads to the old file, from then on to the new one, whatever cuts this short. The temporary
// name follows from the file's own, so that what a process that was killed left behind is found without searching the
// directory.
extension FileDevice {
  /// Replaces the file at `path` by another.
  ///
  /// Whoever has the old file open keeps it, without a name: the caller sees to it that nobody does, by having it open
  /// as ``Sharing/exclusive``. Nobody can open the new file before this returns. On Windows, where a file that is open
  /// is not replaced, this throws and the old file stays.
  ///
  /// - Parameters:
  ///   - path: The file, not a symbolic link, which would be replaced itself.
  ///   - initialize: Writes the content, and learns the name that the file has for the time being. When it throws, the
  ///     file is gone, the old one is as it was, and the error is passed on.
  ///
  /// When it returns, content and name are durable. When the directory cannot be synced in the end it throws, although
  /// the path leads to the new file already.
  public static func replace(
    at path: String, initialize: (FileDevice, _ temporaryPath: String) throws(StoreError) -> Void
  ) throws(StoreError) {
    try replace(at: path, calls: .system, initialize: initialize)
  }

  static func replace(
    at path: String, calls: FileCalls, initialize: (FileDevice, _ temporaryPath: String) throws(StoreError) -> Void
  ) throws(StoreError) {
    let path = try checkedPath(path)
    let directory = directoryPart(of: path)
    let name = TemporaryName.standing(for: path)
    removeIfStale(directory + "/" + name, calls)
    let (device, temporary) = try makeTemporary(in: directory, named: name, calls)
    defer { device.close() }
    do throws(StoreError) {
      try initialize(device, temporary)
      if !isPlanted(.replacementNotSynced) { try device.sync() }
      let renamed = calls.rename(temporary, path)
      if renamed < 0 { throw .device(operation: .rename, offset: 0, code: Int32(truncatingIfNeeded: -renamed)) }
    } catch {
      _ = calls.unlink(temporary)
      throw error
    }
    let result = isPlanted(.replacementNameNotSynced) ? 0 : calls.syncDirectory(directory)
    if result < 0 { throw .device(operation: .sync, offset: 0, code: Int32(truncatingIfNeeded: -result)) }
  }

  /// Removes what a ``replace(at:initialize:)`` of the file at `path` left behind when its process was killed. Does
  /// what it can: a failure here is nobody's concern. One look at the directory, whatever its size.
  public static func removeUnfinishedReplacement(of path: String) {
    guard let path = try? checkedPath(path) else { return }
    removeIfStale(directoryPart(of: path) + "/" + TemporaryName.standing(for: path), .system)
  }
}

extension TemporaryName {
  /// The name for a file that is to take the place of the one at a path: the digits are a hash (FNV-1a) of its last
  /// part. Two files of a directory whose hashes agree are replaced one after the other.
  static func standing(for path: String) -> String {
    let separators: [Character] = FileCalls.pathSeparators
    let last = path.lastIndex { separators.contains($0) }.map { path[path.index(after: $0)...] } ?? path[...]
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in last.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return prefix + String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

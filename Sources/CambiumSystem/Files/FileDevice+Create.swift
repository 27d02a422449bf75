import CambiumKernel

// A file appears at its path whole or not at all:
//
//   make it under a temporary name, locked -> initialize -> sync -> link to the path -> drop the temporary name
//   -> sync the directory
//
// `link` never replaces, so of several that create the same file one wins and the others learn that it exists. The
// lock is held from before the file has its name, so nobody can open it before its maker is done with it. A temporary
// file that nobody has locked was left by a process that was killed; the next create in the directory removes it.
extension FileDevice {
  /// Creates the file at `path` and returns it, open for writing and exclusively.
  ///
  /// - Parameters:
  ///   - path: Where it is to appear. Its directory must exist.
  ///   - initialize: Writes the first content. The file has no name that anybody would look for yet; when this throws,
  ///     it is gone, and the error is passed on.
  ///
  /// Throws an error whose ``CambiumKernel/StoreError/meansFileExists`` is true if there is something at `path`
  /// already. When it returns, content and name are durable.
  ///
  /// File systems without hard links (FAT, and Android's for applications) can't name a file without replacing: there
  /// the path is looked at once more, then the file is renamed, and two that do this at the same time may both succeed.
  public static func create(
    at path: String, initialize: (FileDevice) throws(StoreError) -> Void
  ) throws(StoreError) -> FileDevice {
    try create(at: path, calls: .system, initialize: initialize)
  }

  static func create(
    at path: String, calls: FileCalls, initialize: (FileDevice) throws(StoreError) -> Void
  ) throws(StoreError) -> FileDevice {
    let path = try checkedPath(path)
    let directory = directoryPart(of: path)
    if try isTaken(path, calls) { throw .device(operation: .rename, offset: 0, code: ErrorCode.exists) }
    removeStaleTemporaries(in: directory, calls)

    let (device, temporary) = try makeTemporary(in: directory, calls)
    do throws(StoreError) {
      try initialize(device)
      if !isPlanted(.creationNotSynced) { try device.sync() }
      try publish(temporary, as: path, calls)
    } catch {
      _ = calls.unlink(temporary)
      device.close()
      throw error
    }
    let result = calls.syncDirectory(directory)
    if result < 0 {
      // The name may not outlive a power cut, so it must not outlive this call. Nobody has opened it: it is locked.
      if !isPlanted(.failedCreationKeepsName) { _ = calls.unlink(path) }
      device.close()
      throw .device(operation: .sync, offset: 0, code: Int32(truncatingIfNeeded: -result))
    }
    return device
  }

  // MARK: - Steps

  /// Makes and locks a file that has a name of its own, by chance unless one is given.
  static func makeTemporary(
    in directory: String, named name: String? = nil, _ calls: FileCalls
  ) throws(StoreError) -> (FileDevice, path: String) {
    let lockRange = exclusiveLockOffset..<exclusiveLockOffset + 1
    // Between making and locking, another create may take the file for a stale one and remove it. Then make another.
    for _ in 0..<16 {
      let path = directory + "/" + (name ?? TemporaryName.random())
      let file = calls.open(path, .creating)
      if file < 0 {
        let code = Int32(truncatingIfNeeded: -file)
        if ErrorCode.meansExists(code) { continue }
        if ErrorCode.meansFull(code) { throw .deviceFull(bytes: 0) }
        throw .device(operation: .open, offset: 0, code: code)
      }
      do throws(StoreError) {
        let device = try FileDevice(file: file, access: .readWrite, calls: calls)
        if try device.tryLock(.exclusive, lockRange), try device.status().links > 0 { return (device, path) }
        // Whoever has it locked has it open to remove it.
        _ = calls.unlink(path)
        device.close()
      } catch {
        _ = calls.unlink(path)
        throw error
      }
    }
    throw .busy
  }

  private static func publish(_ temporary: String, as path: String, _ calls: FileCalls) throws(StoreError) {
    let linked = calls.link(temporary, path)
    if linked >= 0 {
      // If this fails, the name stays until the next create, which finds that the file has another.
      _ = calls.unlink(temporary)
      return
    }
    let code = Int32(truncatingIfNeeded: -linked)
    guard ErrorCode.meansNoHardLinks(code) else { throw .device(operation: .rename, offset: 0, code: code) }
    if try isTaken(path, calls) { throw .device(operation: .rename, offset: 0, code: ErrorCode.exists) }
    let renamed = calls.rename(temporary, path)
    if renamed < 0 { throw .device(operation: .rename, offset: 0, code: Int32(truncatingIfNeeded: -renamed)) }
  }

  private static func isTaken(_ path: String, _ calls: FileCalls) throws(StoreError) -> Bool {
    var status = FileStatus()
    let result = calls.pathStatus(path, &status)
    if result >= 0 { return true }
    let code = Int32(truncatingIfNeeded: -result)
    if ErrorCode.meansMissing(code) { return false }
    throw .device(operation: .open, offset: 0, code: code)
  }

  /// Removes what creates that were killed left behind. Does what it can: a failure here is nobody's concern.
  private static func removeStaleTemporaries(in directory: String, _ calls: FileCalls) {
    #if !os(WASI)
      for name in calls.names(directory, TemporaryName.matches) {
        removeIfStale(directory + "/" + name, calls)
      }
    #endif
  }

  /// Removes a temporary file that nobody works on any more.
  static func removeIfStale(_ path: String, _ calls: FileCalls) {
    let file = calls.open(path, .readingAndWriting)
    if file < 0 { return }
    guard let device = try? FileDevice(file: file, access: .readWrite, calls: calls) else { return }
    let lockRange = exclusiveLockOffset..<exclusiveLockOffset + 1
    // Two names: it was published, and this one was to go. The other may be in use.
    let published = (try? device.status().links).map { $0 > 1 } ?? false
    let abandoned = (try? device.tryLock(.exclusive, lockRange)) ?? false
    if published || abandoned || isPlanted(.temporaryInUseRemoved) { _ = calls.unlink(path) }
    device.close()
  }

  /// The directory that holds the last part of a path.
  static func directoryPart(of path: String) -> String {
    let separators: [Character] = FileCalls.pathSeparators
    guard let last = path.lastIndex(where: { separators.contains($0) }) else { return "." }
    return last == path.startIndex ? "/" : String(path[..<last])
  }
}

/// The names of files that are not finished: a prefix and 16 hexadecimal digits, with no regard to the final name,
/// which may be as long as names get.
enum TemporaryName {
  static let prefix = ".cambium-new-"

  static func random() -> String {
    let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    return prefix + String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  static func matches(_ name: String) -> Bool {
    name.utf8.count == prefix.utf8.count + 16 && name.hasPrefix(prefix)
      && name.utf8.dropFirst(prefix.utf8.count).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

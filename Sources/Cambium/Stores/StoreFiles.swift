import CambiumEngine
import CambiumKernel
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How far a backup has come.
public struct BackupProgress: Sendable, Equatable {
  /// Bytes copied.
  public let copiedBytes: UInt64
  /// Bytes to copy in all.
  public let totalBytes: UInt64
}

/// Whole files of stores: made, replaced and removed at once.
enum StoreFiles {
  /// Makes a file at a path that is free, and has a store copied into it. The file is there when the copy is whole, or
  /// not at all.
  static func make(_ path: String, _ fill: @escaping (FileDevice) throws -> Void) throws {
    try passingErrors(
      { (fill: (FileDevice) throws(StoreError) -> Void) throws(StoreError) in
        try FileDevice.create(at: path, initialize: fill).close()
      }, filling: fill)
  }

  /// Has another file take the place of one that nobody has open, at once.
  static func replace(_ path: String, _ fill: @escaping (FileDevice) throws -> Void) throws {
    try alone(path) {
      try passingErrors(
        { (fill: (FileDevice) throws(StoreError) -> Void) throws(StoreError) in
          try FileDevice.replace(at: path) { (device, _) throws(StoreError) in try fill(device) }
        }, filling: fill)
    }
  }

  /// Removes a file that nobody has open, if there is one.
  static func remove(_ path: String) throws {
    do { try alone(path) { try FileManager.default.removeItem(atPath: path) } } catch let error as StoreError {
      if !error.meansNoSuchFile { throw error }
    }
    FileDevice.removeUnfinishedReplacement(of: path)
  }

  /// A file to copy. Takes no lock, and waits for none: this process has the file open already, maybe for itself.
  static func source(_ path: String) throws -> FileDevice {
    try FileDevice(path: path, access: .readOnly, sharing: .cooperative)
  }

  /// Runs `body` when nobody has the file open, in this process or another, whatever the file holds.
  /// Runs what makes a file, which throws the errors of the kernel only, with what fills the file, which throws any.
  static func passingErrors(
    _ make: ((FileDevice) throws(StoreError) -> Void) throws(StoreError) -> Void,
    filling: @escaping (FileDevice) throws -> Void
  ) throws {
    var failure: (any Error)?
    do {
      try make { (device) throws(StoreError) in
        do { try filling(device) } catch {
          failure = error
          throw .misuse("the migration failed")
        }
      }
    } catch { throw failure ?? error }
  }

  private static func alone(_ path: String, _ body: () throws -> Void) throws {
    try OpenStores.exclusively(path) {
      let device = try FileDevice(path: path, access: .readWrite, sharing: .exclusive)
      defer { device.close() }
      try body()
    }
  }
}

extension PersistentStore {
  /// Makes a file with exactly what the store holds now, history and metadata included, while contexts and other
  /// processes read and write. The file is a store of its own with the same ``identifier``; it is there when the backup
  /// is whole and on the disk, or not at all.
  ///
  ///     try store.backup(to: url) { print($0.copiedBytes, "of", $0.totalBytes); return !isCancelled }
  ///
  /// What is saved meanwhile waits for the backup at its beginning and end only, for as long as a checkpoint takes.
  /// States that are retained are not copied. A store in memory can be backed up, too, and an earlier state
  /// (``snapshot(at:)``), as long as it is retained. Of a store that is open for reading only, the file is copied as it
  /// lies, with the states that are retained in it; if others save into it, it is copied again, ten times at most.
  ///
  /// - Parameters:
  ///   - url: A file that is not there yet, in a directory that is.
  ///   - progress: Called after each 4 MiB or so; the backup is given up if it answers false.
  /// - Throws: ``CambiumError/Code/userCancelled`` if `progress` gave it up; ``CambiumError/Code/snapshotExpired`` for
  ///   an earlier state that was released; ``CambiumError/Code/persistentStoreSave`` with what went wrong, if there is
  ///   a file already, for example.
  public func backup(to url: URL, progress: @escaping (BackupProgress) -> Bool = { _ in true }) throws {
    try using { try Self.asOneError(url) { try StoreFiles.make(url.path) { try self.copy(to: $0, progress) } } }
  }

  /// Makes a device a copy of the store.
  func copy(to device: any StorageDevice, _ progress: (BackupProgress) -> Bool) throws {
    let isState = try mapping(.persistentStoreSave) { () throws(EngineError) in
      try copyState(to: device) {
        progress(BackupProgress(copiedBytes: $0.copiedBytes, totalBytes: $0.totalBytes))
      }
    }
    if let isState {
      guard isState else { throw Self.cancelled }
      return
    }
    if isReadOnly, let url, let file = device as? FileDevice {
      guard try StoreFiles.copyBytes(of: url.path, to: file, progress) else { throw Self.cancelled }
      return
    }
    let isWhole = try mapping(.persistentStoreSave) { () throws(EngineError) in
      try currentEngine().copy(to: device) {
        progress(BackupProgress(copiedBytes: $0.copiedBytes, totalBytes: $0.totalBytes))
      }
    }
    guard isWhole else { throw Self.cancelled }
  }

  private static var cancelled: CambiumError { CambiumError(.userCancelled, "the backup was given up") }

  /// What to say of a file that is no store.
  static func notAStore(_ url: URL?) -> CambiumError {
    let sqlite = "SQLite format 3\0"
    if let url, let file = try? FileDevice(path: url.path, access: .readOnly, sharing: .exclusive) {
      defer { file.close() }
      if let head = try? StoreFiles.beginning(of: file), head.starts(with: sqlite.utf8) {
        return CambiumError(
          .persistentStoreTypeMismatch,
          "the file is an SQLite database, as Core Data's SQLite stores are, and Cambium reads stores of its own only: give "
            + "the store another file, and bring the data over with an application that uses Core Data",
          underlying: [StoreError.notAStore])
      }
    }
    var error = CambiumError(StoreError.notAStore, during: .persistentStoreOpen)
    if let url {
      error.message =
        "'\(url.path)' is not a Cambium store, or damaged at its very beginning; name another file, or move this one away"
    }
    return error
  }

  /// Runs `body`, giving what it throws this module's type.
  @_optimize(none)
  static func asOneError(_ url: URL, _ body: () throws -> Void) throws {
    do { try body() } catch {
      var result: CambiumError
      switch error {
      case let error as CambiumError: result = error
      case let error as EngineError: result = CambiumError(error, during: .persistentStoreSave)
      case StoreError.busy:
        result = CambiumError(
          .persistentStoreOperation,
          "somebody has the store open, in this process or another; remove it from its coordinators there first",
          underlying: [error])
      case let error as StoreError where error.meansFileExists:
        result = CambiumError(.persistentStoreSave, "there is a file already at \(url.path)", underlying: [error])
      case let error as StoreError:
        result = CambiumError(error, during: .persistentStoreSave).explained(url, isReadOnly: false)
      default: result = CambiumError(.persistentStoreSave, "\(error)", underlying: [error])
      }
      result.storeURL = url
      throw result
    }
  }
}

extension PersistentStoreCoordinator {
  /// Removes the file of a store, damaged or not. Without a file nothing happens.
  ///
  /// Core Data empties stores that are in use; here nobody may have the file open, since it would be lost to them in
  /// silence. Remove the store from its coordinators first (``remove(_:)``).
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreOperation`` if somebody has it open, in this process or another;
  ///   ``CambiumError/Code/persistentStoreSave`` with what went wrong.
  public func destroyPersistentStore(at url: URL, type: PersistentStoreType = .file) throws {
    if type == .inMemory { return }
    try PersistentStore.asOneError(url) { try StoreFiles.remove(url.resolvingSymlinksInPath().path) }
  }

  /// Puts a copy of a store in the place of another one, at once: a kill leaves the old file or the new one. Whoever
  /// has the source open goes on with it; nobody may have the destination open. Where there is no file yet, one is
  /// made. What the destination holds does not matter, so that a damaged store can be replaced by a backup.
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreOpen`` if the source cannot be read;
  ///   ``CambiumError/Code/persistentStoreOperation`` if somebody has the destination open;
  ///   ``CambiumError/Code/persistentStoreSave`` with what went wrong.
  public func replacePersistentStore(
    at destination: URL, withPersistentStoreFrom source: URL,
    progress: @escaping (BackupProgress) -> Bool = { _ in true }
  ) throws {
    let description = PersistentStoreDescription(url: source)
    let sources = PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel())
    let store = try sources.openAsItIs(description)
    try PersistentStore.asOneError(destination) {
      let path = destination.resolvingSymlinksInPath().path
      if FileManager.default.fileExists(atPath: path) {
        try StoreFiles.replace(path) { try store.copy(to: $0, progress) }
      } else {
        try StoreFiles.make(path) { try store.copy(to: $0, progress) }
      }
    }
  }

  /// ``PersistentStore/metadata`` of a store in a file, whatever its model; it is not migrated. Core Data:
  /// `metadataForPersistentStore(ofType:at:options:)`.
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreOpen`` if the file cannot be read.
  public static func metadataForPersistentStore(at url: URL) throws -> [String: Any] {
    try PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel())
      .openAsItIs(PersistentStoreDescription(url: url)).metadata
  }

  /// Replaces what the application keeps with a store in a file; see ``PersistentStore/setMetadata(_:)``.
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreOpen`` if the file cannot be read; as
  ///   ``PersistentStore/setMetadata(_:)``.
  public static func setMetadata(_ entries: [String: Any], forPersistentStoreAt url: URL) throws {
    let description = PersistentStoreDescription(url: url)
    try PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel()).openAsItIs(description).setMetadata(
      entries)
  }

  /// The model that a store in a file was made with or migrated to, which the file holds. Core Data:
  /// `cachedModelForPersistentStore(at:options:)`.
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreOpen`` if the file cannot be read.
  public static func cachedModelForPersistentStore(at url: URL) throws -> ManagedObjectModel {
    let store = try PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel())
      .openAsItIs(PersistentStoreDescription(url: url))
    return ManagedObjectModel(schema: store.engine.schema)
  }

  /// Opens a store with the model that is in it; for reading only, if it cannot be written. Makes no file.
  @_optimize(none)
  private func openAsItIs(_ description: PersistentStoreDescription) throws -> PersistentStore {
    guard let url = description.url, FileManager.default.fileExists(atPath: url.path) else {
      var error = CambiumError(
        .persistentStoreOpen, "there is no file at \(description.url?.path ?? "no place")")
      error.storeURL = description.url
      throw error
    }
    func open() throws -> PersistentStore {
      do {
        let shared = try OpenStores.open(description, path: url.path) { throw StoreError.misuse("the file went away") }
        do {
          let engine = try shared.current()
          let keepsHistory = try engine.view().isKeepingHistory()
          let identifier = UUID(UUIDBytes(high: engine.kernel.uuid.0, low: engine.kernel.uuid.1)).uuidString
          let space = StoreSpace(
            identifier: identifier, stored: engine.schema, model: engine.schema, descriptions: [:])
          return PersistentStore(
            description, engine: engine, shared: shared, space: space, tracksHistory: keepsHistory)
        } catch {
          try? OpenStores.close(shared)
          throw error
        }
      } catch {
        var result: CambiumError
        switch error {
        case let error as EngineError: result = CambiumError(error, during: .persistentStoreOpen)
        case StoreError.notAStore: result = PersistentStore.notAStore(url)
        case let error as StoreError: result = CambiumError(error, during: .persistentStoreOpen)
        default: result = CambiumError(.persistentStoreOpen, "\(error)", underlying: [error])
        }
        result.storeURL = url
        throw result
      }
    }
    do { return try open() } catch {
      if FileManager.default.isWritableFile(atPath: url.path) { throw error }
      description.isReadOnly = true
      return try open()
    }
  }
}

import CambiumEngine
import CambiumKernel
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files that this process has open: two coordinators on one file share an engine.
enum OpenStores {
  private static let registry = StoreRegistry<SharedStore>()
  /// Held while a file is made, so that one that asks for it meanwhile waits instead of finding it locked.
  private static let creating = StateLock()

  /// Opens the file, or makes it if there is none.
  static func open(
    _ description: PersistentStoreDescription, path: String, model: () throws -> Schema
  ) throws -> SharedStore {
    let options = description.storeOptions
    let sharing: FileDevice.Sharing =
      description.isSharedBetweenProcesses && FileDevice.canShare ? .shared : .exclusive
    do { return try existing(path, options, sharing) } catch let error as StoreError {
      guard error.meansNoSuchFile || error == .busy else { throw error }
      if error.meansNoSuchFile, options.isReadOnly { throw error }
    }
    let schema = try model()
    return try creating.locked {
      do { return try existing(path, options, sharing) } catch let error as StoreError {
        guard error.meansNoSuchFile else { throw error }
      }
      do { return try create(path, options, sharing, schema) } catch let error as StoreError {
        // Another process was faster.
        guard error.meansFileExists else { throw error }
        return try existing(path, options, sharing)
      }
    }
  }

  /// Gives up one use of a store; the last one closes the file.
  static func close(_ store: SharedStore) throws {
    try registry.release(store) { (store) throws(StoreError) in try store.kernel.close() }
  }

  private static func existing(
    _ path: String, _ options: StoreOptions, _ sharing: FileDevice.Sharing
  ) throws -> SharedStore {
    for _ in 0..<100 {
      var failure: EngineError?
      var isReplaced = false
      do {
        let store = try registry.open(path: path, access: options.isReadOnly ? .readOnly : .readWrite, sharing: sharing)
        {
          (device) throws(StoreError) in
          // A migration may put another file in this one's place until the locks are taken. The path leads to that file
          // then, and this one may be refused as lost.
          func lookForAnother() { isReplaced = (try? FileIdentity(path: path)) != device.identity }
          let kernel: Store
          do throws(StoreError) {
            kernel = try Store.open(on: device, environment: SystemEnvironment(), options: options)
          } catch {
            lookForAnother()
            throw error
          }
          lookForAnother()
          do throws(EngineError) { if !isReplaced { return SharedStore(try EntityStore.open(kernel)) } } catch {
            failure = error
          }
          try? kernel.close()
          throw .misuse("the engine could not open the store")
        }
        guard store.kernel.isReadOnly, !options.isReadOnly else { return store }
        try close(store)
        throw CambiumError(
          .fileWriteNoPermission,
          "the store is open in this process for reading only, by another coordinator, so that nobody here can write: open "
            + "it there for writing as well, or remove it there first")
      } catch {
        if let failure { throw failure }
        if !isReplaced { throw error }
      }
    }
    // Somebody replaces the file over and over.
    throw StoreError.busy
  }

  /// Runs `body` with the store in a file that nobody else has open, in this process or another. Who asks for the file
  /// meanwhile waits, or is told that it is busy if it is another process. The file is only read.
  ///
  /// - Throws: `StoreError.busy` if somebody has it open; what opening and `body` throw.
  static func alone<R>(
    path: String, _ options: StoreOptions, _ body: (EntityStore) throws -> R
  ) throws -> R {
    var options = options
    options.isReadOnly = true
    var result: Result<R, any Error>?
    do {
      // In the registry, the file is being opened as long as this lasts.
      let others = try registry.acquire(try FileIdentity(path: path)) { () throws(StoreError) in
        let device = try FileDevice(path: path, access: .readWrite, sharing: .exclusive)
        defer { device.close() }
        let kernel = try Store.open(on: device, environment: SystemEnvironment(), options: options)
        result = Result { try body(try EntityStore.open(kernel)) }
        try? kernel.close()
        throw .misuse("nothing is kept")
      }
      try close(others)
    } catch { if result == nil { throw error } }
    guard let result else { throw StoreError.busy }
    return try result.get()
  }

  /// Runs `body` while the file is not open in this process; who asks for it meanwhile waits. Whether another process
  /// has it open is for `body` to find out.
  ///
  /// - Throws: `StoreError.busy` if it is open; what `body` throws.
  static func exclusively(_ path: String, _ body: () throws -> Void) throws {
    var result: Result<Void, any Error>?
    do {
      let others = try registry.acquire(try FileIdentity(path: path)) { () throws(StoreError) in
        result = Result { try body() }
        throw .misuse("nothing is kept")
      }
      try close(others)
    } catch { if result == nil { throw error } }
    guard let result else { throw StoreError.busy }
    try result.get()
  }

  private static func create(
    _ path: String, _ options: StoreOptions, _ sharing: FileDevice.Sharing, _ schema: Schema
  ) throws -> SharedStore {
    var made: EntityStore?
    var failure: EngineError?
    let device: FileDevice
    do {
      device = try FileDevice.create(at: path) { (device) throws(StoreError) in
        let kernel = try Store.create(on: device, environment: SystemEnvironment(), options: options)
        do throws(EngineError) { made = try EntityStore.create(in: kernel, schema: schema) } catch {
          failure = error
          throw .misuse("the engine could not make the store")
        }
        // The device belongs to one process as long as the file is made.
        if sharing == .shared { try kernel.detach() }
      }
    } catch {
      throw failure ?? error
    }
    if let made { log(made, path.split(separator: "/").last.map { String($0) } ?? path) }
    if sharing == .shared {
      device.close()
      return try existing(path, options, sharing)
    }
    guard let made else { throw StoreError.misuse("the store was not made") }
    return try registry.acquire(device.identity) { () throws(StoreError) in SharedStore(made) }
  }

  /// Tells developers what was laid out in a new file.
  private static func log(_ store: EntityStore, _ file: String) {
    guard DebugLog.isOn(.store) else { return }
    let schema = store.schema
    DebugLog.write(.store, "\(file): created")
    DebugLog.write(
      .store,
      "\(file): metadata, model \(schema.versionChecksum), versions "
        + (schema.versionIdentifiers.isEmpty ? "none" : schema.versionIdentifiers.joined(separator: ", ")))
    for entity in schema.entities {
      DebugLog.write(
        .store,
        "\(file): entity \(entity.name), \(entity.allAttributes.count) attributes, "
          + "\(entity.allRelationships.count) relationships, \(entity.indexes.count) indexes, "
          + "\(entity.uniquenessConstraints.count) constraints")
    }
  }
}

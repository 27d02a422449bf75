// Watching the file. A system lets a program write to a file that somebody has deleted, and lets the store's own writes
// lengthen a file that somebody has cut. Neither call fails, and the next opening finds nothing, or zeros. So the store
// asks for the state of its open file after each sync, before it acknowledges a commit.

/// The length that the store's file must have, as last noted with the turn.
struct NeededLength {
  /// The length in bytes.
  var bytes: UInt64 = 0
  /// The newest publication when this was noted.
  var publication: UInt64 = 0
  /// How often this store has cut the file itself.
  var cuts: UInt64 = 0
}

extension Store {
  /// At durabilities that sync no commit, every commit whose number this divides looks at the file.
  static var commitsBetweenFileLooks: UInt64 { 64 }

  /// Notes how long the file is at least from now on. Call this with the turn and the state lock.
  ///
  /// Alone, the store knows the length of its file. If other processes share the file, they may make it shorter at any
  /// time without this store. What they cannot cut off is the log, until a later publication has moved it.
  func noteNeededLengthLocked(publication: UInt64) {
    neededLength.publication = publication
    guard share != nil else {
      neededLength.bytes = UInt64(space.table.fileUnits) * UInt64(SegmentTable.unitSize)
      return
    }
    neededLength.bytes = max(log.present.end, log.next.end)
  }

  /// Notes that the store is about to cut its file to `bytes`. Call this with the turn.
  func noteOwnCut(to bytes: UInt64) {
    lock.lock()
    neededLength.bytes = min(neededLength.bytes, bytes)
    neededLength.cuts &+= 1
    lock.unlock()
  }

  /// Poisons the store and throws if its file was deleted or cut. Costs one call of ``StorageDevice/fileState()``.
  func requireFile() throws(StoreError) {
    lock.lock()
    let needed = neededLength
    let known = fileLoss
    lock.unlock()
    guard let loss = known ?? self.loss(of: needed) else { return }
    lock.lock()
    noteLossLocked(loss)
    lock.wakeAll()
    lock.wakeAllAside()
    lock.unlock()
    throw .fileLost(loss)
  }

  /// Poisons the store because its file is lost. Call this with the state lock, then wake all who wait.
  func noteLossLocked(_ loss: FileLoss) {
    isPoisoned = true
    if fileLoss == nil { fileLoss = loss }
  }

  /// The error that refuses a write to a poisoned store. Call this with the state lock.
  var refusalLocked: StoreError {
    if let fileLoss { return .fileLost(fileLoss) }
    return .poisoned
  }

  /// Returns how the file was lost, or nil if it was not, or the device cannot tell. Call this without the state lock.
  ///
  /// - Parameter needed: The length that was needed before the call.
  func loss(of needed: NeededLength) -> FileLoss? {
    if options.isReadOnly { return nil }
    guard let state = device.fileState() else { return nil }
    if state.isDeleted { return .deleted }
    if state.sizeBytes >= needed.bytes { return nil }
    // Another thread may have cut the file meanwhile, because its end was free.
    lock.lock()
    let isOwnCut = neededLength.cuts != needed.cuts
    lock.unlock()
    if isOwnCut { return nil }
    // Another process may have moved the log and then cut the file. It published that before.
    if share != nil {
      let newest = try? Store.readSuperblock(device, readOnly: true).0.publication
      if let newest, newest > needed.publication { return nil }
    }
    return .cut(sizeBytes: state.sizeBytes, neededBytes: needed.bytes)
  }
}

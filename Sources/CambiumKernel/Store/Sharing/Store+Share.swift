// Opening and closing a store that shares its file with stores of other processes.

extension Store {
  /// Opens the store for use beside other processes.
  static func openShared(
    on device: any StorageDevice, locks: any StoreLocks, environment: any StoreEnvironment, options: StoreOptions
  ) throws(StoreError) -> Store {
    #if hasFeature(Embedded)
      throw .misuse("a program without an operating system does not share its file: let the device have no locks")
    #else
      do throws(StoreError) {
        return try openBesideOthers(on: device, locks: locks, environment: environment, options: options)
      } catch {
        // The caller may keep the device.
        locks.giveUp(StoreLockPlace.all)
        throw error
      }
    #endif
  }

  #if !hasFeature(Embedded)
    private static func openBesideOthers(
      on device: any StorageDevice, locks: any StoreLocks, environment: any StoreEnvironment, options: StoreOptions
    ) throws(StoreError) -> Store {
      let share = StoreShare(
        locks: locks, process: environment.processIdentifier(), seed: environment.randomBits())
      try announce(locks, options)
      let loaded: Loaded
      if options.isReadOnly {
        loaded = try loadBesideOthers(on: device, environment: environment, options: options) {
          (generation) throws(StoreError) in
          if try locks.tryLock(.shared, StoreLockPlace.pin(generation)) { share.lockedPins.insert(generation) }
        }
        loaded.store.share = share
        loaded.store.unlockIdlePins(share, but: nil)
      } else {
        var limit = options.turnTimeoutMilliseconds
        try locks.waitForLock(StoreLockPlace.turn, limit: &limit)
        loaded = try load(on: device, environment: environment, options: options, use: .opening)
        loaded.store.share = share
      }
      let store = loaded.store
      store.deviceGivenUp = false
      loaded.adoptWriters(pages: store.pageWriter, values: store.valueWriter)
      if options.isReadOnly { return store }
      // Other writers, if there are any, find another session then, and read everything anew: a recovery is no
      // different to them from a checkpoint. Opening proves what was read by writing it again, which nothing less would
      // do after a process whose sync failed.
      try store.takeIntoUse(loaded)
      guard try locks.tryLock(.shared, StoreLockPlace.writers) else { throw .busy }
      try locks.unlock(StoreLockPlace.turn)
      return store
    }
  #endif

  /// Takes the locks that say how this store uses the file, and sees whether those of others go together with that.
  static func announce(_ locks: any StoreLocks, _ options: StoreOptions) throws(StoreError) {
    guard try locks.tryLock(.shared, StoreLockPlace.sharedUse) else { throw .busy }
    if try locks.othersLock(in: StoreLockPlace.exclusiveUse) != nil { throw .busy }
    if options.isReadOnly { return }
    let own = StoreLockPlace.durability(options.durability)
    guard try locks.tryLock(.shared, own) else { throw .busy }
    for other in StoreLockPlace.allDurabilities where StoreLockPlace.durability(other) != own {
      if try locks.othersLock(in: StoreLockPlace.durability(other)) != nil {
        throw .misuse(
          "another process has the store open with another durability; strict and none go with themselves only")
      }
    }
  }

  /// Takes the turn for the last time. Answers false if other processes go on with the store, so that it must not be
  /// marked as closed.
  func enterToClose() throws(StoreError) -> Bool {
    guard let share else { return true }
    try requireSameProcess()
    lock.lock()
    let isSuspended = share.isSuspended
    lock.unlock()
    if isSuspended { return false }
    try enterSharedTurn()
    if !hasOtherWriters { return true }
    // Commits at `.normal` have not been synced; nobody else knows of them that they were acknowledged. Others may be
    // about to be.
    if options.durability != .none { try syncNow() }
    return false
  }
}

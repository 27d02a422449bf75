// Work on a store that takes many commits, and that only one process is to do at a time: the stages of a migration,
// with what the application does in them. It rules out nobody else's reading and writing.

extension Store {
  /// Waits until no other process is at such work, and then rules it out until ``endStages()``. For one thread of a
  /// process at a time. Does nothing if the file is this store's alone, or is open for reading only. A process that
  /// ends, or calls ``suspend()``, gives the place up.
  ///
  /// - Throws: ``StoreError/forked``; what locking throws.
  public func beginStages() throws(StoreError) {
    guard let share, !options.isReadOnly else { return }
    try requireSameProcess()
    try share.locks.waitForLock(StoreLockPlace.stages)
  }

  /// Ends what ``beginStages()`` began.
  public func endStages() {
    guard let share, !isForked else { return }
    share.locks.giveUp(StoreLockPlace.stages)
  }
}

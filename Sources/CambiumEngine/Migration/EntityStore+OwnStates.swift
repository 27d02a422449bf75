import CambiumKernel

extension EntityStore {
  /// Releases what the kernel retains for migrations and their stages, and the catalogue does not name any more: a
  /// process was killed before it did, or the catalogue has just forgotten it. O(retained commits). Waits for the turn
  /// to write.
  ///
  /// - Throws: Kernel errors; what ``EntityView/stageRecord()`` throws.
  public func releaseOwnStates() throws(EngineError) {
    if fixed != nil { return }
    let own = try retainedCommits().filter { $0.reason == PriorCommit.reason || $0.reason == StageRecord.reason }
    if own.isEmpty { return }
    // Of the newest commit, durable or not.
    let t = try beginWrite()
    defer { t.rollBack() }
    let priors = try Catalogue(t).priors
    let stage = try EntityView(store: self, trees: t).stageRecord()?.retained
    t.rollBack()
    for commit in own {
      if priors[commit.id]?.sequence == commit.sequence { continue }
      if let stage, stage == StageRecord.Retained(id: commit.id, sequence: commit.sequence) { continue }
      do throws(StoreError) { try kernel.release(retained: commit.id, sequence: commit.sequence) } catch {
        // Somebody else was faster.
        guard case .snapshotExpired = error else { throw .store(error) }
      }
    }
  }
}

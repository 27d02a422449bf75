import CambiumKernel

/// A state that a migration can be undone to.
public struct PriorState: Sendable {
  /// The commit, as the kernel retains it.
  public let commit: RetainedCommit
  /// The model of that state.
  public let schema: Schema
  /// How many commits the application has made since; undoing the migration discards them.
  public let commitsSince: UInt64
  /// Whether it is kept until ``EntityStore/confirmMigration()``, and not only until what was put off is done.
  public let isKeptUntilConfirmed: Bool
}

extension EntityStore {
  /// The state that ``rollBackMigration(discardsCommits:)`` would go back to: that before the newest migration of which
  /// it is kept; nil if there is none.
  ///
  /// - Throws: ``EngineError/modelChanged``; kernel errors.
  public func priorState() throws(EngineError) -> PriorState? {
    let view = try view()
    let priors = try Catalogue(view.trees).priors
    guard let commit = try newestRetained(of: priors), let prior = priors[commit.id] else { return nil }
    let before: Snapshot
    do throws(StoreError) { before = try kernel.snapshot(retained: commit.id) } catch {
      guard case .snapshotExpired = error else { throw .store(error) }
      return nil
    }
    // Another one may have got the identifier.
    guard before.sequence == commit.sequence else { return nil }
    guard let schema = try Self.storedSchema(before) else { throw .corrupt("a retained commit holds no model") }
    return PriorState(
      commit: commit, schema: schema, commitsSince: try Self.applicationCommits(in: view.trees, since: before),
      isKeptUntilConfirmed: prior.isKeptUntilConfirmed)
  }

  /// The newest of some retained commits that is retained indeed.
  private func newestRetained(of priors: [UInt64: PriorCommit]) throws(EngineError) -> RetainedCommit? {
    if priors.isEmpty { return nil }
    let there = try retainedCommits().filter { priors[$0.id]?.sequence == $0.sequence }
    return there.max { $0.sequence < $1.sequence }
  }

  private static func applicationCommits(in newest: TreeView, since before: TreeView) throws(EngineError) -> UInt64 {
    try storing { () throws(StoreError) in
      let all = newest.sequence - min(newest.sequence, before.sequence)
      let upkeep =
        try newest.counter(Catalogue.tree, Catalogue.upkeepCounter)
        &- before.counter(Catalogue.tree, Catalogue.upkeepCounter)
      return all - min(all, UInt64(clamping: upkeep))
    }
  }

  /// Undoes the newest migration whose prior state is kept: model and objects are as they were before it, by a new
  /// commit, without copying or reading a row. What was put off need not be done, nor not be done. Numbers of rows go
  /// on, so that a reference to an object made since never leads to another one.
  ///
  /// The answer is the store to go on with; this one, and whatever other process has the file open, refuses to read and
  /// write from then on (``EngineError/modelChanged``), but for views that are open. A state before an earlier
  /// migration that is kept can be gone back to next.
  ///
  /// - Parameter discardsCommits: Whether commits that the application has made since may be lost.
  /// - Throws: ``EngineError/noMigrationToRollBack``; ``EngineError/commitsSinceMigration(_:)``, with their number,
  ///   unless they may be discarded; ``EngineError/modelChanged``; kernel errors. The store is then as it was.
  @_optimize(none)
  public func rollBackMigration(discardsCommits: Bool = false) throws(EngineError) -> EntityStore {
    if fixed != nil { throw .store(.readOnly) }
    let priors = try Catalogue(try view().trees).priors
    guard let commit = try newestRetained(of: priors) else { throw .noMigrationToRollBack }
    let t: WriteTransaction
    do throws(StoreError) { t = try kernel.beginWrite(restoring: commit.id) } catch {
      guard case .snapshotExpired = error else { throw .store(error) }
      throw .noMigrationToRollBack
    }
    let result: EntityStore
    do throws(EngineError) {
      let newest = try storing { () throws(StoreError) in try t.newest() }
      try requireModel(newest)
      // As of now: it may have been released meanwhile, and the identifier used again.
      guard try Catalogue(newest).priors[commit.id]?.sequence == t.sequence, t.sequence == commit.sequence else {
        throw .noMigrationToRollBack
      }
      let discarded = try Self.applicationCommits(in: newest, since: t)
      guard discarded == 0 || discardsCommits || isPlanted(.rollBackDiscardsCommits) else {
        throw .commitsSinceMigration(discarded)
      }
      try storing { () throws(StoreError) in
        func advance(_ counter: UInt32, to value: Int64) throws(StoreError) {
          try t.addToCounter(Catalogue.tree, counter, value &- (try t.counter(Catalogue.tree, counter)))
        }
        if !isPlanted(.rollBackReusesRows) {
          try advance(Catalogue.rowCounter, to: try newest.counter(Catalogue.tree, Catalogue.rowCounter))
        }
        try advance(Catalogue.modelCounter, to: modelNumber &+ 1)
        try HistoryCodec.carryOn(from: newest, to: t)
        // None of what was committed since is the application's any more.
        let gone = Int64(clamping: newest.sequence - min(newest.sequence, t.sequence))
        try t.addToCounter(Catalogue.tree, Catalogue.upkeepCounter, gone &+ 1)
      }
      guard let schema = try Self.storedSchema(t) else { throw .corrupt("a retained commit holds no model") }
      result = try EntityStore(
        kernel: kernel, schema: schema, catalogue: try Catalogue(t), modelNumber: modelNumber &+ 1)
      try storing { () throws(StoreError) in _ = try t.commit() }
    } catch {
      t.rollBack()
      throw error
    }
    // States between migrations that are undone with it. That they stay for now does no harm.
    do throws(EngineError) { try result.releaseOwnStates() } catch {}
    return result
  }

  /// Gives up the states before migrations, so that the room they hold back becomes free: nothing can be rolled back
  /// any more. Work that was put off stays to be done.
  ///
  /// - Throws: ``EngineError/modelChanged``; kernel errors.
  public func confirmMigration() throws(EngineError) {
    _ = try upkeep { (t, catalogue) throws(EngineError) -> Void? in
      if catalogue.priors.isEmpty { return nil }
      for id in catalogue.priors.keys { try catalogue.setPrior(id, nil, t) }
      return ()
    }
    try releaseOwnStates()
  }
}

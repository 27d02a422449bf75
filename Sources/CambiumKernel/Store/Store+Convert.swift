// Values in another form: a checkpoint that is taken further by who asked for it, a few pages a turn, so that others
// may write in between, and wait for syncs hardly more than they would anyhow.

extension Store {
  /// Pages that are read or written until it is looked whether somebody waits for the turn; and where nobody else has
  /// had it lately.
  private static let (pagesAtOnce, pagesAtOnceAlone) = (4, 16)
  /// How often so many, before the turn is given up although nobody waits for it.
  private static let (timesATurn, timesATurnAlone) = (2, 4)
  /// After so many turns between which nobody else had one, a conversion is alone.
  static let turnsUntilAlone = 256

  /// Converts values by a checkpoint, and returns when it is durable. Others read and write meanwhile: who waits for
  /// the turn to write waits for a few pages, and, if the file is shared, for the sync behind the superblock.
  ///
  /// Answers nil if it came to nothing, since there was nothing to be done, another process has the store open for
  /// writing, or the checkpoint was given up for something else. Then nothing was changed; it may be tried again, or be
  /// done by commits.
  ///
  /// If the checkpoint was needed at once meanwhile, as for a large transaction, the conversion ends early: see
  /// ``ValueConversion/next``.
  ///
  /// - Parameter conversion: Called with the turn when the checkpoint is about to begin: what is to be done, if
  ///   anything. What is looked up in the transaction, which is rolled back, holds until then; what is committed
  ///   afterwards has to go together with both forms.
  /// - Throws: As ``checkpoint()``; what the conversion throws, and then nothing was changed.
  public func convert(
    _ conversion: (WriteTransaction) -> ValueConversion?
  ) throws(StoreError) -> ValueConversion? {
    guard let checkpoint = try beginConverting(conversion), let conversion = checkpoint.conversion else { return nil }
    return try writingBehind(isEager: false) { () throws(StoreError) in try self.drive(checkpoint, conversion) }
  }

  /// Takes a checkpoint to its end, a turn at a time; answers nil if nothing came of it.
  private func drive(
    _ checkpoint: Checkpoint, _ conversion: ValueConversion
  ) throws(StoreError) -> ValueConversion? {
    var seen: UInt64?
    while true {
      letOthersWrite()
      try takeTurn()
      noteTurn(after: seen, conversion)
      seen = turnsTaken
      let outcome: DrivenOutcome
      do throws(StoreError) {
        outcome = try drive(checkpoint)
      } catch {
        conversion.stop()
        conversion.isDriven = false
        endTurn()
        throw error
      }
      if case .ended = outcome { conversion.isDriven = false }
      let written = pageWriter.takeWritten()
      if case .goesOn = outcome { endTurn(comesBack: true) } else { endTurn() }
      if let written { pageWriter.behind?.beginSync(written) }
      switch outcome {
      case .ended:
        if case .done = checkpoint.phase { return conversion }
        return nil
      case .waitsForSync: try syncNow()
      case .goesOn: break
      }
    }
  }

  /// Notes with the turn of a conversion whether anybody else had it since its last one.
  private func noteTurn(after last: UInt64?, _ conversion: ValueConversion) {
    if let last, turnsTaken &- last > 1 {
      turnsAlone = 0
      conversion.isBesideOthers = true
    } else if turnsAlone < Self.turnsUntilAlone {
      turnsAlone += 1
    }
  }

  /// Begins the checkpoint, after one that is under way.
  private func beginConverting(
    _ conversion: (WriteTransaction) -> ValueConversion?
  ) throws(StoreError) -> Checkpoint? {
    while true {
      letOthersWrite()
      let t = try beginWrite()
      if hasOtherWriters {
        t.rollBack()
        return nil
      }
      if checkpointUnderWay == nil, current.frozen == nil {
        defer { t.rollBack() }
        guard let conversion = conversion(t) else { return nil }
        try requireSession()
        try beginCheckpoint(conversion: conversion)
        conversion.isDriven = true
        return checkpointUnderWay
      }
      // A delta that was frozen before comes first: what is in it may be older than the new form.
      t.rollBack()
      try takeTurn()
      let outcome: DrivenOutcome
      do throws(StoreError) {
        if checkpointUnderWay == nil, current.frozen != nil { try beginCheckpoint() }
        outcome = try drive(checkpointUnderWay)
      } catch {
        endTurn()
        throw error
      }
      endTurn()
      if case .waitsForSync = outcome { try syncNow() }
    }
  }

  private enum DrivenOutcome {
    case goesOn
    /// Until a sync has returned that begins from now on.
    case waitsForSync
    case ended
  }

  /// Takes a checkpoint a little further if it is still under way, with the turn.
  private func drive(_ checkpoint: Checkpoint?) throws(StoreError) -> DrivenOutcome {
    guard let checkpoint, checkpointUnderWay === checkpoint else { return .ended }
    if hasOtherWriters {
      // What is merged between turns is lost when another process has one.
      try finishCheckpoint()
      return .ended
    }
    let isAlone = turnsAlone >= Self.turnsUntilAlone
    pageWriter.pace = isAlone ? .eager : .considerate
    defer { pageWriter.pace = .even }
    for _ in 0..<(isAlone ? Self.timesATurnAlone : Self.timesATurn) {
      var budget = isAlone ? Self.pagesAtOnceAlone : Self.pagesAtOnce
      try stepCheckpoint(budget: &budget)
      guard checkpointUnderWay === checkpoint else { return .ended }
      switch checkpoint.phase {
      case .merging: if doesAnybodyWait || cache.wantsMemory { return .goesOn }
      case .secondSync where share != nil:
        // Others that share the file must not come between a superblock and what follows from it.
        try finishCheckpoint()
        return .ended
      case .firstSync, .secondSync: return .waitsForSync
      default: return .goesOn
      }
    }
    // Without the turn others have the processor before this goes on: see ``letOthersWrite()``.
    return .goesOn
  }

  /// Whether a thread of this process waits for the turn.
  private var doesAnybodyWait: Bool {
    lock.lock()
    defer { lock.unlock() }
    return turnWaiters > 0
  }
}

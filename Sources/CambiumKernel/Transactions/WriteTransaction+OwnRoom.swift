// Room that a transaction wrote to and has superseded itself. Nobody else reaches it: it is used again by the
// transaction's own next pages, once what may still read it within the transaction is gone. So a transaction that
// writes a tree anew many times needs room for it once.

/// Keeps a transaction from using room again that somebody may read who saw an earlier state of it: a cursor, or a
/// savepoint that may be gone back to. Whoever has one of these, has it as long as that is so.
final class PageHold {
  /// How many segments of pages the transaction had taken by then: only what lies in these may be read.
  let segments: Int

  init(segments: Int) { self.segments = segments }
}

extension WriteTransaction {
  /// Keeps the pages that the transaction sees now where they are: those that it has made so far, and, before it has
  /// made any, those of the generation that it began with.
  func holdPages() -> PageHold {
    let taken = context == nil ? 0 : core.pageWriter.taken
    if let last = holds.last, last.segments == taken { return last }
    let hold = PageHold(segments: taken)
    holds.append(hold)
    return hold
  }

  /// Lets the merge that is about to begin use the room of the transaction's own segments as soon as nothing in them is
  /// reached: of those that were filled by merges before, and that nobody has held. What this merge writes may still be
  /// on its way to the device.
  func allowReuse() {
    dropUnusedHolds()
    let held = isPlanted(.ownRoomIgnoresHolds) ? 0 : holds.last?.segments ?? 0
    let taken = core.pageWriter.taken
    core.pageWriter.reusable = min(held, taken)..<taken
  }

  private func dropUnusedHolds() {
    var i = holds.count
    while i > 0 {
      i -= 1
      if isKnownUniquelyReferenced(&holds[i]) { holds.remove(at: i) }
    }
  }

  /// Sees the commits before it in the pages of the newest generation from now on, and lets those go that it began
  /// with, unless something reads them: a checkpoint that came in between has superseded them, and there may be as many
  /// of them as in all of the store.
  func moveToNewestGeneration() throws(StoreError) {
    core.lock.lock()
    let now = core.current
    core.pins[now.number, default: 0] += 1
    core.lock.unlock()
    generation = now
    forgetKnown()
    dropUnusedHolds()
    if holds.isEmpty {
      for number in pinned { core.unpin(number) }
      pinned = []
    }
    pinned.append(now.number)
    // Not if the accounts of before may have to be gone back to.
    if savedTable == nil, savedValueTable == nil { try core.freeDeadSegments() }
  }
}

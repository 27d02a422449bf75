/// What was committed when, in operations of the disk: what a store may and must hold after a crash at some point.
struct CrashHistory: Sendable {
  struct Entry: Sendable {
    var sequence: UInt64
    var hash: UInt64
    var content: StoreContent
    /// Operations done when the commit was begun. A crash at a later point may show it.
    var begun: Int
    /// Operations done when it was known to be durable. From that point on it must be there.
    var acknowledged = Int.max
    /// Operations done when it turned out that it does not exist. From that point on it must not come back.
    var gone = Int.max
  }

  var entries: [Entry] = []
  /// Points at which the store was closed, and nothing was done since.
  var closed: Set<Int> = []

  /// The newest commit that is not gone.
  var newest: Entry? { entries.last { $0.gone == .max } }

  mutating func begin(_ sequence: UInt64, _ content: StoreContent, at point: Int) {
    entries.append(Entry(sequence: sequence, hash: content.hash, content: content, begun: point))
  }

  /// Notes that everything up to `sequence` is durable.
  mutating func acknowledge(upTo sequence: UInt64, at point: Int) {
    for i in entries.indices.reversed() where entries[i].sequence <= sequence && entries[i].gone == .max {
      if entries[i].acknowledged <= point { break }
      entries[i].acknowledged = point
    }
  }

  /// Notes what an opening found. What is found is durable when opening returns, what is not found does not exist.
  /// Answers what is wrong with it, if anything.
  mutating func reopened(_ sequence: UInt64, _ hash: UInt64, at point: Int) -> String? {
    let wrong = judge(sequence, hash, at: point)
    for i in entries.indices where entries[i].sequence > sequence && entries[i].gone == .max { entries[i].gone = point }
    acknowledge(upTo: sequence, at: point)
    return wrong
  }

  /// Why a store that was found at `point` with this content is wrong; nil if it may be so.
  func judge(_ sequence: UInt64, _ hash: UInt64, at point: Int) -> String? {
    var isKnown = false
    var sameSequence = false
    for entry in entries where entry.begun < point || entry.begun < 0 {
      if entry.sequence == sequence, entry.gone > point {
        sameSequence = true
        if entry.hash == hash { isKnown = true }
      }
      if entry.acknowledged <= point, entry.gone > point, entry.sequence > sequence {
        return "commit \(entry.sequence) was acknowledged, and the store is at \(sequence)"
      }
    }
    if isKnown { return nil }
    return sameSequence
      ? "the content at commit \(sequence) is not what was committed" : "there was no commit \(sequence) at this point"
  }

  /// Whether a store must be there at all.
  func mustExist(at point: Int) -> Bool { entries.contains { $0.acknowledged <= point } }

  /// What was known at an earlier point, for a process that was killed there.
  /// - Parameter wasWriting: it was killed in the middle of the operation at `point`.
  func cut(at point: Int, wasWriting: Bool) -> CrashHistory {
    var cut = self
    let limit = wasWriting ? point + 1 : point
    cut.closed = closed.filter { $0 < limit }
    cut.entries.removeAll { $0.begun >= limit && $0.begun >= 0 }
    for i in cut.entries.indices {
      if cut.entries[i].acknowledged > point { cut.entries[i].acknowledged = .max }
      if cut.entries[i].gone > point { cut.entries[i].gone = .max }
    }
    return cut
  }
}

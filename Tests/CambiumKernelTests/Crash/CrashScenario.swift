import CambiumTesting

@testable import CambiumKernel

/// What a workload does.
enum CrashScenario: String, CaseIterable, Sendable {
  case commits, trees, largeValues, spill, relocation, compaction, reopening, killing, failingSyncs, ownSteps
  case restoring, converting, room

  func options(_ durability: Durability) -> StoreOptions {
    var options = StoreOptions()
    options.durability = durability
    options.cacheBytes = 128 << 10
    options.deltaBytes = 64 << 10
    options.logBytes = 16 << 10
    options.logValueLimit = 2000
    options.maxRecordBytes = 12 << 10
    switch self {
    case .spill:
      options.logBytes = 32 << 10
    case .killing, .reopening:
      // Logs are read in many pieces.
      options.bufferBytes = 1024
    case .room:
      options.deltaBytes = 24 << 10
      options.logBytes = 32 << 10
    case .relocation, .compaction:
      options.logBytes = 64 << 10
      options.maxRecordBytes = 32 << 10
    default: break
    }
    return options
  }

  func run(_ w: CrashWorkload) throws {
    if self == .room { w.spareBytes = 32 << 10 }
    try w.create()
    try w.makeTrees()
    switch self {
    case .commits: try commits(w, 70)
    case .trees: try trees(w)
    case .largeValues: try largeValues(w)
    case .spill: try spill(w)
    case .relocation: try relocation(w)
    case .compaction: try compaction(w)
    case .reopening: try reopening(w, close: true)
    case .killing: try reopening(w, close: false)
    case .failingSyncs: try failingSyncs(w)
    case .ownSteps: try ownSteps(w)
    case .restoring: try restoring(w)
    case .converting: try converting(w)
    case .room: try room(w)
    }
  }

  private func commits(_ w: CrashWorkload, _ count: Int) throws {
    for _ in 0..<count { try w.changeRows(1 + w.random.below(8), keys: 400, valueBytes: 200) }
    try w.close()
  }

  private func trees(_ w: CrashWorkload) throws {
    for _ in 0..<60 {
      try w.commit { t, c in
        let ids = c.trees.keys.sorted()
        if c.trees.count < 12, w.random.oneIn(2) {
          let kind: TreeKind = w.random.oneIn(2) ? .integer : .bytes
          c.trees[try t.createTree(kind)] = .init(kind: kind)
        } else if c.trees.count > 3, w.random.oneIn(3) {
          let id = w.random.pick(ids)
          try t.dropTree(id)
          c.trees[id] = nil
        }
        for _ in 0..<6 {
          try w.change(t, &c, UInt64(w.random.below(40)), w.random.oneIn(6) ? 3000 : w.random.below(250))
        }
      }
    }
    try w.close()
  }

  private func largeValues(_ w: CrashWorkload) throws {
    for _ in 0..<30 {
      try w.commit { t, c in
        for _ in 0..<(1 + w.random.below(3)) {
          let bytes = w.random.oneIn(3) ? 2001 + w.random.below(30_000) : w.random.below(3000)
          try w.change(t, &c, UInt64(w.random.below(8)), bytes)
        }
      }
      if w.random.oneIn(9) { try w.checkpoint() }
    }
    try w.close()
  }

  private func spill(_ w: CrashWorkload) throws {
    for round in 0..<14 {
      if round % 5 == 4 {
        // Outgrows the memory for changes, and goes on in pages.
        try w.changeRows(900, keys: 3000, valueBytes: 100)
      } else if round % 3 == 1 {
        // Outgrows the record only.
        try w.changeRows(150, keys: 3000, valueBytes: 150)
      } else {
        try w.changeRows(1 + w.random.below(4), keys: 3000, valueBytes: w.random.oneIn(3) ? 5000 : 150)
      }
      if round == 9 {
        let t = try w.open().beginWrite()
        var unused = w.content
        for key in 0..<900 { try w.change(t, &unused, UInt64(key), 100) }
        t.rollBack()
      }
    }
    try w.close()
  }

  private func relocation(_ w: CrashWorkload) throws {
    for _ in 0..<16 { try w.changeRows(120, keys: 900, valueBytes: 1500) }
    for _ in 0..<12 { try w.changeRows(60, keys: 900, valueBytes: 1500) }
    try w.checkpoint()
    for _ in 0..<12 { try w.changeRows(2, keys: 900, valueBytes: 1500) }
    try w.checkpoint()
  }

  private func compaction(_ w: CrashWorkload) throws {
    for _ in 0..<10 { try w.changeRows(60, keys: 300, valueBytes: 900) }
    // More is live than a step copies: single segments are moved first.
    while try !w.open().compactStep(bytes: 1 << 16).isFinished { w.noteDurable() }
    w.noteDurable()
    try w.commit { t, c in
      guard let id = w.tree(.integer), let tree = c.trees[id] else { return }
      for entry in tree.entries.entries where !w.random.oneIn(6) {
        try t.delete(id, integerKey(entry.key))
        _ = c.trees[id]?.entries.delete(entry.key)
      }
    }
    // Less is: everything is written anew.
    while try !w.open().compactStep(bytes: 1 << 16).isFinished {
      w.noteDurable()
      try w.changeRows(1, keys: 300, valueBytes: 100)
    }
    try w.changeRows(1, keys: 300, valueBytes: 100)
    try w.open().compact()
    try w.close()
  }

  private func reopening(_ w: CrashWorkload, close: Bool) throws {
    for _ in 0..<8 {
      for _ in 0..<(1 + w.random.below(8)) {
        try w.changeRows(1 + w.random.below(3), keys: 60, valueBytes: w.random.oneIn(8) ? 3000 : 300)
      }
      if close || w.random.oneIn(3) { try w.close() } else { w.kill() }
      try w.reopen()
      if w.random.oneIn(3) {
        // Nothing is committed in between.
        if close { try w.close() } else { w.kill() }
        try w.reopen()
      }
    }
  }

  private func failingSyncs(_ w: CrashWorkload) throws {
    for _ in 0..<7 {
      let fails = 1 + w.random.below(12)
      var isClosing = false
      do {
        for n in 0..<30 {
          if n == fails { w.disk.failSyncs() }
          if n > 3, w.random.oneIn(6) {
            isClosing = true
            if n <= fails { w.disk.failSyncs() }
            try w.close()
          }
          if w.random.oneIn(7) { try w.checkpoint() }
          try w.changeRows(1 + w.random.below(4), keys: 60, valueBytes: w.random.oneIn(6) ? 3000 : 300)
        }
      } catch is StoreError {
      } catch is CrashWorkload.Missing where isClosing {
      }
      w.disk.failSyncs(0)
      w.kill()
      if w.random.oneIn(4) {
        // Recovery meets a failure, too.
        w.disk.failSyncs()
        do { try w.reopen() } catch is StoreError {}
        w.disk.failSyncs(0)
      }
      try w.reopen()
    }
  }

  /// Retains commits, goes on in every way, and goes back to them.
  private func restoring(_ w: CrashWorkload) throws {
    for round in 0..<9 {
      try w.retain()
      for _ in 0..<(1 + w.random.below(5)) {
        switch w.random.below(8) {
        case 0: try w.changeRows(120, keys: 600, valueBytes: 200)
        case 1: try w.changeRows(700, keys: 3000, valueBytes: 100)
        case 2: try w.changeRows(3, keys: 60, valueBytes: 9000)
        case 3: try w.checkpoint()
        case 4:
          try w.commit { t, c in
            if c.trees.count > 4, let id = c.trees.keys.max() {
              try t.dropTree(id)
              c.trees[id] = nil
            }
            c.trees[try t.createTree(.integer)] = .init(kind: .integer)
            try w.change(t, &c, 5, 100)
          }
        case 5:
          _ = try w.open().compactStep(bytes: 1 << 16)
          w.noteDurable()
        default: try w.changeRows(1 + w.random.below(6), keys: 300, valueBytes: 300)
        }
      }
      if w.random.oneIn(2) {
        // A checkpoint is under way, and its delta is not the newest.
        _ = try w.open().maintain(pages: 1 + w.random.below(6))
        w.noteDurable()
        try w.changeRows(2, keys: 300, valueBytes: 200)
      }
      if w.random.oneIn(3) {
        try w.restore(isRolledBack: true) { t, c in try w.change(t, &c, 7, 5000) }
        try w.changeRows(2, keys: 300, valueBytes: 200)
      }
      try w.restore { t, c in
        for _ in 0..<w.random.below(3) { try w.change(t, &c, UInt64(w.random.below(300)), 3000) }
        // So many that they do not fit the memory for changes.
        if round == 5 { for key in 0..<700 { try w.change(t, &c, UInt64(key), 100) } }
      }
      if w.random.oneIn(3) {
        if w.random.oneIn(2) { try w.close() } else { w.kill() }
        try w.reopen()
      }
    }
    try w.changeRows(2, keys: 300, valueBytes: 200)
    try w.close()
  }

  /// Rows are written anew in their pages, as they are: all at once, or some pages at a time among commits.
  private func converting(_ w: CrashWorkload) throws {
    for round in 0..<14 {
      for _ in 0..<(1 + w.random.below(3)) { try w.changeRows(40, keys: 600, valueBytes: round % 4 == 3 ? 1500 : 200) }
      try w.convert(pagesAtOnce: w.random.oneIn(2) ? 1 + w.random.below(6) : nil)
      if w.random.oneIn(5) {
        if w.random.oneIn(2) { try w.close() } else { w.kill() }
        try w.reopen()
      }
    }
    try w.close()
  }

  /// Transactions that outgrow their memory many times, use their own room again, and leave most of the file to be
  /// given back: at once, by the commits behind them, or by closing.
  private func room(_ w: CrashWorkload) throws {
    for round in 0..<4 {
      try w.commit { t, c in
        for part in 0..<5 {
          for _ in 0..<120 { try w.change(t, &c, UInt64(w.random.below(700)), w.random.below(400)) }
          // Looked at, so that the trees are written anew.
          if part % 2 == 1, let id = w.tree(.integer) { _ = try t.count(id) }
        }
      }
      var view: Snapshot? = round % 2 == 1 ? try w.open().snapshot() : nil
      try w.commit { t, c in
        for (id, tree) in c.trees.sorted(by: { $0.key < $1.key }) where tree.kind == .bytes || round != 2 {
          var keys = tree.entries.entries.map { $0.key }
          for i in keys.indices { keys.swapAt(i, w.random.below(keys.count)) }
          for key in keys where !w.random.oneIn(8) {
            let isThere = tree.kind == .integer ? try t.delete(id, integerKey(key)) : try t.delete(id, key)
            if !isThere { throw CrashWorkload.Missing() }
            _ = c.trees[id]?.entries.delete(key)
          }
        }
      }
      if view != nil {
        for _ in 0..<5 { try w.changeRows(1, keys: 60, valueBytes: 100) }
        view = nil
        for _ in 0..<40 { try w.changeRows(1, keys: 60, valueBytes: 100) }
      }
      if round != 0 {
        if w.random.oneIn(2) { try w.close() } else { w.kill() }
        try w.reopen()
      }
    }
    try w.close()
  }

  private func ownSteps(_ w: CrashWorkload) throws {
    for _ in 0..<60 {
      try w.changeRows(1 + w.random.below(8), keys: 300, valueBytes: 300)
      while w.random.oneIn(2) {
        _ = try w.open().maintain(pages: 1 + w.random.below(6))
        w.noteDurable()
        try w.onDurable(w.open())
      }
      if w.random.oneIn(20) { try w.checkpoint() }
    }
    try w.close()
  }
}

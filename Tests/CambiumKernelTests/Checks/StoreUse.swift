import CambiumTesting

@testable import CambiumKernel

/// One way of using a store that may be wrong, and what comes of it.
enum StoreUse: String, CaseIterable, Sendable {
  /// Opens it for reading.
  case open
  /// Looks keys up.
  case lookUp
  /// Reads everything by cursors, forward and backward.
  case read
  /// Asks for a report.
  case check
  /// Writes without reading before, takes a checkpoint, closes it.
  case write
  /// Compacts it.
  case compact
  /// Reads what is retained.
  case retained

  enum Verdict: Equatable {
    /// With a hash of what was seen.
    case accepted(UInt64)
    /// With an error that says what is wrong.
    case refused(StorePlace?)
    /// With an error that does not.
    case failed(String)

    var isAccepted: Bool { if case .accepted = self { true } else { false } }
    var isRefused: Bool { if case .refused = self { true } else { false } }
  }

  static var options: StoreOptions {
    var options = DamageStore.options
    options.logBytes = 32 << 10
    return options
  }

  func verdict(_ bytes: [UInt8]) -> Verdict {
    verdict(on: MemoryDevice(copying: bytes, capacityBytes: 16 << 20))
  }

  func verdict(on device: any StorageDevice) -> Verdict {
    do {
      return .accepted(try run(device))
    } catch let error as StoreError {
      switch error {
      case .corrupt(let place, _, _): return .refused(place)
      case .notAStore, .unsupportedFormat: return .refused(nil)
      default: return .failed("\(error)")
      }
    } catch { return .failed("\(error)") }
  }

  private func run(_ device: any StorageDevice) throws -> UInt64 {
    var options = Self.options
    options.isReadOnly = self == .open || self == .check
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 6), options: options)
    var sum = ContentHash()
    switch self {
    case .open: break
    case .lookUp:
      let view = try store.snapshot()
      for id in view.trees() {
        sum.add(try view.count(id))
        for key in UInt64(0)..<60 {
          let value =
            view.kind(of: id) == .integer
            ? try view.value(id, key * 5) : try view.value(id, Array("name \(key % 13) of \(key)".utf8))
          (value ?? [7, 7]).withUnsafeBytes { sum.add($0) }
        }
      }
    case .read: sum.add(try Self.readAll(store.snapshot()))
    case .check:
      let report = try store.check()
      sum.add(report.entries)
      if let problem = report.problems.first {
        throw StoreError.corrupt(place: problem.place, offset: problem.offset, detail: problem.detail)
      }
    case .write:
      for round in UInt64(0)..<3 {
        let t = try store.beginWrite()
        for id in t.trees() {
          for key in UInt64(0)..<40 {
            if t.kind(of: id) == .integer {
              try t.put(id, key * 31 + round, [UInt8](repeating: 4, count: key == 9 ? 3000 : 20))
            } else {
              try t.put(id, Array("name \(key % 13) of \(key &* 7)".utf8), [1, 2])
            }
          }
          try t.addToCounter(id, 1, 3)
        }
        sum.add(UInt64(try t.createTree(.bytes).rawValue))
        sum.add(try t.commit())
        if round == 1 { _ = try store.retain(reason: "test") }
        try store.checkpoint()
      }
      try store.close()
    case .compact:
      try store.compact()
      sum.add(try Self.readAll(store.snapshot()))
      try store.close()
    case .retained:
      for commit in try store.retainedCommits() {
        sum.add(try Self.readAll(store.snapshot(retained: commit.id)))
      }
    }
    return sum.value
  }

  /// Gives up where a right store would have ended long ago.
  private static func readAll(_ view: TreeView) throws -> UInt64 {
    var sum = ContentHash()
    sum.add(view.sequence)
    for id in view.trees() {
      guard let kind = view.kind(of: id) else { continue }
      sum.add(UInt64(id.rawValue))
      sum.add(try view.count(id))
      for index in StoreContent.counters { sum.add(UInt64(bitPattern: try view.counter(id, index))) }
      let cursor = try view.cursor(id)
      var more = try cursor.seekFirst()
      while more {
        sum.add(kind == .integer ? cursor.integerKey : UInt64(cursor.key.count))
        try (cursor.value() ?? []).withUnsafeBytes { sum.add($0) }
        more = try cursor.next()
      }
      more = try cursor.seekLast()
      while more {
        sum.add(kind == .integer ? cursor.integerKey : UInt64(cursor.key.count))
        more = try cursor.previous()
      }
    }
    return sum.value
  }
}

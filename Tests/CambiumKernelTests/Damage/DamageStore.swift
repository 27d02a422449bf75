import CambiumTesting

@testable import CambiumKernel

/// A small store with every kind of page, as bytes, for damage.
struct DamageStore {
  let bytes: [UInt8]
  let hash: UInt64
  /// Hashes of the last commits by their sequence.
  let hashes: [UInt64: UInt64]
  let sequence: UInt64

  static var options: StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 64 << 10
    options.bufferBytes = 4096
    options.logValueLimit = 2000
    return options
  }

  /// - Parameter isClosed: Whether it was closed; else it has a log of some commits.
  init(isClosed: Bool) throws {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 5), options: Self.options)
    var t = try store.beginWrite()
    let rows = try t.createTree(.integer)
    let names = try t.createTree(.bytes)
    for key in UInt64(0)..<300 {
      try t.put(rows, key * 3, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 20))
      try t.put(names, Array("name \(key % 13) of \(key)".utf8), modelKey(key))
    }
    for key in UInt64(0)..<3 { try t.put(rows, 10_000 + key, [UInt8](repeating: UInt8(key), count: 2500)) }
    try t.addToCounter(rows, 1, 5)
    try t.commit()
    try store.checkpoint()
    var hashes: [UInt64: UInt64] = [:]
    for key in UInt64(0)..<6 {
      t = try store.beginWrite()
      try t.put(rows, key * 100, [UInt8](repeating: 9, count: 60))
      try t.put(names, Array("name of \(key)".utf8), [1])
      try t.delete(rows, key * 30 + 3)
      try t.commit()
      let snapshot = try store.snapshot()
      hashes[snapshot.sequence] = try StoreContent.hash(of: snapshot)
    }
    let snapshot = try store.snapshot()
    hash = try StoreContent.hash(of: snapshot)
    sequence = snapshot.sequence
    self.hashes = hashes
    if isClosed { try store.close() }
    bytes = device.contents()
  }

  enum Outcome: Equatable {
    case same
    case earlier(UInt64)
    case refused
    case other(String)
  }

  /// Opens damaged bytes, reads everything and checks it.
  func outcome(_ damaged: [UInt8]) -> Outcome {
    do {
      let store = try Store.open(
        on: MemoryDevice(copying: damaged), environment: TestEnvironment(seed: 6), options: Self.options)
      let snapshot = try store.snapshot()
      let found = try StoreContent.hash(of: snapshot)
      _ = try store.check()
      if found == hash, snapshot.sequence == sequence { return .same }
      if hashes[snapshot.sequence] == found { return .earlier(snapshot.sequence) }
      return .other("other data at commit \(snapshot.sequence)")
    } catch let error as StoreError {
      switch error {
      case .corrupt, .notAStore, .unsupportedFormat: return .refused
      default: return .other("\(error)")
      }
    } catch { return .other("\(error)") }
  }
}

import CambiumKernel

#if canImport(CambiumTesting)
  import CambiumTesting
#endif

// Cuts the power after every operation of a disk, with several losses of what was not synced, and opens what is left.
// Each image must hold the last commit that was acknowledged, or the one that was being made.

/// A disk that keeps the list of its operations.
private final class NotingDisk: StorageDevice, @unchecked Sendable {
  enum Operation {
    case write(offset: Int, bytes: [UInt8])
    case resize(Int)
    case sync
  }

  var bytes: [UInt8]
  var operations: [Operation] = []

  init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  var isForOneThread: Bool { true }
  func size() throws(StoreError) -> UInt64 { UInt64(bytes.count) }

  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    guard offset < UInt64(bytes.count) else { return 0 }
    let count = min(buffer.count, bytes.count - Int(offset))
    buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + count])
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    note(.write(offset: Int(offset), bytes: Array(bytes)))
  }

  func sync() throws(StoreError) { note(.sync) }
  func resize(to size: UInt64) throws(StoreError) { note(.resize(Int(size))) }
  func close() {}

  private func note(_ operation: Operation) {
    operations.append(operation)
    Self.apply(operation, to: &bytes)
  }

  /// - Parameter least: How many bytes of a write arrive, if not all.
  static func apply(_ operation: Operation, to bytes: inout [UInt8], least: Int = .max) {
    switch operation {
    case .write(let offset, let written):
      let count = min(least, written.count)
      if offset + count > bytes.count {
        bytes.append(contentsOf: repeatElement(0, count: offset + count - bytes.count))
      }
      for i in 0..<count { bytes[offset + i] = written[i] }
    case .resize(let size):
      if size < bytes.count {
        bytes.removeLast(bytes.count - size)
      } else {
        bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
      }
    case .sync: break
    }
  }
}

/// A commit: its content, and between which operations of the disk it was made.
private struct Commit {
  var hash: UInt64
  var begun: Int
  var acknowledged: Int
}

private func options() -> StoreOptions {
  var options = smallOptions()
  options.logBytes = 16_384
  return options
}

private func hash(_ store: Store, _ tree: TreeID) throws(StoreError) -> UInt64 {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  let cursor = try store.snapshot().cursor(tree)
  var isValid = try cursor.seekFirst()
  while isValid {
    hash = (hash ^ cursor.integerKey) &* 0x100_0000_01B3
    for byte in try cursor.value() ?? [] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    isValid = try cursor.next()
  }
  return hash
}

func crashProgram() throws(StoreError) {
  var random = SplitMix64(seed: 20_261_130)
  let disk = NotingDisk()
  let store = try Store.create(on: disk, environment: Board(), options: options())
  var transaction = try store.beginWrite()
  let tree = try transaction.createTree(.integer)
  try transaction.commit()
  var commits = [Commit(hash: try hash(store, tree), begun: 0, acknowledged: disk.operations.count)]
  for round in 0..<60 {
    let begun = disk.operations.count
    transaction = try store.beginWrite()
    for _ in 0..<1 + random.below(8) {
      if random.oneIn(4) {
        _ = try transaction.delete(tree, UInt64(random.below(80)))
      } else {
        try transaction.put(tree, UInt64(random.below(80)), random.bytes(random.oneIn(10) ? 5_000 : random.below(300)))
      }
    }
    try transaction.commit()
    commits.append(Commit(hash: try hash(store, tree), begun: begun, acknowledged: disk.operations.count))
    if round % 20 == 19 { try store.checkpoint() }
  }

  // What the last sync made durable, and what came behind it.
  var durable: [UInt8] = []
  var pending: [NotingDisk.Operation] = []
  var images = 0
  for (point, operation) in disk.operations.enumerated() {
    if case .sync = operation {
      for operation in pending { NotingDisk.apply(operation, to: &durable) }
      pending = []
    } else {
      pending.append(operation)
    }
    guard point + 1 >= commits[0].acknowledged else { continue }
    // All of it, nothing, and a part that chance takes, the last write of which is cut.
    for loss in 0..<(pending.isEmpty ? 1 : 4) {
      var image = durable
      for (place, operation) in pending.enumerated() where loss == 0 || (loss > 1 && random.oneIn(2)) {
        let isCut = loss > 1 && place == pending.count - 1
        NotingDisk.apply(operation, to: &image, least: isCut ? random.below(600) : .max)
      }
      images += 1
      try examine(image, at: point + 1, commits, tree, isThorough: images % 16 == 0)
    }
  }
  say("crashes: \(disk.operations.count) operations, \(images) images\n")
  part("crashes")
}

private func examine(
  _ image: [UInt8], at point: Int, _ commits: [Commit], _ tree: TreeID, isThorough: Bool
) throws(StoreError) {
  let store: Store
  do throws(StoreError) {
    store = try Store.open(on: NotingDisk(image), environment: Board(), options: options())
  } catch {
    expect(false, "an image at operation \(point) cannot be opened")
    return
  }
  let found = try hash(store, tree)
  let last = commits.lastIndex { $0.acknowledged <= point } ?? 0
  let isThere = commits[last...].contains { $0.hash == found && ($0.begun < point || $0.acknowledged <= point) }
  expect(isThere, "an acknowledged commit is lost at operation \(point)")
  if isThorough { expect(try store.check().problems.isEmpty, "check at operation \(point)") }
}

import CambiumKernel

// A store of more than 4 GiB on a machine of 32 bits. The disk keeps only blocks that are not all zeros, and most of
// the store is large values of zeros.

/// A disk that has memory for blocks that are not zero.
private final class SparseDisk: StorageDevice, @unchecked Sendable {
  private static let blockSize = 4_096
  private var blocks: [UInt64: [UInt8]] = [:]
  private var length: UInt64 = 0

  var isForOneThread: Bool { true }
  func size() throws(StoreError) -> UInt64 { length }

  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    guard offset < length else { return 0 }
    let count = Int(min(UInt64(buffer.count), length - offset))
    forEachPart(of: count, at: offset) { (block, from, to) in
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[to])
      if let bytes = blocks[block] {
        part.copyBytes(from: bytes[from..<from + part.count])
      } else {
        part.initializeMemory(as: UInt8.self, repeating: 0)
      }
    }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    forEachPart(of: bytes.count, at: offset) { (block, from, to) in
      let part = UnsafeRawBufferPointer(rebasing: bytes[to])
      if blocks[block] == nil {
        if Self.isZero(part) { return }
        blocks[block] = [UInt8](repeating: 0, count: Self.blockSize)
      }
      blocks[block]?.withUnsafeMutableBytes {
        UnsafeMutableRawBufferPointer(rebasing: $0[from...]).copyMemory(from: part)
      }
    }
    length = max(length, offset + UInt64(bytes.count))
  }

  func sync() throws(StoreError) {}

  func resize(to size: UInt64) throws(StoreError) {
    if size < length {
      let first = (size + UInt64(Self.blockSize) - 1) / UInt64(Self.blockSize)
      blocks = blocks.filter { $0.key < first }
      // What lies behind the end in the last block counts as zeros.
      let kept = Int(size % UInt64(Self.blockSize))
      if kept > 0, var last = blocks[first - 1] {
        for i in kept..<Self.blockSize { last[i] = 0 }
        blocks[first - 1] = last
      }
    }
    length = size
  }

  func close() {}

  /// Cuts a range of the disk at the bounds of blocks.
  private func forEachPart(of count: Int, at offset: UInt64, _ body: (UInt64, Int, Range<Int>) -> Void) {
    var done = 0
    while done < count {
      let place = offset + UInt64(done)
      let from = Int(place % UInt64(Self.blockSize))
      let part = min(count - done, Self.blockSize - from)
      body(place / UInt64(Self.blockSize), from, done..<done + part)
      done += part
    }
  }

  private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    while place + 8 <= bytes.count {
      if bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) != 0 { return false }
      place += 8
    }
    return bytes[place...].allSatisfy { $0 == 0 }
  }
}

func farProgram() throws(StoreError) {
  let disk = SparseDisk()
  let board = Board()
  var options = StoreOptions()
  options.cacheBytes = 1 << 20
  options.maximumThreads = 1
  var store: Store! = try Store.create(on: disk, environment: board, options: options)
  var transaction: WriteTransaction! = try store.beginWrite()
  let large = try transaction.createTree(.integer)
  let small = try transaction.createTree(.bytes)
  try transaction.commit()
  // 4,352 values of a megabyte are 4.25 GiB.
  let zeros = [UInt8](repeating: 0, count: (1 << 20) - 256)
  let (rounds, perRound) = (17, 256)
  for round in 0..<rounds {
    transaction = try store.beginWrite()
    for i in 0..<perRound { try transaction.put(large, UInt64(round * perRound + i), zeros) }
    for i in 0..<50 { try transaction.put(small, Array("\(round)/\(i)".utf8), Array("value \(i)".utf8)) }
    try transaction.commit()
  }
  transaction = nil
  expect(try disk.size() > 1 << 32, "the file is not longer than 4 GiB")
  func verify(_ phase: String) throws(StoreError) {
    let view = try store.snapshot()
    expect(try view.count(large) == UInt64(rounds * perRound), phase)
    for key in [0, 1_000, 4_100, UInt64(rounds * perRound - 1)] { expect(try view.value(large, key) == zeros, phase) }
    for round in 0..<rounds {
      for i in 0..<50 {
        expect(try view.value(small, Array("\(round)/\(i)".utf8)) == Array("value \(i)".utf8), phase)
      }
    }
  }
  try verify("before the checkpoint")
  try store.checkpoint()
  try verify("after the checkpoint")
  // Nobody closes the store. The log lies behind 4 GiB as well.
  transaction = try store.beginWrite()
  try transaction.put(small, Array("last".utf8), Array("one".utf8))
  try transaction.commit()
  transaction = nil
  store = nil
  store = try Store.open(on: disk, environment: board, options: options)
  try verify("after the recovery")
  expect(try store.snapshot().value(small, Array("last".utf8)) == Array("one".utf8), "the last commit")
  try store.close()
  say("beyond 4 GiB: a file of \(try disk.size()) bytes\n")
  part("beyond 4 GiB")
}

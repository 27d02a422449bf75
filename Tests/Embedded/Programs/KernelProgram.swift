import CambiumKernel

// Trees and transactions: writes, reads, checkpoints, closes, commits little by little, is cut off, and recovers.

private let entries = 2_000

private func value(_ i: Int) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: i), count: 64) }

private func verify(_ store: Store, _ tree: TreeID, _ phase: String) throws(StoreError) {
  let view = try store.snapshot()
  expect(try view.count(tree) == UInt64(entries), phase)
  var found = 0
  for i in 0..<entries where try view.value(tree, UInt64(i) * 7) == value(i) { found += 1 }
  expect(found == entries, phase)
}

func kernelProgram() throws(StoreError) {
  let disk = RamDisk()
  let board = Board()
  var store: Store! = try Store.create(on: disk, environment: board, options: smallOptions())
  part("store made")
  var transaction: WriteTransaction! = try store.beginWrite()
  let numbers = try transaction.createTree(.integer)
  let texts = try transaction.createTree(.bytes)
  try transaction.commit()
  for start in stride(from: 0, to: entries, by: 100) {
    transaction = try store.beginWrite()
    for i in start..<start + 100 {
      try transaction.put(numbers, UInt64(i) * 7, value(i))
      try transaction.put(texts, Array("text \(i * 7_919 % 10_007) of \(i)".utf8), value(i))
    }
    try transaction.commit()
  }
  transaction = nil
  part("entries written")
  try verify(store, numbers, "before the checkpoint")
  try store.checkpoint()
  try verify(store, numbers, "after the checkpoint")
  part("checkpoint")
  try store.close()
  store = nil
  store = try Store.open(on: disk, environment: board, options: smallOptions())
  try verify(store, numbers, "after opening")
  part("closed and opened")
  let (writes, bytes, syncs) = (disk.writeCount, disk.writtenBytes, disk.syncCount)
  for i in 0..<100 {
    transaction = try store.beginWrite()
    try transaction.put(numbers, UInt64(i) * 7, value(i))
    try transaction.commit()
  }
  transaction = nil
  say("100 commits of one entry: \(disk.writeCount - writes) writes, \(disk.writtenBytes - bytes) bytes, ")
  say("\(disk.syncCount - syncs) syncs\n")
  part("small commits")
  // Nobody closes the store: the power is gone.
  store = nil
  store = try Store.open(on: disk, environment: board, options: smallOptions())
  try verify(store, numbers, "after the recovery")
  expect(try store.check().problems.isEmpty, "check")
  part("recovered")
  try store.close()
  disk.tell()
}

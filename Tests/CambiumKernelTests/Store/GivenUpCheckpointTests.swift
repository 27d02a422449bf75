import CambiumTesting
import Testing

@testable import CambiumKernel

/// What a checkpoint leaves behind that is given up while commits go on.
@Suite struct GivenUpCheckpointTests {
  /// Log segments that commits prepared while the checkpoint was merging stay in use: no page is written over them.
  @Test func logSegmentsPreparedMeanwhileStay() throws {
    let device = MemoryDevice()
    var options = StoreOptions()
    options.cacheBytes = 64 << 10
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 3), options: options)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for key in 0..<UInt64(600) { try t.put(tree, key, [UInt8](repeating: 1, count: 200)) }
    try t.commit()
    try store.checkpoint()

    // A checkpoint that its own thread takes further: commits do not.
    let conversion = ValueConversion(tree, from: 0, maximum: 1) { (_, _, _) throws(StoreError) in false }
    conversion.isDriven = true
    try store.takeTurn()
    try store.beginCheckpoint(conversion: conversion)
    store.endTurn()
    let checkpoint = try #require(store.checkpointUnderWay)
    let before = store.log.segments
    var rounds: UInt64 = 0
    func commit() throws {
      t = try store.beginWrite()
      for key in 0..<UInt64(20) {
        try t.put(tree, key * 30 + rounds % 30, [UInt8](repeating: UInt8(truncatingIfNeeded: rounds), count: 200))
      }
      try t.commit()
      rounds += 1
    }
    while store.log.segments.allSatisfy({ before.contains($0) }) || rounds % 8 != 0 { try commit() }
    #expect(store.checkpointUnderWay === checkpoint)

    try store.takeTurn()
    store.abandonCheckpoint(checkpoint)
    store.endTurn()
    for start in store.log.segments {
      let segment = store.space.table.index(start: start).map { store.space.table[$0] }
      #expect(segment?.kind == .log, "the log segment at unit \(start)")
    }

    // Pages go to free room now; the process ends without closing the store.
    t = try store.beginWrite()
    let other = try t.createTree(.integer)
    for key in 0..<UInt64(3000) { try t.put(other, key, [UInt8](repeating: 9, count: 100)) }
    t.rollBack()
    for _ in 0..<3 { try commit() }
    let opened = try Store.open(
      on: MemoryDevice(copying: device.contents()), environment: TestEnvironment(seed: 4), options: options)
    let (found, expected) = (try opened.snapshot(), try store.snapshot())
    for key in 0..<UInt64(600) { #expect(try found.value(tree, key) == expected.value(tree, key), "\(key)") }
    #expect(try opened.check().problems.isEmpty)
  }
}

import CambiumTesting
import Testing

@testable import CambiumKernel

/// What a checkpoint leaves behind that is given up while commits go on.
@Suite struct GivenUpCheckpointTests {
  private static func store(_ device: any StorageDevice) throws -> (Store, TreeID) {
    var options = StoreOptions()
    options.cacheBytes = 64 << 10
    options.logValueLimit = 2000
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 3), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for key in 0..<UInt64(600) { try t.put(tree, key, [UInt8](repeating: 1, count: 200)) }
    try t.commit()
    try store.checkpoint()
    return (store, tree)
  }

  /// Begins a checkpoint that its own thread takes further: commits do not.
  private static func beginCheckpoint(_ store: Store, _ tree: TreeID) throws -> Checkpoint {
    let conversion = ValueConversion(tree, from: 0, maximum: 1) { (_, _, _) throws(StoreError) in false }
    conversion.isDriven = true
    try store.takeTurn()
    defer { store.endTurn() }
    try store.beginCheckpoint(conversion: conversion)
    return try #require(store.checkpointUnderWay)
  }

  private static func abandon(_ checkpoint: Checkpoint, _ store: Store) throws {
    try store.takeTurn()
    store.abandonCheckpoint(checkpoint)
    store.endTurn()
  }

  /// A transaction that writes large values finishes the checkpoint first: its segments are in no older account.
  @Test func largeValuesMeanwhileKeepTheirRoom() throws {
    let (store, tree) = try Self.store(MemoryDevice())
    let checkpoint = try Self.beginCheckpoint(store, tree)
    let t = try store.beginWrite()
    let large = [UInt8](repeating: 7, count: 100_000)
    try t.put(tree, 1, large)
    try t.commit()
    if store.checkpointUnderWay === checkpoint { try Self.abandon(checkpoint, store) }
    #expect(try store.check().problems.isEmpty)
    #expect(try store.snapshot().value(tree, 1) == large)
  }

  /// Closing takes in the delta that a given-up checkpoint left, and then what was committed since: a closed log holds
  /// nothing.
  @Test func closingTakesInBothDeltas() throws {
    let device = MemoryDevice()
    let (store, tree) = try Self.store(device)
    func put(_ key: UInt64, _ byte: UInt8) throws {
      let t = try store.beginWrite()
      try t.put(tree, key, [byte])
      try t.commit()
    }
    try put(1, 8)
    let checkpoint = try Self.beginCheckpoint(store, tree)
    try put(2, 9)
    try Self.abandon(checkpoint, store)
    #expect(store.current.frozen != nil && store.current.active.nodeCount > 0)
    try store.detach()
    let opened = try Store.open(on: MemoryDevice(copying: device.contents()), environment: TestEnvironment(seed: 4))
    #expect(opened.superblock.isClean)
    #expect(try opened.snapshot().value(tree, 1) == [8])
    #expect(try opened.snapshot().value(tree, 2) == [9])
  }

  /// Log segments that commits prepared while the checkpoint was merging stay in use: no page is written over them. The
  /// next checkpoint takes in what was frozen, and nothing that was committed since.
  @Test func logSegmentsPreparedMeanwhileStay() throws {
    let disk = SimulatedDisk()
    let (store, tree) = try Self.store(disk)
    let checkpoint = try Self.beginCheckpoint(store, tree)
    let before = store.log.segments
    var rounds: UInt64 = 0
    var model: [UInt64: [UInt8]] = [:]
    for key in 0..<UInt64(600) { model[key] = [UInt8](repeating: 1, count: 200) }
    func commit() throws {
      let t = try store.beginWrite()
      for key in 0..<UInt64(20) {
        let value = [UInt8](repeating: UInt8(truncatingIfNeeded: rounds), count: 200)
        try t.put(tree, key * 30 + rounds % 30, value)
        model[key * 30 + rounds % 30] = value
      }
      try t.commit()
      rounds += 1
    }
    while store.log.segments.allSatisfy({ before.contains($0) }) || rounds % 8 != 0 { try commit() }
    #expect(store.checkpointUnderWay === checkpoint)

    try Self.abandon(checkpoint, store)
    for start in store.log.segments {
      let segment = store.space.table.index(start: start).map { store.space.table[$0] }
      #expect(segment?.kind == .log, "the log segment at unit \(start)")
    }

    // Pages go to free room now. Whenever the power fails, everything that was committed is there.
    let first = disk.operationCount
    try store.checkpoint()
    for point in first...disk.operationCount {
      for image in disk.crashImages(at: point, limit: 4, tearing: .byteRange, seed: 5) {
        let opened = try Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 4))
        let view = try opened.snapshot()
        for (key, value) in model where try view.value(tree, key) != value { Issue.record("\(image): key \(key)") }
      }
    }
    for _ in 0..<3 { try commit() }
    let opened = try Store.open(
      on: MemoryDevice(copying: disk.contents), environment: TestEnvironment(seed: 4))
    for view in [try opened.snapshot(), try store.snapshot()] {
      for (key, value) in model { #expect(try view.value(tree, key) == value, "\(key)") }
    }
    #expect(try opened.check().problems.isEmpty)
  }
}

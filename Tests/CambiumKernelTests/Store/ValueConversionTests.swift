import CambiumTesting
import Dispatch
import Foundation
import Testing

@testable import CambiumKernel

/// Values that a checkpoint writes in another form: which are, whatever happens meanwhile.
@Suite struct ValueConversionTests {
  /// A value in its old form, 0 and then what it means, or in its new one, 1 and then that and two bytes more.
  private static func form(_ isNew: Bool, _ meaning: [UInt8]) -> [UInt8] {
    isNew ? [1] + meaning + [7, 7] : [0] + meaning
  }

  private static func meaning(_ value: [UInt8]) -> [UInt8] {
    Array(value.first == 1 ? value.dropFirst().dropLast(2) : value.dropFirst())
  }

  private static func conversion(_ tree: TreeID, from start: UInt64, maximum: Int) -> ValueConversion {
    ValueConversion(tree, from: start, maximum: maximum) { (_, bytes, value) throws(StoreError) in
      if bytes.first == 1 { return false }
      let converted = form(true, meaning(Array(bytes)))
      converted.withUnsafeBytes { value.set($0) }
      return true
    }
  }

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 128 << 10
    options.deltaBytes = 256 << 10
    options.logBytes = 64 << 10
    options.logValueLimit = 3000
    return options
  }

  static func rows(_ view: TreeView, _ tree: TreeID) throws -> [UInt64: [UInt8]] {
    var rows: [UInt64: [UInt8]] = [:]
    let cursor = try view.cursor(tree)
    var more = try cursor.seekFirst()
    while more {
      rows[cursor.integerKey] = try cursor.value()
      more = try cursor.next()
    }
    return rows
  }

  /// A store with a tree of values in the old form: some in pages, some not, a few of them long.
  private static func store(
    _ random: inout SplitMix64, keys: Int, on device: any StorageDevice
  ) throws -> (store: Store, tree: TreeID, model: [UInt64: [UInt8]]) {
    let store = try Store.create(on: device, environment: TestEnvironment(seed: random.next()), options: options())
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    var model: [UInt64: [UInt8]] = [:]
    for round in 0..<4 {
      t = try store.beginWrite()
      for _ in 0..<keys / 3 {
        let key = UInt64(random.below(keys * 2))
        let meaning = random.bytes(random.oneIn(40) ? 900 + random.below(4000) : random.below(120))
        try t.put(tree, key, form(false, meaning))
        model[key] = meaning
      }
      try t.commit()
      if round == 2 { try store.checkpoint() }
    }
    return (store, tree, model)
  }

  /// Takes a conversion to its end, a page or two at a time, and lets `between` do something after each step.
  private static func step(_ store: Store, _ conversion: ValueConversion, between: () throws -> Void) throws {
    try store.settle()
    let t = try store.beginWrite()
    try store.requireSession()
    try store.beginCheckpoint(conversion: conversion)
    t.rollBack()
    while try store.maintain(pages: 2) { try between() }
  }

  /// Puts new forms and deletes, in the store and in the model.
  private static func change(
    _ store: Store, _ tree: TreeID, _ model: inout [UInt64: [UInt8]], _ random: inout SplitMix64, keys: Int
  ) throws {
    let t = try store.beginWrite()
    for _ in 0..<(1 + random.below(6)) {
      let key = UInt64(random.below(keys * 2))
      if random.oneIn(3) {
        #expect(try t.delete(tree, key) == (model.removeValue(forKey: key) != nil))
      } else {
        let meaning = random.bytes(random.oneIn(20) ? 2000 : 50)
        try t.put(tree, key, form(true, meaning))
        model[key] = meaning
      }
    }
    try t.commit()
  }

  @Test func valuesMeanTheSameAndAllAreConverted() throws {
    var left = 0
    for seed in 0..<UInt64(isFullLength ? 60 : 8) {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      let keys = 200 + random.below(1500)
      let device = MemoryDevice()
      var (store, tree, model) = try Self.store(&random, keys: keys, on: device)
      var next: UInt64? = 0
      var parts = 0
      while let start = next {
        let text = "seed \(CrashTests.seed &+ seed), part \(parts)"
        let conversion = Self.conversion(tree, from: start, maximum: 1 + random.below(keys))
        if random.oneIn(2) {
          #expect(try store.convert { _ in conversion } === conversion, "\(text)")
        } else {
          let before = try store.snapshot()
          let old = try Self.rows(before, tree)
          try Self.step(store, conversion) { try Self.change(store, tree, &model, &random, keys: keys) }
          // Views keep what they saw.
          #expect(try Self.rows(before, tree) == old, "\(text)")
        }
        next = conversion.next
        #expect(conversion.count <= conversion.maximum && next ?? .max > start, "\(text)")
        let rows = try Self.rows(try store.snapshot(), tree)
        #expect(rows.mapValues(Self.meaning) == model, "\(text)")
        // What lies outside of pages was left, and told.
        for (key, value) in rows where key >= start && key < next ?? .max && value[0] == 0 {
          #expect(conversion.left.contains(key), "\(text): \(key)")
          left += 1
        }
        let report = try store.check()
        #expect(report.problems.isEmpty, "\(text): \(report.problems)")
        parts += 1
        if random.oneIn(3) {
          if random.oneIn(2) { try store.close() }
          store = try Store.open(on: device, environment: TestEnvironment(seed: seed), options: Self.options())
          #expect(try Self.rows(try store.snapshot(), tree).mapValues(Self.meaning) == model, "\(text), opened")
        }
      }
    }
    #expect(left > 0)
  }

  /// A transaction that is committed by a publication needs the checkpoint at once: it ends where it has come to.
  @Test func whoCannotWaitEndsIt() throws {
    var random = SplitMix64(seed: CrashTests.seed)
    let (store, tree, model) = try Self.store(&random, keys: 3000, on: MemoryDevice())
    let other = try {
      let t = try store.beginWrite()
      let other = try t.createTree(.bytes)
      try t.commit()
      return other
    }()
    let conversion = Self.conversion(tree, from: 0, maximum: .max)
    var steps = 0
    try Self.step(store, conversion) {
      steps += 1
      if steps != 3 { return }
      let t = try store.beginWrite()
      for n in 0..<600 { try t.put(other, Array("key \(n)".utf8), [UInt8](repeating: 1, count: 700)) }
      try t.commit()
    }
    let next = try #require(conversion.next)
    #expect(next > 0 && next < model.keys.max() ?? 0)
    for (key, value) in try Self.rows(try store.snapshot(), tree) {
      #expect(Self.meaning(value) == model[key])
      if key >= next { #expect(value[0] == 0) } else { #expect(value[0] == 1 || conversion.left.contains(key)) }
    }
    #expect(try store.check().problems.isEmpty)
  }

  /// A conversion that fails changes nothing, and another one may follow.
  @Test func aFailureChangesNothing() throws {
    var random = SplitMix64(seed: CrashTests.seed)
    let (store, tree, model) = try Self.store(&random, keys: 2000, on: MemoryDevice())
    let before = try Self.rows(try store.snapshot(), tree)
    var told = 0
    nonisolated(unsafe) let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    count.initialize(to: 0)
    defer { count.deallocate() }
    #expect(throws: StoreError.misuse("no more")) {
      _ = try store.convert { _ in
        told += 1
        return ValueConversion(tree, from: 0, maximum: .max) { (_, bytes, value) throws(StoreError) in
          count.pointee += 1
          if count.pointee == 700 { throw .misuse("no more") }
          value.set(bytes)
          return true
        }
      }
    }
    #expect(told == 1)
    #expect(try Self.rows(try store.snapshot(), tree) == before)
    #expect(try store.check().problems.isEmpty)
    #expect(try store.convert { _ in nil } == nil)
    let conversion = Self.conversion(tree, from: 0, maximum: .max)
    #expect(try store.convert { _ in conversion } === conversion && conversion.next == nil)
    #expect(conversion.count == model.count)
    #expect(try Self.rows(try store.snapshot(), tree).values.allSatisfy { $0[0] == 1 || $0.count > 900 })
    #expect(try store.check().problems.isEmpty)
  }

  /// Threads that commit and read while others convert, from where the one before has stopped.
  @Test func threadsWriteMeanwhile() throws {
    var random = SplitMix64(seed: CrashTests.seed)
    let keys = 6000
    let (store, tree, model) = try Self.store(&random, keys: keys, on: MemoryDevice(lock: ThreadLock()))
    let group = DispatchGroup()
    let seed = random.next()
    for n in 0..<3 {
      let thread = Thread {
        defer { group.leave() }
        do {
          if n == 0 {
            var next: UInt64? = 0
            while let start = next {
              let conversion = Self.conversion(tree, from: start, maximum: 500)
              guard try store.convert({ _ in conversion }) != nil else { continue }
              next = conversion.next
            }
            return
          }
          var random = SplitMix64(seed: seed &+ UInt64(n))
          var own: [UInt64] = []
          for _ in 0..<300 {
            // Each thread has keys of its own, behind those of before.
            let key = UInt64(keys * 2 + n * 1000 + random.below(1000))
            let t = try store.beginWrite()
            try t.put(tree, key, Self.form(true, [UInt8(n)]))
            let commit = try t.commit()
            let view = try store.snapshot()
            let found = try view.value(tree, key)
            #expect(
              found == Self.form(true, [UInt8(n)]),
              "\(key) is \(found.map { "\($0)" } ?? "missing") in a view of \(view.sequence), behind commit \(commit)")
            // And what it put before is there, whatever is being split.
            own.append(key)
            for _ in 0..<20 {
              let other = own[random.below(own.count)]
              #expect(try view.value(tree, other) == Self.form(true, [UInt8(n)]), "\(other), put before \(key)")
            }
            let old = UInt64(random.below(keys * 2))
            #expect(try view.value(tree, old).map(Self.meaning) == model[old])
          }
        } catch {
          Issue.record(error)
        }
      }
      group.enter()
      thread.start()
    }
    group.wait()
    let rows = try Self.rows(try store.snapshot(), tree)
    #expect(rows.filter { $0.key < UInt64(keys * 2) }.mapValues(Self.meaning) == model)
    for (key, value) in rows where value[0] == 0 { #expect(model[key]?.count ?? 0 >= 900) }
    #expect(try store.check().problems.isEmpty)
    try store.close()
  }

  /// Beside another process that writes nothing is begun; one that comes meanwhile is told, or ends it.
  @Test func anotherProcessMayWrite() throws {
    let shared = SharedDisk()
    let options = CrashScenario.commits.options(.full)
    try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1), options: options).close()
    let a = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 2), options: options)
    var t = try a.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    var model: [UInt64: [UInt8]] = [:]
    for round in 0..<20 {
      t = try a.beginWrite()
      for n in 0..<60 {
        let key = UInt64(round * 60 + n)
        model[key] = [UInt8](repeating: UInt8(n), count: 40)
        try t.put(tree, key, Self.form(false, model[key] ?? []))
      }
      try t.commit()
    }
    // Alone, but in a file that others may open: all but the first sync is within the turn.
    let first = Self.conversion(tree, from: 0, maximum: 500)
    #expect(try a.convert { _ in first } === first)
    let next = try #require(first.next)
    let b = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 3), options: options)
    #expect(try Self.rows(try b.snapshot(), tree).mapValues(Self.meaning) == model)
    #expect(try Self.rows(try b.snapshot(), tree).allSatisfy { ($0.value[0] == 1) == ($0.key < next) })
    #expect(try a.convert { _ in Self.conversion(tree, from: next, maximum: 500) } == nil)
    try b.close()
    // One that is under way when another process comes and writes was for nothing, or is finished.
    let second = Self.conversion(tree, from: next, maximum: 500)
    var comers: [Store] = []
    try Self.step(a, second) {
      if comers.isEmpty {
        let c = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 4), options: options)
        let t = try c.beginWrite()
        model[5000] = [9]
        try t.put(tree, 5000, Self.form(true, [9]))
        try t.commit()
        comers.append(c)
      }
    }
    for store in comers + [a] {
      #expect(try Self.rows(try store.snapshot(), tree).mapValues(Self.meaning) == model)
      #expect(try store.check().problems.isEmpty)
      try store.close()
    }
  }
}

extension Store {
  /// Finishes what is under way, so that nothing is frozen.
  fileprivate func settle() throws {
    try takeTurn()
    defer { endTurn() }
    try requireSession()
    try settleCheckpoints()
  }
}

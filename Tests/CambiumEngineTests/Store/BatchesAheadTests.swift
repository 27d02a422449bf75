import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Rows of many objects, batch by batch, which other threads copy ahead.
@Suite struct BatchesAheadTests {
  /// Rows of many objects batch by batch, whoever copies them, up to where the listener has enough or something is
  /// damaged.
  @Test(arguments: [1, 4]) func rowsComeInBatches(threads: Int) throws {
    let environment = CountingEnvironment(processors: threads)
    let device = MemoryDevice(copying: [], lock: ThreadLock())
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: environment), schema: try RowReaderTests.schema())
    let references = try RowEncoderTests.insert(3_000, into: store)
    let gone = Set(references.enumerated().filter { $0.offset % 10 == 4 }.map { $0.element })
    try store.write { (t) throws(EngineError) in for reference in gone { try t.delete(reference) } }
    let view = try store.view()
    var random = SplitMix64(seed: 77)
    let asked = references.shuffled(using: &random)
    for (first, size) in [(0, 7), (0, 16), (0, 1000), (13, 64), (2_999, 1), (0, Int.max), (5, Int.max)] {
      let before = environment.calls
      var next = first
      try view.forEachBatch(of: asked, from: first, size: size) { (rows, objects) throws(EngineError) in
        #expect(objects.lowerBound == next && objects.count == min(size, asked.count - next))
        next = objects.upperBound
        var told: [ObjectReference] = []
        rows.forEach { _, reference in told.append(reference) }
        #expect(told.count == rows.count && Set(told) == Set(asked[objects]).subtracting(gone))
        // What is lent may be read, and the view as well.
        if let one = told.first { #expect(try view.row(one) != nil) }
        return true
      }
      #expect(next == asked.count)
      // One batch needs no other thread, and neither do small ones.
      #expect((environment.calls > before) == (threads > 1 && asked.count - first > size && size >= 16))
    }
    for (first, size) in [(3_000, 5), (-1, 5), (0, 0), (0, -3), (Int.max, 5)] {
      try view.forEachBatch(of: asked, from: first, size: size) { (_, _) throws(EngineError) in
        Issue.record("there is none from \(first), of \(size)")
        return true
      }
    }
    var told = 0
    try view.forEachBatch(of: asked, from: 0, size: 10) { (_, _) throws(EngineError) in
      told += 1
      return told < 20
    }
    #expect(told == 20)
    told = 0
    let error = #expect(throws: EngineError.self) {
      try view.forEachBatch(of: asked, from: 0, size: 10) { (_, _) throws(EngineError) in
        told += 1
        if told == 20 { throw .misuse("enough") }
        // One within the other.
        if told == 5 {
          var inner = 0
          try view.forEachBatch(of: references, from: 0, size: 500) { (rows, _) throws(EngineError) in
            inner += rows.count
            return true
          }
          #expect(inner == 2_700)
        }
        return true
      }
    }
    guard case .misuse("enough") = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(told == 20)
    // Damage is told behind what lies before it.
    try store.kernel.checkpoint()
    try store.close()
    var bytes = device.contents()
    for place in stride(from: bytes.count / 2, to: bytes.count * 3 / 4, by: 512) { bytes[place] ^= 0x55 }
    let damaged = try EntityStore.open(
      Store.open(on: MemoryDevice(copying: bytes, lock: ThreadLock()), environment: environment))
    var found = 0
    var met: EngineError?
    do throws(EngineError) {
      try damaged.view().forEachBatch(of: references, from: 0, size: 20) { (rows, _) throws(EngineError) in
        found += rows.count
        return true
      }
    } catch { met = error }
    var alone = 0
    for batch in stride(from: 0, to: references.count, by: 20) {
      guard let rows = try? damaged.view().findRows(of: Array(references[batch..<batch + 20])) else { break }
      alone += rows.count
    }
    #expect(met != nil && found == alone)
  }

  /// What is copied ahead is bounded by bytes, too: what is behind that the calling thread copies, and so it is near.
  @Test(arguments: [0, 1, .max]) func largeRowsAreNotCopiedFarAhead(mostBytes: Int) throws {
    let device = MemoryDevice(copying: [], lock: ThreadLock())
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: TestEnvironment(seed: 4, processors: 4)),
      schema: try RowReaderTests.schema())
    let base = try #require(store.schema.entity(named: "Base"))
    var references: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for n in 0..<1_100 {
        var values = RowValues()
        values.set("large", .integer(Int64(n)))
        values.set("blob", .binary(Array(repeating: UInt8(n & 255), count: n % 2 == 0 ? 90_000 : 10)))
        references.append(try t.reserveReference(base))
        try t.insert(references[n], values)
      }
    }
    let view = try store.view()
    let blob = base.attributeKeys[try #require(base.allAttributes.firstIndex { $0.name == "blob" })]
    var seen = 0
    var far = 0
    try view.forEachBatch(of: references, from: 0, size: 100, mostBytesAhead: mostBytes) {
      (rows, objects) throws(EngineError) in
      #expect(rows.count == objects.count)
      if rows.isCopiedAhead { far += 1 }
      for row in rows.array {
        guard let n = references[objects].firstIndex(of: row.reference) else { continue }
        guard case .binary(let bytes) = try row.value(blob) else { continue }
        #expect(bytes.count == (n % 2 == 0 ? 90_000 : 10) && bytes.first == UInt8(n & 255))
        seen += 1
      }
      return true
    }
    #expect(seen == 1_100)
    // With one byte there is always one that is begun: by the time that one comes to it, it may be the only one or not.
    #expect(mostBytes == 0 ? far == 0 : mostBytes == 1 ? far > 0 : far == 11)
  }

  @Test func aHostThatDoesNothingIsRefusedInBatches() throws {
    let device = MemoryDevice(copying: [], lock: ThreadLock())
    let kernel = try Store.create(on: device, environment: TestEnvironment(seed: 5))
    let references = try RowEncoderTests.insert(
      1_300, into: try EntityStore.create(in: kernel, schema: RowReaderTests.schema()))
    try kernel.checkpoint()
    try kernel.close()
    let store = try EntityStore.open(
      Store.open(
        on: MemoryDevice(copying: device.contents(), lock: ThreadLock()),
        environment: CountingEnvironment(processors: 2, callsWork: false)))
    let error = #expect(throws: EngineError.self) {
      try store.view().forEachBatch(of: references, from: 0, size: 100) { (_, _) throws(EngineError) in true }
    }
    guard case .misuse = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}

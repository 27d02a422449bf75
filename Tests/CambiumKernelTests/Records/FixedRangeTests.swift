import CambiumTesting
import Testing

@testable import CambiumKernel

/// What is told from a row's bytes alone agrees with what its field says.
@Suite struct FixedRangeTests {
  @Test func excludesWhatLiesOutside() throws {
    let seed = testSeed(8_282)
    var random = SplitMix64(seed: seed)
    print("fixed ranges: seed \(seed)")
    var (excluded, within, nulls, unsure, runs) = (0, 0, 0, 0, 0)
    let store = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(seed: seed), options: StoreOptions())
    for _ in 0..<400 {
      let layout = try random.layout(depth: 2)
      let borrowed = BorrowedLayout(layout)
      let builder = RecordBuilder(layout)
      for (index, field) in layout.fields.enumerated() {
        guard let place = FixedField(borrowed, index) else {
          #expect(field.kind.tag == .boolean || field.kind.tag.isVariable)
          continue
        }
        var bounds: [UInt64]
        switch field.kind.tag {
        case .int16, .int32, .int64:
          bounds = [random.integer(), random.integer()].sorted().map { UInt64(bitPattern: $0) }
        case .double, .date, .float:
          bounds = [KeyEncoder.orderedBits(random.double()), KeyEncoder.orderedBits(random.double())].sorted()
        default:
          #expect(FixedRange(borrowed, place, low: 0, high: 1) == nil)
          continue
        }
        guard let range = FixedRange(borrowed, place, low: bounds[0], high: bounds[1]) else {
          #expect(field.kind.tag == .float)
          continue
        }
        let t = try store.beginWrite()
        let tree = try t.createTree(.integer)
        for row in 0..<UInt64(8) {
          try builder.fill(layout.fields.map { random.value(of: $0.kind) }, order: &random)
          let bytes = try builder.bytes()
          try t.put(tree, row, row == 7 ? [UInt8](bytes.prefix(random.below(9))) : bytes)
          try bytes.withUnsafeBytes { b in
            let record = try RecordView(b, layout: borrowed)
            let isNull = try record.isNull(index)
            #expect(record.isNull(place) == isNull)
            let isOutside: Bool
            var isOrdinary = true
            if isNull {
              isOutside = true
              nulls += 1
            } else if field.kind.tag == .double || field.kind.tag == .date {
              let value = field.kind.tag == .double ? try record.double(at: index) : try record.date(at: index)
              let number = try #require(value)
              #expect(record.double(place).bitPattern == number.bitPattern)
              let bits = KeyEncoder.orderedBits(number)
              isOutside = bits < bounds[0] || bits > bounds[1]
              isOrdinary = !number.isNaN && number.bitPattern != (-0.0).bitPattern
            } else {
              let number = try #require(try record.int64(at: index))
              #expect(record.int64(place) == number)
              isOutside = number < Int64(bitPattern: bounds[0]) || number > Int64(bitPattern: bounds[1])
            }
            let told = range.excludes(b)
            if isOrdinary { #expect(told == isOutside) } else { #expect(!told) }
            excluded += told ? 1 : 0
            within += isOutside ? 0 : 1
            unsure += isOrdinary ? 0 : 1
            // Of no other layout, and of no row that is too short, anything is said.
            var other = Array(b)
            other[0] ^= 1
            #expect(!other.withUnsafeBytes { range.excludes($0) })
            for count in [0, 1, 8] { #expect(!range.excludes(UnsafeRawBufferPointer(rebasing: b[..<count]))) }
          }
        }
        try t.commit()
        if random.oneIn(2) { try store.checkpoint() }
        // Many at once: the same.
        runs += try RowTestChecks.comparePassing(store, tree, range.excludes, range.passing)
      }
    }
    #expect(excluded > 500 && within > 500 && nulls > 100 && unsure > 20 && runs > 100)
  }

  /// The same of elements of composites, of rows that are damaged as well: those are looked at within their bytes.
  @Test func excludesElementsThatLieOutside() throws {
    let seed = testSeed(8_284)
    var random = SplitMix64(seed: seed)
    print("ranges of elements: seed \(seed)")
    var (excluded, within, nulls, unsure, runs) = (0, 0, 0, 0, 0)
    let store = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(seed: seed), options: StoreOptions())
    for _ in 0..<800 {
      let layout = try random.layout(depth: 2)
      let borrowed = BorrowedLayout(layout)
      let builder = RecordBuilder(layout)
      for (outer, field) in layout.fields.enumerated() {
        guard case .nested(let inner) = field.kind else {
          #expect(FixedRange(borrowed, outer: outer, 0, low: 0, high: 1) == nil)
          continue
        }
        #expect(FixedRange(borrowed, outer: outer, inner.fields.count, low: 0, high: 1) == nil)
        for (index, element) in inner.fields.enumerated() {
          let tag = element.kind.tag
          let isReal = tag == .double || tag == .date
          let bounds =
            isReal
            ? [KeyEncoder.orderedBits(random.double()), KeyEncoder.orderedBits(random.double())].sorted()
            : [random.integer(), random.integer()].sorted().map { UInt64(bitPattern: $0) }
          guard let range = FixedRange(borrowed, outer: outer, index, low: bounds[0], high: bounds[1]) else {
            #expect(!isReal && ![.int16, .int32, .int64].contains(tag))
            continue
          }
          let t = try store.beginWrite()
          let tree = try t.createTree(.integer)
          for row in 0..<UInt64(8) {
            try builder.fill(layout.fields.map { random.value(of: $0.kind) }, order: &random)
            let bytes = try builder.bytes()
            try t.put(tree, row, row == 7 ? [UInt8](bytes.prefix(random.below(9))) : bytes)
            try bytes.withUnsafeBytes { b in
              let told = range.excludes(b)
              var isOutside = true
              var isOrdinary = true
              if let record = try RecordView(b, layout: borrowed).nested(at: outer), try !record.isNull(index) {
                if isReal {
                  let number = try #require(try tag == .double ? record.double(at: index) : record.date(at: index))
                  let bits = KeyEncoder.orderedBits(number)
                  isOutside = bits < bounds[0] || bits > bounds[1]
                  isOrdinary = !number.isNaN && number.bitPattern != (-0.0).bitPattern
                } else {
                  let number = try #require(try record.int64(at: index))
                  isOutside = number < Int64(bitPattern: bounds[0]) || number > Int64(bitPattern: bounds[1])
                }
              } else {
                nulls += told ? 1 : 0
              }
              if !isOutside || !isOrdinary { #expect(!told) }
              excluded += told ? 1 : 0
              within += isOutside ? 0 : 1
              // Rows with values of more than 255 bytes, or with some that lie elsewhere.
              unsure += isOutside && !told ? 1 : 0
              var other = Array(b)
              other[0] ^= 1
              #expect(!other.withUnsafeBytes { range.excludes($0) })
            }
            RowTestChecks.eachDamaged(bytes, &random) { _ = range.excludes($0) }
          }
          try t.commit()
          // Those in pages follow one another; others are told one by one.
          if random.oneIn(2) { try store.checkpoint() }
          runs += try RowTestChecks.comparePassing(store, tree, range.excludes, range.passing)
        }
      }
    }
    #expect(excluded > 500 && within > 100 && nulls > 100 && unsure > 20 && runs > 100)
  }
}

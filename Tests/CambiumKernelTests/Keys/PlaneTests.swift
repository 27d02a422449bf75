import CambiumTesting
import Testing

@testable import CambiumKernel

/// Axes, cells and codes of places: order is kept on each axis, the curve goes through every cell of a cell before it
/// leaves it, and keys say what they were made of.
@Suite struct PlaneTests {
  private static let odd: [Double] = [
    0, -0.0, 256, -256, Double(256).nextDown, -Double(256).nextUp, .infinity, -.infinity, .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 0x1p-22, -0x1p-22, 90, -180, 1e6, -1e-9,
  ]

  private static func number(_ random: inout SplitMix64) -> Double {
    switch random.below(4) {
    case 0: return random.pick(odd)
    case 1: return Double(bitPattern: random.next())
    case 2: return Double(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
    default: return Double.random(in: -300...300, using: &random)
    }
  }

  @Test func stepsKeepOrder() {
    var random = SplitMix64(seed: 31)
    for _ in 0..<20_000 {
      let (a, b) = (Self.number(&random), Self.number(&random))
      if a.isNaN || b.isNaN {
        #expect(PlaneAxis.step(.nan) == 0)
        continue
      }
      #expect(a <= b ? PlaneAxis.step(a) <= PlaneAxis.step(b) : PlaneAxis.step(a) >= PlaneAxis.step(b))
      let step = UInt64(PlaneAxis.step(a))
      #expect(PlaneAxis.bound(step) <= a && a <= PlaneAxis.bound(step + 1), "\(a)")
    }
    // Degrees have equal steps, of less than three centimetres.
    #expect(PlaneAxis.step(51.5) - PlaneAxis.step(51) == 1 << 21 && PlaneAxis.step(0.5) - PlaneAxis.step(0) == 1 << 21)
    #expect(PlaneAxis.bound(0) == -.infinity && PlaneAxis.bound(1 << 32) == .infinity)
  }

  @Test func codesAreThoseOfTheCells() {
    var random = SplitMix64(seed: 32)
    for _ in 0..<500 {
      let (x, y) = (UInt32(truncatingIfNeeded: random.next()), UInt32(truncatingIfNeeded: random.next()))
      let code = PlaneCell.code(x, y)
      var cell = PlaneCell.plane
      while cell.level > 0 {
        let parts = (0..<4).map { cell.child($0) }
        // The four parts divide the cell's codes among them, in order, and follow one another at an edge.
        #expect(parts[0].code == cell.code && parts[3].lastCode == cell.lastCode)
        for i in 1..<4 {
          #expect(parts[i].code == parts[i - 1].lastCode + 1)
          let (dx, dy) = (parts[i].x ^ parts[i - 1].x, parts[i].y ^ parts[i - 1].y)
          #expect((dx == 0) != (dy == 0) && (dx | dy) >> UInt32(parts[i].level) == 1)
        }
        let holding = parts.filter { $0.x <= x && x <= $0.lastX && $0.y <= y && y <= $0.lastY }
        #expect(holding.count == 1)
        guard let next = holding.first else { return }
        #expect(next.code <= code && code <= next.lastCode)
        cell = next
      }
      #expect(cell.code == code && cell.x == x && cell.y == y)
      #expect(cell.child(2) == cell)
    }
  }

  /// Successive codes are those of neighbours: it is Hilbert's curve.
  @Test func theCurveDoesNotJump() {
    var places: [UInt64: (UInt32, UInt32)] = [:]
    for x in UInt32(0)..<32 {
      for y in UInt32(0)..<32 { places[PlaneCell.code(x, y)] = (x, y) }
    }
    #expect(places.count == 1024)
    for code in UInt64(1)..<1024 {
      guard let a = places[code - 1], let b = places[code] else {
        Issue.record("no place has code \(code)")
        return
      }
      #expect(abs(Int(a.0) - Int(b.0)) + abs(Int(a.1) - Int(b.1)) == 1)
    }
  }

  @Test func keys() throws {
    var random = SplitMix64(seed: 33)
    for _ in 0..<2_000 {
      let place = KeyPlace(x: Self.number(&random), y: Self.number(&random))
      var encoder = KeyEncoder(limit: 128)
      encoder.append(place)
      encoder.append(rowID: 7)
      #expect(encoder.bytes.count == KeyPlace.byteCount + 3 && !encoder.isInexact)
      try encoder.bytes.withUnsafeBytes { key in
        let read = try KeyPlace(atStartOf: key)
        #expect(read.code == place.code)
        #expect(read.x == place.x || read.x.isNaN && place.x.isNaN)
        #expect(read.y == place.y || read.y.isNaN && place.y.isNaN)
        var decoder = KeyDecoder(key)
        guard case .place(let x, let y) = try decoder.next() else {
          Issue.record("no place")
          return
        }
        #expect(x == read.x || x.isNaN)
        #expect(y == read.y || y.isNaN)
        #expect(try decoder.next() == .rowID(7))
      }
      let range = KeyPlace.range(from: place.code, through: place.code)
      #expect(!encoder.bytes.lexicographicallyPrecedes(range.lower))
      if let upper = range.upper { #expect(encoder.bytes.lexicographicallyPrecedes(upper)) }
    }
    #expect(KeyPlace.range(from: 0, through: .max).upper == [0x2D])
  }

  @Test func damagedKeysAreReported() {
    var encoder = KeyEncoder()
    encoder.append(KeyPlace(x: 51.5, y: -0.1))
    let whole = encoder.bytes
    for count in 0..<whole.count {
      Array(whole[..<count]).withUnsafeBytes { key in
        #expect(throws: StoreError.self) { try KeyPlace(atStartOf: key) }
        var decoder = KeyDecoder(key)
        #expect(throws: StoreError.self) { try decoder.next() }
      }
    }
    var other = whole
    other[5] ^= 1
    other.withUnsafeBytes { key in
      var decoder = KeyDecoder(key)
      #expect(throws: StoreError.self) { try decoder.next() }
    }
  }
}

import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// The few nearest places by stretches of the curve are those that looking at every entry gives, to the last bit and in
/// the same order.
@Suite struct NearestFewTests {
  /// What places are like.
  enum Kind: CaseIterable {
    case anywhere, town, towns, antimeridian, poles, beyondPoles, few, fewUncommon, manyUncommon, alike, metres
  }

  private static func place(_ kind: Kind, _ number: Int, _ random: inout SplitMix64) -> (Double, Double) {
    func near(_ x: Double, _ y: Double, _ spread: Double) -> (Double, Double) {
      (
        x + .random(in: -spread...spread, using: &random),
        y + .random(in: -spread...spread, using: &random)
      )
    }
    switch kind {
    case .anywhere, .few:
      return (.random(in: -90...90, using: &random), .random(in: -180...180, using: &random))
    case .town: return near(47.4, 8.5, 0.2)
    case .towns: return near(Double(number % 7) * 10 + 0.3, Double(number % 11) * 15 - 80, 0.05)
    case .antimeridian:
      // Under either name.
      let (latitude, longitude) = near(-17, 180, 3)
      return (latitude, random.oneIn(2) ? longitude - 360 : longitude)
    case .poles:
      let latitude = Double.random(in: 84...90, using: &random)
      return (random.oneIn(2) ? latitude : -latitude, .random(in: -180...180, using: &random))
    case .beyondPoles:
      // 100 degrees north are 80 on the other side.
      let latitude = Double.random(in: 60...120, using: &random)
      return (random.oneIn(3) ? -latitude : latitude, .random(in: -190...190, using: &random))
    case .fewUncommon:
      if number % 100 == 7 { return (47.41, random.pick([8.5 + 360, 8.5 - 720])) }
      if number % 100 == 8 { return (180 - 47.42, 8.51 - 180) }
      return number % 100 == 9 ? (.nan, random.pick([.infinity, 1e300, 8.5])) : near(47.4, 8.5, 0.2)
    case .manyUncommon: return near(47.4, 200, 20)
    case .alike: return (Double(number % 3), Double(number % 2))
    case .metres: return near(600_000, 200_000, 50_000)
    }
  }

  private static func origin(_ kind: Kind, _ all: [(Double, Double)], _ random: inout SplitMix64) -> (Double, Double) {
    if random.oneIn(8) { return (.random(in: -90...90, using: &random), .random(in: -180...180, using: &random)) }
    if random.oneIn(20) { return random.pick([(0, 0), (90, 0), (-89.5, 179.999), (0, -180), (61, 539), (300, -1e9)]) }
    guard !all.isEmpty else { return (47, 8) }
    let (x, y) = random.pick(all)
    guard x.isFinite, y.isFinite else { return (47.4, 8.5) }
    let spread = random.pick([0, 1e-7, 0.01, 1, 20])
    return (x + .random(in: -1...1, using: &random) * spread, y + .random(in: -1...1, using: &random) * spread)
  }

  /// In pages, over them, and some in either.
  @Test(arguments: Kind.allCases) func theyAreThoseOfAllEntries(_ kind: Kind) throws {
    let seed = testSeed(61)
    print("few nearest places, \(kind): seed \(seed)")
    var random = SplitMix64(seed: seed)
    let store = try PlacesModel.store()
    let plan = try store.plan(try #require(store.schema.entity(named: "Place")).id)
    // Latitude first, and longitude first.
    let trees = try [PlacesModel.location, ["y", "x"]].map { paths in
      try #require(plan.spatialIndexes.first { $0.paths == paths }?.tree)
    }
    let counts = kind == .few ? [0, 1, 2, 6] : [40, 300, testCount("CAMBIUM_NEAREST", short: 700, full: 4000)]
    var number = 0
    var (served, asked) = (0, 0)
    for (round, count) in counts.enumerated() {
      try store.write { (t) throws(EngineError) in
        for _ in 0..<count {
          let (x, y) = Self.place(kind, number, &random)
          var values = RowValues()
          values.set("location", .composite(["latitude": .double(x), "longitude": .double(y)]))
          values.set("y", .float(Float(y)))
          values.set("x", .float(Float(x)))
          try t.insert(try t.reserveReference(plan.entity), values)
          number += 1
        }
      }
      if round == 1 { try store.kernel.checkpoint() }
      for (place, tree) in trees.enumerated() {
        let view = try store.view()
        var all: [(x: Double, y: Double, row: UInt64)] = []
        try view.trees.forEachKey(tree, in: KeyRange(prefix: [])) { (key) throws(StoreError) in
          let place = try KeyPlace(atStartOf: key)
          all.append((place.x, place.y, try KeyDecoder.rowID(atEndOf: key).id))
          return true
        }
        #expect(all.count == number)
        for _ in 0..<40 {
          let (x, y) = Self.origin(kind, all.map { ($0.x, $0.y) }, &random)
          for metric in [SpatialMetric.euclidean, .greatCircle(latitudeFirst: place == 0)] {
            guard let distance = SpatialDistance(metric, fromX: x, y: y) else { continue }
            var expected: [NearestPlaces.Found] = []
            for one in all {
              if let measure = distance.measure(one.x, one.y) {
                expected.append(NearestPlaces.Found(row: one.row, measure: measure))
              }
            }
            expected.sort { $0.precedes($1) }
            let wanted = random.pick([1, 2, 10, 10, 60, NearestFew.most])
            let limit = random.oneIn(2) || expected.isEmpty ? .infinity : random.pick(expected).measure
            if limit < .infinity { expected.removeAll { $0.measure > limit } }
            let isCommon = wanted <= 10 && limit == .infinity
            if isCommon { asked += 1 }
            guard
              let found = try NearestFew.find(view.trees, tree, distance, wanted: wanted, upTo: limit)
            else { continue }
            if isCommon { served += 1 }
            let context = "\(metric) from \(x), \(y), \(wanted) up to \(limit) of \(all.count)"
            #expect(found.map(\.row) == expected.prefix(wanted).map(\.row), "\(context)")
            #expect(found.map(\.measure) == expected.prefix(wanted).map(\.measure), "\(context)")
          }
        }
      }
    }
    // From far away, all are about as near, and it gives up; so it does at the poles and where degrees are not common.
    let share: [Kind: Double] = [.poles: 0.3, .beyondPoles: 0.4, .manyUncommon: 0.3, .metres: 0.3]
    #expect(Double(served) >= (share[kind] ?? 0.5) * Double(asked), "\(served) of \(asked)")
  }

  @Test func manyAreNotLookedForSo() throws {
    let store = try PlacesModel.store()
    let plan = try store.plan(try #require(store.schema.entity(named: "Place")).id)
    let tree = try #require(plan.spatialIndexes.first { $0.paths == PlacesModel.location }?.tree)
    let distance = try #require(SpatialDistance(.euclidean, fromX: 0, y: 0))
    let view = try store.view()
    for wanted in [0, NearestFew.most + 1, Int.max] {
      #expect(try NearestFew.find(view.trees, tree, distance, wanted: wanted, upTo: .infinity) == nil)
    }
    #expect(try NearestFew.find(view.trees, tree, distance, wanted: 3, upTo: .infinity)?.isEmpty ?? false)
  }

  /// The stretches of degrees that are not common are just those.
  @Test func uncommonDegrees() throws {
    var random = SplitMix64(seed: 62)
    let edges = [128, -128, 192, -192, 180, 90, 256, 0].flatMap {
      [Double($0), Double($0).nextUp, Double($0).nextDown]
    }
    for isLatitudeFirst in [true, false] {
      let distance = try #require(SpatialDistance(.greatCircle(latitudeFirst: isLatitudeFirst), fromX: 1, y: 2))
      let uncommon = SpatialReach(distance).uncommon
      #expect(zip(uncommon, uncommon.dropFirst()).allSatisfy { $0.last < $1.first && $0.first <= $0.last })
      for _ in 0..<20_000 {
        func number(_ range: Double) -> Double {
          random.oneIn(3)
            ? random.pick(edges)
            : random.oneIn(9) ? Double(bitPattern: random.next()) : .random(in: -range...range, using: &random)
        }
        let (latitude, longitude) = (number(200), number(300))
        let isCommon = latitude >= -128 && latitude < 128 && longitude >= -192 && longitude < 192
        let place = isLatitudeFirst ? KeyPlace(x: latitude, y: longitude) : KeyPlace(x: longitude, y: latitude)
        #expect(
          uncommon.contains { $0.first <= place.code && place.code <= $0.last } == !isCommon,
          "\(latitude), \(longitude)")
      }
    }
    #expect(SpatialReach(try #require(SpatialDistance(.euclidean, fromX: 1, y: 2))).uncommon.isEmpty)
  }
}

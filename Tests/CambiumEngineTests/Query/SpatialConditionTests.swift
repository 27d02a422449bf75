import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// What conditions say about places: the area that is read of the index for them has all rows that meet them, and few
/// others.
@Suite struct SpatialConditionTests {
  private static func number(_ random: inout SplitMix64, _ range: Double) -> String {
    let value = PlacesModel.degrees(&random, range)
    return value.isFinite ? "\(value)" : random.oneIn(2) ? "7.5" : "CAST(\"\(value)\", \"double\")"
  }

  /// A condition on one path that may confine it.
  private static func bound(_ path: String, _ range: Double, _ random: inout SplitMix64) -> String {
    let (a, b) = (number(&random, range), number(&random, range))
    switch random.below(9) {
    case 0: return "\(path) BETWEEN {\(a), \(b)}"
    case 1: return "\(path) >= \(a) AND \(path) < \(b)"
    case 2: return "\(path) > \(a)"
    case 3: return "\(path) <= \(a)"
    case 4: return "\(a) >= \(path)"
    case 5: return "\(a) < \(path)"
    case 6: return "\(path) == \(a)"
    case 7: return random.pick(["\(path) != \(a)", "\(path) == nil", "\(path) IN {\(a), \(b)}", "\(path) != nil"])
    default: return "\(path) BETWEEN {\(random.below(20) - 10), \(random.below(40))}"
    }
  }

  private static func around(_ random: inout SplitMix64) -> String {
    let place = random.pick([
      "{\(number(&random, 90)), \(number(&random, 180))}", "{8.1, 8.05}", "{47, 179.9}", "{-89.5, 0}", "{0, -180}",
    ])
    let location = random.pick(["location", "{y, x}"])
    let distance =
      "distanceToLocation:fromLocation:("
      + (random.oneIn(2) ? "\(location), \(place)" : "\(place), \(location)") + ")"
    let metres = random.pick(["1", "500.5", "20000", "2000000", "0", "-1", "1e9"])
    return random.pick([
      "\(distance) < \(metres)", "\(distance) <= \(metres)", "\(metres) > \(distance)", "\(distance) > \(metres)",
      "\(distance) BETWEEN {0, \(metres)}", "\(distance) == 0",
    ])
  }

  static func condition(_ random: inout SplitMix64) -> String {
    var parts: [String] = []
    switch random.below(6) {
    case 0, 1: parts = [around(&random)]
    case 2:
      parts = [bound("column", 20, &random), bound("line", 500, &random)]
    case 3:
      parts = [bound("price", 40_000, &random), "day > CAST(\(random.below(1_000_000_000)), \"NSDate\")"]
    case 4: parts = [bound("x", 180, &random), bound("y", 90, &random)]
    default: parts = [bound("location.latitude", 90, &random), bound("location.longitude", 180, &random)]
    }
    if random.oneIn(4) { parts.append("name == nil") }
    if random.oneIn(8) { parts.append("NOT " + around(&random)) }
    return parts.joined(separator: " AND ")
  }

  @Test func fetchesAgreeWithThoseWithoutIndexes() throws {
    let seed = testSeed(51)
    print("spatial conditions: seed \(seed)")
    // The same rows, under the same numbers.
    var (one, other) = (SplitMix64(seed: seed), SplitMix64(seed: seed))
    let (store, plain) = (try PlacesModel.store(), try PlacesModel.store(indexed: false))
    try PlacesModel.insert(store, 400, &one)
    try PlacesModel.insert(plain, 400, &other)
    try PlacesModel.change(store, 40, &one)
    try PlacesModel.change(plain, 40, &other)
    let (view, plainView) = (try store.view(), try plain.view())
    var random = SplitMix64(seed: seed + 1)
    var areas = 0
    var found = 0
    var byPlace = 0
    var nearest = 0
    for _ in 0..<testCount("CAMBIUM_CONDITIONS", short: 600, full: 5000) {
      let text = Self.condition(&random)
      let name = random.pick(["Place", "Airport"])
      let entity = try #require(store.schema.entity(named: name))
      let predicate: Predicate
      do { predicate = try Predicate(format: text) } catch {
        Issue.record("\(text): \(error)")
        return
      }
      let plainEntity = try #require(plain.schema.entity(named: name))
      let expected = try plainView.fetch(EngineFetch(plainEntity, predicate: predicate)).map(\.row)
      var fetch = EngineFetch.preferringIndexes(entity, predicate)
      let kinds = try view.explain(fetch).kinds
      if kinds.contains(.places) { byPlace += 1 }
      #expect(try view.fetch(fetch).map(\.row) == expected, "\(text)")
      #expect(try view.count(fetch) == expected.count, "\(text)")
      // The nearest of them first, some of them.
      let origin = EnginePlace(
        latitude: PlacesModel.degrees(&random, 90), longitude: PlacesModel.degrees(&random, 180))
      fetch.sort = [EngineSort(distanceOf: "location", from: origin, ascending: !random.oneIn(6))]
      fetch.limit = random.pick([1, 5, 30, 1000])
      fetch.offset = random.oneIn(3) ? 2 : 0
      fetch.costs.strayRow = random.pick([0.01, 12])
      var plainFetch = fetch
      plainFetch.entity = plainEntity
      let ordered = try plainView.fetch(plainFetch).map(\.row)
      if try view.explain(fetch).kinds.contains(.nearest) { nearest += 1 }
      #expect(try view.fetch(fetch).map(\.row) == ordered, "\(text), from \(origin)")
      #expect(try view.fetchRows(fetch).map(\.reference.row) == ordered, "\(text), from \(origin)")
      found += expected.count
      let plan = try store.plan(entity.id)
      let checked = try predicate.check(against: store.schema, entity: entity.id)
      guard let conjuncts = Conjunct.all(of: checked) else { continue }
      for maker in plan.spatialIndexes where maker.partial == nil {
        for condition in SpatialCondition.all(conjuncts, maker) {
          let rows = Set(try view.rows(maker.tree, in: condition.area))
          #expect(rows.isSuperset(of: expected), "\(text)")
          areas += 1
        }
      }
    }
    #expect(areas > 200 && byPlace > 200 && nearest > 50 && found > 1000, "\(areas), \(byPlace), \(nearest), \(found)")
  }

  /// Which conditions an index serves, and which not: null must not meet them, since it is not in the index.
  @Test(arguments: [
    ("location.latitude BETWEEN {1, 2} AND location.longitude BETWEEN {1, 2}", true),
    ("location.latitude > 1 AND 2 >= location.longitude", true),
    ("location.latitude == 1 AND location.longitude == 2 AND name == 'x'", true),
    ("distanceToLocation:fromLocation:(location, {1, 2}) < 1000", true),
    ("1000 >= distanceToLocation:fromLocation:({1, 2}, location)", true),
    ("distanceToLocation:fromLocation:(location, {1, 2}) BETWEEN {10, 20}", true),
    ("distanceToLocation:fromLocation:({location.latitude, location.longitude}, {1, 2}) < 5", true),
    ("location.latitude > 1", false), ("location.latitude == nil AND location.longitude > 2", false),
    ("location.latitude != 1 AND location.longitude > 2", false),
    ("location.latitude > 1 OR location.longitude > 2", false),
    ("distanceToLocation:fromLocation:(location, {1, 2}) > 1000", false),
    ("distanceToLocation:fromLocation:({location.longitude, location.latitude}, {1, 2}) < 5", true),
    ("distanceToLocation:fromLocation:({y, x}, {1, 2}) < 5", false),
    ("distanceToLocation:fromLocation:(location, {nil, 2}) < 5", false),
    ("NOT location.latitude > 1 AND location.longitude > 2", false),
  ]) func served(_ text: String, _ isServed: Bool) throws {
    let store = try PlacesModel.store()
    let place = try #require(store.schema.entity(named: "Place"))
    let plan = try store.plan(place.id)
    let maker = try #require(plan.spatialIndexes.first { $0.paths == PlacesModel.location })
    var random = SplitMix64(seed: 53)
    try PlacesModel.insert(store, 40, &random)
    let checked = try Predicate(format: text).check(against: store.schema, entity: place.id)
    let conjuncts = try #require(Conjunct.all(of: checked))
    #expect(SpatialCondition.all(conjuncts, maker).isEmpty == !isServed)
    let fetch = EngineFetch.preferringIndexes(place, try Predicate(format: text))
    #expect(try store.view().explain(fetch).description.contains("byLocation") == isServed)
  }

  /// What is read of the index is not much more than what is found.
  @Test func littleElseIsRead() throws {
    var random = SplitMix64(seed: 52)
    let store = try PlacesModel.store()
    let place = try #require(store.schema.entity(named: "Place"))
    for _ in 0..<4 {
      try store.write { (t) throws(EngineError) in
        for _ in 0..<1000 {
          var values = RowValues()
          values.set(
            "location",
            .composite([
              "latitude": .double(.random(in: -60...70, using: &random)),
              "longitude": .double(.random(in: -180...180, using: &random)),
            ]))
          try t.insert(try t.reserveReference(place), values)
        }
      }
    }
    let view = try store.view()
    let tree = try #require(store.plan(place.id).spatialIndexes.first { $0.paths == PlacesModel.location }?.tree)
    var (read, found) = (0, 0)
    for _ in 0..<50 {
      let (x, y) = (Double.random(in: -60...50, using: &random), Double.random(in: -180...150, using: &random))
      var walk = SpatialWalk(try view.trees.cursor(tree), .box(SpatialBox(x: x...(x + 20), y: y...(y + 20))))
      try walk.run { (_, _) throws(StoreError) in
        found += 1
        return true
      }
      read += walk.readCount
      for metric in [SpatialMetric.euclidean, .greatCircle()] {
        let distance = try #require(SpatialDistance(metric, fromX: x, y: y))
        var nearest = NearestPlaces(try view.trees.cursor(tree), distance)
        for _ in 0..<10 { _ = try nearest.next() }
        #expect(nearest.readCount < 600, "of 4000")
      }
    }
    #expect(found > 1000 && read < 3 * found, "\(read) read for \(found)")
  }
}

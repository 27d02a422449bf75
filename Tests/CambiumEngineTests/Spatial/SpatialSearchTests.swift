import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumEngine

/// Searches by R-tree indexes find what looking at every row finds.
@Suite struct SpatialSearchTests {
  private static let indexed = [PlacesModel.location, PlacesModel.grid, PlacesModel.mixed, ["y", "x"]]

  /// A number near those that rows have, for the edge of a box or the place to begin at.
  private static func probe(
    _ places: [(reference: ObjectReference, x: Double, y: Double)], _ random: inout SplitMix64
  ) -> (Double, Double) {
    let finite = places.filter { $0.x.isFinite && $0.y.isFinite }
    guard !finite.isEmpty, !random.oneIn(4) else {
      return (Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random))
    }
    let place = random.pick(finite)
    let spread = random.pick([0, 0.01, 1, 30])
    return (
      place.x + Double.random(in: -1...1, using: &random) * spread,
      place.y + Double.random(in: -1...1, using: &random) * spread
    )
  }

  /// Boxes and nearest places of an index, against all rows.
  static func verify(_ store: EntityStore, _ random: inout SplitMix64, rounds: Int, _ comment: Comment) throws -> Int {
    let view = try store.view()
    var found = 0
    for paths in indexed {
      for name in ["Place", "Airport"] {
        let entity = try #require(store.schema.entity(named: name))
        let search = try view.spatialSearch(entity, by: paths)
        let places = try PlacesModel.places(view, entity, paths)
        for _ in 0..<rounds {
          let (a, b) = (probe(places, &random), probe(places, &random))
          let open = random.below(8)
          let x = (open == 0 ? -Double.infinity : min(a.0, b.0))...(open == 1 ? .infinity : max(a.0, b.0))
          let y = (open == 2 ? -Double.infinity : min(a.1, b.1))...(open == 3 ? .infinity : max(a.1, b.1))
          let expected = places.filter { x.contains($0.x) && y.contains($0.y) }.map(\.reference)
          let inBox = try search.references(in: SpatialBox(x: x, y: y))
          #expect(inBox == expected, "\(comment): \(paths) of \(name) in \(x), \(y)")
          found += expected.count
          try verifyNearest(search, a, places, .euclidean, &random, "\(comment): \(paths) of \(name)")
          if paths == PlacesModel.location {
            try verifyNearest(search, a, places, .greatCircle(), &random, "\(comment): \(paths) of \(name)")
          } else if paths == ["y", "x"] {
            try verifyNearest(
              search, a, places, .greatCircle(latitudeFirst: false), &random, "\(comment): \(paths) of \(name)")
          }
        }
      }
    }
    return found
  }

  private static func verifyNearest(
    _ search: SpatialSearch, _ from: (Double, Double),
    _ places: [(reference: ObjectReference, x: Double, y: Double)], _ metric: SpatialMetric, _ random: inout SplitMix64,
    _ comment: Comment
  ) throws {
    var expected: [(order: Double, distance: Double, reference: ObjectReference)] = []
    for place in places {
      switch metric {
      case .euclidean:
        let (dx, dy) = (place.x - from.0, place.y - from.1)
        let square = dx * dx + dy * dy
        if !square.isNaN { expected.append((square, square.squareRoot(), place.reference)) }
      case .greatCircle(let latitudeFirst):
        // As the evaluator has it.
        func list(_ x: Double, _ y: Double) -> Value {
          .list(latitudeFirst ? [.double(x), .double(y)] : [.double(y), .double(x)])
        }
        var state = EvaluationState()
        let distance = try PredicateFunction.distance.apply([list(place.x, place.y), list(from.0, from.1)], &state)
        // Places are told apart by what the root is taken of; the distance has fewer digits of it.
        if case .double(let metres) = distance, !metres.isNaN,
          let measure = SpatialDistance(metric, fromX: from.0, y: from.1)?.measure(place.x, place.y)
        {
          expected.append((measure, metres, place.reference))
        }
      }
    }
    expected.sort { ($0.order, $0.reference.row) < ($1.order, $1.reference.row) }
    let limit = random.pick([1, 3, 10, Int.max])
    let found = try search.nearest(toX: from.0, y: from.1, limit: limit, metric: metric)
    #expect(found.map(\.reference) == expected.prefix(limit).map(\.reference), comment)
    #expect(found.map(\.distance) == expected.prefix(limit).map(\.distance), comment)
    if let middle = expected.dropFirst(expected.count / 3).first?.distance {
      let near = try search.nearest(toX: from.0, y: from.1, within: middle, metric: metric)
      #expect(near.map(\.reference) == expected.filter { $0.distance <= middle }.map(\.reference), comment)
    }
  }

  @Test func searchesAgreeWithRows() throws {
    let seed = testSeed(41)
    print("spatial searches: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let store = try PlacesModel.store()
    var found = try Self.verify(store, &random, rounds: 1, "empty")
    for size in [1, 20, testCount("CAMBIUM_PLACES", short: 500, full: 3000)] {
      try PlacesModel.insert(store, size, &random)
      found += try Self.verify(store, &random, rounds: 6, "with \(size) more")
    }
    for round in 0..<3 {
      try PlacesModel.change(store, 60, &random)
      found += try Self.verify(store, &random, rounds: 4, "changed \(round) times")
    }
    let report = try store.check()
    #expect(report.isSound, "\(report.problems)")
    let again = try EntityStore.open(store.kernel)
    found += try Self.verify(again, &random, rounds: 3, "opened again")
    #expect(found > 1000)
  }

  /// What a transaction has written and not yet committed is searched as well.
  @Test func transactionsSeeTheirOwn() throws {
    var random = SplitMix64(seed: 42)
    let store = try PlacesModel.store()
    try PlacesModel.insert(store, 50, &random)
    let place = try #require(store.schema.entity(named: "Place"))
    try store.write { (t) throws(EngineError) in
      let search = try t.spatialSearch(place, by: PlacesModel.location)
      let box = SpatialBox(x: 47.1...47.2, y: 8.4...8.6)
      let before = try search.references(in: box)
      let reference = try t.reserveReference(place)
      var values = RowValues()
      values.set("location", .composite(["latitude": .double(47.15), "longitude": .double(8.5)]))
      try t.insert(reference, values)
      #expect(try search.references(in: box) == before + [reference])
      #expect(try search.nearest(toX: 47.15, y: 8.5, limit: 1).first?.reference == reference)
      _ = try t.delete(reference)
      #expect(try search.references(in: box) == before)
    }
  }

  /// Great circles go over the antimeridian and the poles; boxes, of plain numbers, don't.
  @Test func theAntimeridian() throws {
    let store = try PlacesModel.store()
    let place = try #require(store.schema.entity(named: "Place"))
    let points = [(0.0, 179.9), (0.0, -179.9), (0.0, 180.1), (0.0, 170.0), (89.9, 10.0), (89.9, -170.0)]
    var references: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for (latitude, longitude) in points {
        var values = RowValues()
        values.set("location", .composite(["latitude": .double(latitude), "longitude": .double(longitude)]))
        let reference = try t.reserveReference(place)
        try t.insert(reference, values)
        references.append(reference)
      }
    }
    let search = try store.view().spatialSearch(place, by: PlacesModel.location)
    let near = try search.nearest(toX: 0, y: 179.95, within: 30_000, metric: .greatCircle())
    #expect(near.map(\.reference) == [references[0], references[1], references[2]])
    #expect(near.allSatisfy { $0.distance < 20_000 })
    #expect(try search.references(in: SpatialBox(x: -1...1, y: 179...181)) == [references[0], references[2]])
    let polar = try search.nearest(toX: 89.95, y: 100, within: 30_000, metric: .greatCircle())
    #expect(Set(polar.map(\.reference)) == [references[4], references[5]])
  }

  /// The formula agrees with the platform's functions.
  @Test func distancesAreThoseOfTheSphere() throws {
    var random = SplitMix64(seed: 43)
    for _ in 0..<500 {
      let (a, b) = (Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random))
      let (c, d) = (Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random))
      func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
      let cosine =
        sin(radians(a)) * sin(radians(c)) + cos(radians(a)) * cos(radians(c)) * cos(radians(b) - radians(d))
      let expected = 6_371_008.8 * acos(max(-1, min(1, cosine)))
      let found = try #require(greatCircle(a, b, c, d))
      #expect(abs(found - expected) <= 1 + expected * 1e-7)
      #expect(greatCircle(c, d, a, b) == found)
    }
  }

  /// No place of a cell is nearer than the cell is said to be.
  @Test func cellsAreNoFurtherThanTheirPlaces() throws {
    var random = SplitMix64(seed: 44)
    for _ in 0..<20_000 {
      let x = PlacesModel.degrees(&random, 100)
      let y = PlacesModel.degrees(&random, 200)
      var cell = PlaneCell.plane
      let depth = random.below(33)
      while cell.level > UInt8(32 - depth) {
        let parts = (0..<4).map { cell.child($0) }
        guard
          let part = parts.first(where: {
            ($0.x...$0.lastX).contains(PlaneAxis.step(x)) && ($0.y...$0.lastY).contains(PlaneAxis.step(y))
          })
        else { break }
        cell = part
      }
      let from = (Double.random(in: -95...95, using: &random), Double.random(in: -370...370, using: &random))
      for metric in [SpatialMetric.euclidean, .greatCircle(), .greatCircle(latitudeFirst: false)] {
        guard let distance = SpatialDistance(metric, fromX: from.0, y: from.1), let measure = distance.measure(x, y)
        else { continue }
        #expect(distance.least(cell) <= measure, "\(metric) from \(from) to (\(x), \(y)) in level \(cell.level)")
      }
    }
  }

  @Test func misuse() throws {
    let store = try PlacesModel.store()
    let place = try #require(store.schema.entity(named: "Place"))
    let view = try store.view()
    for paths in [["x", "y"], ["location.longitude", "location.latitude"], [], ["name"]] {
      let error = #expect(throws: EngineError.self) { _ = try view.spatialSearch(place, by: paths) }
      #expect(error?.description.contains("no R-tree index") ?? false)
    }
    // A lookup is by value, which places don't have an order for.
    #expect(throws: EngineError.self) { _ = try view.lookup(place, by: PlacesModel.grid) }
    let search = try view.spatialSearch(place, by: PlacesModel.location)
    for (x, y) in [(Double.nan, 0), (0, .infinity)] {
      #expect(throws: EngineError.self) { _ = try search.nearest(toX: x, y: y) }
    }
    #expect(try search.nearest(toX: 0, y: 0, limit: -1).isEmpty)
  }

  // MARK: Migration

  /// An index that a migration adds is built from the rows, at once or in parts, with changes meanwhile.
  @Test(arguments: [false, true]) func addedByMigration(_ defers: Bool) throws {
    var random = SplitMix64(seed: defers ? 45 : 46)
    var store = try PlacesModel.store(indexed: false)
    try PlacesModel.insert(store, 300, &random)
    store = try store.migrate(to: PlacesModel.definition(), defers: defers)
    if defers {
      let place = try #require(store.schema.entity(named: "Place"))
      #expect(try store.deferredTasks().count == 5)
      let error = #expect(throws: EngineError.self) {
        _ = try store.view().spatialSearch(place, by: PlacesModel.location)
      }
      #expect(error?.description.contains("not built yet") ?? false)
      var parts = 0
      while try store.runDeferredTask(maximumRows: 60) {
        try PlacesModel.change(store, 5, &random)
        let report = try store.check()
        #expect(report.isSound, "\(report.problems)")
        parts += 1
      }
      #expect(parts > 20)
    }
    #expect(try Self.verify(store, &random, rounds: 4, "migrated") > 100)
    #expect(try store.check().isSound)
    store = try store.migrate(to: PlacesModel.definition(indexed: false))
    #expect(try store.check().isSound)
    let place = try #require(store.schema.entity(named: "Place"))
    #expect(throws: EngineError.self) { _ = try store.view().spatialSearch(place, by: PlacesModel.location) }
  }

  /// A check finds entries without a row and rows without an entry.
  @Test func checksFindWhatIsWrong() throws {
    var random = SplitMix64(seed: 47)
    let store = try PlacesModel.store()
    try PlacesModel.insert(store, 30, &random)
    let plan = try store.plan(try #require(store.schema.entity(named: "Place")).id)
    let tree = try #require(plan.spatialIndexes.first { $0.paths == PlacesModel.location }?.tree)
    let transaction = try store.kernel.beginWrite()
    var encoder = KeyEncoder()
    encoder.append(KeyPlace(x: 1, y: 2))
    encoder.append(rowID: 1_000_000)
    try transaction.put(tree, encoder.bytes, [])
    let cursor = try transaction.cursor(tree)
    #expect(try cursor.seekFirst())
    _ = try transaction.delete(tree, Array(cursor.key))
    _ = try transaction.commit()
    let problems = try store.check().problems
    #expect(problems.count == 2, "\(problems)")
  }
}

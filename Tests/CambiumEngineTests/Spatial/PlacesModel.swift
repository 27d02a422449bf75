import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// A model with places of several kinds, random ones of them, and what is to be found among them.
enum PlacesModel {
  static let location = ["location.latitude", "location.longitude"]
  static let grid = ["column", "line"]
  static let mixed = ["price", "day"]

  static func definition(indexed: Bool = true) -> SchemaDefinition {
    let coordinates = CompositeSchema(
      "Coordinates", elements: [AttributeSchema("latitude", .double), AttributeSchema("longitude", .double)])
    func rTree(_ name: String, _ paths: [String], where condition: String? = nil) -> IndexSchema {
      IndexSchema(name, paths.map { IndexElement($0, kind: .rTree) }, partialPredicate: condition)
    }
    let place = EntitySchema(
      "Place",
      attributes: [
        AttributeSchema("location", composite: "Coordinates"), AttributeSchema("column", .integer32),
        AttributeSchema("line", .integer64), AttributeSchema("price", .decimal), AttributeSchema("day", .date),
        AttributeSchema("x", .float), AttributeSchema("y", .float), AttributeSchema("name", .string),
      ],
      indexes: indexed
        ? [
          rTree("byLocation", location), rTree("byGrid", grid), rTree("byMixed", mixed), rTree("byLine", ["y", "x"]),
          rTree("named", ["x", "y"], where: "name != nil"),
        ] : [])
    let airport = EntitySchema("Airport", parent: "Place", attributes: [AttributeSchema("runways", .integer16)])
    return SchemaDefinition([place, airport], composites: [coordinates])
  }

  static func store(indexed: Bool = true, seed: UInt64 = 1) throws -> EntityStore {
    try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: seed)),
      schema: try Schema(definition(indexed: indexed)))
  }

  static let odd: [Double] = [
    0, -0.0, 90, -90, 180, -180, 89.999999, 179.999999, -179.999999, 256, -256, 1e300, -1e300, .infinity, -.infinity,
    .nan,
    .leastNonzeroMagnitude, 271, -95, 360, 1e12,
  ]

  /// Degrees: some of few places, some near one another, some anywhere, and now and then what is none.
  static func degrees(_ random: inout SplitMix64, _ range: Double) -> Double {
    switch random.below(12) {
    case 0: return random.pick(odd)
    case 1, 2, 3: return Double(random.below(5)) * 10
    case 4, 5, 6: return 8 + Double(random.below(1000)) / 5000
    default: return Double.random(in: -range...range, using: &random)
    }
  }

  static func values(_ random: inout SplitMix64) -> RowValues {
    var values = RowValues()
    func orNull(_ value: Value) -> Value { random.oneIn(10) ? .null : value }
    if !random.oneIn(12) {
      let (latitude, longitude) = (degrees(&random, 90), degrees(&random, 180))
      values.set(
        "location",
        .composite(["latitude": orNull(.double(latitude)), "longitude": orNull(.double(longitude))]))
    } else {
      values.set("location", .null)
    }
    values.set("column", orNull(.integer(Int64(random.below(40) - 20))))
    values.set(
      "line", orNull(.integer(random.oneIn(20) ? Int64(bitPattern: random.next()) : Int64(random.below(1000)))))
    values.set("price", orNull(.decimal(DecimalValue(Int64(random.below(100_000)) - 50_000))))
    values.set("day", orNull(.date(Double(random.below(1_000_000_000)))))
    values.set("x", orNull(.float(Float(degrees(&random, 180)))))
    values.set("y", orNull(.float(Float(degrees(&random, 90)))))
    values.set("name", random.oneIn(2) ? .null : .string("p"))
    return values
  }

  static func insert(_ store: EntityStore, _ count: Int, _ random: inout SplitMix64) throws {
    let names = (0..<count).map { _ in random.oneIn(3) ? "Airport" : "Place" }
    let rows = names.map { _ in values(&random) }
    try store.write { (t) throws(EngineError) in
      for (name, row) in zip(names, rows) {
        guard let entity = store.schema.entity(named: name) else { continue }
        try t.insert(try t.reserveReference(entity), row)
      }
    }
  }

  /// Inserts, changes and deletes some rows in a transaction.
  static func change(_ store: EntityStore, _ count: Int, _ random: inout SplitMix64) throws {
    let place = try #require(store.schema.entity(named: "Place"))
    var all = try store.view().fetch(EngineFetch(place))
    for _ in 0..<count where !all.isEmpty {
      let victim = all.remove(at: random.below(all.count))
      let isDeleted = random.oneIn(3)
      let new = values(&random)
      try store.write { (t) throws(EngineError) in
        if isDeleted { _ = try t.delete(victim) } else { try t.update(victim, new) }
      }
    }
    try insert(store, count / 3, &random)
  }

  /// The places of all rows that have one, read from the rows.
  static func places(
    _ view: EntityView, _ entity: EntitySchema, _ paths: [String]
  ) throws -> [(reference: ObjectReference, x: Double, y: Double)] {
    try view.fetchRows(EngineFetch(entity)).compactMap { row in
      func coordinate(_ path: String) throws -> Double? {
        let value = try row.value(keyPath: path)
        if case .date(let seconds) = value { return seconds }
        return value.nearestDouble
      }
      guard let x = try coordinate(paths[0]), let y = try coordinate(paths[1]) else { return nil }
      return (row.reference, x, y)
    }
  }
}

import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// `castObject:toEntity:` asks of which entity an object is. A plan, a scan and the evaluator answer alike.
@Suite struct EntityCastTests {
  private let store: EntityStore
  private let view: EntityView
  private let trip: EntitySchema
  private let stop: EntitySchema
  /// What each trip is, in the order of rows.
  private var trips: [(kind: String, number: Int64, reason: String?, reference: ObjectReference)] = []
  private var stops: [(trip: Int?, reference: ObjectReference)] = []

  private static func schema(condition: String? = nil) throws -> Schema {
    let index = IndexSchema("some", [IndexElement("number")], partialPredicate: condition)
    return try Schema(
      SchemaDefinition([
        EntitySchema(
          "Trip", attributes: [AttributeSchema("number", .integer64), AttributeSchema("name", .string)],
          relationships: [RelationshipSchema("stops", toMany: "Stop", inverse: "trip")],
          indexes: [condition == nil ? IndexSchema("byNumber", [IndexElement("number")]) : index]),
        EntitySchema("Business", parent: "Trip", attributes: [AttributeSchema("reason", .string)]),
        EntitySchema("Urgent", parent: "Business", attributes: [AttributeSchema("hours", .integer64)]),
        EntitySchema(
          "Personal", parent: "Trip", attributes: [AttributeSchema("reason", .string)],
          indexes: [IndexSchema("byReason", [IndexElement("reason")])]),
        EntitySchema(
          "Stop", attributes: [AttributeSchema("place", .string)],
          relationships: [RelationshipSchema("trip", to: "Trip", inverse: "stops")]),
      ]))
  }

  init() throws {
    store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 7)), schema: try Self.schema())
    trip = try #require(store.schema.entity(named: "Trip"))
    stop = try #require(store.schema.entity(named: "Stop"))
    var random = SplitMix64(seed: testSeed(20_271_004))
    var trips: [(kind: String, number: Int64, reason: String?, reference: ObjectReference)] = []
    var stops: [(trip: Int?, reference: ObjectReference)] = []
    let (store, stop) = (store, stop)
    try store.write { (t) throws(EngineError) in
      for n in 0..<500 {
        let kind = random.pick(["Trip", "Business", "Urgent", "Personal"])
        let reason: String? = kind == "Trip" || random.oneIn(5) ? nil : random.pick(["fair", "beach", "board"])
        guard let entity = store.schema.entity(named: kind) else { continue }
        var row = RowValues()
        row.set("number", .integer(Int64(n % 50)))
        if let reason { row.set("reason", .string(reason)) }
        let reference = try t.reserveReference(entity)
        try t.insert(reference, row)
        trips.append((kind, Int64(n % 50), reason, reference))
      }
      for n in 0..<800 {
        let place: Int? = random.oneIn(10) ? nil : random.below(500)
        var row = RowValues()
        row.set("place", .string("p\(n % 7)"))
        if let place { row.set(toOne: "trip", trips[place].reference) }
        let reference = try t.reserveReference(stop)
        try t.insert(reference, row)
        stops.append((place, reference))
      }
    }
    try store.kernel.checkpoint()
    (self.trips, self.stops) = (trips, stops)
    view = try store.view()
  }

  private func check(_ format: String, _ entity: EntitySchema, _ expected: [ObjectReference]) throws {
    let predicate = try Predicate(format: format)
    #expect(try Predicate(format: predicate.description) == predicate, "\(format)")
    var fetch = EngineFetch(entity, predicate: predicate)
    #expect(try view.fetch(fetch) == expected, "\(format)")
    #expect(try view.count(fetch) == expected.count, "\(format)")
    fetch.usesIndexes = false
    #expect(try view.fetch(fetch) == expected, "\(format)")
    fetch.limit = 3
    #expect(try view.fetch(fetch) == Array(expected.prefix(3)), "\(format)")
    let checked = try predicate.check(against: store.schema, entity: entity.id)
    let reader = PathReader(view: view)
    var found: [ObjectReference] = []
    for reference in entity.name == "Trip" ? trips.map({ $0.reference }) : stops.map({ $0.reference }) {
      guard let row = try view.row(reference), try reader.matches(checked, row) else { continue }
      found.append(reference)
    }
    #expect(found == expected, "\(format)")
  }

  private func expectTrips(
    _ format: String, _ holds: ((kind: String, number: Int64, reason: String?, reference: ObjectReference)) -> Bool
  ) throws { try check(format, trip, trips.filter(holds).map { $0.reference }) }

  private func isBusiness(_ kind: String) -> Bool { kind == "Business" || kind == "Urgent" }

  @Test func evaluatedObject() throws {
    try expectTrips("castObject:toEntity:(SELF, 'Business') != NULL") { isBusiness($0.kind) }
    try expectTrips("castObject:toEntity:(SELF, 'Urgent') != NULL") { $0.kind == "Urgent" }
    try expectTrips("castObject:toEntity:(SELF, 'Business') == NULL") { !isBusiness($0.kind) }
    try expectTrips("NOT castObject:toEntity:(SELF, 'Personal') != NULL") { $0.kind != "Personal" }
    try expectTrips("castObject:toEntity:(SELF, 'Trip') != NULL") { _ in true }
    try expectTrips("castObject:toEntity:(SELF, 'Stop') != NULL") { _ in false }
    try expectTrips("number < 10 AND castObject:toEntity:(SELF, 'Urgent') != NULL") {
      $0.number < 10 && $0.kind == "Urgent"
    }
    try expectTrips("castObject:toEntity:(SELF, 'Urgent') != NULL OR number == 3") {
      $0.number == 3 || $0.kind == "Urgent"
    }
    try expectTrips("TERNARY(castObject:toEntity:(SELF, 'Urgent') != NULL, 1, 2) == 1") { $0.kind == "Urgent" }
  }

  @Test func propertiesOfSubentities() throws {
    try expectTrips("castObject:toEntity:(SELF, 'Personal').reason == 'beach'") {
      $0.kind == "Personal" && $0.reason == "beach"
    }
    try expectTrips("castObject:toEntity:(SELF, 'Personal').reason != 'beach'") {
      !($0.kind == "Personal" && $0.reason == "beach")
    }
    try expectTrips(
      "castObject:toEntity:(SELF, 'Personal') != NULL AND castObject:toEntity:(SELF, 'Personal').reason == NULL"
    ) { $0.kind == "Personal" && $0.reason == nil }
    try expectTrips("castObject:toEntity:(SELF, 'Urgent').number == 7") { $0.kind == "Urgent" && $0.number == 7 }
    try expectTrips("castObject:toEntity:(SELF, 'Trip').number == 7") { $0.number == 7 }
    try expectTrips(
      "castObject:toEntity:(castObject:toEntity:(SELF, 'Business'), 'Urgent').reason BEGINSWITH 'b'"
    ) { $0.kind == "Urgent" && $0.reason?.hasPrefix("b") == true }
    try expectTrips("castObject:toEntity:(SELF, 'Stop').place == 'p1'") { _ in false }
  }

  @Test func relatedObjects() throws {
    func expect(_ format: String, _ holds: (Int?) -> Bool) throws {
      try check(format, stop, stops.filter { holds($0.trip) }.map { $0.reference })
    }
    let trips = trips
    try expect("castObject:toEntity:(trip, 'Business') != NULL") { $0.map { isBusiness(trips[$0].kind) } ?? false }
    try expect("castObject:toEntity:(trip, 'Business') == NULL") { !($0.map { isBusiness(trips[$0].kind) } ?? false) }
    try expect("castObject:toEntity:(trip, 'Trip') != NULL") { $0 != nil }
    try expect("castObject:toEntity:(trip, 'Personal').reason == 'fair'") {
      $0.map { trips[$0].kind == "Personal" && trips[$0].reason == "fair" } ?? false
    }
    var byTrip: [Int: Int] = [:]
    for case let place? in stops.map({ $0.trip }) { byTrip[place, default: 0] += 1 }
    try check(
      "SUBQUERY(stops, $s, castObject:toEntity:($s.trip, 'Urgent') != NULL).@count > 1", trip,
      trips.indices.filter { trips[$0].kind == "Urgent" && byTrip[$0] ?? 0 > 1 }.map { trips[$0].reference })
    try expect("SUBQUERY(trip.stops, $s, castObject:toEntity:($s.trip, 'Personal').reason == 'fair').@count > 0") {
      $0.map { trips[$0].kind == "Personal" && trips[$0].reason == "fair" } ?? false
    }
  }

  @Test func whatIsRefused() throws {
    func refused(_ format: String, _ text: String) throws {
      let error = #expect(throws: PredicateError.self) {
        _ = try Predicate(format: format).check(against: store.schema, entity: trip.id)
      }
      #expect(error?.description.contains(text) == true, "\(error?.description ?? "none")")
    }
    try refused("castObject:toEntity:(SELF, 'Flight') != NULL", "no entity 'Flight'")
    try refused("castObject:toEntity:(name, 'Trip') != NULL", "only an object has an entity")
    try refused("castObject:toEntity:(SELF, name) != NULL", "as a literal")
    try refused("castObject:toEntity:(stops, 'Stop') != NULL", "takes one value")
    try refused("castObject:toEntity:(SELF, 'Personal').hours == 1", "no property 'hours'")
    #expect(throws: PredicateEvaluationError<PredicateError>.self) {
      _ = try Predicate(format: "castObject:toEntity:(SELF, 'Trip') != NULL")
        .evaluate { (_, _) throws(PredicateError) in .null }
    }
    let error = #expect(throws: SchemaError.self) {
      _ = try Self.schema(condition: "castObject:toEntity:(SELF, 'Business') != NULL")
    }
    #expect(error?.description.contains("declare the index in that entity") == true, "\(error?.description ?? "")")
  }

  @Test func subentityPathsAreToldApart() throws {
    let reads = try Predicate(format: "castObject:toEntity:(SELF, 'Personal').reason == 'x' AND number == 1").reads()
    #expect(reads.keyPaths == ["number"])
    #expect(reads.subentityPaths.map { $0.entity + "." + $0.keyPath } == ["Personal.reason"])
    #expect(reads.testsEntity && !reads.otherObjects && !reads.isVolatile)
    #expect(try Predicate(format: "castObject:toEntity:(number, 'Personal').reason == 'x'").reads().otherObjects)
  }
}

import Cambium
import Foundation
import Testing

/// Each format with the aircraft or log entries that match: in the store, in memory, and with everything unsaved.
@Suite struct PredicateTableTests {
  private static func fill(_ context: ManagedObjectContext) throws {
    var pilots: [ManagedObject] = []
    for name in ["Ada", "Émile", "Bo"] { pilots.append(try context.make("Pilot", ["name": name])) }
    for (pilot, titles) in zip(pilots, [["IR", "CFI"], ["MEI"], []]) {
      try pilot.set(titles.map { try context.make("Endorsement", ["title": $0]) }, forKey: "endorsements")
    }
    var airports: [ManagedObject] = []
    for (code, latitude, longitude) in [("SFO", 37.619, -122.375), ("OAK", 37.721, -122.221), ("JFK", 40.640, -73.779)]
    {
      let place: [String: Any] = ["timeZone": code, "location": ["latitude": latitude, "longitude": longitude]]
      airports.append(try context.make("Airport", ["faaIdentifier": code, "place": place]))
    }
    var aircraft: [ManagedObject] = []
    for (tail, engines, color) in [("N1", 1, "white"), ("N22", 2, "Blue"), ("D-EX", 2, nil), ("n1", nil, "white")] {
      let scheme: [String: Any]? = color.map { ["primary": $0] }
      aircraft.append(try context.make("Aircraft", ["tailNumber": tail, "engines": engines, "colorScheme": scheme]))
    }
    for number in 0..<9 {
      let entry = try context.make(
        "LogEntry",
        [
          "number": number, "duration": number == 4 ? nil : Double(number) * 1800,
          "date": Date(timeIntervalSinceReferenceDate: Double(number) * 86_400), "aircraft": aircraft[number % 3],
          "origin": airports[number % 3], "destination": airports[(number / 3) % 3],
          "remarks": number % 4 == 0 ? nil : "Leg \(number)",
        ])
      try entry.set(Set(pilots[0...(number % 3)]), forKey: "pilots")
    }
  }

  /// Tail numbers of aircraft.
  static let aircraft: [(String, [String])] = [
    ("engines * 2 > 3", ["D-EX", "N22"]), ("engines + 1 == 2", ["N1"]), ("engines / 2 == 0", ["N1"]),
    ("engines / 2.0 == 0.5", ["N1"]), ("engines - 1 == nil", ["n1"]),
    ("engines / 0 == nil", ["D-EX", "N1", "N22", "n1"]),
    ("-engines < -1", ["D-EX", "N22"]), ("engines ** 3 == 8", ["D-EX", "N22"]), ("10 < engines * 6", ["D-EX", "N22"]),
    ("length(tailNumber) > 3", ["D-EX"]), ("lowercase(tailNumber) == 'n1'", ["N1", "n1"]),
    ("uppercase(colorScheme.primary) == 'BLUE'", ["N22"]), ("tailNumber MATCHES 'N\\\\d+'", ["N1", "N22"]),
    ("tailNumber MATCHES[c] 'n\\\\d'", ["N1", "n1"]), ("NOT tailNumber MATCHES '[A-Z0-9]+'", ["D-EX", "n1"]),
    ("logEntries.@count == 3", ["D-EX", "N1", "N22"]), ("logEntries.@count == 0", ["n1"]),
    ("logEntries.@sum.duration > 20000", ["D-EX"]), ("logEntries.@avg.duration == 9000", ["D-EX"]),
    ("logEntries.@max.number == 7", ["N22"]), ("logEntries.@min.duration == 1800", ["N22"]),
    ("logEntries.@max.duration == nil", ["n1"]), ("max(logEntries.number) == 8", ["D-EX"]),
    ("SUBQUERY(logEntries, $e, $e.duration > 10800).@count == 1", ["D-EX", "N22"]),
    ("SUBQUERY(logEntries, $e, $e.number >= engines * 3).@count >= 2", ["N1"]),
    (
      "SUBQUERY(logEntries, $e, SUBQUERY($e.pilots, $p, $p.name BEGINSWITH 'É').@count > 0).@count == 3",
      ["D-EX", "N22"]
    ),
    ("SUBQUERY(logEntries, $e, $e.aircraft == SELF).@count == 3", ["D-EX", "N1", "N22"]),
    ("ANY SUBQUERY(logEntries, $e, $e.number > 3).remarks ENDSWITH '7'", ["N22"]),
    ("logEntries.@distinctUnionOfObjects.destination.@count == 3", ["D-EX", "N1", "N22"]),
    ("TERNARY(engines == 1, 'one', 'more') == 'one'", ["N1"]), ("CAST(engines, 'NSString') == '2'", ["D-EX", "N22"]),
    ("TERNARY(colorScheme == nil, tailNumber, colorScheme.primary) == 'D-EX'", ["D-EX"]),
    ("colorScheme['primary'] == 'white'", ["N1", "n1"]), ("modulus:by:(engines, 2) == 0", ["D-EX", "N22"]),
    ("tailNumber == 'N1' AND logEntries.@count > 1 + 1", ["N1"]), ("noindex(tailNumber) == 'N22'", ["N22"]),
  ]

  /// Numbers of log entries.
  static let entries: [(String, [Int])] = [
    ("duration / 3600 >= 3.5", [7, 8]), ("date - CAST(86400, 'NSDate') == 86400", [2]),
    ("date + 86400 == CAST(172800, 'NSDate')", [1]), ("number * number == 16", [4]), ("sqrt(number) == 2", [4]),
    ("origin == destination", [0, 4, 8]),
    (
      "distanceToLocation:fromLocation:(origin.place.location, destination.place.location) BETWEEN {10000, 20000}",
      [1, 3]
    ),
    ("pilots.@count > 2 AND remarks != nil", [2, 5]), ("ANY pilots.endorsements.title == 'MEI'", [1, 2, 4, 5, 7, 8]),
    (
      "SUBQUERY(pilots, $p, $p.endorsements[SIZE] == 2 AND $p.endorsements[FIRST].title == 'IR').@count == 1",
      Array(0...8)
    ),
    ("SUBQUERY(pilots, $p, ($p.endorsements[LAST]).title == 'MEI').@count == 0", [0, 3, 6]),
    ("aircraft.logEntries.@count * number == 6", [2]), ("aircraft.engines + number IN {1, 10}", [0, 8]),
    ("length(remarks) == nil", [0, 4, 8]), ("floor(duration / 3600) == 1", [2, 3]), ("now() > date", Array(0...8)),
    ("CAST(date, 'NSNumber') / 86400 == 3", [3]), ("remarks MATCHES '.*[1-3]'", [1, 2, 3]),
    ("median({number, 4, 9}) == 4", [0, 1, 2, 3, 4]), ("bitwiseAnd:with:(number, 6) == 6", [6, 7]),
  ]

  private static func tails(_ objects: [ManagedObject]) -> [String] {
    objects.compactMap { $0.value(forKey: "tailNumber") as? String }.sorted()
  }

  private static func numbers(_ objects: [ManagedObject]) -> [Int] {
    objects.compactMap { $0.value(forKey: "number") as? Int }.sorted()
  }

  /// Each row of both tables with what a context finds by fetching and by evaluating.
  private static func check(_ context: ManagedObjectContext, _ what: String) throws {
    func both(_ entity: String, _ format: String) throws -> ([ManagedObject], [ManagedObject]) {
      let predicate = try FetchPredicate(format: format)
      return (try context.all(entity, format), try context.all(entity).filter { try predicate.evaluate(with: $0) })
    }
    for (format, expected) in aircraft {
      let (fetched, evaluated) = try both("Aircraft", format)
      #expect(tails(fetched) == expected.sorted(), "\(what), fetched: \(format)")
      #expect(tails(evaluated) == expected.sorted(), "\(what), evaluated: \(format)")
    }
    for (format, expected) in entries {
      let (fetched, evaluated) = try both("LogEntry", format)
      #expect(numbers(fetched) == expected, "\(what), fetched: \(format)")
      #expect(numbers(evaluated) == expected, "\(what), evaluated: \(format)")
    }
  }

  @Test func storeAndMemoryAgree() throws {
    let container = try memoryContainer()
    try Self.fill(container.viewContext)
    try Self.check(container.viewContext, "unsaved")
    try container.viewContext.save()
    try Self.check(container.viewContext, "saved")
    try Self.check(container.newBackgroundContext(), "another context")
    // A change somewhere: nothing that matters, but fetches have to look.
    _ = try container.viewContext.make("Licence", ["number": "1"])
    try Self.check(container.viewContext, "beside a change")
  }

  @Test func unsavedChangesCount() throws {
    let container = try memoryContainer()
    let context = container.viewContext
    try Self.fill(context)
    try context.save()
    let four = try #require(try context.all("LogEntry", "number == 4").first)
    try four.set(99_000.0, forKey: "duration")
    #expect(try context.all("Aircraft", "SUBQUERY(logEntries, $e, $e.duration > 90000).@count == 1").count == 1)
    #expect(try context.all("Aircraft", "logEntries.@max.duration == 99000").count == 1)
    context.delete(four)
    #expect(try context.all("Aircraft", "logEntries.@max.duration == 99000").isEmpty)
    #expect(try context.all("Aircraft", "logEntries.@count == 2").count == 1)
    // A path from an object that is given, saved or not.
    let tail = try context.make("Aircraft", ["tailNumber": "X", "engines": 4])
    let predicate = try FetchPredicate(format: "engines * 2 == $other.engines").withSubstitutionVariables([
      "other": tail
    ])
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    request.predicate = predicate
    #expect(Self.tails(try context.fetch(request)) == ["D-EX", "N22"])
    #expect(cambiumError { _ = try JSONEncoder().encode(predicate) } == nil)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(predicate) }
  }

  @Test func errorsComeWithTheRequest() throws {
    let context = try memoryContainer().viewContext
    for format in [
      "engines + 'x' == 1", "logEntries.number > 3", "SUBQUERY(logEntries, $e, $e.nothing == 1).@count > 0",
      "tailNumber MATCHES '(?=x)'", "logEntries[0] == nil", "FUNCTION(tailNumber, 'hasPrefix:', 'N') == YES",
    ] {
      #expect(cambiumError { _ = try context.all("Aircraft", format) }?.code == .invalidPredicate, "\(format)")
    }
    for format in ["FETCH(a, b, YES) > 1", "$x := 1", "a.@median.b > 1", "shout(a) == 'A'"] {
      let error = cambiumError { _ = try FetchPredicate(format: format) }
      #expect(error?.code == .invalidPredicate, "\(format)")
    }
  }

  @Test func predicatesAreCoded() throws {
    let predicate = try FetchPredicate(
      format: "engines * 2 > %d AND SUBQUERY(logEntries, $e, $e.number > 1).@count > 0", 3)
    let data = try JSONEncoder().encode(predicate)
    #expect(try JSONDecoder().decode(FetchPredicate.self, from: data) == predicate)
  }
}

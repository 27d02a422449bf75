import Cambium
import Foundation
import Testing

/// Foundation's predicates, evaluated by Foundation on plain objects, and by the store on the same.
@Suite struct FoundationPredicateTests {
  private let planes: Planes

  init() throws { planes = try Planes() }

  /// Compares the two answers, and the translation with what is expected.
  private func check(
    _ predicate: Predicate<Plane>, _ format: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let translated = try FetchPredicate(predicate)
    #expect(translated.predicateFormat == format, sourceLocation: sourceLocation)
    #expect(try FetchPredicate(format: format) == translated, sourceLocation: sourceLocation)
    let expected = try planes.plain.filter { try predicate.evaluate($0) }.map { $0.tail }
    #expect(try planes.stored(translated) == expected, sourceLocation: sourceLocation)
  }

  @Test func comparisons() throws {
    try check(#Predicate { $0.tail == "N1" }, "tail == \"N1\"")
    try check(#Predicate { $0.tail != "N1" }, "tail != \"N1\"")
    try check(#Predicate { $0.engines >= 2 }, "engines >= 2")
    try check(#Predicate { 2 > $0.engines }, "2 > engines")
    try check(#Predicate { $0.hours < 333.0 }, "hours < 333.0")
    try check(#Predicate { $0.tail <= "D4" }, "tail <= \"D4\"")
    let date = Date(timeIntervalSinceReferenceDate: 3000)
    try check(#Predicate { $0.built > date }, "built > CAST(3000.0, \"NSDate\")")
    let kind = PlaneKind.glider
    try check(#Predicate { $0.kind == kind }, "kind == \"glider\"")
    let wanted = Paint(primary: "gold", secondary: "blue")
    try check(#Predicate { $0.paint?.secondary == wanted.secondary }, "paint.secondary == \"blue\"")
  }

  @Test func logic() throws {
    try check(#Predicate { $0.isActive }, "isActive == TRUE")
    try check(#Predicate { !$0.isActive }, "isActive != TRUE")
    try check(
      #Predicate { $0.isActive && $0.engines == 2 && $0.hours > 1 },
      "isActive == TRUE AND engines == 2 AND hours > 1.0")
    try check(
      #Predicate { $0.isActive && ($0.engines == 0 || $0.engines == 1) },
      "isActive == TRUE AND (engines == 0 OR engines == 1)")
    try check(#Predicate { !($0.engines == 1 || $0.hours > 100) }, "NOT (engines == 1 OR hours > 100.0)")
    try check(
      #Predicate { ($0.engines > 1) == $0.isActive },
      "engines > 1 AND isActive == TRUE OR NOT engines > 1 AND isActive == FALSE")
    try check(#Predicate { ($0.engines > 1) != true }, "NOT engines > 1")
    try check(Predicate<Plane>.true, "TRUEPREDICATE")
    try check(Predicate<Plane>.false, "FALSEPREDICATE")
  }

  @Test func optionals() throws {
    try check(#Predicate { $0.seats == nil }, "seats == NULL")
    try check(#Predicate { $0.seats != nil }, "seats != NULL")
    try check(#Predicate { $0.seats == 4 }, "seats == 4")
    try check(#Predicate { $0.seats != 4 }, "seats != 4")
    try check(#Predicate { ($0.seats ?? 0) > 1 }, "seats > 1")
    try check(#Predicate { ($0.seats ?? 100) > 3 }, "seats == NULL OR seats > 3")
    try check(#Predicate { ($0.seats ?? 100) == 100 }, "seats == NULL OR seats == 100")
    try check(#Predicate { $0.seats.flatMap { $0 > 1 } ?? false }, "seats > 1")
    try check(#Predicate { $0.seats.flatMap { $0 > 1 } == true }, "seats > 1")
    try check(#Predicate { $0.seats.flatMap { $0 > 1 } == nil }, "seats == NULL")
    try check(#Predicate { $0.seats.flatMap { $0 > 1 } != true }, "seats == NULL OR NOT seats > 1")
    try check(#Predicate { if let seats = $0.seats { seats < 5 } else { true } }, "seats == NULL OR seats < 5")
    try check(#Predicate { $0.owner?.name == "Bob" }, "owner.name == \"Bob\"")
    try check(#Predicate { $0.owner?.name != "Bob" }, "owner.name != \"Bob\"")
    try check(#Predicate { $0.owner?.city == nil }, "owner.city == NULL")
    try check(#Predicate { $0.owner?.city?.contains("er") ?? false }, "owner.city CONTAINS \"er\"")
    try check(#Predicate { ($0.owner?.city ?? "Rome") == "Rome" }, "owner.city == NULL OR owner.city == \"Rome\"")
    try check(#Predicate { $0.owner == nil }, "owner == NULL")
    try check(#Predicate { $0.paint?.secondary == "blue" }, "paint.secondary == \"blue\"")
    try check(#Predicate { $0.paint?.secondary != nil }, "paint.secondary != NULL")
    try check(#Predicate { $0.colors["primary"] == "white" }, "paint.primary == \"white\"")
    try check(#Predicate { $0.colors["secondary"] == nil }, "paint.secondary == NULL")
    try check(
      #Predicate { $0.colors["secondary", default: "none"] == "none" },
      "paint.secondary == NULL OR paint.secondary == \"none\"")
  }

  @Test func strings() throws {
    try check(#Predicate { $0.tail.starts(with: "N") }, "tail BEGINSWITH \"N\"")
    try check(#Predicate { $0.tail.contains("4") }, "tail CONTAINS \"4\"")
    try check(#Predicate { ($0.note ?? "").contains("lue") }, "note CONTAINS \"lue\"")
    try check(#Predicate { $0.note?.isEmpty == true }, "note == \"\"")
    try check(#Predicate { $0.note?.starts(with: "B") ?? true }, "note == NULL OR note BEGINSWITH \"B\"")
    try check(#Predicate { $0.tail.count == 2 }, "length(tail) == 2")
    try check(#Predicate { $0.tail.localizedStandardContains("n") }, "tail CONTAINS[cd] \"n\"")
    try check(
      #Predicate { $0.note?.localizedStandardContains("BLÜE") ?? false }, "note CONTAINS[cd] \"BLÜE\"")
    let search = ""
    try check(#Predicate { search.isEmpty || $0.tail.localizedStandardContains(search) }, "TRUEPREDICATE")
    #expect(
      try planes.plain.filter {
        try #Predicate<Plane> { $0.note?.localizedStandardContains("blu") ?? false }.evaluate($0)
      }
      .map { $0.tail } == ["N1", "D4"])
  }

  @Test func ranges() throws {
    try check(#Predicate { (1...2).contains($0.engines) }, "engines BETWEEN {1, 2}")
    try check(#Predicate { (1..<2).contains($0.engines) }, "engines >= 1 AND engines < 2")
    let hours = 100.0...2000.0
    try check(#Predicate { hours.contains($0.hours) }, "hours BETWEEN {100.0, 2000.0}")
    let years = Date(timeIntervalSinceReferenceDate: 2000)..<Date(timeIntervalSinceReferenceDate: 4000)
    try check(
      #Predicate { years.contains($0.built) },
      "built >= CAST(2000.0, \"NSDate\") AND built < CAST(4000.0, \"NSDate\")")
    try check(#Predicate { $0.seats.flatMap { (1...4).contains($0) } ?? false }, "seats BETWEEN {1, 4}")
  }

  @Test func sequences() throws {
    let tails = ["N1", "D4", "X"]
    try check(#Predicate { tails.contains($0.tail) }, "tail IN {\"N1\", \"D4\", \"X\"}")
    let seats: [Int?] = [nil, 4]
    try check(#Predicate { seats.contains($0.seats) }, "seats IN {NULL, 4}")
    let kinds: Set<PlaneKind> = [.glider]
    try check(#Predicate { kinds.contains($0.kind) }, "kind IN {\"glider\"}")
    try check(#Predicate { $0.legs.contains { $0.minutes > 90 } }, "ANY legs.minutes > 90")
    try check(#Predicate { $0.legs.allSatisfy { $0.minutes > 20 } }, "ALL legs.minutes > 20")
    try check(#Predicate { !$0.legs.contains { $0.remarks == nil } }, "NOT ANY legs.remarks == NULL")
    try check(
      #Predicate { $0.legs.contains { $0.minutes == 20 || $0.remarks == "fog" } },
      "ANY legs.minutes == 20 OR ANY legs.remarks == \"fog\"")
    try check(#Predicate { plane in plane.legs.contains { plane.engines > $0.minutes } }, "ANY legs.minutes < engines")
    try check(
      #Predicate { plane in tails.contains { plane.tail.contains($0) } },
      "tail CONTAINS \"N1\" OR tail CONTAINS \"D4\" OR tail CONTAINS \"X\"")
    try check(
      #Predicate { $0.legs.contains { $0.minutes > 90 && $0.remarks != nil } },
      "SUBQUERY(legs, $x1, $x1.minutes > 90 AND $x1.remarks != NULL).@count > 0")
    try check(
      #Predicate { $0.legs.filter { $0.minutes > 50 }.count > 1 },
      "SUBQUERY(legs, $x1, $x1.minutes > 50).@count > 1")
    try check(#Predicate { $0.legs.filter { $0.minutes > 90 }.isEmpty }, "NOT ANY legs.minutes > 90")
    try check(#Predicate { $0.legs.count == 2 }, "legs.@count == 2")
    try check(#Predicate { $0.legs.isEmpty }, "legs.@count == 0")
    try check(#Predicate { $0.legs.first?.minutes == 30 }, "legs[FIRST].minutes == 30")
    try check(#Predicate { $0.legs.last?.remarks == nil }, "legs[LAST].remarks == NULL")
    try check(
      #Predicate { plane in plane.legs.contains { leg in plane.legs.contains { $0.minutes > leg.minutes + 100 } } },
      "SUBQUERY(legs, $x1, ANY legs.minutes > ($x1.minutes + 100)).@count > 0")
    try check(
      #Predicate { $0.legs.allSatisfy { $0.minutes > 20 || $0.remarks != nil } },
      "SUBQUERY(legs, $x1, NOT ($x1.minutes > 20 OR $x1.remarks != NULL)).@count == 0")
    try check(
      #Predicate { $0.legs.filter { $0.minutes > 20 }.contains { $0.remarks == nil } },
      "SUBQUERY(SUBQUERY(legs, $x1, $x1.minutes > 20), $x2, $x2.remarks == NULL).@count > 0")
  }

  @Test func valuesOfCollections() throws {
    try check(#Predicate { $0.legMinutes.contains(95) }, "ANY legs.minutes == 95")
    try check(#Predicate { $0.legMinutes.max() == 610 }, "legs.@max.minutes == 610")
    try check(#Predicate { ($0.legMinutes.min() ?? 1000) > 50 }, "legs.@min.minutes == NULL OR legs.@min.minutes > 50")
    try check(
      #Predicate { $0.legMinutes.count > 1 && $0.legMinutes[1] == 0 },
      "legs.minutes.@count > 1 AND legs.minutes[1] == 0")
    try check(#Predicate { $0.legMinutes.allSatisfy { $0 > 20 } }, "ALL legs.minutes > 20")
    let wanted = [45, 61]
    try check(
      #Predicate { $0.legMinutes.contains { wanted.contains($0) } }, "ANY legs.minutes IN {45, 61}")
    try check(#Predicate { plane in wanted.allSatisfy { plane.engines < $0 } }, "engines < 45 AND engines < 61")
    #expect(
      try FetchPredicate(#Predicate<Plane> { wanted.max() == $0.seats }).predicateFormat == "61 == seats")
  }

  @Test func casts() throws {
    try check(#Predicate { ($0.untyped["primary"] as? String) == "white" }, "paint.primary == \"white\"")
    try check(
      #Predicate { ($0.untypedPaint.flatMap { $0["secondary"] } as? String) == nil }, "paint.secondary == NULL")
    try check(
      #Predicate { ($0.untyped["primary"] as? String).flatMap { $0.starts(with: "b") } == true },
      "paint.primary BEGINSWITH \"b\"")
    #expect(try FetchPredicate(#Predicate<Plane> { $0.seats! > 3 }).predicateFormat == "seats > 3")
  }

  @Test func arithmetic() throws {
    let (a, b) = (20, 3)
    try check(#Predicate { $0.engines == a / 7 }, "engines == 2")
    try check(#Predicate { $0.engines == a % b }, "engines == 2")
    try check(#Predicate { $0.engines + 1 == b }, "(engines + 1) == 3")
    try check(#Predicate { $0.hours * 2 > 600 }, "(hours * 2.0) > 600.0")
    try check(#Predicate { $0.hours / 2 > 6 }, "(hours / 2.0) > 6.0")
    try check(#Predicate { $0.engines / 2 == 1 }, "(engines / 2) == 1")
    try check(#Predicate { $0.engines % 2 == 1 }, "modulus:by:(engines, 2) == 1")
    try check(#Predicate { -$0.engines < -1 }, "-(engines) < -1")
    try check(
      #Predicate { ($0.isActive ? $0.engines : 1) == 1 }, "isActive != TRUE OR engines == 1")
  }

  @Test func errors() throws {
    func refused(_ predicate: Predicate<Plane>, _ text: String) {
      let error = cambiumError { _ = try FetchPredicate(predicate) }
      #expect(error?.code == .invalidPredicate && error?.message.contains(text) == true, "\(error?.description ?? "")")
    }
    refused(#Predicate { $0.tail.hashValue == 1 }, "has no name in the model")
    refused(#Predicate { $0.tail.contains { $0 == $0 } }, "characters of a text")
    refused(#Predicate { $0 is Seaplane }, "'is Seaplane'")
    refused(#Predicate { ($0 as? Seaplane)?.tail == "N1" }, "'as? Seaplane'")
    let point = Point(x: 1)
    refused(#Predicate { $0.tail.count == point.x && point == point }, "captures a Point")
    let legs = [1, 2, 3]
    refused(#Predicate { legs[0..<2].contains($0.engines) }, "CollectionRangeSubscript")
  }

  private typealias Condition = StandardPredicateExpression<Bool>

  /// Adds levels around a condition, each by `more`.
  private func nested(
    _ levels: Int, _ condition: any Condition, _ more: (any Condition) -> any Condition
  ) -> any Condition {
    (0..<levels).reduce(condition) { condition, _ in more(condition) }
  }

  /// What each level makes twice as large is refused from where it would take for ever.
  @Test func whatGrowsTooLarge() throws {
    typealias Parts = PredicateExpressions
    func equal(_ condition: some Condition, _ other: some Condition) -> any Condition {
      Parts.build_Equal(lhs: condition, rhs: other)
    }
    func chosen(_ condition: some Condition, _ a: some Condition, _ b: some Condition) -> any Condition {
      Parts.build_Conditional(condition, a, b)
    }
    for levels in [3, 30] {
      for isChoice in [false, true] {
        let predicate = Predicate<Plane> { plane in
          let engines = Parts.build_KeyPath(root: plane, keyPath: \.engines)
          let (one, two) = (Parts.build_Arg(1), Parts.build_Arg(2))
          let isOne = Parts.build_Equal(lhs: engines, rhs: one)
          let isTwo = Parts.build_Equal(lhs: engines, rhs: two)
          return nested(levels, isOne) { isChoice ? chosen($0, isTwo, isOne) : equal($0, isTwo) }
        }
        if levels < 10 {
          let expected = try planes.plain.filter { try predicate.evaluate($0) }.map { $0.tail }
          #expect(try planes.stored(try FetchPredicate(predicate)) == expected)
        } else {
          let error = cambiumError { _ = try FetchPredicate(predicate) }
          #expect(error?.code == .invalidPredicate)
          #expect(error?.message.contains("more than 100000 parts") == true, "\(error?.message ?? "none")")
        }
      }
    }
    // Many captured values are not too much.
    let tails = (0..<10_000).map { "N\($0)" }
    let anyOf = #Predicate<Plane> { plane in tails.contains { $0 == plane.tail } }
    #expect(try planes.stored(try FetchPredicate(anyOf)).contains("N1"))
  }

  private struct Point: Codable, Equatable {
    var x: Int
  }

  @Test func namesOfTypesThatDeclareNone() throws {
    final class Unknown: Sendable {
      let label: String
      init(_ label: String) { self.label = label }
    }
    let predicate = #Predicate<Unknown> { $0.label == "N1" }
    #expect(cambiumError { _ = try FetchPredicate(predicate) }?.message.contains("PredicateKeyPaths") == true)
    let named = try FetchPredicate(predicate, names: [\Unknown.label: "tail"])
    #expect(try planes.stored(named) == ["N1"])
  }

  @Test func classesOfObjects() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container().viewContext
    for (tail, color) in [("N1", "white"), ("N2", "blue")] {
      let aircraft = Aircraft(context: context)
      (aircraft.tailNumber, aircraft.colorScheme) = (tail, ["primary": color])
    }
    try context.save()
    let request = Aircraft.fetchRequest()
    request.predicate = try FetchPredicate(
      #Predicate<Aircraft> { $0.tailNumber?.starts(with: "N") == true && $0.scheme["primary"] == "blue" })
    #expect(request.predicate?.predicateFormat == "tailNumber BEGINSWITH \"N\" AND colorScheme.primary == \"blue\"")
    #expect(try context.fetch(request).map { $0.tailNumber } == ["N2"])
  }
}

extension Aircraft: PredicateKeyPaths {
  var scheme: [String: String] { colorScheme as? [String: String] ?? [:] }
  static var predicateKeyPaths: [AnyKeyPath: String] {
    [\Aircraft.tailNumber: "tailNumber", \Aircraft.scheme: "colorScheme"]
  }
}

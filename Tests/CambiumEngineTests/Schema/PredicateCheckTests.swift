import CambiumKernel
import Testing

@testable import CambiumEngine

@Suite struct PredicateCheckTests {
  private static func check(_ text: String, _ arguments: [PredicateArgument] = []) throws -> Predicate {
    let schema = try Schema(exampleDefinition())
    let entity = try #require(schema.entity(named: "Aircraft")).id
    return try Predicate(format: text, arguments: arguments).check(against: schema, entity: entity)
  }

  static let normalised: [(String, Predicate)] = [
    ("weight == 0.1", .compare(path("weight"), .equal, of(.float(0.1)))),
    ("weight == 2", .compare(path("weight"), .equal, of(.float(2)))),
    ("weight < 1e300", .compare(path("weight"), .less, of(1e300))),
    ("weight == 16777217", .compare(path("weight"), .equal, of(16_777_217))),
    ("hours == 0.1", .compare(path("hours"), .equal, of(decimal("0.1")))),
    ("hours >= 3", .compare(path("hours"), .greaterOrEqual, of(decimal("3")))),
    ("engines == 2.0", .compare(path("engines"), .equal, of(2))),
    ("engines > 1.5", .compare(path("engines"), .greater, of(1.5))),
    ("engines == 100000", .compare(path("engines"), .equal, of(100_000))),
    ("isActive == 1", .compare(path("isActive"), .equal, of(true))),
    ("isActive == 2", .compare(path("isActive"), .equal, of(2))),
    ("engines == YES", .compare(path("engines"), .equal, of(1))),
    ("place.location.latitude == 51", .compare(path("place.location.latitude"), .equal, of(51.0))),
    (
      "place.location.latitude == CAST('0.1', 'NSDecimalNumber')",
      .compare(path("place.location.latitude"), .equal, of(0.1))
    ),
    ("5 < engines", .compare(path("engines"), .greater, of(5))),
    ("nil == owner", .compare(path("owner"), .equal, of(nil))),
    ("engines IN {1.0, 2, nil}", .compare(path("engines"), .in, of([1, 2, nil]))),
    ("hours BETWEEN {1, 2.5}", .compare(path("hours"), .between, of(.list([decimal("1"), decimal("2.5")])))),
    ("engines ==[cd] 1", .compare(path("engines"), .equal, of(1))),
    (
      "tailNumber ==[cd] 'x'", .compare(path("tailNumber"), .equal, of("x"), [.caseInsensitive, .diacriticInsensitive])
    ),
    ("page == 'http://x'", .compare(path("page"), .equal, of(.uri("http://x")))),
    (
      "token == 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'",
      .compare(path("token"), .equal, of(.uuid(UUIDBytes(high: 0xE621_E1F8_C36C_495A, low: 0x93FC_0C24_7A3E_6E5F))))
    ),
    (
      "colorScheme == CAST({'tertiary', 'x', 'primary', 'y'}, 'composite')",
      .compare(path("colorScheme"), .equal, of(.composite(["primary": "y", "secondary": nil, "tertiary": "x"])))
    ),
    ("notes == nil", .compare(path("notes"), .equal, of(nil))),
    ("engines == $x", .compare(path("engines"), .equal, .variable("x"))),
    ("ANY logEntries.duration > 3", .compare(path("logEntries.duration"), .greater, of(3.0), modifier: .any)),
    ("logEntries CONTAINS $x", .compare(path("logEntries"), .contains, .variable("x"))),
    ("owner.name BEGINSWITH 'A'", .compare(path("owner.name"), .beginsWith, of("A"))),
    ("engines < weight", .compare(path("engines"), .less, path("weight"))),
    ("SELF IN owner.vehicles", .compare(.evaluatedObject, .in, path("owner.vehicles"))),
    ("NOT (engines == 2.0 OR TRUEPREDICATE)", .not(.or([.compare(path("engines"), .equal, of(2)), .true]))),
    ("cached == 'anything'", .compare(path("cached"), .equal, of("anything"))),
    ("'x' IN tailNumber", .compare(of("x"), .in, path("tailNumber"))),
    ("{1.0, 2} CONTAINS engines", .compare(path("engines"), .in, of([1, 2]))),
    (
      "{'E621E1F8-C36C-495A-93FC-0C247A3E6E5F', nil} CONTAINS token",
      .compare(
        path("token"), .in, of([.uuid(UUIDBytes(high: 0xE621_E1F8_C36C_495A, low: 0x93FC_0C24_7A3E_6E5F)), nil]))
    ),
    ("{1, engines} CONTAINS hours", .compare(path("hours"), .in, .list([of(decimal("1")), path("engines")]))),
    ("{'X'} CONTAINS[c] tailNumber", .compare(path("tailNumber"), .in, of(["X"]), .caseInsensitive)),
    ("$list CONTAINS engines", .compare(.variable("list"), .contains, path("engines"))),
    ("$list CONTAINS 5", .compare(.variable("list"), .contains, of(5))),
    ("built > CAST(5, 'NSDate')", .compare(path("built"), .greater, of(.date(5)))),
    // Expressions
    ("engines == 2 + 3 * 4", .compare(path("engines"), .equal, of(14))),
    ("hours > 1 / 2.0", .compare(path("hours"), .greater, of(decimal("0.5")))),
    ("2 * 5 < engines * 2", .compare(.arithmetic(.multiply, path("engines"), of(2)), .greater, of(10))),
    ("10 < engines * 2", .compare(.arithmetic(.multiply, path("engines"), of(2)), .greater, of(10))),
    ("hours * 2 > 0.2", .compare(.arithmetic(.multiply, path("hours"), of(2)), .greater, of(decimal("0.2")))),
    ("engines * 1.0 == 2", .compare(.arithmetic(.multiply, path("engines"), of(1.0)), .equal, of(2.0))),
    ("length(tailNumber) > 3.0", .compare(.function("length", [path("tailNumber")]), .greater, of(3))),
    (
      "lowercase(tailNumber) ==[c] 'x'",
      .compare(.function("lowercase", [path("tailNumber")]), .equal, of("x"), .caseInsensitive)
    ),
    ("uppercase('ab') == tailNumber", .compare(path("tailNumber"), .equal, of("AB"))),
    ("built - built > 60", .compare(.arithmetic(.subtract, path("built"), path("built")), .greater, of(60.0))),
    ("built + 60 > CAST(5, 'NSDate')", .compare(.arithmetic(.add, path("built"), of(60)), .greater, of(.date(5)))),
    ("logEntries.@count > 2.0", .compare(.aggregate(.count, path("logEntries"), path: nil), .greater, of(2))),
    (
      "logEntries.@max.duration > 2",
      .compare(.aggregate(.maximum, path("logEntries"), path: "duration"), .greater, of(2.0))
    ),
    (
      "logEntries[0].duration > 2",
      .compare(.member(.element(path("logEntries"), .at(of(0))), path: "duration"), .greater, of(2.0))
    ),
    ("(owner).name == 'x'", .compare(path("owner.name"), .equal, of("x"))),
    ("colorScheme['primary'] == 'x'", .compare(.element(path("colorScheme"), .at(of("primary"))), .equal, of("x"))),
    ("engines == noindex(5)", .compare(path("engines"), .equal, .function("noindex", [of(5)]))),
    ("tailNumber MATCHES 'N[0-9]+'", .compare(path("tailNumber"), .matches, of("N[0-9]+"))),
    ("FUNCTION(tailNumber, 'length') > 1", .compare(.function("length", [path("tailNumber")]), .greater, of(1))),
    (
      "SUBQUERY(logEntries, $e, $e.duration == 1).@count == 1",
      .compare(
        .aggregate(
          .count,
          .subquery(
            collection: path("logEntries"), variable: "e",
            condition: .compare(.member(.variable("e"), path: "duration"), .equal, of(1.0))), path: nil), .equal, of(1))
    ),
  ]

  @Test(arguments: normalised.indices)
  func normalises(_ index: Int) throws {
    let (text, expected) = Self.normalised[index]
    let checked = try Self.check(text)
    #expect(checked == expected, "\(text) became \(checked)")
  }

  static let refused: [(String, PredicateError.Kind)] = [
    ("color == 1", .unknownKeyPath), ("colorScheme.fourth == 'x'", .unknownKeyPath),
    ("owner.hours == 1", .unknownKeyPath),
    ("ANY logEntries.x == 1", .unknownKeyPath), ("engines == 1 AND (TRUEPREDICATE OR x == 1)", .unknownKeyPath),
    ("engines == '1'", .typeMismatch), ("tailNumber == 1", .typeMismatch), ("built == '2020-02-30'", .typeMismatch),
    ("built > 5", .typeMismatch), ("-1 / 6 == built - 0", .typeMismatch),
    ("token == 'x'", .typeMismatch), ("owner == 'x'", .typeMismatch),
    ("owner < SELF", .typeMismatch),
    ("colorScheme < nil", .typeMismatch), ("colorScheme == 'red'", .typeMismatch), ("notes == 'x'", .typeMismatch),
    ("colorScheme == CAST({'fourth', 1}, 'composite')", .typeMismatch), ("photo == 'x'", .typeMismatch),
    ("logEntries.duration > 3", .typeMismatch), ("ANY engines == 1", .typeMismatch),
    ("engines == logEntries.duration", .typeMismatch),
    ("engines BEGINSWITH '1'", .typeMismatch), ("tailNumber LIKE 1", .typeMismatch),
    ("tailNumber CONTAINS engines", .typeMismatch), ("{1, 'x'} CONTAINS engines", .typeMismatch),
    ("{1, tailNumber} CONTAINS engines", .typeMismatch), ("5 CONTAINS engines", .typeMismatch),
    ("nil CONTAINS engines", .typeMismatch), ("engines CONTAINS 5", .typeMismatch),
    ("engines IN 5", .typeMismatch), ("engines IN {1, 'x'}", .typeMismatch),
    ("engines BETWEEN {1, 'x'}", .typeMismatch),
    ("engines BETWEEN {nil, 1}", .typeMismatch), ("engines == tailNumber", .typeMismatch),
    ("built == engines", .typeMismatch),
    ("owner BETWEEN {SELF, SELF}", .typeMismatch), ("engines IN {1, tailNumber}", .typeMismatch),
    // Expressions
    ("tailNumber + 1 == 2", .typeMismatch), ("engines * 2 == 'x'", .typeMismatch), ("-tailNumber == 1", .typeMismatch),
    ("built + built > built", .typeMismatch), ("built * 2 > 1", .typeMismatch), ("built - 5 > 7", .typeMismatch),
    ("logEntries.duration + 1 > 2", .typeMismatch), ("length(engines) > 1", .typeMismatch),
    ("lowercase(tailNumber) == 1", .typeMismatch), ("sqrt(tailNumber) > 1", .typeMismatch),
    ("bitwiseAnd:with:(tailNumber, 1) == 1", .typeMismatch), ("sum(logEntries) > 1", .typeMismatch),
    ("engines.@count > 1", .typeMismatch), ("logEntries.@sum.remarks > 1", .typeMismatch),
    ("logEntries.@sum > 1", .typeMismatch), ("logEntries.@max == nil", .typeMismatch),
    ("logEntries.@count.duration > 1", .typeMismatch), ("logEntries.@max.duration == 'x'", .typeMismatch),
    ("logEntries.@sum.nothing > 1", .unknownKeyPath), ("logEntries[0].nothing > 1", .unknownKeyPath),
    ("owner.vehicles[0] == nil", .typeMismatch), ("engines[0] == 1", .typeMismatch),
    ("colorScheme['fourth'] == 'x'", .unknownKeyPath), ("colorScheme[0] == 'x'", .typeMismatch),
    ("logEntries['x'] == nil", .typeMismatch), ("TERNARY(engines == 1, 'x', 2) == 'x'", .typeMismatch),
    ("TERNARY(nothing == 1, 1, 2) == 1", .unknownKeyPath), ("SUBQUERY(engines, $e, $e == 1).@count > 1", .typeMismatch),
    ("SUBQUERY(logEntries, $e, $e.nothing == 1).@count > 1", .unknownKeyPath),
    ("SUBQUERY(logEntries, $e, $e.duration == 'x').@count > 1", .typeMismatch),
    ("SUBQUERY(logEntries, $e, $e.duration > 1) == 1", .typeMismatch),
    ("length(tailNumber, 1) > 1", .unsupported), ("random(1) > 1", .unsupported),
    ("FUNCTION(tailNumber, 'hasPrefix:', 'x') == 1", .unsupported),
    ("FUNCTION(tailNumber, engines) == 1", .unsupported),
    ("distanceToLocation:fromLocation:(place.location, engines) > 1", .typeMismatch),
    ("engines MATCHES 'x'", .typeMismatch), ("tailNumber MATCHES '('", .syntax),
    ("tailNumber MATCHES '(?=x)'", .unsupported),
    ("tailNumber MATCHES 'x{1,100000}'", .unsupported), ("tailNumber MATCHES '((x{1000}){1000}){1000}'", .tooDeep),
    ("CAST(logEntries, 'NSString') == 'x'", .typeMismatch),
    ("castObject:toType:(engines, tailNumber) == 1", .typeMismatch),
  ]

  @Test(arguments: refused.indices)
  func refuses(_ index: Int) {
    let (text, kind) = Self.refused[index]
    let error = #expect(throws: PredicateError.self, "\(text)") { try Self.check(text) }
    #expect(error?.kind == kind, "\(text): \(error.map { $0.description } ?? "")")
    #expect(error?.position == nil)
  }

  @Test func unsupportedShapes() throws {
    let schema = try Schema(exampleDefinition())
    let entity = try #require(schema.entity(named: "Aircraft")).id
    for predicate: Predicate in [
      .compare(.function("shout", [path("tailNumber")]), .equal, of("x")),
      .compare(.function("sqrt", []), .equal, of(1)), .compare(.cast(path("engines"), type: "NSRect"), .equal, of(1)),
      .compare(.fetch(request: path("engines"), context: of(1), countOnly: true), .greater, of(1)),
      .compare(.assignment(variable: "x", path("engines")), .greater, of(1)),
    ] {
      let error = #expect(throws: PredicateError.self) { try predicate.check(against: schema, entity: entity) }
      #expect(error?.kind == .unsupported)
    }
  }

  /// What is nested is looked at once for each level, not twice.
  @Test func deepTreesAreCheckedInLinearTime() throws {
    let schema = try Schema(exampleDefinition())
    let entity = try #require(schema.entity(named: "Aircraft")).id
    var sum = path("engines")
    for _ in 0..<150 { sum = .function("add:to:", [sum, of(1)]) }
    var condition = Predicate.compare(sum, .greater, of(1))
    #expect(throws: Never.self) { try condition.check(against: schema, entity: entity) }
    condition = .compare(path("engines"), .equal, of(1))
    for _ in 0..<40 {
      condition = .compare(
        path("engines"), .in, .list([.ternary(condition, then: path("engines"), otherwise: of(1)), of(2)]))
    }
    #expect(throws: Never.self) { try condition.check(against: schema, entity: entity) }
  }
}

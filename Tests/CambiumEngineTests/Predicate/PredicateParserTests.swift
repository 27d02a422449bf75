import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

private func minus(_ a: Expression, _ b: Expression) -> Expression { .arithmetic(.subtract, a, b) }
private func times(_ a: Expression, _ b: Expression) -> Expression { .arithmetic(.multiply, a, b) }
private func over(_ a: Expression, _ b: Expression) -> Expression { .arithmetic(.divide, a, b) }
private func power(_ a: Expression, _ b: Expression) -> Expression { .arithmetic(.power, a, b) }

/// A key path.
func path(_ text: String) -> Expression { .keyPath(text) }
/// A constant.
func of(_ value: Value) -> Expression { .constant(value) }

private let a1 = Predicate.compare(path("a"), .equal, of(1))
private let b2 = Predicate.compare(path("b"), .equal, of(2))
private let c3 = Predicate.compare(path("c"), .equal, of(3))

@Suite struct PredicateParserTests {
  private static let uuid = UUIDBytes(high: 0xE621_E1F8_C36C_495A, low: 0x93FC_0C24_7A3E_6E5F)

  /// The point and a combining mark behind it are one character, and two names all the same.
  @Test func aPointBeforeACombiningMarkPartsNames() throws {
    let predicate = try Predicate(format: "E.\u{592} == 1")
    #expect(predicate == .compare(path("E.\u{592}"), .equal, of(1)))
    #expect(try Predicate(format: predicate.description) == predicate)
    #expect(keyPathNames("E.\u{592}.") == ["E", "\u{592}", ""])
  }

  static let table: [(String, Predicate)] = [
    // Comparisons
    ("a = 1", a1), ("a == 1", a1), ("a==1", a1), ("  a\t==\n1  ", a1), ("(a) == (1)", a1), ("((a)) == 1", a1),
    ("a != 1", .compare(path("a"), .notEqual, of(1))), ("a <> 1", .compare(path("a"), .notEqual, of(1))),
    ("a < 1", .compare(path("a"), .less, of(1))), ("a <= 1", .compare(path("a"), .lessOrEqual, of(1))),
    ("a =< 1", .compare(path("a"), .lessOrEqual, of(1))), ("a > 1", .compare(path("a"), .greater, of(1))),
    ("a >= 1", .compare(path("a"), .greaterOrEqual, of(1))), ("a => 1", .compare(path("a"), .greaterOrEqual, of(1))),
    ("1 == a", .compare(of(1), .equal, path("a"))), ("a == b", .compare(path("a"), .equal, path("b"))),
    ("a BETWEEN {1, 2}", .compare(path("a"), .between, of([1, 2]))),
    ("a between { 1 , $x }", .compare(path("a"), .between, .list([of(1), .variable("x")]))),
    ("a BETWEEN $range", .compare(path("a"), .between, .variable("range"))),
    ("a IN {1, 'x', nil}", .compare(path("a"), .in, of([1, "x", nil]))),
    ("a IN {}", .compare(path("a"), .in, of([]))), ("a in b", .compare(path("a"), .in, path("b"))),
    ("a IN {b, 1}", .compare(path("a"), .in, .list([path("b"), of(1)]))),
    ("a IN {{1}, {2, 3}}", .compare(path("a"), .in, of([[1], [2, 3]]))),
    ("'x' IN a", .compare(of("x"), .in, path("a"))),
    // Strings
    ("a BEGINSWITH 'x'", .compare(path("a"), .beginsWith, of("x"))),
    ("a beginswith[c] 'x'", .compare(path("a"), .beginsWith, of("x"), .caseInsensitive)),
    ("a CONTAINS[cd] \"x\"", .compare(path("a"), .contains, of("x"), [.caseInsensitive, .diacriticInsensitive])),
    ("a EndsWith [d] 'x'", .compare(path("a"), .endsWith, of("x"), .diacriticInsensitive)),
    ("a LIKE[dc] 'x*?'", .compare(path("a"), .like, of("x*?"), [.caseInsensitive, .diacriticInsensitive])),
    ("a ==[n] 'x'", .compare(path("a"), .equal, of("x"), .normalized)),
    ("a IN[C] {'x'}", .compare(path("a"), .in, of(["x"]), .caseInsensitive)),
    ("a == ''", .compare(path("a"), .equal, of(""))), ("a == 'it\\'s'", .compare(path("a"), .equal, of("it's"))),
    ("a == \"it's\"", .compare(path("a"), .equal, of("it's"))),
    ("a == \"\\\"\\\\\\n\\t\\u00e9\\x41\\U0001F600\"", .compare(path("a"), .equal, of("\"\\\n\té\u{41}😀"))),
    ("a == '\\uD83D\\uDE00'", .compare(path("a"), .equal, of("😀"))),
    ("a LIKE '\\*\\?'", .compare(path("a"), .like, of("\\*\\?"))), ("a == '%@'", .compare(path("a"), .equal, of("%@"))),
    ("a == '日本'", .compare(path("a"), .equal, of("日本"))),
    // Numbers
    ("a == -1", .compare(path("a"), .equal, of(-1))), ("a == +1", .compare(path("a"), .equal, of(1))),
    ("a == - 1", .compare(path("a"), .equal, of(-1))), ("a == 1.5", .compare(path("a"), .equal, of(1.5))),
    ("a == .5", .compare(path("a"), .equal, of(0.5))), ("a == 1.", .compare(path("a"), .equal, of(1.0))),
    ("a == 1e3", .compare(path("a"), .equal, of(1000.0))), ("a == 1.5E-3", .compare(path("a"), .equal, of(0.0015))),
    ("a == -2.5e+3", .compare(path("a"), .equal, of(-2500.0))), ("a == 0x1F", .compare(path("a"), .equal, of(31))),
    ("a == 0b101", .compare(path("a"), .equal, of(5))), ("a == 0o17", .compare(path("a"), .equal, of(15))),
    ("a == -0x10", .compare(path("a"), .equal, of(-16))), ("a == 007", .compare(path("a"), .equal, of(7))),
    ("a == 9223372036854775807", .compare(path("a"), .equal, of(.integer(.max)))),
    ("a == -9223372036854775808", .compare(path("a"), .equal, of(.integer(.min)))),
    ("a == 9223372036854775808", .compare(path("a"), .equal, of(decimal("9223372036854775808")))),
    ("a == 0.1234567890123456789", .compare(path("a"), .equal, of(decimal("0.1234567890123456789")))),
    ("a == 0.12345678901234567", .compare(path("a"), .equal, of(.double(0.12345678901234567)))),
    // Other values
    ("a == TRUE", .compare(path("a"), .equal, of(true))), ("a == yes", .compare(path("a"), .equal, of(true))),
    ("a == False", .compare(path("a"), .equal, of(false))), ("a == NO", .compare(path("a"), .equal, of(false))),
    ("a == nil", .compare(path("a"), .equal, of(nil))), ("a != NULL", .compare(path("a"), .notEqual, of(nil))),
    ("SELF == $x", .compare(.evaluatedObject, .equal, .variable("x"))),
    ("self IN $list", .compare(.evaluatedObject, .in, .variable("list"))),
    ("a == CAST('1.10', 'NSDecimalNumber')", .compare(path("a"), .equal, of(decimal("1.1")))),
    ("a > CAST(-12.5, \"NSDate\")", .compare(path("a"), .greater, of(.date(-12.5)))),
    ("a == CAST('00ff', 'NSData')", .compare(path("a"), .equal, of(.binary([0, 255])))),
    (
      "a == CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')", .compare(path("a"), .equal, of(.uuid(uuid)))
    ),
    ("a == CAST('http://x', 'NSURL')", .compare(path("a"), .equal, of(.uri("http://x")))),
    ("a == CAST(0.5, 'float')", .compare(path("a"), .equal, of(.float(0.5)))),
    ("a == CAST('nan', 'double')", .compare(path("a"), .equal, of(.double(.nan)))),
    (
      "a == CAST('3/7', 'NSManagedObjectID')",
      .compare(path("a"), .equal, of(.reference(ObjectReference(entity: 3, row: 7))))
    ),
    ("a == CAST({'x', 1, 'y', nil}, 'composite')", .compare(path("a"), .equal, of(.composite(["x": 1, "y": nil])))),
    // Key paths
    ("colorScheme.primary == 'red'", .compare(path("colorScheme.primary"), .equal, of("red"))),
    ("SELF.a == 1", a1), ("#a == 1", a1), ("#size == 1", .compare(path("size"), .equal, of(1))),
    ("size == 1", .compare(path("size"), .equal, of(1))), ("a.in.or == 1", .compare(path("a.in.or"), .equal, of(1))),
    ("#in == 1", .compare(path("in"), .equal, of(1))), ("#self.x == 1", .compare(path("self.x"), .equal, of(1))),
    ("#'two words'.x == 1", .compare(path("two words.x"), .equal, of(1))),
    ("größe == 1", .compare(path("größe"), .equal, of(1))), ("_a1 == 1", .compare(path("_a1"), .equal, of(1))),
    ("cast == 1", .compare(path("cast"), .equal, of(1))),
    ("fetch.first == last", .compare(path("fetch.first"), .equal, path("last"))),
    // Logic
    ("a = 1 AND b = 2", .and([a1, b2])), ("a = 1 && b = 2 and c = 3", .and([a1, b2, c3])),
    ("a = 1 OR b = 2", .or([a1, b2])), ("a = 1 || b = 2", .or([a1, b2])),
    ("a = 1 OR b = 2 AND c = 3", .or([a1, .and([b2, c3])])), ("a = 1 AND b = 2 OR c = 3", .or([.and([a1, b2]), c3])),
    ("(a = 1 OR b = 2) AND c = 3", .and([.or([a1, b2]), c3])),
    ("(a = 1 AND b = 2) AND c = 3", .and([.and([a1, b2]), c3])),
    ("NOT a = 1", .not(a1)), ("!a = 1", .not(a1)), ("!(a = 1)", .not(a1)), ("NOT NOT a = 1", .not(.not(a1))),
    ("NOT a = 1 AND b = 2", .and([.not(a1), b2])), ("NOT (a = 1 AND b = 2)", .not(.and([a1, b2]))),
    ("((a = 1))", a1), ("TRUEPREDICATE", .true), ("falsepredicate", .false),
    ("NOT TRUEPREDICATE OR a = 1", .or([.not(.true), a1])),
    // Modifiers
    ("ANY a.b == 1", .compare(path("a.b"), .equal, of(1), modifier: .any)),
    ("some a.b == 1", .compare(path("a.b"), .equal, of(1), modifier: .any)),
    ("ALL a.b > 1", .compare(path("a.b"), .greater, of(1), modifier: .all)),
    ("NONE a.b IN {1}", .compare(path("a.b"), .in, of([1]), modifier: .none)),
    ("a MATCHES[c] 'x+'", .compare(path("a"), .matches, of("x+"), .caseInsensitive)),
    // Operators
    ("a + 1 == 2", .compare(.arithmetic(.add, path("a"), of(1)), .equal, of(2))),
    ("a == b - 1 - 2", .compare(path("a"), .equal, minus(minus(path("b"), of(1)), of(2)))),
    ("a == b - (1 - 2)", .compare(path("a"), .equal, minus(path("b"), minus(of(1), of(2))))),
    (
      "a == b * 2 + c / 3",
      .compare(path("a"), .equal, .arithmetic(.add, times(path("b"), of(2)), over(path("c"), of(3))))
    ),
    ("(a + b) * 2 > 1", .compare(times(.arithmetic(.add, path("a"), path("b")), of(2)), .greater, of(1))),
    ("2 ** 3 ** 2 == a", .compare(power(of(2), power(of(3), of(2))), .equal, path("a"))),
    ("-2 ** 2 == a", .compare(power(of(-2), of(2)), .equal, path("a"))),
    ("a == -b", .compare(path("a"), .equal, .negated(path("b")))),
    ("a == - - 5", .compare(path("a"), .equal, .negated(of(-5)))),
    ("-(5) == a", .compare(.negated(of(5)), .equal, path("a"))), ("+a == 1", a1),
    ("a -1 == 2", .compare(minus(path("a"), of(1)), .equal, of(2))),
    ("a IN {b + 1, 2}", .compare(path("a"), .in, .list([.arithmetic(.add, path("b"), of(1)), of(2)]))),
    // Functions
    ("sum(a, 1) == 1", .compare(.function("sum", [path("a"), of(1)]), .equal, of(1))),
    ("lowercase:(a) == 'x'", .compare(.function("lowercase", [path("a")]), .equal, of("x"))),
    ("add:to:(a, 1) == 1", .compare(.function("add:to:", [path("a"), of(1)]), .equal, of(1))),
    ("now() > a", .compare(.function("now", []), .greater, path("a"))),
    ("FUNCTION(a, 'length') > 1", .compare(.function("FUNCTION", [path("a"), of("length")]), .greater, of(1))),
    ("CAST(a, 'NSString') == '1'", .compare(.cast(path("a"), type: "NSString"), .equal, of("1"))),
    ("a == CAST(5, 'NSString')", .compare(path("a"), .equal, of("5"))),
    ("sum == 1", .compare(path("sum"), .equal, of(1))),
    (
      "TERNARY(a == 1 AND b == 2, c, d + 1) == 3",
      .compare(
        .ternary(.and([a1, b2]), then: path("c"), otherwise: .arithmetic(.add, path("d"), of(1))), .equal, of(3))
    ),
    // Collections
    ("a.@count > 1", .compare(.aggregate(.count, path("a"), path: nil), .greater, of(1))),
    ("@count > 1", .compare(.aggregate(.count, .evaluatedObject, path: nil), .greater, of(1))),
    ("SELF.a.@sum.b.c > 1", .compare(.aggregate(.sum, path("a"), path: "b.c"), .greater, of(1))),
    (
      "a.@distinctUnionOfObjects.b.@count == 1",
      .compare(.aggregate(.count, .aggregate(.distinctUnionOfObjects, path("a"), path: "b"), path: nil), .equal, of(1))
    ),
    ("a[0] == 1", .compare(.element(path("a"), .at(of(0))), .equal, of(1))),
    ("a[first].b == 1", .compare(.member(.element(path("a"), .first), path: "b"), .equal, of(1))),
    ("a == b[LAST]", .compare(path("a"), .equal, .element(path("b"), .last))),
    ("a[SIZE] == 1", .compare(.element(path("a"), .size), .equal, of(1))),
    ("a[#first] == 1", .compare(.element(path("a"), .at(path("first"))), .equal, of(1))),
    ("$x.a.b == 1", .compare(.member(.variable("x"), path: "a.b"), .equal, of(1))),
    ("$x.@count == 1", .compare(.aggregate(.count, .variable("x"), path: nil), .equal, of(1))),
    ("(a).b == 1", .compare(.member(path("a"), path: "b"), .equal, of(1))),
    ("{1, 2}.@sum == a", .compare(.aggregate(.sum, of([1, 2]), path: nil), .equal, path("a"))),
    (
      "SUBQUERY(a, $x, $x.b == 1 AND ANY $x.c IN {SELF}).@count > 1",
      .compare(
        .aggregate(
          .count,
          .subquery(
            collection: path("a"), variable: "x",
            condition: .and([
              .compare(.member(.variable("x"), path: "b"), .equal, of(1)),
              .compare(.member(.variable("x"), path: "c"), .in, .list([.evaluatedObject]), modifier: .any),
            ])), path: nil), .greater, of(1))
    ),
    ("NOT ANY a.b ==[c] 'x'", .not(.compare(path("a.b"), .equal, of("x"), .caseInsensitive, modifier: .any))),
  ]

  @Test(arguments: table.indices)
  func parses(_ index: Int) throws {
    let (text, expected) = Self.table[index]
    let parsed = try Predicate(format: text)
    #expect(parsed == expected, "\(text)")
    #expect(try Predicate(format: parsed.description) == parsed, "\(parsed)")
  }

  @Test func substitution() throws {
    #expect(
      try Predicate(
        format: "%K == %@ AND n BETWEEN {%d, %lf} OR a IN %@ OR '%@' == %K OR %K == nil",
        arguments: [
          .keyPath("a.b"), .value(.date(1)), .value(3), .value(4.5), .value([1, nil]), .value("in"), .keyPath("SELF.x"),
        ])
        == .or([
          .and([.compare(path("a.b"), .equal, of(.date(1))), .compare(path("n"), .between, of([3, 4.5]))]),
          .compare(path("a"), .in, of([1, nil])), .compare(of("%@"), .equal, path("in")),
          .compare(path("x"), .equal, of(nil)),
        ]))
    for mark in ["%@", "%d", "%i", "%u", "%ld", "%li", "%lu", "%lld", "%llu", "%qd", "%hd", "%x", "%f", "%lf", "%g"] {
      #expect(try Predicate(format: "a == " + mark, arguments: [.value(1)]) == a1)
    }
    #expect(
      try Predicate(format: "%K == 1", arguments: [.keyPath("self")]) == .compare(.evaluatedObject, .equal, of(1)))
  }

  /// A key path that is given may go on, as if all of it were written.
  @Test(arguments: [
    ("ANY %K.%K == 1", "ANY a.b.c == 1"), ("%K.x.%K.y > %K", "a.x.b.c.y > b"), ("%K.@count == 1", "a.@count == 1"),
    ("%K.x.@max.y == 1", "a.x.@max.y == 1"),
    ("SUBQUERY(%K.%K, $x, $x.y == 1).@count > 0", "SUBQUERY(a.b.c, $x, $x.y == 1).@count > 0"),
    ("%K.#and == 1", "a.#and == 1"), ("x.%K == 1", "x.a == 1"), ("x.y.%K.%K.z == 1", "x.y.a.b.c.z == 1"),
    (
      "SUBQUERY(x, $y, $y.%K == 1 AND $y.z.%K == 2).@count > 0",
      "SUBQUERY(x, $y, $y.a == 1 AND $y.z.b.c == 2).@count > 0"
    ),
    ("SELF.%K == 1", "SELF.a == 1"),
  ]) func pathsGoOnBehindMarks(_ format: String, _ written: String) throws {
    let arguments: [PredicateArgument] = [.keyPath("a"), .keyPath("b.c"), .keyPath("b")]
    let marks = format.utf8.filter { $0 == UInt8(ascii: "%") }.count
    let predicate = try Predicate(format: format, arguments: Array(arguments.prefix(marks)))
    #expect(predicate == (try Predicate(format: written)))
    #expect(try Predicate(format: predicate.description) == predicate)
  }

  @Test(arguments: [
    "%K.%@ == 1", "%K. == 1", "%K.%K", "%K.1 == 1", "'a'.%K == 1", ".%K == 1", "a.%K.%K.%K == 1", "a. %K == 1",
    "a.%Kb == 1",
  ])
  func whatCannotStandBehindMarks(_ format: String) {
    #expect(throws: PredicateError.self) {
      try Predicate(format: format, arguments: [.keyPath("a"), .keyPath("b.@count")])
    }
  }

  static let malformed: [(String, PredicateError.Kind, Int)] = [
    ("", .syntax, 0), ("   ", .syntax, 3), ("a", .syntax, 1), ("a ==", .syntax, 4), ("== 1", .syntax, 0),
    ("a == 1 b", .syntax, 7),
    ("a == 1 AND", .syntax, 10), ("AND a == 1", .syntax, 0), ("a == 1 OR OR b == 2", .syntax, 10),
    ("(a == 1", .syntax, 7),
    ("a == 1)", .syntax, 6), ("()", .syntax, 1), ("NOT", .syntax, 3), ("a == 'x", .syntax, 5),
    ("a == \"x'", .syntax, 5),
    ("a == '\\q'", .syntax, 6), ("a == '\\u12'", .syntax, 6), ("a == '\\uD83D'", .syntax, 6), ("a == '\\", .syntax, 6),
    ("a = = 1", .syntax, 4), ("a == {1, 2", .syntax, 10), ("a == {1 2}", .syntax, 8), ("a == {,}", .syntax, 6),
    ("a BETWEEN 1", .syntax, 10), ("a BETWEEN {1}", .syntax, 10), ("a BETWEEN {1, 2, 3}", .syntax, 10),
    ("a ==[x] 1", .syntax, 5), ("a ==[c 1", .syntax, 7), ("a ==[] 1", .syntax, 5), ("a == 12x", .syntax, 5),
    ("a == 1e", .syntax, 5),
    ("a == 0x", .syntax, 5), ("a == 1.2.3", .syntax, 8), ("a. == 1", .syntax, 2), (".a == 1", .syntax, 0),
    ("a..b == 1", .syntax, 2),
    ("a == #", .syntax, 5), ("a == $", .syntax, 5), ("a == ~1", .syntax, 5), ("é & b", .syntax, 3),
    ("a == %", .syntax, 5),
    ("a == %y", .syntax, 5), ("a == %é", .syntax, 5), ("a NOT IN {1}", .syntax, 2), ("isActive AND b == 1", .syntax, 9),
    ("in == 1", .syntax, 0), ("a IN (1, 2)", .syntax, 7), ("ANY a AND b", .syntax, 6), ("a == 1e999", .syntax, 5),
    ("a == 0x8000000000000000", .syntax, 5), ("(a == 1) == 2", .syntax, 3), ("a == 1 = 2", .syntax, 7),
    ("a == %@", .argument, 5), ("%K == 1", .argument, 0),
    ("a UTI-CONFORMS-TO 'x'", .unsupported, 2), ("a + == 2", .syntax, 4), ("a == b *", .syntax, 8),
    ("a == (b - 2", .syntax, 11), ("a == -", .syntax, 6), ("2 ** == a", .syntax, 5), ("+ == 1", .syntax, 2),
    ("SUBQUERY(a, x, $x == 1) == 2", .syntax, 12), ("SUBQUERY(a, $x.b, $x == 1) == 2", .syntax, 12),
    ("SUBQUERY(a, $x) == 2", .syntax, 14), ("SUBQUERY(a, $x, $x) == 2", .syntax, 18), ("a.@total > 1", .unsupported, 0),
    ("a.@count. > 1", .syntax, 9), ("a[ == 1", .syntax, 3), ("a == b[FIRST", .syntax, 12), ("a == b[]", .syntax, 7),
    ("total(a) == 1", .unsupported, 0), ("a == shout('x')", .unsupported, 5), ("sum(a == 1", .syntax, 6),
    ("sum(a,) == 1", .syntax, 6), ("a.b(c) == 1", .unsupported, 0), ("#sum(a) == 1", .unsupported, 0),
    ("TERNARY(a, b, c) == 1", .syntax, 9), ("TERNARY(a == 1, b) == 1", .syntax, 17),
    ("FETCH(a, b, c) == 1", .unsupported, 0), ("CAST(a, 'NSRect') == 1", .unsupported, 8), ("CAST(a) == 1", .syntax, 6),
    ("a == CAST(1, 'x')", .unsupported, 13),
    ("a == CAST('zz', 'NSUUID')", .unsupported, 16), ("a ==[l] 'x'", .unsupported, 5),
    ("$x := 1", .unsupported, 3), ("a == ($x := 1)", .unsupported, 9), ("add:to: == 1", .syntax, 8),
    ("add:to(1, 2) == 3", .syntax, 4), ("a == (b).", .syntax, 8), ("a == 5.@count", .syntax, 7),
  ]

  @Test(arguments: malformed.indices)
  func refuses(_ index: Int) {
    let (text, kind, position) = Self.malformed[index]
    do throws(PredicateError) {
      let parsed = try Predicate(format: text)
      Issue.record("\(text) was parsed as \(parsed)")
    } catch {
      #expect(error.kind == kind, "\(text): \(error)")
      #expect(error.position == position, "\(text): \(error)")
      #expect(!error.advice.isEmpty)
    }
  }

  @Test func wrongArguments() {
    let cases: [(String, [PredicateArgument], Int)] = [
      ("a == %@", [.keyPath("b")], 5), ("%K == 1", [.value(1)], 0), ("%K == 1", [.keyPath("a..b")], 0),
      ("a == %d", [.value("x")], 5), ("a == %f", [.value("x")], 5), ("a == %d", [.value(1.5)], 5),
      ("a == 1", [.value(1)], 6),
      ("a == %@ AND b == %@", [.value(1)], 17), ("a == '%@'", [.value(1)], 9),
    ]
    for (text, arguments, position) in cases {
      do throws(PredicateError) {
        _ = try Predicate(format: text, arguments: arguments)
        Issue.record("\(text) was parsed")
      } catch {
        #expect(error.kind == .argument, "\(text): \(error)")
        #expect(error.position == position, "\(text): \(error)")
      }
    }
  }

  @Test func depthIsBounded() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "(", count: count) + "a == 1" + String(repeating: ")", count: count)
    }
    #expect(try Predicate(format: nested(150)) == a1)
    let texts = [
      nested(100_000), String(repeating: "!", count: 100_000) + "a == 1",
      "a IN " + String(repeating: "{", count: 100_000),
      "a == " + String(repeating: "(", count: 100_000), String(repeating: "NOT ", count: 100_000),
      "a == " + String(repeating: "CAST(", count: 100_000), "a == 1" + String(repeating: " + 1", count: 100_000),
      "a" + String(repeating: "[0]", count: 100_000) + " == 1", "a == " + String(repeating: "- ", count: 100_000) + "1",
      "a" + String(repeating: ".@count", count: 100_000) + " == 1",
      "a == 1" + String(repeating: " ** 1", count: 100_000),
      String(repeating: "SUBQUERY(a, $x, ", count: 100_000), String(repeating: "TERNARY(", count: 100_000),
    ]
    for text in texts {
      #expect(throws: PredicateError.self) { try Predicate(format: text) }
    }
    let long = try Predicate(format: Array(repeating: "a == 1", count: 5000).joined(separator: " AND "))
    #expect(long == .and(Array(repeating: a1, count: 5000)))
    let deep = try Predicate(format: String(repeating: "!", count: 190) + "(a == 1 OR b == 2)")
    #expect(try Predicate(format: deep.description) == deep)
    #expect(throws: Never.self) { try deep.evaluate { _, _ in Value.integer(1) } }
  }

  @Test func messages() {
    let error = PredicateError(.syntax, at: 4, "x", "why")
    #expect(error.description == "predicate at byte 4, 'x': why")
  }
}

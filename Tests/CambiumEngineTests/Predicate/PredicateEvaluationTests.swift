import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

@Suite struct PredicateEvaluationTests {
  private struct Missing: Error {}

  private static let row: [String: Value] = [
    "i": 5, "d": 2.5, "big": .integer(9_007_199_254_740_993), "nan": .double(.nan), "b": true, "s": "Éclair",
    "ascii": "Hello",
    "empty": "", "void": nil, "date": .date(10), "dec": decimal("0.1"), "list": [1, 2, 3],
    "names": ["Ada", "Émile", nil],
    "nobody": [], "scheme.primary": "red", "scheme": .composite(["primary": "red", "secondary": nil]),
    "uri": .uri("http://x"),
    "self": .reference(ObjectReference(entity: 1, row: 2)), "data": .binary([1, 2]), "combining": "x\u{301}y",
  ]

  static let truths: [(String, Bool)] = [
    // Null
    ("void == nil", true), ("nil == nil", true), ("i == nil", false), ("i != nil", true), ("void != nil", false),
    ("void == 0", false), ("void != 0", true), ("void < 1", false), ("void > 1", false), ("void <= nil", false),
    ("void >= 0", false),
    ("NOT void < 1", true), ("void BETWEEN {0, 1}", false), ("i BETWEEN {nil, 9}", false), ("void IN {1, nil}", true),
    ("void IN {1}", false), ("i IN nil", false), ("void BEGINSWITH ''", false), ("void CONTAINS 'x'", false),
    ("void LIKE '*'", false),
    ("s BEGINSWITH nil", false),
    // Numbers
    ("i == 5", true), ("i == 5.0", true), ("i != 5.0", false), ("i < 5.5", true), ("d >= 2.5", true), ("d > i", false),
    ("big > 9007199254740992.0", true), ("big == 9007199254740992.0", false), ("dec == 0.1", false),
    ("dec < 0.1", true),
    ("dec == CAST('0.10', 'NSDecimalNumber')", true), ("b == YES", true), ("b == 1", true), ("b == NO", false),
    ("b > 0", true),
    ("nan == CAST('nan', 'double')", true), ("nan < -1e300", true), ("nan != 1", true), ("i BETWEEN {5, 5}", true),
    ("i BETWEEN {1, 4.9}", false), ("i BETWEEN {6, 1}", false), ("i IN {1, 5.0}", true), ("i IN {}", false),
    ("i IN list", false),
    ("2 IN list", true), ("list CONTAINS 2", true), ("list CONTAINS 9", false), ("list == {1, 2, 3}", true),
    ("list == 1", false),
    // Kinds that don't compare
    ("i == '5'", false), ("i != '5'", true), ("i < '6'", false), ("date > 5", false),
    ("date > CAST(5, 'NSDate')", true),
    ("s < 1", false), ("uri == 'http://x'", false), ("uri BEGINSWITH 'http'", true), ("i BEGINSWITH '5'", false),
    ("data == CAST('0102', 'NSData')", true), ("scheme < scheme", false),
    // Strings
    ("s == 'Éclair'", true), ("s == 'E\u{301}clair'", true), ("s == 'éclair'", false), ("s ==[c] 'éCLAIR'", true),
    ("s ==[d] 'Eclair'", true), ("s ==[cd] 'eclair'", true), ("s !=[cd] 'eclair'", false),
    ("s IN[cd] {'x', 'ECLAIR'}", true),
    ("s <[cd] 'eclais'", true), ("s < 'eclais'", false), ("s BETWEEN[cd] {'eca', 'ecz'}", true),
    ("s BEGINSWITH 'É'", true),
    ("s BEGINSWITH 'E'", false), ("s BEGINSWITH[d] 'E'", true), ("s BEGINSWITH[c] 'éc'", true),
    ("s ENDSWITH 'air'", true),
    ("s ENDSWITH 'AIR'", false), ("s ENDSWITH[c] 'AIR'", true), ("s CONTAINS 'lai'", true), ("s CONTAINS 'lia'", false),
    ("s CONTAINS ''", true), ("empty CONTAINS ''", true), ("empty == ''", true), ("empty BEGINSWITH 'x'", false),
    ("'lai' IN s", true), ("combining BEGINSWITH 'x'", true), ("combining ==[d] 'xy'", true), ("'Hell' IN ascii", true),
    // LIKE
    ("ascii LIKE 'Hello'", true), ("ascii LIKE 'H*'", true), ("ascii LIKE 'H?llo'", true), ("ascii LIKE 'H?'", false),
    ("ascii LIKE '*'", true), ("empty LIKE '*'", true), ("empty LIKE ''", true), ("empty LIKE '?'", false),
    ("ascii LIKE '*l*o'", true),
    ("ascii LIKE '*x*'", false), ("ascii LIKE[c] 'HELL?'", true), ("ascii LIKE 'hell?'", false),
    ("ascii LIKE 'Hel\\*'", false),
    ("'a*b' LIKE 'a\\*b'", true), ("'axb' LIKE 'a\\*b'", false), ("'a?b' LIKE 'a\\?b'", true),
    ("s LIKE '?clair'", true),
    ("s LIKE[cd] 'E*R'", true), ("'aab' LIKE '*ab'", true), ("'abcabd' LIKE '*ab?'", true),
    ("'x\\\\' LIKE 'x\\\\'", true),
    // Many
    ("ANY list == 2", true), ("ANY list > 3", false), ("ALL list > 0", true), ("ALL list > 1", false),
    ("NONE list > 3", true),
    ("NONE list == 1", false), ("ANY nobody == 1", false), ("ALL nobody == 1", true), ("NONE nobody == 1", true),
    ("ANY names BEGINSWITH[cd] 'em'", true), ("ANY names == nil", true), ("ALL names != nil", false),
    ("ANY void == nil", false),
    ("ALL void == 1", true), ("ANY i == 5", true), ("ANY list IN {7, 3}", true), ("ANY list BETWEEN {3, 9}", true),
    ("NOT ANY list == 9", true),
    // Composites, objects, logic
    ("scheme.primary == 'red'", true), ("scheme == CAST({'primary', 'red'}, 'composite')", true),
    ("scheme == CAST({'primary', 'blue'}, 'composite')", false), ("SELF == CAST('1/2', 'NSManagedObjectID')", true),
    ("SELF IN {}", false), ("TRUEPREDICATE", true), ("FALSEPREDICATE", false), ("i == 5 AND d == 2.5", true),
    ("i == 5 AND d == 2", false),
    ("i == 4 OR d == 2.5", true), ("i == 4 OR d == 2", false), ("i == 5 OR missing == 1", true),
    ("i == 4 AND missing == 1", false),
    ("i == $five", true), ("i IN {1, $five}", true),
    // Arithmetic
    ("i + 1 == 6", true), ("7 / 2 == 3", true), ("-7 / 2 == -3", true), ("7 / 2.0 == 3.5", true),
    ("i / 0 == nil", true),
    ("i / 0.0 == nil", true), ("void + 1 == nil", true), ("-void == nil", true), ("s + 1 == nil", true),
    ("9223372036854775807 + 1 == 9223372036854775808", true),
    ("-9223372036854775808 / -1 == 9223372036854775808", true),
    ("9223372036854775807 * 9223372036854775807 == 85070591730234615847396907784232501249", true),
    ("-(-9223372036854775808) == 9223372036854775808", true), ("2 ** 10 == 1024", true), ("2 ** -1 == 0.5", true),
    ("10 ** 30 == CAST('1000000000000000000000000000000', 'NSDecimalNumber')", true), ("2 ** 0.5 > 1.41421", true),
    ("-8 ** 0.5 == nil", true), ("0 ** -1 == nil", true), ("2 ** 100000 == CAST('inf', 'double')", true),
    ("dec * 3 == CAST('0.3', 'NSDecimalNumber')", true), ("dec + 0.2 == CAST('0.3', 'NSDecimalNumber')", true),
    ("dec / 3 < CAST('0.0333333333333333333333333333333333334', 'NSDecimalNumber')", true),
    ("dec / 0 == nil", true), ("b + 1 == 2", true), ("d * 2 == 5", true), ("date + 5 == CAST(15, 'NSDate')", true),
    ("date - CAST(4, 'NSDate') == 6", true), ("date - 4 == CAST(6, 'NSDate')", true), ("date + date == nil", true),
    ("modulus:by:(-7, 3) == -1", true), ("modulus:by:(i, 0) == nil", true), ("modulus:by:(7.5, 2) == 1.5", true),
    ("modulus:by:(-9223372036854775808, -1) == 0", true), ("from:subtract:(5, 3) == 2", true),
    ("raise:toPower:(2, 3) == 8", true), ("i + 1 > $five", true), ("{1, 2} + 1 == nil", true),
    // Functions
    ("sqrt(16) == 4", true), ("sqrt(2) == 1.4142135623730951", true), ("sqrt(-1) == nil", true), ("ln(1) == 0", true),
    ("ln(0) == nil", true), ("log(1000) == 3", true), ("exp(0) == 1", true),
    ("exp(1000) == CAST('inf', 'double')", true),
    ("exp(1) BETWEEN {2.718281828459044, 2.718281828459046}", true), ("ln(10) == 2.302585092994046", true),
    ("floor(-1.5) == -2", true), ("ceiling(-1.5) == -1", true), ("trunc(-1.5) == -1", true), ("floor(i) == 5", true),
    ("floor(1e300) == 1e300", true), ("floor(CAST('-1.5', 'NSDecimalNumber')) == -2", true), ("abs(-5) == 5", true),
    ("abs(-9223372036854775808) == 9223372036854775808", true), ("abs(void) == nil", true), ("abs('x') == nil", true),
    ("bitwiseAnd:with:(6, 3) == 2", true), ("bitwiseOr:with:(6, 3) == 7", true), ("bitwiseXor:with:(6, 3) == 5", true),
    ("leftshift:by:(1, 70) == 0", true), ("rightshift:by:(-1, 70) == -1", true), ("onesComplement(0) == -1", true),
    ("uppercase(ascii) == 'HELLO'", true), ("lowercase(s) == 'éclair'", true), ("canonical(s) == 'eclair'", true),
    ("length(s) == 6", true), ("length(combining) == 3", true), ("length(void) == nil", true),
    ("length(empty) == 0", true),
    ("noindex(i) == 5", true), ("FUNCTION(ascii, 'uppercaseString') == 'HELLO'", true),
    ("random() < 1", true), ("random() >= 0", true), ("randomn(1) == 0", true), ("randomn(0) == nil", true),
    (
      "distanceToLocation:fromLocation:({0, 0}, {0, 180}) BETWEEN {20015114, 20015115}", true
    ),
    ("distanceToLocation:fromLocation:({51.5, -0.1}, {51.5, -0.1}) == 0", true),
    ("distanceToLocation:fromLocation:({48.8567, 2.3508}, {51.5074, -0.1278}) BETWEEN {343000, 344000}", true),
    ("distanceToLocation:fromLocation:({1, 2}, void) == nil", true),
    // Casts
    ("CAST(i, 'NSString') == '5'", true), ("CAST(b, 'NSString') == '1'", true),
    ("CAST(empty, 'NSNumber') == nil", true),
    ("CAST(i, 'NSDate') == CAST(5, 'NSDate')", true), ("CAST(date, 'NSNumber') == 10", true),
    ("CAST(d, 'integer') == 2", true), ("CAST(nan, 'integer') == nil", true), ("CAST(i, 'boolean') == YES", true),
    ("CAST(d, 'NSDecimalNumber') == CAST('2.5', 'NSDecimalNumber')", true), ("CAST(s, 'NSUUID') == nil", true),
    // Many values
    ("sum(list) == 6", true), ("sum(1, 2, i) == 8", true), ("sum(nobody) == 0", true), ("average(list) == 2", true),
    ("average(nobody) == nil", true), ("min(3, i, 4) == 3", true), ("max(list) == 3", true),
    ("max(nobody) == nil", true),
    ("median({4, 1, 3, 2}) == 2.5", true), ("median({3, 1, 2}) == 2", true), ("mode({1, 2, 2, 3, 3}) == 2", true),
    ("stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2", true), ("count(list) == 3", true), ("count(void) == 0", true),
    ("list.@count == 3", true), ("list.@sum == 6", true), ("list.@avg == 2", true), ("list.@min == 1", true),
    ("list.@max == 3", true), ("nobody.@sum == 0", true), ("nobody.@avg == nil", true), ("names.@count == 3", true),
    ("{1, 1, 2, 1.0, nil}.@distinctUnionOfObjects == {1, 2}", true), ("names.@unionOfObjects.@count == 2", true),
    ("{{1, 2}, {2}}.@distinctUnionOfArrays == {1, 2}", true), ("list[0] == 1", true), ("list[3] == nil", true),
    ("list[-1] == nil", true), ("list[FIRST] == 1", true), ("list[LAST] == 3", true), ("list[SIZE] == 3", true),
    ("list[i - 4] == 2", true), ("scheme['primary'] == 'red'", true), ("(scheme).primary == 'red'", true),
    ("nobody[FIRST] == nil", true), ("{{{1, 2}, {3}}[0].@sum, 9}[0] == 3", true),
    ("SUBQUERY(list, $x, $x > 1).@count == 2", true), ("SUBQUERY(list, $x, $x > i - 3)[FIRST] == 3", true),
    ("SUBQUERY(list, $x, SUBQUERY(list, $y, $y > $x).@count == 0)[0] == 3", true),
    ("SUBQUERY(list, $five, $five == 2).@count == 1", true), ("SUBQUERY(void, $x, $x == 1).@count == 0", true),
    ("TERNARY(i == 5, 'yes', 'no') == 'yes'", true), ("TERNARY(i == 6, missing, 1) == 1", true),
    ("ANY SUBQUERY(list, $x, $x > 1) == 3", true), ("2 IN SUBQUERY(list, $x, $x > 1)", true),
    // A quotient whose last digit is rounded up beyond what a decimal holds.
    ("30625413022884461711703714668859139031 / 9 > 1", true),
    // Regular expressions
    ("ascii MATCHES 'H.*o'", true), ("ascii MATCHES 'ell'", false), ("ascii MATCHES[c] 'hello'", true),
    ("s MATCHES[cd] 'E\\\\w+'", true), ("void MATCHES '.*'", false), ("i MATCHES '5'", false),
    ("ANY names MATCHES '[A-C]da'", true), ("uri MATCHES 'http://.'", true),
  ]

  private static func evaluate(_ text: String) throws -> Bool {
    try Predicate(format: text).evaluate(variables: ["five": 5]) {
      (_: ObjectReference?, path: String) throws(Missing) -> Value in
      guard let value = row[path] else { throw Missing() }
      return value
    }
  }

  @Test(arguments: truths.indices)
  func holds(_ index: Int) throws {
    let (text, expected) = Self.truths[index]
    #expect(try Self.evaluate(text) == expected, "\(text)")
  }

  @Test func failures() {
    do throws(PredicateEvaluationError<Missing>) {
      _ = try Predicate.compare(path("missing"), .equal, of(1)).evaluate {
        (_: ObjectReference?, _: String) throws(Missing) in
        throw Missing()
      }
      Issue.record("evaluated")
    } catch {
      if case .predicate(let reason) = error { Issue.record("\(reason)") }
    }
    let unsupported: [Predicate] = [
      .compare(.fetch(request: of(1), context: of(2), countOnly: true), .equal, of(3)),
      .compare(.assignment(variable: "x", of(1)), .equal, of(1)), .compare(.function("now", []), .equal, of(3)),
      .compare(.function("shout", [of("x")]), .equal, of(3)), .compare(.cast(of(1), type: "NSRect"), .equal, of(1)),
      .compare(of("x"), .matches, of("(?=x)")), .compare(.variable("x"), .equal, of(1)),
      .compare(.member(.variable("x"), path: "y"), .equal, of(1)),
    ]
    for predicate in unsupported {
      do throws(PredicateEvaluationError<Never>) {
        _ = try predicate.evaluate { (_: ObjectReference?, _: String) throws(Never) in Value.null }
        Issue.record("\(predicate) was evaluated")
      } catch {
        guard case .predicate(let reason) = error else { continue }
        #expect(reason.kind == .unsupported || reason.kind == .unboundVariable)
      }
    }
  }

  @Test func emptyCompounds() throws {
    #expect(try Predicate.and([]).evaluate { _, _ in Value.null })
    #expect(try !Predicate.or([]).evaluate { _, _ in Value.null })
  }

  @Test func substitutingVariables() throws {
    let predicate = try Predicate(format: "a == $x AND NOT (b IN {$x, 2} OR c == $y)")
    #expect(
      try predicate.substituting(["x": 1])
        == .and([
          .compare(path("a"), .equal, of(1)),
          .not(.or([.compare(path("b"), .in, of([1, 2])), .compare(path("c"), .equal, .variable("y"))])),
        ]))
  }

  /// LIKE against a matcher that tries everything.
  @Test func likeAgainstBacktracking() {
    func matches(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
      guard let first = pattern.first else { return text.isEmpty }
      if first == "*" {
        return matches(text, pattern.dropFirst()) || (!text.isEmpty && matches(text.dropFirst(), pattern))
      }
      guard let letter = text.first else { return false }
      return (first == "?" || first == letter) && matches(text.dropFirst(), pattern.dropFirst())
    }
    var random = SplitMix64(seed: 21)
    for _ in 0..<5000 {
      let text = (0..<random.below(9)).map { _ in random.pick(["a", "b"]) }.joined()
      let pattern = (0..<random.below(7)).map { _ in random.pick(["a", "b", "?", "*"]) }.joined()
      #expect(
        LikePattern(pattern, []).matches(FoldedText(text, [])) == matches(Array(text)[...], Array(pattern)[...]),
        "\(text) LIKE \(pattern)")
    }
  }

  @Test func likeDoesNotExplode() {
    let text = String(repeating: "a", count: 3000) + "b"
    let pattern = String(repeating: "*a", count: 60) + "*c"
    #expect(!LikePattern(pattern, []).matches(FoldedText(text, [])))
  }

  @Test func containsAgainstSearching() {
    var random = SplitMix64(seed: 22)
    for _ in 0..<5000 {
      let text = (0..<random.below(14)).map { _ in random.pick(["a", "b"]) }.joined()
      let part = (0..<random.below(6)).map { _ in random.pick(["a", "b"]) }.joined()
      let bytes = Array(text.utf8)
      let expected = part.isEmpty || bytes.indices.contains { bytes[$0...].starts(with: part.utf8) }
      #expect(FoldedText(text, []).contains(FoldedText(part, [])) == expected, "\(text) CONTAINS \(part)")
    }
  }
}

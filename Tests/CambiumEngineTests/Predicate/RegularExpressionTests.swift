import CambiumTesting
import Testing

@testable import CambiumEngine

@Suite struct RegularExpressionTests {
  static let table: [(pattern: String, text: String, Bool)] = [
    ("", "", true), ("", "a", false), ("abc", "abc", true), ("abc", "abcd", false), ("abc", "xabc", false),
    ("a|bc|", "bc", true), ("a|bc|", "", true), ("a|bc|", "abc", false), ("(a|b)c", "bc", true),
    ("(?:a|b)*", "abba", true),
    ("(?<name>a)b", "ab", true), ("a*", "", true), ("a*", "aaaa", true), ("a+", "", false), ("a?b", "b", true),
    ("a*?b+?", "aabb", true), ("a{2}", "aa", true), ("a{2}", "a", false), ("a{2,}", "aaaaa", true),
    ("a{1,2}", "aaa", false),
    ("a{0}", "", true), ("(ab){2,3}", "ababab", true), ("(ab){2,3}", "ab", false), (".", "\n", false), (".", "é", true),
    (".", "\u{1F600}", true), (".", "\u{2028}", false), ("[abc]+", "cab", true), ("[^abc]", "d", true),
    ("[^abc]", "a", false),
    ("[a-c0-9]", "5", true), ("[]a]", "]", true), ("[a-]", "-", true), ("[\\d_]+", "4_2", true), ("[^\\d]", "4", false),
    ("[\\]\\\\]+", "]\\", true), ("\\d+", "123", true), ("\\d", "٣", true), ("\\D", "a", true), ("\\w+", "aß_9", true),
    ("\\W", " ", true), ("\\s", "\u{A0}", true), ("\\S", "x", true), ("\\h", "\t", true),
    ("\\p{Lu}\\p{Ll}+", "Ébc", true),
    ("\\pL", "1", false), ("\\P{L}", "1", true), ("\\p{^L}", "1", true), ("[\\p{L}-]+", "a-b", true),
    ("^a$", "a", true),
    ("a$", "a\n", false), ("a$\\n", "a\n", true), ("a\\Z\\n", "a\n", true), ("a\\z\\n", "a\n", false),
    ("\\Aa", "a", true),
    ("a^b", "ab", false), ("a\\b b", "a b", true), ("a\\bb", "ab", false), ("a\\Bb", "ab", true), ("\\.", ".", true),
    ("\\.", "x", false), ("\\x41\\u0042\\x{43}\\U00000044", "ABCD", true), ("\\t\\n", "\t\n", true),
    ("\\Qa.b\\E+", "", false),
    ("\\Qa.b\\Ec", "a.bc", true), ("\\Qa.b", "axb", false), ("e\u{301}", "\u{E9}", true),
    ("[\u{E9}]", "e\u{301}", true),
    ("(a*)*b", "aaab", true), ("((a?)*|b)*", "abab", true), ("(|a)+", "aa", true), ("N\\d{3,5}[A-Z]?", "N1234B", true),
    ("}", "}", true), ("a-b", "a-b", true), ("x*x*x*x*", "xxx", true),
  ]

  @Test(arguments: table.indices)
  func wholeMatches(_ index: Int) {
    let (pattern, text, expected) = Self.table[index]
    do throws(PredicateError) {
      let matches = try RegularExpression(pattern, []).matches(FoldedText(text, []))
      #expect(matches == expected, "\(pattern) \(text)")
    } catch {
      // One of them is refused.
      #expect(pattern == "\\Qa.b\\E+" && error.kind == .unsupported, "\(error)")
    }
  }

  static let folded: [(pattern: String, text: String, ComparisonOptions, Bool)] = [
    ("ABC", "abc", .caseInsensitive, true), ("[A-Z]+", "abC", .caseInsensitive, true),
    ("[a-z]+", "ABC", .caseInsensitive, true), ("[^A-Z]", "a", .caseInsensitive, false),
    ("É", "é", .caseInsensitive, true), ("É", "e", .caseInsensitive, false), ("É", "e", .diacriticInsensitive, false),
    ("é", "e", .diacriticInsensitive, true), ("[é]", "e", .diacriticInsensitive, true),
    ("e\u{301}+", "ee", .diacriticInsensitive, true), ("\\p{Lu}", "a", .caseInsensitive, true),
    ("É+", "eÉ", [.caseInsensitive, .diacriticInsensitive], true), ("\u{212A}", "k", .caseInsensitive, true),
  ]

  @Test(arguments: folded.indices)
  func foldedMatches(_ index: Int) throws {
    let (pattern, text, options, expected) = Self.folded[index]
    #expect(
      try RegularExpression(pattern, options).matches(FoldedText(text, options)) == expected, "\(pattern) \(text)")
  }

  static let refused: [(String, PredicateError.Kind)] = [
    ("(", .syntax), (")", .syntax), ("a)", .syntax), ("(a", .syntax), ("[a", .syntax), ("[", .syntax), ("[]", .syntax),
    ("*", .syntax), ("a|*", .syntax), ("a**", .syntax), ("a{", .syntax), ("a{x}", .syntax), ("a{2,1}", .syntax),
    ("{1}", .syntax), ("a{1", .syntax), ("\\", .syntax), ("\\xZ1", .syntax), ("\\u12", .syntax),
    ("\\x{110000}", .syntax),
    ("[b-a]", .syntax), ("(?<n", .syntax), ("a++", .unsupported), ("(?=a)", .unsupported), ("(?!a)", .unsupported),
    ("(?<=a)", .unsupported), ("(?<!a)", .unsupported), ("(?>a)", .unsupported), ("(?i)a", .unsupported),
    ("(?#x)", .unsupported), ("(a)\\1", .unsupported), ("\\k<n>", .unsupported), ("[[a]]", .unsupported),
    ("[a&&b]", .unsupported), ("[a--b]", .unsupported), ("\\p{Greek}", .unsupported), ("\\q", .unsupported),
    ("a{1,100000}", .unsupported), ("a{99999999999999999999}", .unsupported), ("((a{100}){100}){100}", .tooDeep),
    ("((((){1000}){1000}){1000}){1000}", .tooDeep), (String(repeating: "(", count: 100_000), .tooDeep),
    (String(repeating: "[", count: 100_000), .unsupported), (String(repeating: "(a|", count: 50_000), .tooDeep),
    (String(repeating: "a", count: 100_000), .tooDeep), (String(repeating: "\\", count: 99_999), .syntax),
    (String(repeating: "\\", count: 100_000), .tooDeep),
    ("(?:[^" + String(repeating: "\\w", count: 20_000) + "]?){1000}", .tooDeep),
    ("[" + String(repeating: "a", count: 100_000) + "]", .tooDeep),
  ]

  @Test(arguments: refused.indices)
  func refuses(_ index: Int) {
    let (pattern, kind) = Self.refused[index]
    let error = #expect(throws: PredicateError.self, "\(pattern.prefix(20))") { try RegularExpression(pattern, []) }
    #expect(error?.kind == kind, "\(pattern.prefix(20)): \(error.map { $0.description } ?? "")")
  }

  /// Patterns that take a backtracking matcher longer than there is time.
  @Test func hostilePatterns() throws {
    let text = FoldedText(String(repeating: "a", count: 20_000), [])
    for pattern in ["(a*)*b", "(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)(.*)(.*)(.*)b", "(a?){50}a{50}b", "((a*)*)*b"] {
      #expect(try !RegularExpression(pattern, []).matches(text))
    }
    let parts = String(repeating: "(a?)", count: 200) + String(repeating: "a", count: 200)
    #expect(try RegularExpression(parts, []).matches(FoldedText(String(repeating: "a", count: 300), [])))
  }

  /// Against a matcher that tries everything.
  @Test func againstBacktracking() throws {
    var random = SplitMix64(seed: testSeed(31))
    func make(_ depth: Int) -> (String, RegexNode) {
      switch random.below(depth > 0 ? 7 : 3) {
      case 3:
        let (a, b) = (make(depth - 1), make(depth - 1))
        return ("(?:" + a.0 + "|" + b.0 + ")", .choice([a.1, b.1]))
      case 4, 5:
        let (a, b) = (make(depth - 1), make(depth - 1))
        return ("(?:" + a.0 + b.0 + ")", .sequence([a.1, b.1]))
      case 6:
        let inner = make(depth - 1)
        let (text, low, high): (String, Int, Int?) = random.pick([
          ("*", 0, nil), ("+", 1, nil), ("?", 0, 1), ("{2}", 2, 2), ("{1,2}", 1, 2),
        ])
        return ("(?:" + inner.0 + ")" + text, .repeated(inner.1, minimum: low, maximum: high))
      case 0: return ("", .empty)
      default:
        let letter = random.pick(["a", "b"])
        return (letter, .scalar(letter.unicodeScalars.first?.value ?? 0))
      }
    }
    /// The places at which a match that begins at one of some places can end.
    func ends(_ node: RegexNode, _ text: [UInt32], from places: Set<Int>) -> Set<Int> {
      switch node {
      case .empty, .anchor, .set: return places
      case .scalar(let scalar): return Set(places.filter { $0 < text.count && text[$0] == scalar }.map { $0 + 1 })
      case .sequence(let parts): return parts.reduce(places) { ends($1, text, from: $0) }
      case .choice(let choices): return choices.reduce(into: []) { $0.formUnion(ends($1, text, from: places)) }
      case .repeated(let inner, let minimum, let maximum):
        var now = places
        for _ in 0..<minimum { now = ends(inner, text, from: now) }
        var all = now
        for _ in 0..<((maximum ?? minimum + text.count + 1) - minimum) {
          now = ends(inner, text, from: now)
          all.formUnion(now)
        }
        return all
      }
    }
    for _ in 0..<3000 {
      let (pattern, node) = make(4)
      let text = (0..<random.below(7)).map { _ in random.pick(["a", "b"]) }.joined()
      let scalars = text.unicodeScalars.map { $0.value }
      #expect(
        try RegularExpression(pattern, []).matches(FoldedText(text, []))
          == ends(node, scalars, from: [0]).contains(scalars.count), "\(text) MATCHES \(pattern)")
    }
  }

  /// Any text is read or refused.
  @Test func randomPatterns() {
    var random = SplitMix64(seed: testSeed(32))
    let pieces = [
      "a", "(", ")", "[", "]", "|", "*", "+", "?", "{", "}", "1", ",", "-", "^", "$", ".", "\\", "d", "p{L}", "é",
      "(?:", "&&",
      "Q", "x41", "\u{301}", " ",
    ]
    var read = 0
    for _ in 0..<20_000 {
      let pattern = (0..<random.below(12)).map { _ in random.pick(pieces) }.joined()
      let options = ComparisonOptions(rawValue: UInt8(random.below(8)))
      guard let made = try? RegularExpression(pattern, options) else { continue }
      read += 1
      _ = made.matches(FoldedText("aé1-a", options))
    }
    #expect(read > 1000)
  }
}

@testable import CambiumMacroSupport

/// A variable made of parts, so that a test knows what the reader has to find.
struct VariableSample {
  var attributes: [String] = []
  var modifiers = ""
  var introducer = "var"
  var name = "a"
  var type: String?
  var value: String?
  var block = ""
  var behind = "\n"

  var source: String {
    attributes.map { "\($0)\n  " }.joined() + modifiers + introducer + " " + name + (type.map { ": " + $0 } ?? "")
      + (value.map { " = " + $0 } ?? "") + block + behind
  }

  static let attributes: [[String]] = [
    [], ["@Attribute(.unique)"], ["@Attribute(originalName: \"}{\\\"\\(\"{\")\")"],
    ["@Relationship(deleteRule: .cascade, inverse: \\Stop.trip)"], ["@available(macOS 15, *)", "@Transient"],
    ["@CambiumSwiftData.Attribute(.transformable(by: \"a)b\"))"], ["@Wrapper<[Int], (Int) -> Bool>(1, { $0 })"],
    ["@Attribute // why {", "@objc /* } */"],
  ]

  /// What is written, and the words that the reader keeps of it.
  static let modifiers: [(source: String, words: [String])] = [
    ("", []), ("private(set) ", []), ("public ", ["public"]), ("static ", ["static"]), ("lazy ", ["lazy"]),
    ("public internal(set) final ", ["public", "final"]), ("unowned(safe) ", ["unowned"]),
    ("nonisolated(unsafe) private ", ["nonisolated", "private"]), ("class ", ["class"]),
    ("package\n  weak ", ["package", "weak"]),
  ]

  static let names = ["a", "`class`", "größe", "`two words`", "𝒳", "_x", "`a{b`", "isDone2", "`let`"]

  static let types: [String?] = [
    nil, "Int", "String?", "String!", "[String: [Int]]", "Map<A, B<C, D>>", "(Int, String)?",
    "@Sendable (Int) throws -> Void", "Swift.Optional<[A]>", "Map<A, /* , } { */ B>", "any P & Q", "[Int /* ] */]",
    "A.B.C?", "(() -> (Int, [Int]))?", "InlineArray<3, Int>", "Set<A<B>>?", "some\n    Collection<Int>",
    "A &\n    B", "(\n    Int,\n    Int\n  )", "[A<(Int, Int) -> B, C>]", "`Type`.`class`", "Map<A,\n    B>",
  ]

  static let values: [String?] = [
    nil, "3", "-1", "1.5e3", "true", ".leisure", "{ 1 }()", "{\n    let x: Int = 1; var y = x\n    return x + y\n  }()",
    "\"}{\"", "\"a \\(b(\"c)\")) { d\"", "#\"\"}\\(\"#", "\"\\\"\"", "\"\"",
    "\"\"\"\n    } \"quoted\" \\(\"\"\"\n    {\n    \"\"\")\n    \"\"\"",
    "##\"\"\"\n    \\(}\"#\n    \"\"\"##", "/[a-z]{2}\\/\\(/", "/}/", "#/ } /#", "#/\n    } # comment\n  /#",
    "try! Regex(/a\"b/)",
    "[/x{/, /y\\//]", "f { $0 + 1 }", "f(1) { $0 } last: { 2 }", "x ? [1, 2] : [3]", "x\n    ? [1, 2]\n    : [3]",
    "a < b", "a<b",
    "Map<A, B>()", "[A<B, C>]()", "A<B, (C) -> D>.E(1)", "Map<A, B>.default", "a +\n    b",
    "a\n    .b()\n    .c { $0 }",
    "a\n    + b", "if a { 1 } else { 2 }", "if a {\n    1\n  }\n  else {\n    2\n  }",
    "switch a { case 1: 2; default: 3 }",
    "try? f()", "x as? Int", "x\n    as? Int", "x as?\n    Int", "try!\n    f()", "1...", "\\.name",
    "\\Trip.name?.count",
    "a ??\n    b", "await f", "a / b / c", "a/b", "a! ", "[1, 2, 3].map { $0 * 2 }.filter { $0 > 1 }", "(1, 2)",
    "a == b", "f(/)",
    "#line", "#file.count", "f(a, b: { x, y in x < y })", "b ? \"}\" : #\"{\"#", "UUID().uuidString // id {", "\"//\"",
    "\"/*\"",
    "a /* { */ + /* \" */ b", "{ get }()", "{ set(3) }()", "`class`.`var`", "reduce(0, +)", "[:]",
    "[\n    1,\n    2,\n  ]",
    "\n    later", "f\n    { $0 }", "x is Int", "try await f()", "~a & b", "a &+ b", "A.B<C>.d", "\"\u{1F600}}\"",
    "$0.a",
  ]

  static let behind = ["\n", " // } {\n", " /* { */\n", ";", "; ", "\n  // comment { \n", "\n\n", " /* \" */ // \"\n"]

  static let blocks: [(source: String, kind: TypeDeclaration.Block.Kind)] = [
    (" { 3 }", .accessors), ("{ get { 3 } set { a = \"}\" } }", .accessors), ("\n  {\n    3\n  }", .accessors),
    (" { get async throws { 3 } }", .accessors), (" { get throws(E<A>) { 3 } }", .accessors),
    (" { @A(1) mutating get { 3 } nonmutating set(new) { } }", .accessors), (" { _read { yield a } }", .accessors),
    (" { @storageRestrictions(initializes: _a) init(v) { _a = v } get { 1 } }", .accessors),
    (" { didSet { print(\"}\") } }", .observers), (" { willSet(new) { } didSet { } }", .observers),
    ("\n  {\n    // first {\n    didSet(old) { }\n  }", .observers),
  ]
}

import Testing

@testable import CambiumSourceMover

/// Tokens, and that comments and strings are none.
@Suite struct SourceTextTests {
  private func words(_ text: String) -> [String] {
    SourceText(text).tokens.filter { $0.kind != .characters }.map { $0.text }
  }

  @Test(arguments: [
    ("a // b\n/* c /* d */ e */ f", ["a", "f"]),
    ("\"a\" b", ["\"", "\"", "b"]),
    ("\"a \\(b + \"c\\(d)\") e\" f", ["\"", "(", "b", "+", "\"", "(", "d", ")", "\"", ")", "\"", "f"]),
    ("#\"a \\(b) \"c\" \\#(d)\"# e", ["\"", "(", "d", ")", "\"", "e"]),
    ("\"\"\"\n  a \"b\" \\(c)\n  \"\"\" d", ["\"", "(", "c", ")", "\"", "d"]),
    ("##\"\"\"\n a \"\"\"# \\#(b) \\##(c)\n\"\"\"## d", ["\"", "(", "c", ")", "\"", "d"]),
    ("x = /a\"b/ + #/c\"d/# e", ["x", "=", "/a\"b/", "+", "#/c\"d/#", "e"]),
    ("a / b / c", ["a", "/", "b", "/", "c"]),
    ("`class` @objc #if 1.5e3 0xFF_a", ["class", "@objc", "#if", "1", ".", "5e3", "0xFF_a"]),
    ("\"a\nb", ["\"", "b"]),
    ("\u{FEFF}import A", ["import", "A"]),
    ("a ü b", ["a", "ü", "b"]),
  ])
  func tokens(text: String, result: [String]) { #expect(words(text) == result) }

  @Test func brackets() {
    let source = SourceText("a(b[c)] }")
    // `[` has no end within the bracket that closes.
    #expect(source.tokens.map { $0.partner } == [nil, 5, nil, nil, nil, 1, nil, nil])
  }

  @Test func lines() {
    let source = SourceText("a\r\n  b\n\tc")
    #expect(source.tokens.map { source.line(at: $0.range.lowerBound) } == [1, 2, 3])
    #expect(source.tokens.map { source.indentation(at: $0.range.lowerBound) } == ["", "  ", "\t"])
    #expect(source.lineEnd == "\r\n" && SourceText("a\nb").lineEnd == "\n" && SourceText("").lineEnd == "\n")
    #expect(source.line(at: 1000) == 3)
  }

  /// The words of all rules, where they are no code.
  @Test(arguments: [
    "// %", "/* /* % */ % */", "let a = \"%\"", "let a = #\"%\"#", "let a = \"\"\"\n  %\n  \"\"\"", "let a = /%/",
  ])
  func wordsThatAreNoCode(form: String) {
    for word in [
      "import CoreData", "@NSManaged var x: Int", "@objc class A {}", "#keyPath(Item.name)", "#selector(a)",
      "catch let error as NSError {}", "NSFetchRequest<NSDictionary>", "NSPredicate",
      "override init(entity: E, insertInto: C)",
    ] {
      let text = form.split(separator: "%", omittingEmptySubsequences: false).joined(separator: word)
      #expect(body(text) == text)
      #expect(left(text).isEmpty)
      #expect(moved(text).text == text)
    }
  }

  /// Of edits that overlap, one is done.
  @Test func edits() {
    let source = SourceText("abcdef")
    var edits = SourceEdits()
    edits.replace(1..<3, with: "X")
    edits.replace(2..<4, with: "Y")
    edits.replace(4..<9, with: "Z")
    edits.insert("!", at: 6)
    #expect(edits.applied(to: source) == "aXdef!")
  }
}

import CambiumModelFiles
import Testing

@testable import CambiumGenerator

/// Text of a file never becomes code of another meaning.
@Suite struct TextTests {
  @Test(arguments: [
    ("a", #""a""#), ("\"", #""\"""#), ("\\(x)", #""\\(x)""#), ("\n\r\t", #""\n\r\t""#), ("\u{0}", #""\u{0}""#),
    ("\u{2028}\u{202E}", #""\u{2028}\u{202E}""#), ("größe 😀", #""größe 😀""#), (#"\u{41}"#, #""\\u{41}""#),
  ])
  func literals(text: String, literal: String) { #expect(SwiftText.literal(text) == literal) }

  @Test func comments() { #expect(SwiftText.comment("a\nb\u{2029}c") == "a\u{FFFD}b\u{FFFD}c") }

  @Test func identifiers() {
    for name in ["a", "_a", "größe", "名前", "a1"] { #expect(SwiftText.isIdentifier(name)) }
    for name in ["", "_", "1a", "a b", "a.b", "a`b", "a\u{0}", "-a", "a;", "$0"] {
      #expect(!SwiftText.isIdentifier(name))
    }
    #expect(SwiftText.name("class") == "`class`")
    #expect(SwiftText.name("classes") == "classes")
  }

  @Test(arguments: [
    ("[String]", "[String]"), (".[String]", "[String]"), ("[String:Int]", "[String: Int]"), ("Set<Int>?", "Set<Int>"),
    ("Foundation.URL", "Foundation.URL"), ("[ [Int?] ]", "[[Int?]]"), ("NSArray", "NSArray"),
    ("Dictionary<String, [Int]>", "Dictionary<String, [Int]>"),
  ])
  func types(text: String, type: String) { #expect(SwiftTypeText(text)?.text == type) }

  @Test(arguments: [
    "", "Int; x", "Int }", "Int()", "[Int", "Int>", "a b", "Int // x", "class", "() -> Void", "`Int`", "Int\n",
  ])
  func noTypes(text: String) { #expect(SwiftTypeText(text) == nil) }

  @Test func deepTypes() {
    #expect(SwiftTypeText(String(repeating: "[", count: 100_000) + "Int") == nil)
  }

  @Test(arguments: [
    ("Flights", ["Flights", "Flights 2"], ["FlightsV1", "FlightsV2"]),
    ("Model", ["Model", "Modelv4", "Model v2.5.1"], ["ModelV1", "ModelV4", "ModelV2_5_1"]),
    ("Store", ["V1", "V10", "Legacy"], ["StoreV1", "StoreV10", "StoreLegacy"]),
    ("Flights", ["Flights", "Flights 1"], ["FlightsV1_Flights", "FlightsV1_Flights1"]),
    ("my store", ["2024"], ["MyStoreV2024"]), ("9", ["x"], ["Model9X"]), ("FlightsV1", ["Taken"], ["FlightsV1Taken"]),
  ])
  func namespaces(model: String, versions: [String], expected: [String]) {
    #expect(VersionNames(model: model, versions: versions, taken: []).namespaces == expected)
  }

  @Test(arguments: [
    ("Flights", ["Flights", "Flights 2"], [[1, 0, 0], [2, 0, 0]]),
    (
      "Num", ["Beta 2", "Legacy", "Num", "Num 1", "Num 10", "Num 2", "Numv2.0"],
      [[11, 0, 0], [12, 0, 0], [0, 1, 0], [1, 0, 0], [10, 0, 0], [2, 0, 0], [13, 0, 0]]
    ),
  ])
  func numbers(model: String, versions: [String], expected: [[Int]]) {
    #expect(VersionNames(model: model, versions: versions, taken: []).numbers == expected)
  }

  @Test func namespacesAreNoClasses() {
    let names = VersionNames(model: "Trips", versions: ["Trips", "Trips 2"], taken: ["TripsV2"])
    #expect(names.namespaces == ["TripsV1", "TripsV2_"])
    #expect(names.numbers == [[1, 0, 0], [2, 0, 0]])
  }

  @Test(
    arguments: [
      ("Integer 16", "0.0", "0"), ("Integer 16", "32768", nil), ("Integer 16", "NO", "0"), ("Integer 32", "1.5", nil),
      ("Integer 64", "-9223372036854775808", "-9223372036854775808"), ("Integer 64", "9223372036854775808", nil),
      ("Integer 64", "1e3", "1000"), ("Integer 64", "1e999", nil), ("Boolean", "YES", "true"),
      ("Boolean", "maybe", nil),
      ("Double", "0.1", "0.1"), ("Double", "-1e300", "-1e+300"), ("Double", "inf", "Double.infinity"),
      ("Double", "x", nil),
      ("Float", "0.1", "0.1"), ("Decimal", "-12.50", "Decimal(sign: .minus, exponent: -1, significand: 125)"),
      ("Decimal", "7", "7"), ("Decimal", "", nil), ("UUID", "x", nil), ("Binary", "x", nil),
      ("String", "\"); exit(0) //", #""\"); exit(0) //""#),
      ("URI", "a'b", #"URL(string: "a'b") ?? URL(fileURLWithPath: "/")"#), ("URI", "a\"b", nil),
      ("URI", "http://x y", nil),
    ] as [(String, String, String?)])
  func defaults(type: String, text: String, source: String?) throws {
    var attribute = ModelDocument.Attribute("a", try #require(ModelDocument.AttributeType(rawValue: type)))
    attribute.defaultValue = ModelDocument.Text(text)
    #expect(DefaultValue(of: attribute)?.source(TypeNames(taken: []), isOptional: false) == source)
  }
}

import CambiumTesting
import Testing

@testable import CambiumMacroSupport

/// What becomes of structures with `@StoredRow`.
@Suite struct StoredRowMacroTests {
  private func request(
    _ source: String, attribute: String = "@StoredRow", type: String? = "Measurement",
    conformances: String? = "StoredRow"
  ) -> CompilerMessage.AttachedMacro {
    CompilerMessage.AttachedMacro(
      macro: .init(moduleName: "CambiumMacros", typeName: "StoredRowMacro", name: "StoredRow"), macroRole: "extension",
      attributeSyntax: .init(source: attribute, location: nil), declSyntax: .init(source: source, location: nil),
      lexicalContext: [], extendedTypeSyntax: type.map { .init(source: $0, location: nil) },
      conformanceListSyntax: conformances.map { .init(source: $0, location: nil) })
  }

  private func expand(_ source: String, attribute: String = "@StoredRow") throws -> String {
    try StoredRowMacro.extensions(request(source, attribute: attribute))
  }

  @Test func aStructure() throws {
    let source = """
      @StoredRow public struct Measurement: Equatable {
        public var time: DateValue
        var value: Double?, `class`: Optional<String> = nil
        let sensor: Int32
        var count = 1_000, note = "a, \\"b\\"", factor = -1.5e3, isGood = true {
          didSet { print(isGood) }
        }
        let fixed = f()
        static var none: Measurement?
        var text: String { note }
        func f() {}
      }
      """
    #expect(
      try expand(source) == """
        nonisolated extension Measurement: CambiumEngine.StoredRow {
          public static var entityName: Swift.String { "Measurement" }
          public static var storedAttributes: [CambiumEngine.AttributeSchema] {
            var attributes: [CambiumEngine.AttributeSchema] = []
            attributes.append(CambiumEngine.AttributeSchema("time", of: { (row: Self) in row.`time` }))
            attributes.append(CambiumEngine.AttributeSchema("value", of: { (row: Self) in row.`value` }))
            attributes.append(CambiumEngine.AttributeSchema("class", of: { (row: Self) in \
        row.`class` }, default: nil))
            attributes.append(CambiumEngine.AttributeSchema("sensor", of: { (row: Self) in row.`sensor` }))
            attributes.append(CambiumEngine.AttributeSchema("count", of: { (row: Self) in \
        row.`count` }, default: 1_000))
            attributes.append(CambiumEngine.AttributeSchema("note", of: { (row: Self) in \
        row.`note` }, default: "a, \\"b\\""))
            attributes.append(CambiumEngine.AttributeSchema("factor", of: { (row: Self) in \
        row.`factor` }, default: -1.5e3))
            attributes.append(CambiumEngine.AttributeSchema("isGood", of: { (row: Self) in \
        row.`isGood` }, default: true))
            return attributes
          }
          public init(
            storedRow row: borrowing CambiumEngine.RowReader, fields: CambiumEngine.StoredFields
          ) throws(CambiumEngine.EngineError) {
            self.`time` = try fields.value(0, of: row)
            self.`value` = try fields.value(1, of: row)
            self.`class` = try fields.value(2, of: row)
            self.`sensor` = try fields.value(3, of: row)
            self.`count` = try fields.value(4, of: row)
            self.`note` = try fields.value(5, of: row)
            self.`factor` = try fields.value(6, of: row)
            self.`isGood` = try fields.value(7, of: row)
          }
          public func store(
            _ fields: CambiumEngine.StoredFields, in row: CambiumEngine.RowWriter
          ) throws(CambiumEngine.EngineError) {
            try fields.set(0, to: self.`time`, of: row)
            try fields.set(1, to: self.`value`, of: row)
            try fields.set(2, to: self.`class`, of: row)
            try fields.set(3, to: self.`sensor`, of: row)
            try fields.set(4, to: self.`count`, of: row)
            try fields.set(5, to: self.`note`, of: row)
            try fields.set(6, to: self.`factor`, of: row)
            try fields.set(7, to: self.`isGood`, of: row)
          }
        }
        """)
  }

  @Test func names() throws {
    let source = "@StoredRow fileprivate struct `Type` { var a: Int }"
    #expect(try expand(source).contains("fileprivate static var entityName: Swift.String { \"Type\" }"))
    #expect(try expand(source, attribute: "@StoredRow(\"Kind\")").contains("{ \"Kind\" }"))
  }

  private func check(_ marked: String, _ message: String, attribute: String = "@StoredRow") throws {
    let parts = marked.split(separator: "§", maxSplits: 1, omittingEmptySubsequences: false)
    let source = parts.joined()
    do throws(Refusal) {
      _ = try StoredRowMacro.extensions(request(source))
      Issue.record("'\(source)' is expanded")
    } catch {
      #expect(error.message.contains(message), "\(error.message)")
      #expect(error.offset == parts[0].utf8.count, "\(source): \(error.message)")
      #expect(!error.isInAttribute)
    }
  }

  @Test(arguments: [
    ("@StoredRow public §class Row { var a: Int }", "write 'struct Row' instead of 'class Row'"),
    ("§enum Kind { case a }", "write 'struct Kind'"), ("/* ü */ §actor A {}", "is for structures"),
    ("struct §Row<T> { var a: T }", "write one structure for each type"),
    ("struct §Row { var a: Int { 1 } }", "no stored variables"),
    ("struct Row { var §(a, b) = (1, 2) }", "one 'var' for each name"),
    ("struct Row {\n#if X\n§@A\n#endif\nvar a: Int }", "stands alone within '#if'"), ("func f() §{}", "structure"),
  ])
  func types(source: String, message: String) throws { try check(source, message) }

  @Test(arguments: [
    ("#if A\n  var §größe: Int = 1\n  #endif", "cannot see whether the condition"),
    ("#if A\n  let §a = 1\n  #endif", "without a condition"), ("§lazy var a = 1", "without 'lazy'"),
    ("private §weak var a: C?", "'weak'"), ("§unowned(safe) var a: C", "'unowned'"),
    ("§@Published var a = 1", "'@Published'"),
  ])
  func declarations(member: String, message: String) throws { try check("struct Row {\n  \(member)\n}", message) }

  @Test(arguments: [
    ("UInt", "write 'Int64'"), ("Swift.UInt64?", "bitPattern"), ("Int128", "'[UInt8]'"), ("Float16", "'Float'"),
    ("CGFloat", "'Double'"), ("Date", "write 'DateValue'"), ("Foundation.Date?", "write 'DateValue'"),
    ("TimeInterval", "'Double' for a duration"), ("UUID", "'UUIDBytes'"), ("Data", "'[UInt8]'"),
    ("Decimal", "'DecimalValue'"), ("URL", "'String'"), ("Character", "'String'"),
    ("Optional<ObjectReference>", "RelationshipSchema"), ("() -> Void", "write a method"),
    ("(() -> Int)?", "write a method"), ("(Int, Int)", "one variable for each part"), ("any P", "write that type"),
    ("Int!", "write 'Int?'"), ("Int??", "write one '?'"), ("[Int]", "only list"), ("[String: Int]?", "only list"),
    ("Swift.Set<Int>", "only list"),
  ])
  func values(type: String, message: String) throws { try check("struct Row { var é: §\(type) = x }", message) }

  @Test func conformances() {
    let source = "struct S { var a: Int }"
    #expect(throws: Refusal.self) { try StoredRowMacro.extensions(request(source, conformances: "")) }
    #expect(throws: Refusal.self) { try StoredRowMacro.extensions(request(source, conformances: nil)) }
    #expect(throws: Refusal.self) { try StoredRowMacro.extensions(request(source, type: nil)) }
  }

  /// What the compiler decides by itself: names that are not known to be no value.
  @Test(arguments: ["Kind", "[UInt8]", "Array<UInt8>?", "UUIDBytes", "DecimalValue", "Module.Kind?", "String"])
  func left(type: String) throws { #expect(throws: Never.self) { try expand("struct S { var a: \(type) }") } }

  /// Each declaration is expanded or refused at a place in it.
  @Test func randomDeclarations() throws {
    var random = SplitMix64(seed: 9)
    let pieces = [
      "var ", "let ", "a", "é", ": ", "Int", "Optional<", "?", "!", "[UInt8]", "[", "]", "(", ")", "<", ">", "{", "}",
      " = ", "1", "\"", "/", "//", "\n", "@", "static ", "lazy ", "#if A\n", "#endif\n", ";", ",", "Date", "Set<", "`",
    ]
    var expanded = 0
    for _ in 0..<20_000 {
      var source = "struct S { var x: Int; "
      for _ in 0..<Int.random(in: 0..<9, using: &random) {
        source += pieces[Int.random(in: 0..<pieces.count, using: &random)]
      }
      source += " }"
      do throws(Refusal) {
        #expect(try StoredRowMacro.extensions(request(source)).contains("self.`x` = try fields.value(0, of: row)"))
        expanded += 1
      } catch { #expect(error.offset >= 0 && error.offset <= source.utf8.count, "\(source)") }
    }
    #expect(expanded > 1_000 && expanded < 20_000)
  }
}

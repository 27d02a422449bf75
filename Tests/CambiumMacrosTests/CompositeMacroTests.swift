import Testing

@testable import CambiumMacroSupport

/// What becomes of structures with `@Composite`.
@Suite struct CompositeMacroTests {
  private func expand(
    _ declaration: String, type: String? = "Location", conformances: String? = "CompositeRepresentable"
  ) throws -> String {
    let request = CompilerMessage.AttachedMacro(
      macro: .init(moduleName: "CambiumMacros", typeName: "CompositeMacro", name: "Composite"), macroRole: "extension",
      attributeSyntax: .init(source: "@Composite", location: nil),
      declSyntax: .init(source: declaration, location: nil), lexicalContext: [],
      extendedTypeSyntax: type.map { .init(source: $0, location: nil) },
      conformanceListSyntax: conformances.map { .init(source: $0, location: nil) })
    return try CompositeMacro.extensions(request)
  }

  @Test func aStructure() throws {
    let source = """
      public struct Location: Equatable {
        public var latitude: Double
        var name = "", `class`: String?
        let fixed = 3
        static var none: Location?
        var text: String { name }
      }
      """
    #expect(
      try expand(source) == """
        nonisolated extension Location: Cambium.CompositeRepresentable {
          public init?(compositeElements elements: Cambium.CompositeElements) {
            do {
              self.`latitude` = try elements.element("latitude")
              elements.read("name", into: &self.`name`)
              self.`class` = try elements.element("class")
              try elements.finish()
            } catch { return nil }
          }
          public init?(compositeValues values: [String: Any]) {
            guard let elements = Cambium.CompositeElements(values) else { return nil }
            self.init(compositeElements: elements)
          }
          public var compositeElements: Cambium.CompositeElements? {
            var elements = Cambium.CompositeElements()
            elements["latitude"] = self.`latitude`
            elements["name"] = self.`name`
            elements["class"] = self.`class`
            return elements
          }
          public var compositeValues: [String: Any] { ["latitude": self.`latitude` as Any, "name": self.`name` as Any, \
        "class": self.`class` as Any] }
        }
        """)
    #expect(try expand("struct Empty {}").contains("{ [:] }"))
  }

  @Test(arguments: [
    "class C {}", "enum E { case a }", "struct Pair<T> {}", "struct S { let (a, b) = (1, 2) }",
    "struct S {\n#if X\nvar a: Int\n#endif\n}", "", "func f() {}",
  ])
  func refused(source: String) { #expect(throws: Refusal.self) { try expand(source) } }

  @Test func aConformanceThatIsThere() {
    #expect(throws: Refusal.self) { try expand("struct S {}", conformances: "") }
    #expect(throws: Refusal.self) { try expand("struct S {}", type: nil) }
  }
}

import Foundation
import Testing

@testable import CambiumMacroSupport

/// What becomes of types with `@ManagedPaths`.
@Suite struct PathsMacroTests {
  private func expand(
    _ declaration: String, type: String? = "Aircraft", conformances: String? = "FetchPaths, PredicateKeyPaths"
  ) throws -> String {
    let request = CompilerMessage.AttachedMacro(
      macro: .init(moduleName: "CambiumMacros", typeName: "PathsMacro", name: "ManagedPaths"), macroRole: "extension",
      attributeSyntax: .init(source: "@ManagedPaths", location: nil),
      declSyntax: .init(source: declaration, location: nil), lexicalContext: [],
      extendedTypeSyntax: type.map { .init(source: $0, location: nil) },
      conformanceListSyntax: conformances.map { .init(source: $0, location: nil) })
    return try PathsMacro.extensions(request)
  }

  private func names(_ declaration: String) throws -> [String] {
    try TypeDeclaration(declaration).variables.filter { !$0.hasBlock }.map { $0.name }
  }

  @Test func aClass() throws {
    let source = """
      /// An aircraft.
      @ManagedPaths
      public final class Aircraft: ManagedObject, @unchecked Sendable {
        @Managed public var tailNumber: String
        @Managed("kind", default: Kind.glider) var type: Kind; @Cambium.Managed() var seats: Int?
        var notManaged: [String: Int] = ["a": 1, "b": 2]
        @Managed var `class`: String?
        class var count: Int { 3 }
        func use(_ f: (Int) -> Void) async throws -> [String] { var inner: Int = 1; return [] }
        #if os(Linux)
          @Managed @available(*, deprecated) private(set) var legs: Set<Leg>
        #endif
        struct Inner { @Managed var hidden: Int }
      }
      """
    #expect(
      try expand(source) == """
        extension Aircraft: Cambium.FetchPaths, Cambium.PredicateKeyPaths {
          public struct Paths: Sendable {
            public let `tailNumber` = Cambium.ManagedPath.of(\\Aircraft.`tailNumber`, "tailNumber")
            public let `type` = Cambium.ManagedPath.of(\\Aircraft.`type`, "kind")
            public let `seats` = Cambium.ManagedPath.of(\\Aircraft.`seats`, "seats")
            public let `class` = Cambium.ManagedPath.of(\\Aircraft.`class`, "class")
            public let `legs` = Cambium.ManagedPath.of(\\Aircraft.`legs`, "legs")
          }
          public static let paths = Paths()
          public static var predicateKeyPaths: [AnyKeyPath: String] {
            func of<Object: Aircraft>(_: Object.Type) -> [AnyKeyPath: String] { \
        [\\Object.`tailNumber`: "tailNumber", \\Object.`type`: "kind", \\Object.`seats`: "seats", \
        \\Object.`class`: "class", \\Object.`legs`: "legs"] }
            return of(Self.self)
          }
        }
        """)
  }

  @Test func aStructure() throws {
    let source = """
      private struct Paint: CompositeRepresentable {
        var primary, secondary: String?
        let tertiary: Swift.Optional<[Int]>, gloss: (Int, Int) -> Map<A, B> = { a, b in [:] }
        static var standard = Paint()
        var all: [String?] { [primary, secondary] }
        var text: String
        {
          "x"
        }
        init?(compositeValues values: [String: Any]) { var x: Int? = nil }
      }
      """
    let expanded = try expand(source, type: " Paint\n", conformances: "PredicateKeyPaths")
    #expect(
      expanded == """
        extension Paint: Cambium.PredicateKeyPaths {
          fileprivate static var predicateKeyPaths: [AnyKeyPath: String] {
            [\\Paint.`primary`: "primary", \\Paint.`secondary`: "secondary", \\Paint.`tertiary`: "tertiary", \
        \\Paint.`gloss`: "gloss"]
          }
        }
        """)
    #expect(try expand(source, conformances: "") == "")
    #expect(try expand("struct Empty {}", type: "Empty", conformances: nil).contains("[:]"))
  }

  @Test(arguments: [
    ("struct S { var a: Int\n var b: String = \"}{\\(\"var c: Int\")\"; var d: Int }", ["a", "b", "d"]),
    (
      "struct S<T>: P where T: Q<[Int]> { let f: @Sendable (Int) throws -> Void\n let g = f {\n $0 }\n let h = 1 }",
      [
        "f", "g", "h",
      ]
    ),
    ("struct S { /* var x: Int */ var y // , z\n  : Int = -1 + // more\n  2\n  var w: Int }", ["y", "w"]),
    (
      "struct S { let a: [String: [Int]] = [\"a\": [1, 2]], b = (1, 2)\n @A(b: \"}\") @B\n lazy var c: Int = 3 }",
      [
        "a", "b", "c",
      ]
    ),
    ("struct S { var größe: Double; var `a b`: Int }", ["größe", "a b"]), ("struct S {", []), ("class S", []),
    ("struct S { var", []), ("struct S { var a: Int", ["a"]),
  ])
  func variables(source: String, expected: [String]) throws { #expect(try names(source) == expected) }

  @Test(arguments: [
    "enum E { case a }", "actor A {}", "extension Aircraft {}", "protocol P {}", "", "@ManagedPaths", "func f() {}",
    "struct S { var a: [Int }", "struct S { @A(\" var b: Int }", "class C(", "class C { @Managed(( var x: Int }",
    "struct S { var a = \"\\(\"", "class ] {",
  ])
  func refused(source: String) {
    do {
      let expanded = try expand(source)
      // What cannot be told from nothing has no properties.
      #expect(expanded.contains("[:]") && source == "class ] {")
    } catch { #expect(error is Refusal) }
  }

  @Test func aTypeIsNeeded() {
    #expect(throws: Refusal.self) { try expand("class C {}", type: nil) }
    #expect(throws: Refusal.self) { try expand("class C {}", type: " ") }
  }

  /// Nothing of what anybody writes makes the plug-in trap.
  @Test func anySource() throws {
    let whole = Array(
      "@A public final class C: D<E> { @Managed(\"a\") var b: Int? = f { $0 }, c = \"\\(x)\"; #if X\nlet d: [Int]\n#endif }"
        .utf8)
    for start in whole.indices {
      for end in stride(from: start, through: whole.count, by: 3) {
        _ = try? expand(String(decoding: whole[start..<end], as: UTF8.self))
      }
    }
  }
}

import Foundation
import Testing

@testable import CambiumMacroSupport

/// What becomes of types with `@ManagedPaths`.
@Suite struct PathsMacroTests {
  private func expand(
    _ declaration: String, type: String? = "Aircraft",
    conformances: String? = "FetchPaths, PredicateKeyPaths", context: [String] = []
  ) throws -> String {
    let request = CompilerMessage.AttachedMacro(
      macro: .init(moduleName: "CambiumMacros", typeName: "PathsMacro", name: "ManagedPaths"), macroRole: "extension",
      attributeSyntax: .init(source: "@ManagedPaths", location: nil),
      declSyntax: .init(source: declaration, location: nil),
      lexicalContext: context.map { .init(source: $0, location: nil) },
      extendedTypeSyntax: type.map { .init(source: $0, location: nil) },
      conformanceListSyntax: conformances.map { .init(source: $0, location: nil) })
    return try PathsMacro.extensions(request)
  }

  private func names(_ declaration: String) throws -> [String] {
    try TypeDeclaration(declaration).variables.filter { !$0.hasAccessors && !$0.isConditional }.map { $0.name.text }
  }

  @Test func aClass() throws {
    let source = """
      /// An aircraft.
      @ManagedPaths
      public final class Aircraft: ManagedObject, @unchecked Sendable {
        @Managed public var tailNumber: String
        @Managed("kind", default: Kind.glider) var type: Kind; @Cambium.Managed() public internal(set) var seats: Int?
        @Managed private var secret: Int?
        @Managed(Self.key) fileprivate var hidden: Int?
        var notManaged: [String: Int] = ["a": 1, "b": 2]
        @Managed var `class`: String?
        class var count: Int { 3 }
        func use(_ f: (Int) -> Void) async throws -> [String] { var inner: Int = 1; return [] }
        #if os(Linux)
          @Managed @available(*, deprecated) var legs: Set<Leg>
        #else
          @Managed var legs: [Leg]
        #endif
        struct Inner { @Managed var hidden: Int }
      }
      """
    #expect(
      try expand(source) == """
        nonisolated extension Aircraft: Cambium.FetchPaths, Cambium.PredicateKeyPaths {
          public struct Paths: Sendable {
            public let `tailNumber` = Cambium.ManagedPath.of(\\Aircraft.`tailNumber`, "tailNumber")
            let `type` = Cambium.ManagedPath.of(\\Aircraft.`type`, "kind")
            public let `seats` = Cambium.ManagedPath.of(\\Aircraft.`seats`, "seats")
            fileprivate let `hidden` = Cambium.ManagedPath.of(\\Aircraft.`hidden`, Aircraft.key)
            let `class` = Cambium.ManagedPath.of(\\Aircraft.`class`, "class")
          }
          public static let paths = Paths()
          public static var predicateKeyPaths: [AnyKeyPath: String] {
            managedKeyPaths
          }
        }
        """)
  }

  private func members(_ declaration: String, context: [String] = []) -> String {
    let request = CompilerMessage.AttachedMacro(
      macro: .init(moduleName: "CambiumMacros", typeName: "PathsMacro", name: "ManagedPaths"), macroRole: "member",
      attributeSyntax: .init(source: "@ManagedPaths", location: nil),
      declSyntax: .init(source: declaration, location: nil),
      lexicalContext: context.map { .init(source: $0, location: nil) })
    return PathsMacro.members(request)
  }

  @Test func keyPathsOfAClass() {
    #expect(
      members("public final class Seaplane: Aircraft { @Managed var floats: Int; @Managed(Self.key) var `class`: Int }")
        == """
        public override nonisolated class var managedKeyPaths: [AnyKeyPath: String] {
          func of<ManagedPathsObject: Seaplane>(_: ManagedPathsObject.Type) -> [AnyKeyPath: String] {
            [\\ManagedPathsObject.`floats`: "floats", \\ManagedPathsObject.`class`: Seaplane.key]
          }
          return super.managedKeyPaths.merging(of(Self.self)) { _, own in own }
        }
        """)
    #expect(members("class Plain: ManagedObject {}").contains("    [:]\n"))
    #expect(
      members("struct Paint { var a: Int }").isEmpty && members("class Pair<T> {}").isEmpty && members("x").isEmpty)
  }

  /// A subclass has the conformances of its superclass; any other class without a conformance to add is a mistake.
  @Test func aSubclass() throws {
    #expect(try expand("final class Seaplane: Aircraft {}", type: "Seaplane", conformances: "") == "")
    #expect(try expand("final class Seaplane: Fleet.Aircraft {}", type: "Seaplane", conformances: nil) == "")
    for superclass in ["ManagedObject", "NSManagedObject", "Cambium.ManagedObject"] {
      #expect(throws: Refusal.self) { try expand("class A: \(superclass) {}", type: "A", conformances: "") }
    }
    #expect(throws: Refusal.self) { try expand("class A {}", type: "A", conformances: "") }
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
        lazy var late = 3
        private var secret: Int
        var watched: Int? { didSet { print("x") } }
        init?(compositeValues values: [String: Any]) { var x: Int? = nil }
      }
      """
    let expanded = try expand(source, type: " Paint\n", conformances: "PredicateKeyPaths")
    #expect(
      expanded == """
        nonisolated extension Paint: Cambium.PredicateKeyPaths {
          fileprivate static var predicateKeyPaths: [AnyKeyPath: String] {
            [\\Paint.`primary`: "primary", \\Paint.`secondary`: "secondary", \\Paint.`tertiary`: "tertiary", \
        \\Paint.`gloss`: "gloss", \\Paint.`watched`: "watched"]
          }
        }
        """)
    #expect(try expand("struct Empty {}", type: "Empty").contains("[:]"))
    // The type has both, or its superclass.
    #expect(throws: Refusal.self) { try expand(source, conformances: nil) }
    #expect(throws: Refusal.self) { try expand(source, conformances: "") }
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
    "struct S { var a = \"\\(\"", "class ] {", "struct Pair<T> {}", "final class Box <T: P>: ManagedObject {}",
  ])
  func refused(source: String) {
    do {
      let expanded = try expand(source)
      // What cannot be told from nothing has no properties.
      #expect(expanded.contains("Sendable {\n  }") && source == "class ] {")
    } catch { #expect(error is Refusal) }
  }

  /// Witnesses are as visible as their type, which what is around it decides as well.
  @Test(arguments: [
    (["public extension Outer {}"], "", "public "), (["public extension Outer {}"], "internal ", ""),
    (["public final class Outer {}"], "", ""), (["struct A {}", "fileprivate enum B {}"], "public ", "fileprivate "),
    (["private extension A {}"], "", "fileprivate "), ([], "package ", "package "), ([], "open ", "public "),
    (["func f() {}"], "", ""),
  ])
  func access(context: [String], modifier: String, expected: String) throws {
    let expanded = try expand("\(modifier)class C { @Managed public var a: Int }", context: context)
    #expect(expanded.contains("\n  \(expected)static let paths"))
    #expect(expanded.contains("\n    \(expected)let `a`"))
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

import Foundation
import Testing

@testable import CambiumMacroSupport

/// What becomes of declarations.
@Suite struct ManagedMacroTests {
  private func expand(
    _ declaration: String, _ attribute: String = "@Managed", context: [String] = ["class Aircraft {}"]
  ) throws -> String {
    let location = CompilerMessage.Location(fileName: "Aircraft.swift", offset: 100)
    let request = CompilerMessage.AttachedMacro(
      macro: .init(moduleName: "CambiumMacros", typeName: "ManagedMacro", name: "Managed"), macroRole: "accessor",
      attributeSyntax: .init(source: attribute, location: location),
      declSyntax: .init(source: declaration, location: location),
      lexicalContext: context.map { .init(source: $0, location: nil) })
    return try ManagedMacro.accessors(request)
  }

  private func refused(
    _ declaration: String, _ attribute: String = "@Managed", context: [String] = ["class Aircraft {}"]
  ) -> Refusal? {
    do {
      _ = try expand(declaration, attribute, context: context)
      return nil
    } catch { return error as? Refusal }
  }

  private func accessors(_ key: String, _ rest: String = "") -> String {
    "get { self[managed: \(key)\(rest)] }\nset { self[managed: \(key)\(rest)] = newValue }"
  }

  @Test(arguments: [
    ("@Managed var tailNumber: String?", "tailNumber"),
    ("\n  /// The number.\n  @Managed public private(set) var number: Int", "number"),
    ("@Managed /* a /* nested */ one */ var // and a line\n  x : [String: Any]? // why", "x"),
    ("@available(macOS 15, *) @Managed open nonisolated(unsafe) var a: Swift.Set<Leg>", "a"),
    ("@objc @Wrapped<[Int], (Int) -> Bool>(\"a)b\\(\"(\")\") @Managed override var b: Dictionary<String, Any>?", "b"),
    ("@Managed(#\"a\"b\"#) internal var c: (@Sendable (Int) -> Void)?", "#\"a\"b\"#"),
    ("@Managed var größe: Double", "größe"), ("@Managed var `class`: String?", "class"),
    ("@Managed var `two words`: String!", "two words"), ("@MainActor\n@Managed\nvar\n d\n:\nString?", "d"),
    ("@Managed var e: Map<A, B<C>>", "e"), ("@Managed var f: @MainActor () -> Int", "f"),
  ])
  func accessorsOfAKey(declaration: String, key: String) throws {
    if key.hasPrefix("#") {
      #expect(try expand(declaration, "@Managed(\(key))") == accessors(key))
    } else {
      #expect(try expand(declaration) == accessors("\"\(key)\""))
    }
  }

  @Test(arguments: [
    ("@Managed()", "\"x\"", ""), ("@Managed(\"other\")", "\"other\"", ""),
    ("\n  /// A number.\n  @Managed ", "\"x\"", ""), ("@Cambium.Managed( Keys.name )", "Keys.name", ""),
    ("@Managed(default: Color.white)", "\"x\"", ", default: Color.white"),
    (
      "@Managed<[Int]>(\"a, b\", default: [1, 2].map { ($0, \")\") })", "\"a, b\"",
      ", default: [1, 2].map { ($0, \")\") }"
    ),
    (
      "@Managed(default: \"\"\"\n  a \"quoted\" \\(1 + (2))\n  \"\"\")", "\"x\"",
      ", default: \"\"\"\n  a \"quoted\" \\(1 + (2))\n  \"\"\""
    ),
    ("@Managed(/* no, key */ default: -1 /* , 2 */)", "\"x\"", ", default: -1"),
    ("@Managed(default: #\"\"\"#)", "\"x\"", ", default: #\"\"\"#"),
    ("@Managed(default: #line)", "\"x\"", ", default: #line"),
  ])
  func arguments(attribute: String, key: String, rest: String) throws {
    #expect(try expand("@Managed var x: Int", attribute) == accessors(key, rest))
  }

  @Test(arguments: [
    ("@Managed let x: Int", "let", "needs a 'var'"), ("@Managed static var x: Int", "static", "belong to an object"),
    ("@Managed public class var x: Int", "class", "belong to an object"),
    ("@Managed lazy var x: Int", "lazy", "leave out 'lazy'"), ("@Managed weak var x: Aircraft?", "weak", "not stored"),
    ("@Managed unowned(safe) var x: Aircraft", "unowned", "not stored"), ("@Managed var xyz", "xyz", "needs a type"),
    ("@Managed var yz = 3", "yz", "needs a type"), ("@Managed var x: Int = 3", "= 3", "initial value"),
    ("@Managed var x: Int { 3 }", "{", "accessors"), ("@Managed var x: Int { didSet {} }", "{", "accessors"),
    ("@Managed var x: Int, y: Int", ", y", "one variable"), ("@Managed var (x, y): (Int, Int)", "(x", "one name"),
    ("@Managed func f() {}", "{", "goes with a variable"), ("", "", "goes with a variable"),
    ("@Managed var x: ", "x", "needs a type"), ("@Managed var x: [Int", "[Int", "type are not closed"),
    ("@Managed var x: = 3", "x", "needs a type"), ("@Managed private(set var x: Int", "private", "are not closed"),
    ("@Managed(\"a) var x: Int", "@", "attribute are not closed"), ("@Managed var `x: Int", "`", "one name"),
  ])
  func misuse(declaration: String, place: String, message: String) throws {
    let refusal = try #require(refused(declaration))
    #expect(refusal.message.contains(message), "\(refusal.message)")
    #expect(!refusal.isInAttribute)
    let expected = place.isEmpty ? 0 : declaration.range(of: place)?.lowerBound.utf16Offset(in: declaration)
    #expect(refusal.offset == expected)
  }

  @Test(arguments: [
    "@Managed(", "@Managed(\"a\"", "@Managed(default: )", "@Managed(\"a\" ]", "@Managed(\"\\(\")", "@Managed(,)",
  ])
  func argumentsThatEndTooEarly(attribute: String) {
    #expect(refused("@Managed var x: Int", attribute)?.isInAttribute == true)
  }

  @Test func places() throws {
    for context in ["class A {}", "\n@MainActor public final class A: B {}", "extension A where B == C {}"] {
      #expect(try expand("@Managed var x: Int", context: [context, "struct S {}"]) == accessors("\"x\""))
    }
    for (context, place) in [
      ("\nstruct S {}", "struct"), ("public indirect enum E {}", "enum"), ("protocol P {}", "protocol"),
      ("func f() ", "local variable"), ("private(set) var x: Int { 1 }", "local variable"),
    ] {
      let refusal = try #require(refused("@Managed var x: Int", context: [context, "class A {}"]))
      #expect(refusal.message.contains(place), "\(refusal.message)")
      #expect(refusal.offset == 13)
    }
    #expect(refused("@Managed var x: Int", context: [])?.message.contains("outside of any type") == true)
  }
}

import Testing

@testable import CambiumSourceMover

/// Calls that throw where Core Data raises.
@Suite struct ThrowingCallTests {
  @Test(arguments: [
    ("let a = p.evaluate(with: b)", "let a = try p.evaluate(with: b)"),
    ("return x.y(1)?.p!.evaluate(with: b)", "return try x.y(1)?.p!.evaluate(with: b)"),
    ("if a {\n  m.associate(sourceInstance: a)\n}", "if a {\n  try m.associate(sourceInstance: a)\n}"),
    (
      "guard let c = m.destinationInstances(forEntityMappingName: n, sourceInstances: [s]).first else { return }",
      "guard let c = try m.destinationInstances(forEntityMappingName: n, sourceInstances: [s]).first else { return }"
    ),
    ("for i in a { f(m.versionChecksum) }", "for i in a { f(try m.versionChecksum) }"),
    ("let e = try? NSExpression(format: f)", "let e = try? NSExpression(format: f)"),
    ("let a = try p.evaluate(with: b)", "let a = try p.evaluate(with: b)"),
  ])
  func inFunctionsThatThrow(text: String, result: String) {
    #expect(body("func f(a: [A]) throws -> B {\n\(text)\n}") == "func f(a: [A]) throws -> B {\n\(result)\n}")
    #expect(left("func f(a: [A]) throws -> B {\n\(text)\n}").isEmpty)
  }

  /// `try` would need a place that handles the error, or stand behind an operator.
  @Test(arguments: [
    "func f() { let a = p.evaluate(with: b) }", "func f() throws { g { p.evaluate(with: $0) } }",
    "func f() throws { let a = b && p.evaluate(with: c) }", "func f() throws { if a {}\ng { p.evaluate(with: $0) } }",
  ])
  func othersAreReported(text: String) {
    #expect(body(text) == text)
    #expect(left(text).count == 1)
  }

  @Test func otherMembersOfTheNameStay() {
    let text = "func f() throws { evaluate(with: a); p.evaluate(); p.associate(a); let versionHash = 1 }"
    #expect(body(text) == text)
    #expect(left(text).isEmpty)
  }
}

import Testing

@testable import CambiumSourceMover

/// Calls that throw where Core Data raises.
@Suite struct ThrowingCallTests {
  @Test(arguments: [
    ("let a = p.setElements(b)", "let a = try p.setElements(b)"),
    ("c.setMetadata(m, for: s)", "try c.setMetadata(m, for: s)"),
    ("return x.y(1)?.p!.setElements(b)", "return try x.y(1)?.p!.setElements(b)"),
    ("if a {\n  m.associate(sourceInstance: a)\n}", "if a {\n  try m.associate(sourceInstance: a)\n}"),
    (
      "guard let c = m.destinationInstances(forEntityMappingName: n, sourceInstances: [s]).first else { return }",
      "guard let c = try m.destinationInstances(forEntityMappingName: n, sourceInstances: [s]).first else { return }"
    ),
    ("for i in a { f(m.resolvedModel) }", "for i in a { f(try m.resolvedModel) }"),
    ("let e = try? m.resolvedModel", "let e = try? m.resolvedModel"),
    ("let e = NSExpression(format: f)", "let e = NSExpression(format: f)"),
    ("let a = try p.setElements(b)", "let a = try p.setElements(b)"),
    // What CambiumCoreData has without errors.
    ("let a = p.evaluate(with: b)", "let a = p.evaluate(with: b)"),
  ])
  func inFunctionsThatThrow(text: String, result: String) {
    #expect(body("func f(a: [A]) throws -> B {\n\(text)\n}") == "func f(a: [A]) throws -> B {\n\(result)\n}")
    #expect(left("func f(a: [A]) throws -> B {\n\(text)\n}").isEmpty)
  }

  /// `try` would need a place that handles the error, or stand behind an operator.
  @Test(arguments: [
    "func f() { let a = p.setElements(b) }", "func f() throws { g { p.setElements($0) } }",
    "func f() throws { let a = b && p.setElements(c) }", "func f() throws { if a {}\ng { p.setElements($0) } }",
  ])
  func othersAreReported(text: String) {
    #expect(body(text) == text)
    #expect(left(text).count == 1)
  }

  @Test func otherMembersOfTheNameStay() {
    let text = "func f() throws { setElements(a); p.associate(a); let resolvedModel = 1 }"
    #expect(body(text) == text)
    #expect(left(text).isEmpty)
  }
}

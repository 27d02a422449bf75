import Foundation
import Testing

@testable import CambiumMacroSupport

/// The reader finds in a class what was put into it.
@Suite struct TypeDeclarationTests {
  /// Every type with every value.
  @Test func typesAndValues() throws {
    var count = 0
    for (i, type) in VariableSample.types.enumerated() {
      for (j, value) in VariableSample.values.enumerated() {
        let sample = VariableSample(
          attributes: pick(VariableSample.attributes, i + j),
          modifiers: pick(VariableSample.modifiers, i + 2 * j).source,
          name: pick(VariableSample.names, i * 3 + j), type: type, value: value,
          behind: pick(VariableSample.behind, i + j))
        try check(sample, words: pick(VariableSample.modifiers, i + 2 * j).words, kind: nil)
        count += 1
      }
    }
    #expect(count > 1_500)
  }

  /// Every attribute with every modifier, name and ending.
  @Test func attributesModifiersAndNames() throws {
    var n = 0
    for attributes in VariableSample.attributes {
      for modifiers in VariableSample.modifiers {
        for name in VariableSample.names {
          n += 1
          let sample = VariableSample(
            attributes: attributes, modifiers: modifiers.source, introducer: n % 3 == 0 ? "let" : "var", name: name,
            type: pick(VariableSample.types, n), value: pick(VariableSample.values, n / 2),
            behind: pick(VariableSample.behind, n / 5))
          try check(sample, words: modifiers.words, kind: nil)
        }
      }
    }
    #expect(n > 700)
  }

  /// Every block behind every type, and observers behind every value.
  @Test func blocks() throws {
    for block in VariableSample.blocks {
      for type in VariableSample.types {
        guard let type else { continue }
        try check(VariableSample(type: type, block: block.source), words: [], kind: block.kind)
      }
      guard block.kind == .observers else { continue }
      // A comment before a block on the same line would hide it.
      for value in VariableSample.values where value?.contains("//") != true || value == "\"//\"" {
        guard let value else { continue }
        try check(VariableSample(type: "Int", value: value, block: block.source), words: [], kind: block.kind)
      }
    }
  }

  private func pick<T>(_ list: [T], _ index: Int) -> T { list[index % list.count] }

  /// Reads a class that has the variable twice, among other members.
  private func check(_ sample: VariableSample, words: [String], kind: TypeDeclaration.Block.Kind?) throws {
    let source = """
      @Model public final class Trip: Base<A, B>, P where T: Q {
        func f() -> [Int] { var hidden = 1; return [hidden] }
        \(sample.source)
        var first: Int { 1 }
        \(sample.source)
        @Attribute var last = 1
        init?<T>(_ x: T = { 1 }()) { let y: Int = 1 }
        #Unique<Trip>([\\.a, \\.b])
        struct Inner { var hidden: Int }
      }
      """
    let declaration = try TypeDeclaration(source)
    let plain = sample.name.filter { $0 != "`" }
    guard declaration.variables.map(\.name.text) == [plain, "first", plain, "last"] else {
      Issue.record("\(declaration.variables.map(\.name.text)) in\n\(source)")
      return
    }
    let bytes = Array(source.utf8)
    func isAt(_ text: String, _ offset: Int) -> Bool { bytes[offset...].starts(with: Array(text.utf8)) }
    for variable in [declaration.variables[0], declaration.variables[2]] {
      var isRight = variable.type?.text == sample.type && variable.value?.text == expected(sample.value)
      isRight = isRight && variable.introducer.text == sample.introducer && isAt(sample.name, variable.name.offset)
      isRight = isRight && isAt(sample.introducer, variable.introducer.offset)
      isRight = isRight && variable.modifiers.map(\.text) == words
      isRight = isRight && variable.modifiers.allSatisfy { isAt($0.text, $0.offset) }
      isRight = isRight && variable.attributes.allSatisfy { isAt($0.source, $0.offset) }
      isRight = isRight && variable.attributes.map(\.source) == sample.attributes.map(withoutComment)
      isRight = isRight && variable.block?.kind == kind && !variable.isConditional && !variable.isOneOfSeveral
      if let type = variable.type { isRight = isRight && isAt(type.text, type.offset) }
      if let value = variable.value { isRight = isRight && isAt("=", value.offset) }
      if let block = variable.block { isRight = isRight && isAt("{", block.offset) }
      if !isRight { Issue.record("\(variable)\nin\n\(source)") }
    }
    let isWhole =
      declaration.name.text == "Trip" && declaration.firstInherited?.text == "Base<A, B>"
      && declaration.modifiers.map(\.text) == ["public", "final"]
      && declaration.initializers == [.init(parameters: "(_ x: T = { 1 }())", isConvenience: false)]
      && declaration.macros.map(\.arguments) == ["<Trip>([\\.a, \\.b])"]
    if !isWhole { Issue.record("\(declaration)\nof\n\(source)") }
  }

  /// The reader leaves out blanks, and a comment that ends a line.
  private func expected(_ value: String?) -> String? {
    guard var value else { return nil }
    if let comment = value.range(of: " // ") { value = String(value[..<comment.lowerBound]) }
    return value.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func withoutComment(_ attribute: String) -> String {
    for mark in [" //", " /*"] {
      if let comment = attribute.range(of: mark) { return String(attribute[..<comment.lowerBound]) }
    }
    return attribute
  }

  // MARK: Single cases

  @Test(arguments: [
    ("class A {}", "A", nil), ("class A: B {}", "A", "B"), ("class `Type`: B.C<D, E>, F {}", "`Type`", "B.C<D, E>"),
    ("class A : /* c */ B // d\n {}", "A", "B"), ("class A<T>: B<T> where T: P {}", "A", "B<T>"),
    ("class A: B where T: C {}", "A", "B"), ("class A:\n  B,\n  C {}", "A", "B"),
    ("class A: `where` {}", "A", "`where`"),
    ("class A: @unchecked Sendable {}", "A", "@unchecked Sendable"), ("class A: {}", "A", nil),
    ("class A: (B & C) {}", "A", "(B & C)"),
  ])
  func heads(source: String, name: String, inherited: String?) throws {
    let declaration = try TypeDeclaration(source)
    #expect(declaration.name.text == name)
    #expect(declaration.firstInherited?.text == inherited)
  }

  @Test func initializers() throws {
    let source = """
      class A {
        init() {}
        public convenience init?(x: Int) { self.init() }
        @objc required init!<T>(_ a: T, b: (Int) -> Void) where T: P {}
        func make() -> A { A.init() }
        class B { init(inner: Int) {} }
        class var shared: A { A() }
        class func `init`() {}
      }
      """
    let declaration = try TypeDeclaration(source)
    #expect(
      declaration.initializers == [
        .init(parameters: "()", isConvenience: false), .init(parameters: "(x: Int)", isConvenience: true),
        .init(parameters: "(_ a: T, b: (Int) -> Void)", isConvenience: false),
      ])
    #expect(declaration.variables.map(\.name.text) == ["shared"])
    #expect(declaration.variables.first?.hasModifier("class") == true)
  }

  @Test func macrosAndConditions() throws {
    let source = """
      class A {
        #Index<A>([\\.a], [\\.b, \\.c])
        #CambiumSwiftData.Unique([\\A.a])
        #warning("}")
        #if os(Linux)
          @Attribute(.unique)
        #endif
        var a = 1
        #if X && !Y
          var b: Int
          #if Z
            #Index<A>([\\.d])
          #endif
        #elseif W
          static var (c, d) = (1, 2)
        #else
          let e, f: Int
        #endif
        var g: Int, h = Map<A, B>(), i: (Int, Int)
      }
      """
    let declaration = try TypeDeclaration(source)
    #expect(declaration.macros.map(\.name.text) == ["Index", "Unique", "warning", "Index"])
    #expect(declaration.macros.map(\.isConditional) == [false, false, false, true])
    #expect(declaration.strayAttribute?.source == "@Attribute(.unique)")
    let variables = declaration.variables
    #expect(variables.map(\.name.text) == ["a", "b", "e", "f", "g", "h", "i"])
    #expect(variables.map(\.isConditional) == [false, true, true, true, false, false, false])
    #expect(variables.map(\.isOneOfSeveral) == [false, false, true, true, true, true, true])
    #expect(variables[5].value?.text == "Map<A, B>()")
    #expect(declaration.patterns.map(\.isConditional) == [true])
    #expect(declaration.patterns.first?.hasModifier("static") == true)
  }

  @Test(arguments: [
    ("Int", ""), ("() -> Void", "function"), ("[String: (Int) -> Bool]?", "function"), ("Any", "existential"),
    ("[String: Any]", "existential"), ("any P", "existential"), ("(any P)?", "existential"),
    ("AnyObject?", "existential"),
    ("(Int, Int)", "tuple"), ("[(a: Int, b: Map<A, B>)]", "tuple"), ("(Int)", ""), ("Map<Int, Int>", ""),
    ("Set<Int>", "set"), ("Swift.Set<A.B>?", "set"), ("[Set<Int>]", ""), ("`Any`", ""), ("Anyone", ""), ("`a", ""),
    (")", ""),
  ])
  func shapes(type: String, kind: String) {
    let shape = TypeShape(type)
    #expect(shape.isFunction == (kind == "function"))
    #expect(shape.isExistential == (kind == "existential"))
    #expect(shape.isTuple == (kind == "tuple"))
    #expect(shape.isSet == (kind == "set"))
  }
}

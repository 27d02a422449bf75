import Foundation
import Testing

@testable import CambiumMacroSupport

/// What keeps a class from being a model is told where it is written, and with advice.
@Suite struct ModelDiagnosticTests {
  /// Looks at the refusal of a source in which `§` marks the place.
  private func check(_ marked: String, _ message: String) throws {
    let source = marked.replacingOccurrences(of: "§", with: "")
    let refusal = try #require(ModelExpansion.refusal(source), "\(source)")
    #expect(refusal.message.contains(message), "\(refusal.message)")
    #expect(!refusal.isInAttribute)
    let place = try #require(marked.range(of: "§"))
    #expect(refusal.offset == marked[..<place.lowerBound].utf8.count, "\(source): \(refusal.message)")
    // The other roles add nothing to a class that is refused, so that the compiler tells no second error.
    let extended = ModelExpansion.request(source, role: "extension", conformances: ModelExpansion.all)
    #expect(try ModelMacro.extensions(extended) == "")
    let member = ModelExpansion.request("var x: Int", role: "memberAttribute", parent: source)
    #expect(ModelMacro.attribute(member) == "")
  }

  @Test(arguments: [
    ("@Model §struct Trip { var a: Int }", "write 'final class Trip' instead of 'struct Trip'"),
    ("@Model §enum Kind { case a }", "is for classes"), ("/* ü */ @Model public §actor Trip {}", "is for classes"),
    ("@Model class §Trip<T> { var a: Int; init() {} }", "not for generic classes"),
    ("@Model final class §Trip { var a = 1 }", "@Model requires an initializer be provided for 'Trip'"),
    ("@Model final class §`Type` {}", "be provided for '`Type`'"),
    ("@Model final class §Trip { struct S { init() {} } }", "@Model requires an initializer"),
  ])
  func types(source: String, message: String) throws { try check(source, message) }

  @Test(arguments: [
    ("@Model class §Trip: A { var a: Int }", "requires an initializer"),
    ("@Model class §Trip: A { var a: Int; convenience init(x: Int) {} }", "requires an initializer"),
    ("@Model class Trip: A { §let a = 1 }", "cannot be a 'let'"),
  ])
  func subclasses(source: String, message: String) throws {
    let parts = source.components(separatedBy: "§")
    let refusal = try #require(ModelExpansion.refusal(parts.joined(), conformances: nil))
    #expect(refusal.message.contains(message))
    #expect(refusal.offset == parts[0].utf8.count)
    let member = ModelExpansion.request("var x: Int", role: "memberAttribute", parent: parts.joined())
    #expect(ModelMacro.attribute(member) == "")
  }

  /// The role for attributes is not told whether the superclass is a model.
  @Test(arguments: ["A { }", "A { var a = 1; var b: Int? }", "A { convenience init(a: Int) {} }"])
  func subclassesWithoutInitializer(rest: String) {
    let source = "@Model class Trip: \(rest)"
    #expect(ModelExpansion.refusal(source, conformances: nil) == nil)
    let member = ModelExpansion.request("var a = 1", role: "memberAttribute", parent: source)
    #expect(ModelMacro.attribute(member) == "@CambiumSwiftData._PersistedProperty")
  }

  @Test(arguments: [
    ("§let id = UUID()", "write 'private(set) var id'"), ("@Attribute(.unique) §let id: UUID", "'var id'"),
    ("var §(a, b) = (1, 2)", "write one 'var' for each"), ("let §(a, b): (Int, Int)", "write one 'var' for each"),
    ("var §a: Int, b: Int", "write 'var a' in a declaration of its own"), ("var §a = 1, b = 2", "one 'var'"),
    ("#if os(Linux)\n  var §größe: Int = 1\n  #endif", "cannot see whether the condition"),
    ("#if A\n  #else\n  var §a: Int?\n  #endif", "'@Transient'"),
    ("#if A\n  §@Attribute(.unique)\n  #endif\n  var a: Int", "stands alone within '#if'"),
    ("#if A\n  #§Unique<Trip>([\\.a])\n  #endif\n  var a: Int", "write '#Unique' outside of '#if'"),
    ("§lazy var a = 1", "'@Transient lazy var a'"), ("private §weak var a: Trip?", "'@Transient weak var a'"),
    ("§unowned(safe) var a: Trip", "'@Transient unowned var a'"), ("§override var a: Int = 1", "another name"),
    ("@§Published var a = 1".replacingOccurrences(of: "@§", with: "§@"), "'@Transient @Published'"),
    ("@Attribute §@Field(1) var a: Int", "looks like a property wrapper"),
    ("§@Module.Wrapper<Int> var a: Int", "'@Wrapper'"),
    ("var a: Int §{ didSet { print(1) } }", "observers of a stored property"),
    ("var a = 1 §{ willSet { } }", "write a method that sets 'a'"),
    ("var a: Int = 1\n  §{\n didSet {} }", "never called"),
    ("var §isDeleted = false", "'@Attribute(originalName: \"isDeleted\")'"),
    ("var §hasChanges: Bool", "choose another name"), ("var §objectID: Int", "choose another name"),
    ("var §modelContext: Int", "'modelContext'"), ("var §persistentModelID: Int", "'persistentModelID'"),
    ("var §persistentBackingData: Int", "a member"), ("var §schemaMetadata: Int?", "a member"),
    ("var §a", "needs a type or an initial value"), ("var a = 1; var §_a: Int", "a member that '@Model' adds for 'a'"),
    ("@Attribute(.unique) §@Relationship var a: [Trip]", "an attribute or a relationship, not both"),
    ("@Relationship §@Attribute var a: [Trip]", "leave out"), ("@Attribute(.unique) §@Attribute var a: Int", "twice"),
    ("var a: §() -> Void", "cannot keep a function"),
    ("var a: §[@Sendable (Int) -> Int] = []", "cannot keep a function"),
    ("var a: §Any", "a 'Codable' type"), ("var a: §[String: Any]?", "a value of any type"),
    ("var a: §any P", "'Codable'"),
    ("var a: §(Int, Int)", "a tuple"), ("@Relationship var a: §Set<Trip> = []", "write '[Model]' instead"),
    ("§@Transient var a: Int", "'@Transient' needs an initial value"), ("§@Transient let a: Int?", "initial value"),
    ("§@Transient unowned var a: Trip", "initial value"), ("var a: Int = §(1", "finds no end"),
    ("var a = f§{ \"", "finds no end"),
    ("var a: §[Int", "finds no end"), ("var s = §\"\n", "finds no end"),
    ("var a = 1 §)", "closes nothing"), ("var a = [1] §]", "closes nothing"), ("var a = b §`c", "finds no end"),
    ("var a = §##\"b\"#", "finds no end"), ("var a = f§(b `c)", "finds no end"),
  ])
  func members(member: String, message: String) throws {
    try check("/// Ü\n@Model public final class Trip {\n  init() {}\n  \(member)\n}", message)
  }

  @Test(arguments: [
    "@Transient var a: Int?", "@Transient var a = 1", "@Transient let a = 1", "@Transient @Published var a: Int",
    "@Transient lazy var a = 1", "@Transient weak var a: Trip?",
    "@Transient var a: Int { didSet {} }".replacingOccurrences(of: "Int ", with: "Int = 1 "),
    "static let a = 1", "static var a: Int, b: Int", "class var a: Int { 1 }", "var a: Int { 1 }",
    "@State var a: Int { 1 }", "lazy var a: Int { 1 }", "@Transient var (a, b) = (1, 2)", "@Transient var a = 1, b = 2",
    "#if A\n static var a = 1\n @Transient var b = 1\n var c: Int { 1 }\n func f() {}\n #endif", "var a: Set<Int> = []",
    "@Attribute(.transformable(by: \"x\")) var a: [String: Any]", "var hasChanges: Bool { true }", "var id: Int = 1",
    "@Transient var isDeleted = false", "@MainActor var a = 1", "@objc dynamic var a = 1",
    "@ObservationIgnored var a = 1",
    "var description: String", "var hash = 1", "var a: Anyone?", "var a: (Int)", "@Transient var f: () -> Void = {}",
  ])
  func accepted(member: String) throws {
    let source = "@Model final class Trip {\n  \(member)\n  init() {}\n}"
    #expect(ModelExpansion.refusal(source) == nil)
  }

  @Test func otherPlaces() throws {
    #expect(ModelExpansion.refusal("var x: Int")?.message.contains("'@Model'") == true)
    let arguments = ModelExpansion.request("class A { init() {} }", attribute: "@Model(originalName: )")
    #expect(throws: Refusal.self) { try ModelMacro.members(arguments) }
    let unnamed = ModelExpansion.request("class A { init() {} }", role: "extension", extended: nil)
    #expect(throws: Refusal.self) { try ModelMacro.extensions(unnamed) }
    let structure = ModelExpansion.request("@ModelActor struct A {}", conformances: "ModelActor")
    #expect(throws: Refusal.self) { try ModelActorMacro.members(structure) }
    #expect(try ModelActorMacro.extensions(structure) == "")
    let actor = ModelExpansion.request("@ModelActor actor A {}", conformances: "ModelActor", extended: nil)
    #expect(throws: Refusal.self) { try ModelActorMacro.extensions(actor) }
    for source in ["func f() {}", "", "var a: Int, b: Int", "var (a, b) = (1, 2)"] {
      #expect(ModelMacro.attribute(ModelExpansion.request(source)) == "")
      #expect(throws: Refusal.self) { try PersistedPropertyMacro.peers(ModelExpansion.request(source)) }
    }
    let broken = ModelExpansion.request("var a: Int = (")
    do throws(Refusal) { _ = try PersistedPropertyMacro.accessors(broken) } catch { #expect(error.offset == 13) }
    #expect(ModelMacro.attribute(ModelExpansion.request("@_PersistedProperty var a: Int")) == "")
  }
}

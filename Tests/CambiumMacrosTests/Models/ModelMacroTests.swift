import Foundation
import Testing

@testable import CambiumMacroSupport

/// The expansions of one class, written out. `Golden` has many more.
@Suite struct ModelMacroTests {
  private let trip = """
    @Model final class Trip {
      #Unique<Trip>([\\.name])
      @Attribute(.unique, originalName: "title") var name: String
      var rating = 3
      var note: String?
      @Relationship(deleteRule: .cascade, inverse: \\Stop.trip) var stops: [Stop] = []
      init(name: String) { self.name = name }
    }
    """

  @Test func members() throws {
    #expect(
      try ModelExpansion.members(trip) == """
        @exclusivity(unchecked) private var _$backingData = CambiumSwiftData.ModelStorage<Trip>()
        var persistentBackingData: any CambiumSwiftData.BackingData<Trip> {
          get { CambiumSwiftData.ModelBackingData(row: _$row) }
          set { _$backingData = CambiumSwiftData.ModelStorage(newValue) }
        }
        static var schemaMetadata: [CambiumSwiftData.Schema.PropertyMetadata] {
          func _$of<_$Model: Trip>(_: _$Model.Type) -> [CambiumSwiftData.Schema.PropertyMetadata] {
            var _$list: [CambiumSwiftData.Schema.PropertyMetadata] = []
            _$list.append(.property("name", \\_$Model.`name`, \\Trip.`name`, \
        metadata: CambiumSwiftData.Schema.Attribute(.unique, originalName: "title")))
            _$list.append(.property("rating", \\_$Model.`rating`, \\Trip.`rating`, default: 3))
            _$list.append(.property("note", \\_$Model.`note`, \\Trip.`note`))
            _$list.append(.property("stops", \\_$Model.`stops`, \\Trip.`stops`, default: [], \
        metadata: CambiumSwiftData.Schema.Relationship(deleteRule: .cascade, inverse: \\Stop.trip)))
            _$list.append(.constraints("Unique", CambiumSwiftData.Schema.Unique<Trip>([\\.name])))
            return _$list
          }
          return _$of(Self.self)
        }
        init(backingData: any CambiumSwiftData.BackingData<Trip>) {
          _name = _SwiftDataNoType()
          _$backingData.take(backingData)
        }
        private init(
          _$row row: borrowing CambiumSwiftData.ModelRow, _ context: borrowing CambiumSwiftData.ModelContext?
        ) {
          _name = _SwiftDataNoType()
          _$backingData.take(row, context, self)
        }
        static func _$make(_ row: CambiumSwiftData.ModelRow, _ context: CambiumSwiftData.ModelContext?)
          -> AnyObject?
        {
          Trip(_$row: row, context)
        }
        var _$row: CambiumSwiftData.ModelRow { _$held.counted }
        var _$held: CambiumSwiftData.HeldRow { _$backingData.held ?? _$join() }
        var _$levels: [CambiumSwiftData.ModelRow] { [_$backingData.row] }
        func _$join() -> CambiumSwiftData.HeldRow {
          _$backingData.own(self)
        }
        func _$attach(_ context: CambiumSwiftData.ModelContext?) {
          _ = _$held
          _$backingData.attach(context)
        }
        var _$context: CambiumSwiftData.ModelContext? { _$backingData.context }
        var _$observationRegistrar: CambiumSwiftData.ModelObservation {
          CambiumSwiftData.ModelObservation(_$row)
        }
        struct _SwiftDataNoType {}
        """)
  }

  @Test func subclass() throws {
    let source =
      "@Model class Long: Module.Trip, P { var days: Int; init(days: Int) { self.days = days; super.init() } }"
    #expect(
      try ModelExpansion.members(source, conformances: nil) == """
        @exclusivity(unchecked) private var _$backingData = CambiumSwiftData.ModelStorage<Long>()
        override class var schemaMetadata: [CambiumSwiftData.Schema.PropertyMetadata] {
          func _$of<_$Model: Long>(_: _$Model.Type) -> [CambiumSwiftData.Schema.PropertyMetadata] {
            var _$list: [CambiumSwiftData.Schema.PropertyMetadata] = super.schemaMetadata
            _$list.append(.property("days", \\_$Model.`days`, \\Long.`days`))
            return _$list
          }
          return _$of(Self.self)
        }
        required init(backingData: any CambiumSwiftData.BackingData<Module.Trip.Root>) {
          _days = _SwiftDataNoType()
          super.init(backingData: backingData)
        }
        override var _$levels: [CambiumSwiftData.ModelRow] {
          super._$levels + [_$backingData.row]
        }
        struct _SwiftDataNoType {}
        """)
    #expect(try ModelExpansion.members(source, conformances: "struct P: Sendable {}").contains("super."))
    // The compiler says that the class is no model yet, whatever it inherits from.
    #expect(!(try ModelExpansion.members(source)).contains("super."))
    // The class says itself that it is a model.
    for conformance in ["PersistentModel", "CambiumSwiftData.PersistentModel"] {
      let own = "@Model class A: \(conformance) { init() {} }"
      #expect(!(try ModelExpansion.members(own, conformances: nil)).contains("super."))
    }
    // Without an initializer of its own, a subclass inherits all.
    let plain = try ModelExpansion.members(
      "@Model final class Long: Trip { var days = 1; var a: Int? }", conformances: nil)
    #expect(!plain.contains("init("))
  }

  /// A slash of a value and one of the metadata are no regular expression.
  @Test func slashes() throws {
    let source = "@Model class A { @Attribute(originalName: \"b/c\") var a = d /e\n init() {} }"
    #expect(try ModelExpansion.members(source).contains("default: d /e\n      , metadata: CambiumSwiftData."))
  }

  @Test func extensions() throws {
    let request = ModelExpansion.request(trip, role: "extension", extended: " V1.Trip ")
    #expect(
      try ModelMacro.extensions(request) == """
        extension V1.Trip: nonisolated CambiumSwiftData.PersistentModel {}
        extension V1.Trip: nonisolated Observation.Observable {}
        @available(*, unavailable, message: "models are not Sendable: hand over the persistentModelID, or use a ModelActor")
        extension V1.Trip: Sendable {}
        """)
    #expect(try ModelMacro.extensions(ModelExpansion.request(trip, conformances: nil)) == "")
    let some = ModelExpansion.request(trip, conformances: "struct P: Swift.Sendable, SendableMetatype {}")
    #expect(try ModelMacro.extensions(some).hasSuffix("extension Trip: Sendable {}"))
    let none = ModelExpansion.request(trip, conformances: "struct P: SendableMetatype {}")
    #expect(try ModelMacro.extensions(none) == "")
  }

  @Test func property() throws {
    let request = ModelExpansion.request("@CambiumSwiftData._PersistedProperty public var größe: Int = 3 // why")
    #expect(try PersistedPropertyMacro.peers(request) == "private var _größe: _SwiftDataNoType = _SwiftDataNoType()")
    #expect(
      try PersistedPropertyMacro.accessors(request) == """
        @storageRestrictions(accesses: _$backingData, initializes: _größe)
        init(initialValue) {
          _$backingData.begin { $0[model: "größe"] = initialValue }
          _größe = _SwiftDataNoType()
        }
        get {
          let row = _$held
          row.access(self, keyPath: \\.`größe`)
          return row.with { $0[model: "größe"] }
        }
        set { _$held.withMutation(of: self, keyPath: \\.`größe`) { $0[model: "größe"] = newValue } }
        """)
    // The key path is made once, where the class is known and none around it is generic.
    let kept = ModelExpansion.request(
      "@_PersistedProperty var größe: Int = 3", context: ["final class Trip: Base {}", "enum V1 {}"])
    #expect(
      try PersistedPropertyMacro.peers(kept).hasSuffix(
        "\nprivate static let _$path_größe = CambiumSwiftData.ModelPath(\\Trip.`größe`)"))
    #expect(try PersistedPropertyMacro.accessors(kept).contains("access(self, keyPath: Self._$path_größe.keyPath)"))
    for outer in ["struct Outer<T> {}", "extension Outer {}", "func outer() {}"] {
      let request = ModelExpansion.request(
        "@_PersistedProperty var größe: Int = 3", context: ["final class Trip {}", outer])
      #expect(!(try PersistedPropertyMacro.peers(request)).contains("static"))
      #expect(try PersistedPropertyMacro.accessors(request).contains("access(self, keyPath: \\.`größe`)"))
    }
    // A model begins without values.
    #expect(
      try PersistedPropertyMacro.accessors(ModelExpansion.request("@CambiumSwiftData._PersistedProperty var a: Int?"))
        .contains("_$backingData.begin(unlessNil: initialValue) { $0[model: \"a\"] = initialValue }"))
  }

  @Test(arguments: [
    ("var a: Int", "_a: _SwiftDataNoType"), ("var a: Int?", "_a: _SwiftDataNoType?"),
    ("var a: Int!", "_a: _SwiftDataNoType?"), ("var a: Optional<Int>", "_a: _SwiftDataNoType?"),
    ("var a: Swift.Optional<Int> = 1", "_a: _SwiftDataNoType? = _SwiftDataNoType()"),
    ("var `class`: Int", "_class: _SwiftDataNoType"), ("var `two words`: Int", "`_two words`: _SwiftDataNoType"),
    ("private(set) var a = Int?.none", "_a: _SwiftDataNoType = _SwiftDataNoType()"),
    ("var `1`: Int", "`_1`: _SwiftDataNoType"), ("var _a: [Int?]", "__a: _SwiftDataNoType"),
  ])
  func peers(source: String, expected: String) throws {
    #expect(try PersistedPropertyMacro.peers(ModelExpansion.request(source)) == "private var \(expected)")
  }

  /// A value transformer may store any type.
  @Test func transformable() throws {
    let source = "@Attribute(.unique, .transformable(by: \"Colors\")) var a: [Any]"
    let accessors = try PersistedPropertyMacro.accessors(ModelExpansion.request(source))
    #expect(accessors.contains("{ $0[transformable: \"a\"] = initialValue }"))
    #expect(accessors.contains("return row.with { $0[transformable: \"a\"] }"))
    #expect(!accessors.contains("[model:"))
  }

  @Test(arguments: [
    ("AttributeMacro", "peer"), ("RelationshipMacro", "peer"), ("TransientMacro", "peer"), ("ModelMacro", "member"),
    ("ModelMacro", "memberAttribute"), ("ModelMacro", "extension"), ("PersistedPropertyMacro", "peer"),
    ("PersistedPropertyMacro", "accessor"), ("ModelActorMacro", "member"), ("ModelActorMacro", "extension"),
  ])
  func dispatch(type: String, role: String) throws {
    let source = role == "peer" || role == "accessor" || role == "memberAttribute" ? "var a: Int" : trip
    let actor = "@ModelActor actor A {}"
    let request = ModelExpansion.request(type == "ModelActorMacro" ? actor : source, type, role: role)
    let answer = Plugin.respond(to: CompilerMessage(expandAttachedMacro: request))
    #expect(answer.expandMacroResult?.diagnostics.isEmpty == true)
    #expect(answer.expandMacroResult?.expandedSource != nil)
    let wrong = ModelExpansion.request(source, type, role: "body")
    let refused = Plugin.respond(to: CompilerMessage(expandAttachedMacro: wrong))
    #expect(refused.expandMacroResult?.diagnostics.count == 1)
  }

  @Test func freestanding() {
    for type in ["UniqueMacro", "IndexMacro"] {
      let request = CompilerMessage.FreestandingMacro(
        macro: .init(typeName: type), syntax: .init(source: "#Unique<Trip>([\\.name])"))
      let answer = Plugin.respond(to: CompilerMessage(expandFreestandingMacro: request))
      #expect(answer.expandMacroResult?.expandedSource == "")
      #expect(answer.expandMacroResult?.diagnostics.isEmpty == true)
    }
  }
}

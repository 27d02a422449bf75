import Cambium
import Foundation
import Testing

/// Every rule that a model has for values, through a file.
@Suite struct ValidationRuleTests {
  /// A rule, with a value that it allows and one that it does not.
  struct Rule: CustomTestStringConvertible, Sendable {
    let name: String
    let type: AttributeType
    let set: @Sendable (AttributeDescription) -> Void
    let allowed: [any Sendable]
    let refused: [any Sendable]
    let code: CambiumError.Code

    var testDescription: String { name }

    init(
      _ name: String, _ type: AttributeType, _ code: CambiumError.Code, allowed: [any Sendable],
      refused: [any Sendable], _ set: @escaping @Sendable (AttributeDescription) -> Void
    ) {
      (self.name, self.type, self.code, self.set) = (name, type, code, set)
      (self.allowed, self.refused) = (allowed, refused)
    }
  }

  private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
  private static func url(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: text) }
  private static let tail: @Sendable (AttributeDescription) -> Void = { $0.regularExpression = "[A-Z]+-[0-9]{1,3}" }

  static let rules: [Rule] = [
    Rule("least integer of 16 bits", .integer16, .validationNumberTooSmall, allowed: [2, 3], refused: [1, -5]) {
      $0.minimumValue = 2
    },
    Rule("greatest integer of 16 bits", .integer16, .validationNumberTooLarge, allowed: [2, -3], refused: [3]) {
      $0.maximumValue = 2
    },
    Rule("least integer of 32 bits", .integer32, .validationNumberTooSmall, allowed: [-70_000], refused: [-70_001]) {
      $0.minimumValue = -70_000
    },
    Rule("greatest integer of 64 bits", .integer64, .validationNumberTooLarge, allowed: [1 << 40], refused: [1 << 41]) {
      $0.maximumValue = 1 << 40
    },
    Rule("least double", .double, .validationNumberTooSmall, allowed: [0.5, 1.0], refused: [0.25]) {
      $0.minimumValue = 0.5
    },
    Rule("greatest float", .float, .validationNumberTooLarge, allowed: [Float(0.5)], refused: [Float(0.75)]) {
      $0.maximumValue = Float(0.5)
    },
    Rule("least decimal", .decimal, .validationNumberTooSmall, allowed: [Decimal(2)], refused: [Decimal(1)]) {
      $0.minimumValue = Decimal(2)
    },
    Rule("earliest date", .date, .validationDateTooSoon, allowed: [date(10)], refused: [date(9)]) {
      $0.minimumValue = date(10)
    },
    Rule("latest date", .date, .validationDateTooLate, allowed: [date(10)], refused: [date(11)]) {
      $0.maximumValue = date(10)
    },
    // Characters, not Unicode scalars or bytes: the flag is one.
    Rule(
      "shortest string", .string, .validationStringTooShort, allowed: ["ab", "a\u{1F1E8}\u{1F1ED}"],
      refused: ["\u{1F1E8}\u{1F1ED}", ""]
    ) {
      $0.minimumValue = 2
    },
    Rule("longest string", .string, .validationStringTooLong, allowed: ["ab", "e\u{301}e\u{301}"], refused: ["abc"]) {
      $0.maximumValue = 2
    },
    Rule("shortest binary", .binary, .validationNumberTooSmall, allowed: [Data([1, 2])], refused: [Data([1]), Data()]) {
      $0.minimumValue = 2
    },
    Rule("longest binary", .binary, .validationNumberTooLarge, allowed: [Data([1, 2])], refused: [Data([1, 2, 3])]) {
      $0.maximumValue = 2
    },
    Rule("shortest URI", .uri, .validationStringTooShort, allowed: [url("http://ab")], refused: [url("http://a")]) {
      $0.minimumValue = 9
    },
    Rule("longest URI", .uri, .validationStringTooLong, allowed: [url("http://a")], refused: [url("http://ab")]) {
      $0.maximumValue = 8
    },
    Rule(
      "pattern", .string, .validationStringPatternMatching, allowed: ["N-1", "HB-123"],
      refused: ["", "n-1", "N-1234", "xN-1", "N-1\n"], tail),
    Rule(
      "a pattern's class, in any normal form", .string, .validationStringPatternMatching,
      allowed: ["\u{E9}t\u{E9}", "e\u{301}te\u{301}"], refused: ["et\u{E9}"]
    ) { $0.regularExpression = "\u{E9}\\p{Ll}[\u{E0}-\u{FF}]" },
  ]

  /// Rules by a validation predicate.
  private static func predicate(
    _ format: String, _ type: AttributeType, arguments: [any Sendable] = [], allowed: [any Sendable],
    refused: [any Sendable]
  ) -> Rule {
    Rule(format, type, .managedObjectValidation, allowed: allowed, refused: refused) {
      let made = try? FetchPredicate(format: format, argumentArray: arguments)
      $0.setValidationPredicates(made.map { [$0] }, withValidationWarnings: ["as \(format) says"])
    }
  }

  private static let identifier = UUID()

  static let predicates: [Rule] = [
    predicate(
      "SELF BEGINSWITH[c] 'n' AND length <= 6", .string, allowed: ["N1", "n\u{1F1E8}\u{1F1ED}2345"],
      refused: ["", "HB", "N123456"]),
    predicate("SELF MATCHES '[a-z]+' OR SELF == ''", .string, allowed: ["", "abc"], refused: ["A", "ab1"]),
    predicate("SELF IN {1, 2, 4}", .integer16, allowed: [1, 2, 4], refused: [0, 3]),
    predicate("modulus:by:(SELF, 5) == 0", .integer32, allowed: [0, 70_000, -5], refused: [1, 69_999]),
    predicate("NOT (SELF BETWEEN {-3, 3})", .integer64, allowed: [4, 1 << 40], refused: [-3, 0, 3]),
    // The float next to a tenth is not above it.
    predicate("SELF <= 0.1", .float, allowed: [Float(0.1), Float(-1)], refused: [Float(0.25)]),
    predicate("self * 2 < 1", .double, allowed: [0.25], refused: [0.5, 7.0]),
    predicate("SELF > %@", .decimal, arguments: [Decimal(5) / 4], allowed: [Decimal(2)], refused: [Decimal(5) / 4]),
    predicate("SELF > %@", .date, arguments: [date(10)], allowed: [date(11)], refused: [date(10), date(-1)]),
    predicate("SELF < now()", .date, allowed: [date(11)], refused: [date(1e10)]),
    predicate("SELF == YES", .boolean, allowed: [true], refused: [false]),
    predicate("SELF != %@", .uuid, arguments: [identifier], allowed: [UUID()], refused: [identifier]),
    predicate(
      "length BETWEEN {1, 2}", .binary, allowed: [Data([1]), Data([1, 2])], refused: [Data(), Data([1, 2, 3])]),
    predicate("SELF.length > 8", .uri, allowed: [url("http://ab")], refused: [url("http://a")]),
  ]

  private func check(_ rule: Rule, _ model: ManagedObjectModel, key: String, _ value: (Any) -> Any) throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model)
    let context = container.viewContext
    for allowed in rule.allowed {
      let made = try context.make("Entry", ["value": value(allowed)])
      #expect(cambiumError { try made.validateValue(value(allowed), forKey: "value") } == nil, "\(allowed)")
      #expect(cambiumError { try context.save() } == nil, "\(allowed)")
    }
    try context.make("Entry", ["value": nil])
    try context.save()
    // New objects, and changes of saved ones.
    let saved = try #require(try context.all("Entry").first)
    for refused in rule.refused {
      // Before anything is set.
      let asked = cambiumError { try saved.validateValue(value(refused), forKey: "value") }
      #expect(asked?.code == rule.code && asked?.key == key && !saved.hasChanges)
      let made = try context.make("Entry", ["value": value(refused)])
      let error = cambiumError { try context.save() }
      #expect(error?.code == rule.code, "\(refused): \(String(describing: error))")
      #expect(error?.key == key && error?.entityName == "Entry" && error?.objectID == made.objectID)
      context.delete(made)
      try saved.set(value(refused), forKey: "value")
      #expect(cambiumError { try context.save() }?.code == rule.code)
      context.rollback()
    }
    let count = try directory.container(model: try copy(model)).viewContext.all("Entry").count
    #expect(count == rule.allowed.count + 1)
  }

  private func copy(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    ManagedObjectModel(schema: try model.schema())
  }

  @Test(arguments: rules + predicates) func rule(_ rule: Rule) throws {
    let model = try ManagedObjectModel { Entity("Entry") { Attribute("value", rule.type).with(rule.set) } }
    try check(rule, model, key: "value") { $0 }
  }

  @Test(arguments: rules + predicates) func ruleOfAnElement(_ rule: Rule) throws {
    let model = try ManagedObjectModel {
      Composite("Inner") { Attribute("value", rule.type).with(rule.set) }
      Entity("Entry") { Attribute("value") { Attribute("inner", composite: "Inner") } }
    }
    try check(rule, model, key: "value.inner.value") { ["inner": ["value": $0]] }
  }

  @Test(
    arguments: [
      ("[A-Z", "there is no ']'"), ("(a", "there is no ')'"), ("(a)\\1", "back references"),
      ("(?=a)b", "looking ahead"),
      ("a{1001}", "at most 1000"), ("((a{100}){100}){100}", "too large"),
      (String(repeating: "(", count: 5_000) + String(repeating: ")", count: 5_000), "nested deeper"),
    ])
  func aPatternThatCannotBeRead(_ pattern: String, _ problem: String) throws {
    let code = AttributeDescription("code", .string)
    code.regularExpression = pattern
    let place = try CompositeAttributeDescription("place", elements: [code])
    let model = ManagedObjectModel(entities: [EntityDescription("Entry", properties: [place])])
    let error = cambiumError { _ = try model.schema() }
    #expect(error?.code == .invalidModel)
    #expect(error?.message.contains("Entry.place.code") == true)
    #expect(error?.message.contains(pattern) == true)
    #expect(error?.message.contains(problem) == true, "\(String(describing: error))")
    #expect(cambiumError { _ = try memoryContainer(model) }?.code == .invalidModel)
  }

  @Test func predicatesOfSeveralAttributes() throws {
    func model() throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Entry") {
          Attribute("place") {
            Attribute("low", .double).validated("SELF >= -90", warning: "on the Earth")
            Attribute("high", .double)
          }
          .validated("low == NULL OR low <= high", warning: "the wrong way round")
          Attribute("name", .string, maximum: 5)
            .validated("SELF BEGINSWITH %@", "N", warning: "begins with N").validated("SELF ENDSWITH 'x'")
          Attribute("note", .string, transient: true).validated("length > 1")
          Attribute("plain", .string)
        }
      }
    }
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: try model())
    let context = container.viewContext
    let entry = try context.make("Entry", ["place": ["low": -91.0, "high": -92.0], "name": "A", "note": "a"])
    var error = cambiumError { try context.save() }
    #expect(error?.code == .validationMultipleErrors)
    let told = error?.detailedErrors.map { "\($0.code.rawValue) \($0.key ?? "")" }.sorted()
    #expect(told == ["1550 name", "1550 name", "1550 note", "1550 place", "1550 place.low"])
    let texts = error?.detailedErrors.map { $0.message } ?? []
    for part in [
      "'name' is 'A', which does not meet SELF BEGINSWITH \"N\": begins with N", "SELF ENDSWITH \"x\"",
      "'place' does not meet low == NULL OR low <= high: the wrong way round",
      "'place.low' is -91.0, which does not meet SELF >= -90: on the Earth", "'note' is 'a'",
    ] { #expect(texts.contains { $0.contains(part) }, "\(part) in \(texts)") }
    // What breaks a limit is not asked further.
    try entry.set(["low": 1.0, "high": 1.0], forKey: "place")
    try entry.set("ABCDEF", forKey: "name")
    try entry.set("ab", forKey: "note")
    #expect(cambiumError { try context.save() }?.code == .validationStringTooLong)
    try entry.set("Nx", forKey: "name")
    try context.save()
    // Null is not asked, and neither is what did not change.
    for key in ["place", "name", "note"] { try entry.set(nil, forKey: key) }
    try context.save()
    try entry.set(["high": 1.0], forKey: "place")
    try context.save()
    error = cambiumError { try entry.validateValue(["low": 2.0, "high": 1.0], forKey: "place") }
    #expect(error?.code == .managedObjectValidation && error?.key == "place")
    // A child is told by its own save.
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
    try child.performAndWait {
      try child.object(with: entry.objectID).set("A", forKey: "name")
      #expect(cambiumError { try child.save() }?.code == .validationMultipleErrors)
    }
  }

  /// They are kept wherever the model is, and are no reason to migrate.
  @Test func predicatesAreKeptWithTheModel() throws {
    let name = AttributeDescription("name", .string)
    let made = [
      try FetchPredicate(format: "SELF != %@ AND length < %d", "it's", 9),
      try FetchPredicate(format: "SELF CONTAINS 'a'"),
    ]
    name.setValidationPredicates(made, withValidationWarnings: ["first"])
    #expect(name.validationPredicates == made && name.validationWarnings == ["first", ""])
    let date = AttributeDescription("date", .date)
    let latest = try FetchPredicate(format: "SELF < %@", Self.date(1.25))
    date.setValidationPredicates([latest], withValidationWarnings: ["a", "too many"])
    #expect(date.validationWarnings == ["a"])
    func plain() -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          "Entry", properties: [AttributeDescription("name", .string), AttributeDescription("date", .date)])
      ])
    }
    let model = ManagedObjectModel(entities: [EntityDescription("Entry", properties: [name, date])])
    #expect(try model.schema().versionChecksum == plain().schema().versionChecksum)
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: plain())
    try container.viewContext.make("Entry", ["name": "b"])
    try container.viewContext.save()
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    let ruled = try directory.container(model: model) { $0.shouldMigrateStoreAutomatically = false }
    let old = try #require(try ruled.viewContext.all("Entry").first)
    #expect(old.value(forKey: "name") as? String == "b")
    #expect(
      cambiumError {
        try ruled.viewContext.make("Entry", ["name": "it's"]); try ruled.viewContext.save()
      } != nil)
    ruled.viewContext.rollback()
    // In use, it stays as it is.
    name.setValidationPredicates(nil, withValidationWarnings: nil)
    #expect(name.validationPredicates == made && !model.refusedChanges.isEmpty)
    // Coded, in a file, and from the store.
    let coded = try JSONDecoder().decode(ManagedObjectModel.self, from: JSONEncoder().encode(model))
    let stored = try PersistentStoreCoordinator.cachedModelForPersistentStore(
      at: directory.url.appendingPathComponent("flights.cambium"))
    for copy in [try self.copy(model), coded, stored] {
      let attributes = copy.entitiesByName["Entry"]?.attributesByName
      #expect(attributes?["name"]?.validationPredicates == made)
      #expect(attributes?["name"]?.validationWarnings == ["first", ""])
      #expect(attributes?["date"]?.validationPredicates == [latest])
    }
  }

  /// Elements called as words of the grammar, and texts of any kind, through the file and as JSON.
  @Test func namesAndTextsOfAnyKind() throws {
    let text = "it's \"q\" \\ \n\u{0}\t e\u{301}\u{1F6E9}\u{FE0F}%@ $x"
    let names = ["length", "from", "in", "null", "any", "größe", "size", "first", "count"]
    let elements = names.map { AttributeDescription($0, .string) }
    let place = try CompositeAttributeDescription("place", elements: elements)
    place.setValidationPredicates(
      try names.map { try FetchPredicate(format: "%K != %@", $0, text) },
      withValidationWarnings: names.map { "\($0) \(text)" })
    let value = AttributeDescription("value", .string)
    value.setValidationPredicates([try FetchPredicate(format: "SELF != %@", text)], withValidationWarnings: [text])
    let made = ManagedObjectModel(entities: [EntityDescription("Entry", properties: [place, value])])
    let coded = try JSONDecoder().decode(ManagedObjectModel.self, from: JSONEncoder().encode(made))
    for model in [made, coded, try copy(coded)] {
      let directory = try TemporaryDirectory()
      let context = try directory.container(model: model).viewContext
      let entry = try context.make("Entry", ["value": text + "!", "place": ["length": "a", "from": text + "b"]])
      try context.save()
      for name in names {
        let error = cambiumError { try entry.validateValue([name: text], forKey: "place") }
        #expect(
          error?.code == .managedObjectValidation && error?.message.contains("\(name) \(text)") == true, "\(name)")
      }
      // Equal as texts are, in whatever normal form.
      try entry.set(text.replacing("e\u{301}", with: "\u{E9}"), forKey: "value")
      #expect(cambiumError { try context.save() }?.code == .managedObjectValidation)
    }
  }

  @Test func predicatesThatCannotBeUsed() throws {
    var deep = FetchPredicate(value: true)
    for _ in 0..<2_000 { deep = .not(deep) }
    for (attribute, part) in [
      (Attribute("value", .string).validated("SELF =="), "a validation predicate of attribute 'value' of 'Entry'"),
      (Attribute("value", .string).validated("SELF == %@", NSObject()), "NSObject"),
      (Attribute("value", .string).with { $0.setValidationPredicates([deep], withValidationWarnings: nil) }, "deep"),
      (Attribute("value", .string).validated("other == 'a'"), "Entry.value"),
      (Attribute("value", .integer16).validated("SELF BEGINSWITH 'a'"), "Entry.value"),
      (Attribute("value", .transformable).validated("SELF == 'a'"), "Transformable"),
      (Attribute("value") { Attribute("low", .double) }.validated("high > 1"), "'value' has no element 'high'"),
    ] {
      let error = cambiumError { _ = try memoryContainer(try ManagedObjectModel { Entity("Entry") { attribute } }) }
      #expect(error?.code == .invalidModel)
      #expect(error?.message.contains(part) == true, "\(String(describing: error))")
    }
  }

  @Test func aPatternOfANumberIsRefused() throws {
    let error = cambiumError {
      _ = try ManagedObjectModel { Entity("Entry") { Attribute("value", .integer16, pattern: "[0-9]+") } }
    }
    #expect(error?.code == .invalidModel && error?.message.contains("Entry.value") == true)
  }

  /// A model that applications have with Core Data loads, says what it lacks, and saves.
  @Test func aFileWithAPatternThatCannotBeRead() throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appendingPathComponent("contents")
    try Data(
      """
      <model><entity name="Entry">
        <attribute name="value" attributeType="String" optional="YES" regularExpressionString="(?i)[a-z]+"/>
        <attribute name="other" attributeType="String" optional="YES" regularExpressionString="[a-z]+"/>
      </entity></model>
      """.utf8
    ).write(to: file)
    let model = try ManagedObjectModel(contentsOf: file)
    #expect(model.fileWarnings.count == 1)
    #expect(model.fileWarnings.first?.contains("flags are not supported") == true)
    #expect(model.entitiesByName["Entry"]?.attributesByName["value"]?.regularExpression == nil)
    let context = try directory.container(model: model).viewContext
    let entry = try context.make("Entry", ["value": "ABC", "other": "abc"])
    try context.save()
    try entry.set("ABC", forKey: "other")
    #expect(cambiumError { try context.save() }?.code == .validationStringPatternMatching)
  }
}

import Cambium
import Foundation
import Testing

/// Fetches of dictionaries, through a file.
@Suite struct DictionaryFetchTests {
  private let directory: TemporaryDirectory
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    context = try directory.container().viewContext
    var aircraft: [ManagedObject] = []
    for (tail, color) in [("N1", "white"), ("N2", "blue"), ("D3", "white"), ("D4", nil)] {
      let scheme: [String: Any]? = color.map { ["primary": $0] }
      aircraft.append(try context.make("Aircraft", ["tailNumber": tail, "colorScheme": scheme]))
    }
    // Of the fifth kind are those without aircraft.
    for number in 0..<20 {
      let plane = number % 5 < 4 ? aircraft[number % 5] : nil
      try context.make(
        "LogEntry",
        [
          "number": number, "duration": number % 3 == 0 ? nil : Double(number) / 2, "aircraft": plane,
          "remarks": number < 10 ? "early" : "late",
        ])
    }
    try context.save()
  }

  private func request(
    _ entity: String = "LogEntry", _ properties: [FetchProperty]? = nil, by groups: [String]? = nil,
    having: String? = nil, sort: [FetchSortDescriptor] = []
  ) throws -> FetchRequest<[String: Any]> {
    let request = FetchRequest<[String: Any]>(entityName: entity)
    request.propertiesToFetch = properties
    request.propertiesToGroupBy = groups
    request.havingPredicate = try having.map { try FetchPredicate(format: $0) }
    request.sortDescriptors = sort
    return request
  }

  /// Dictionaries as text, their keys in order.
  private func texts(_ request: FetchRequest<[String: Any]>) throws -> [String] {
    try context.fetch(request).map { values in
      values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
  }

  @Test func propertiesOfObjects() throws {
    let rows = try request(
      "LogEntry", ["number", "aircraft.tailNumber", "aircraft.colorScheme.primary"],
      sort: [FetchSortDescriptor(key: "number")])
    rows.predicate = try FetchPredicate(format: "number < 5")
    #expect(
      try texts(rows) == [
        "aircraft.colorScheme.primary=white aircraft.tailNumber=N1 number=0",
        "aircraft.colorScheme.primary=blue aircraft.tailNumber=N2 number=1",
        "aircraft.colorScheme.primary=white aircraft.tailNumber=D3 number=2", "aircraft.tailNumber=D4 number=3",
        "number=4",
      ])
    rows.fetchOffset = 1
    rows.fetchLimit = 2
    #expect(try texts(rows).count == 2)
    #expect(try context.count(for: rows) == 2)
    #expect(try texts(rows).first?.hasSuffix("number=1") == true)
    rows.sortDescriptors = [FetchSortDescriptor(key: "aircraft.tailNumber", ascending: false)]
    #expect(try texts(rows).map { $0.suffix(8) } == ["number=0", "number=3"])
  }

  @Test func allPropertiesAndIdentifiers() throws {
    let all = try request("LogEntry")
    all.predicate = try FetchPredicate(format: "number == 1")
    let values = try #require(try context.fetch(all).first)
    #expect(Set(values.keys) == ["number", "duration", "remarks", "aircraft"])
    let entry = try #require(try context.all("LogEntry", "number == 1").first)
    #expect(values["aircraft"] as? ManagedObjectID == (entry.value(forKey: "aircraft") as? ManagedObject)?.objectID)
    let selves = try request("LogEntry", ["number", .expression("id", .evaluatedObject)])
    selves.predicate = all.predicate
    #expect(try context.fetch(selves).first?["id"] as? ManagedObjectID == entry.objectID)
    let scheme = try request("Aircraft", ["colorScheme"], sort: [FetchSortDescriptor(key: "tailNumber")])
    #expect(
      try context.fetch(scheme).map { ($0["colorScheme"] as? [String: Any])?["primary"] as? String }
        == ["white", nil, "white", "blue"])
  }

  @Test func distinct() throws {
    let colors = try request(
      "LogEntry", ["aircraft.colorScheme.primary"], sort: [FetchSortDescriptor(key: "aircraft.colorScheme.primary")])
    colors.returnsDistinctResults = true
    #expect(
      try texts(colors) == ["", "aircraft.colorScheme.primary=blue", "aircraft.colorScheme.primary=white"])
    colors.fetchOffset = 1
    colors.fetchLimit = 1
    #expect(try texts(colors) == ["aircraft.colorScheme.primary=blue"])
    colors.sortDescriptors = [FetchSortDescriptor(key: "number")]
    #expect(cambiumError { _ = try context.fetch(colors) }?.code == .invalidArgument)
  }

  @Test func groups() throws {
    let number = FetchExpression(forKeyPath: "number")
    let grouped = try request(
      "LogEntry",
      [
        "aircraft.tailNumber", .expression("legs", .count(.evaluatedObject)), .expression("first", .min(number)),
        .expression("last", .max(number)), .expression("total", .sum(number)),
        .expression("kind", try FetchExpression(forConstantValue: "x")),
      ], by: ["aircraft.tailNumber"], sort: [FetchSortDescriptor(key: "total", ascending: false)])
    #expect(
      try texts(grouped) == [
        "first=4 kind=x last=19 legs=4 total=46", "aircraft.tailNumber=D4 first=3 kind=x last=18 legs=4 total=42",
        "aircraft.tailNumber=D3 first=2 kind=x last=17 legs=4 total=38",
        "aircraft.tailNumber=N2 first=1 kind=x last=16 legs=4 total=34",
        "aircraft.tailNumber=N1 first=0 kind=x last=15 legs=4 total=30",
      ])
    grouped.havingPredicate = try FetchPredicate(format: "total > 34 AND aircraft.tailNumber != nil")
    #expect(try texts(grouped).count == 2)
    grouped.havingPredicate = try FetchPredicate(format: "$total BETWEEN {34, 40} AND $kind == 'x'")
    #expect(try context.fetch(grouped).map { $0["aircraft.tailNumber"] as? String } == ["D3", "N2"])
    grouped.fetchOffset = 1
    #expect(try context.fetch(grouped).map { $0["aircraft.tailNumber"] as? String } == ["N2"])
    grouped.sortDescriptors = [FetchSortDescriptor(key: "aircraft.tailNumber")]
    #expect(try context.fetch(grouped).map { $0["aircraft.tailNumber"] as? String } == ["N2"])
    grouped.propertiesToGroupBy = ["aircraft.tailNumber", "remarks"]
    grouped.havingPredicate = nil
    grouped.fetchOffset = 0
    #expect(try context.fetch(grouped).count == 10)
  }

  /// SQL's rules: null has no part, and there is nothing in nothing.
  @Test func aggregatesOfEverything() throws {
    let duration = FetchExpression(forKeyPath: "duration")
    let properties: [FetchProperty] = [
      .expression("all", .count(.evaluatedObject)), .expression("some", .count(duration)),
      .expression("sum", .sum(duration)), .expression("mean", .average(duration)), .expression("max", .max(duration)),
      .expression("first", .min(.init(forKeyPath: "remarks")), resultType: .string),
      .expression("short", .sum(.init(forKeyPath: "number")), resultType: .double),
      .expression("legs", .count(.init(forKeyPath: "aircraft.logEntries"))),
    ]
    let values = try context.fetch(try request("LogEntry", properties))
    #expect(values.count == 1)
    let durations = (0..<20).filter { $0 % 3 != 0 }.map { Double($0) / 2 }
    #expect(values.first?["all"] as? Int == 20)
    #expect(values.first?["some"] as? Int == durations.count)
    #expect(values.first?["sum"] as? Double == durations.reduce(0, +))
    #expect(values.first?["mean"] as? Double == durations.reduce(0, +) / Double(durations.count))
    #expect(values.first?["max"] as? Double == 9.5)
    #expect(values.first?["first"] as? String == "early")
    #expect(values.first?["short"] as? Double == 190)
    #expect(values.first?["legs"] as? Int == 64)
    let none = try request("LogEntry", properties)
    none.predicate = try FetchPredicate(format: "number > 1000")
    #expect(try texts(none) == ["all=0 legs=0 some=0"])
    none.propertiesToGroupBy = ["remarks"]
    #expect(try texts(none) == [])
  }

  @Test func computedValues() throws {
    let rows = try request(
      "LogEntry",
      [
        "number", .expression("twice", try FetchExpression(format: "number * 2 + 1")),
        .expression("text", try FetchExpression(format: "uppercase(remarks)")),
        .expression("legs", FetchExpression(forKeyPath: "aircraft.logEntries.@count")),
        .expression("kind", try FetchExpression(format: "TERNARY(number > 0, 'later', 'first')")),
      ], sort: [FetchSortDescriptor(key: "twice", ascending: false)])
    rows.predicate = try FetchPredicate(format: "number < 2")
    #expect(
      try texts(rows) == [
        "kind=later legs=4 number=1 text=EARLY twice=3", "kind=first legs=4 number=0 text=EARLY twice=1",
      ])

    let groups = try request(
      "LogEntry",
      [
        "remarks", .expression("spread", try FetchExpression(format: "max(number) - min(number)")),
        .expression("double", try FetchExpression(format: "sum(number * 2)")),
        .expression("mean", try FetchExpression(format: "sum(number) / count(SELF)")),
        .expression("name", try FetchExpression(format: "uppercase(remarks)")),
        .expression("middle", try FetchExpression(format: "median(number)")),
        .expression("often", try FetchExpression(format: "mode(aircraft.logEntries.number)")),
        .expression("deviation", try FetchExpression(format: "stddev(number)")),
      ], by: ["remarks"], having: "sum(number) * 2 > 90 AND remarks BEGINSWITH 'l' AND count(self) == 10",
      sort: [FetchSortDescriptor(key: "spread")])
    var late = try #require(try context.fetch(groups).first)
    let deviation = try #require(late.removeValue(forKey: "deviation") as? Double)
    #expect(abs(deviation - 2.8722813232690143) < 1e-9)
    let text = late.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    #expect(text == "double=290 mean=14 middle=14.5 name=LATE often=0 remarks=late spread=9")
    groups.havingPredicate = try FetchPredicate(format: "spread > 100 OR $double == 90")
    #expect(try context.fetch(groups).map { $0["remarks"] as? String } == ["early"])
  }

  /// Conditions within columns are asked of groups as well, and know no columns.
  @Test func conditionsWithinColumns() throws {
    let all = try request(
      "LogEntry", [.expression("many", try FetchExpression(format: "TERNARY(count(SELF) > 2, 'many', 'few')"))])
    #expect(try texts(all) == ["many=many"])
    let named = try request(
      "LogEntry",
      [
        .expression("remarks", try FetchExpression(format: "uppercase(remarks)")),
        .expression("same", try FetchExpression(format: "TERNARY(remarks == uppercase(remarks), 1, 0)")),
      ], by: ["remarks"])
    let lower = try context.fetch(named).filter { ($0["remarks"] as? String)?.isEmpty == false }
    #expect(!lower.isEmpty && lower.allSatisfy { "\($0["same"] ?? "")" == "0" })
  }

  @Test func unsavedChangesHaveNoEffect() throws {
    try context.make("LogEntry", ["number": 99])
    let count = try request("LogEntry", [.expression("n", .count(.evaluatedObject))])
    #expect(try texts(count) == ["n=20"])
    try context.save()
    #expect(try texts(count) == ["n=21"])
  }

  /// Each rule that a request breaks is an error of its own before rows are read.
  @Test func rules() throws {
    func refused(
      _ properties: [FetchProperty]?, by groups: [String]? = nil, having: String? = nil, sort: String? = nil,
      code: CambiumError.Code = .invalidArgument, _ text: String
    ) throws {
      let request = try request(
        "LogEntry", properties, by: groups, having: having, sort: sort.map { [FetchSortDescriptor(key: $0)] } ?? [])
      let error = cambiumError { _ = try context.fetch(request) }
      #expect(error?.code == code && error?.message.contains(text) == true, "\(error?.description ?? "none")")
    }
    let number = FetchExpression(forKeyPath: "number")
    try refused(["number"], by: ["remarks"], "'number' has several values in a group")
    try refused(nil, by: ["remarks"], "has several values in a group")
    try refused([.expression("n", .count(number)), "remarks"], "'remarks' has several values in a group")
    try refused(["remarks"], having: "remarks == 'x'", "propertiesToGroupBy")
    try refused(["pilots"], "leads to several objects")
    try refused(["pilots.name"], "leads to several objects")
    try refused(["remarks"], by: ["pilots.name"], "leads to several objects")
    try refused(["number"], sort: "pilots.name", "leads to several objects")
    try refused(["number"], sort: "aircraft.colorScheme", "is a composite")
    try refused(["aircraft.colorScheme"], sort: "aircraft.colorScheme", "is a composite")
    try refused(["remarks"], by: ["remarks"], sort: "number", "neither a column")
    try refused(["remarks"], by: ["remarks"], having: "number > 1", "'number' has several values in a group")
    try refused([.expression("n", .sum(.init(forKeyPath: "remarks")))], "only numbers")
    try refused([.expression("n", .max(.init(forKeyPath: "aircraft")))], "no least or greatest")
    try refused([.expression("n", .sum(.evaluatedObject))], "only numbers")
    try refused([.expression("n", .min(number)), .expression("n", .count(number))], "two columns")
    try refused([.expression("", .count(number))], "no name")
    try refused([.expression("n", .sum(.count(number)))], "aggregate itself")
    var doubling: [FetchProperty] = [.expression("c0", .sum(number))]
    for n in 1...30 { doubling.append(.expression("c\(n)", try FetchExpression(format: "$c\(n - 1) + $c\(n - 1)"))) }
    try refused(doubling, "parts where it names other columns")
    let inCondition = try FetchExpression(format: "sum(TERNARY(sum(number) > 1, 1, 0))")
    try refused([.expression("n", inCondition)], "aggregate itself")
    let each = FetchExpression(forKeyPath: "aircraft.logEntries.@count")
    try refused(
      [.expression("n", each), .expression("c", .count(number))], code: .unsupported, "put it into an aggregate")
    let many = FetchExpression(forKeyPath: "aircraft.logEntries.number")
    try refused([.expression("n", many)], "leads to several objects")
    try refused(
      [.expression("n", try FetchExpression(format: "SUBQUERY(pilots, $p, $p.name == 'x')"))], "several values")
    try refused(
      [.expression("n", try FetchExpression(format: "number + remarks"))], code: .invalidPredicate, "takes numbers")
    try refused([.expression("n", try FetchExpression(format: "nothing * 2"))], code: .invalidPredicate, "nothing")
    try refused(["remarks"], by: ["remarks"], having: "$missing == 1", code: .invalidPredicate, "missing")
    try refused(
      ["remarks"], by: ["remarks"], having: "NOT (remarks > 5)", code: .invalidPredicate, "'remarks > 5'")
    try refused([], "something to fetch")
    try refused(["nothing"], code: .unknownKey, "nothing")
    try refused(["number"], by: ["number.x"], code: .unknownKey, "number.x")
    try refused(["number"], sort: "nothing", code: .unknownKey, "nothing")

    let objects = FetchRequest<ManagedObject>(entityName: "LogEntry")
    objects.propertiesToFetch = ["number", "aircraft"]
    #expect(try context.fetch(objects).count == 20)
    objects.propertiesToFetch = [.expression("n", .count(number))]
    #expect(cambiumError { _ = try context.fetch(objects) }?.code == .invalidArgument)
    objects.propertiesToFetch = ["nothing"]
    #expect(cambiumError { _ = try context.fetch(objects) }?.code == .unknownKey)
    objects.propertiesToFetch = ["pilots"]
    #expect(cambiumError { _ = try context.fetch(objects) }?.code == .invalidArgument)
    objects.propertiesToFetch = nil
    objects.propertiesToGroupBy = ["number"]
    #expect(cambiumError { _ = try context.fetch(objects) }?.message.contains("resultType") == true)
    objects.propertiesToGroupBy = nil
    objects.affectedStores = []
    #expect(cambiumError { _ = try context.fetch(objects) }?.code == .invalidArgument)
    objects.affectedStores = context.persistentStoreCoordinator.persistentStores
    #expect(try context.fetch(objects).count == 20)
  }

  @Test func dictionariesAreOfOneStore() throws {
    let container = PersistentContainer(name: "two", managedObjectModel: try FlightModel.make())
    container.persistentStoreDescriptions = ["one", "two"].map {
      PersistentStoreDescription(url: directory.url.appendingPathComponent($0 + ".cambium"))
    }
    try container.loadPersistentStores()
    let context = container.viewContext
    try context.make("Aircraft", ["tailNumber": "N1"])
    try context.save()
    let request = try request("Aircraft", ["tailNumber"])
    #expect(cambiumError { _ = try context.fetch(request) }?.message.contains("affectedStores") == true)
    let stores = container.persistentStoreCoordinator.persistentStores
    let counts = try stores.map { store in
      request.affectedStores = [store]
      return try context.count(for: request)
    }
    #expect(counts.sorted() == [0, 1])
    let objects = FetchRequest<ManagedObject>(entityName: "Aircraft")
    #expect(try context.count(for: objects) == 1)
    objects.affectedStores = zip(stores, counts).filter { $0.1 == 0 }.map { $0.0 }
    #expect(try context.fetch(objects).isEmpty)
  }

  @Test func expressions() throws {
    #expect(try FetchExpression(format: "aircraft.tailNumber") == FetchExpression(forKeyPath: "aircraft.tailNumber"))
    #expect(try FetchExpression(format: "%@", 5).expressionFormat == "5")
    #expect(try FetchExpression(format: "SELF") == .evaluatedObject)
    #expect(FetchExpression(forKeyPath: "self") == .evaluatedObject)
    #expect(FetchExpression(forFunction: "sum:", arguments: [.init(forKeyPath: "x")]).expressionFormat == "sum(x)")
    for text in ["a) == TRUE OR (b", "a ==", "", "a == 1"] {
      #expect(cambiumError { _ = try FetchExpression(format: text) }?.code == .invalidPredicate, "\(text)")
    }
    #expect(cambiumError { _ = try FetchExpression(format: "number $") }?.message.contains("at byte 7") == true)
    struct Strange {}
    #expect(cambiumError { _ = try FetchExpression(forConstantValue: Strange()) }?.code == .invalidArgument)
    #expect(FetchProperty.property(AttributeDescription("number", .integer16)) == "number")
  }
}

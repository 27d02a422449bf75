import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Random models, data and predicates, with random migrations between them: what a fetch finds by the plan that it
/// chooses, what it finds by looking at every row, and what a naive evaluation of values that were read out finds, are
/// the same.
@Suite struct QueryOracleTests {
  /// How many predicates; `CAMBIUM_PREDICATES` sets another number.
  static var count: Int { testCount("CAMBIUM_PREDICATES", short: 6000, full: 300_000) }

  struct Tally {
    var predicates = 0
    var refused = 0
    /// Predicates that some objects match, and some do not.
    var telling = 0
    var migrations = 0
    var kinds: [QueryExplanation.Kind: Int] = [:]
    var operators: [String: Int] = [:]
  }

  /// What predicates are made of, as they are printed.
  private static let operators = [
    " == ", " != ", " < ", " <= ", " > ", " >= ", " BETWEEN ", " IN ", " BEGINSWITH ", " CONTAINS ", " ENDSWITH ",
    " LIKE ",
    " MATCHES ", "[c] ", "[cd] ", "NOT ", " AND ", " OR ", "ANY ", "ALL ", "NONE ", "SUBQUERY(", ".@count", "TERNARY(",
    "CAST(",
    " + ", " - ", " * ", " / ", " ** ", "-(", "abs(", "length(", "uppercase(", "modulus:by:(", "distanceToLocation:",
  ]

  @Test func plansScansAndEvaluationAgree() throws {
    let first = testSeed(20_261_124)
    print("random predicates from seed \(first)")
    var tally = Tally()
    var seed = first
    while tally.predicates < Self.count {
      try Self.round(seed, &tally)
      seed &+= 1
    }
    let kinds = QueryExplanation.Kind.allCases.map { "\($0) \(tally.kinds[$0] ?? 0)" }.joined(separator: ", ")
    print(
      "\(tally.predicates) predicates, \(tally.telling) of them match some objects and not others, \(tally.refused) "
        + "refused, \(tally.migrations) migrations; \(kinds)")
    #expect(tally.telling * 10 >= tally.predicates * 3)
    #expect(tally.migrations * 1000 > tally.predicates)
    print("operators: " + Self.operators.map { "\($0) \(tally.operators[$0] ?? 0)" }.joined(separator: ", "))
    for text in Self.operators {
      #expect(tally.operators[text] ?? 0 >= Self.count / 3000, "\(text) was asked \(tally.operators[text] ?? 0) times")
    }
    let least = Self.count / 300
    for kind in QueryExplanation.Kind.allCases {
      #expect(tally.kinds[kind] ?? 0 >= least, "\(kind) was taken \(tally.kinds[kind] ?? 0) times")
    }
  }

  /// Rounds in which something was found once: counts in a transaction that had written pages of its own.
  @Test(arguments: [20_261_170, 20_261_343, 20_261_472, 20_261_760]) func whatWasFoundOnce(_ seed: UInt64) throws {
    var tally = Tally()
    try Self.round(seed, &tally)
    #expect(tally.predicates > 0)
  }

  private static func round(_ seed: UInt64, _ tally: inout Tally) throws {
    var random = SplitMix64(seed: seed)
    var model = RandomModel(seed: random.next())
    addIndexes(&model.definition, &random)
    guard let schema = try? Schema(model.definition) else { return }
    var options = StoreOptions()
    if random.oneIn(3) { options.deltaBytes = 4096 }
    let kernel = try Store.create(
      on: MemoryDevice(), environment: TestEnvironment(seed: random.next()), options: options)
    var store =
      seed % 4 == 1
      ? try SharedRowsTests.sharing(kernel, model.definition) : try EntityStore.create(in: kernel, schema: schema)
    let domain = UInt64(random.below(1000))
    try RandomMigrationTests.fill(store, &random, fewerThan: 30) { value($0, &$1, domain: domain) }
    if random.oneIn(2) { try kernel.checkpoint() }
    try ask(store, "seed \(seed)", &random, &tally)
    for step in 0..<2 {
      let next = model.changed()
      guard (try? Schema(next.definition, basedOn: store.schema)) != nil,
        case .success(let after) = RandomMigrationTests.migrate(store, next.definition, defers: random.oneIn(2))
      else { continue }
      (store, model) = (after, next)
      tally.migrations += 1
      if random.oneIn(2) { try RandomMigrationTests.changeSomething(store, &random) }
      if random.oneIn(2) { _ = try store.runDeferredTask(maximumRows: 5) }
      try ask(store, "seed \(seed), migration \(step + 1)", &random, &tally)
    }
  }

  /// Indexes of several parts, of elements of composites, of relationships, and with conditions; and relationships
  /// whose way back is kept with them.
  private static func addIndexes(_ definition: inout SchemaDefinition, _ random: inout SplitMix64) {
    for n in 0..<random.below(3) {
      let (a, b) = (random.below(definition.entities.count), random.below(definition.entities.count))
      let (there, back) = ("one\(n)", "many\(n)")
      definition.entities[a].relationships.append(
        RelationshipSchema(there, to: definition.entities[b].name, inverse: back))
      definition.entities[b].relationships.append(
        RelationshipSchema(back, toMany: definition.entities[a].name, inverse: there))
    }
    // A place, for boxes, distances and the nearest first.
    if !random.oneIn(4) {
      definition.composites.append(
        CompositeSchema(
          "Spot", elements: [AttributeSchema("latitude", .double), AttributeSchema("longitude", .double)]))
      let place = random.below(definition.entities.count)
      definition.entities[place].attributes.append(AttributeSchema("spot", composite: "Spot"))
      definition.entities[place].indexes.append(
        IndexSchema(
          "bySpot", ["spot.latitude", "spot.longitude"].map { IndexElement($0, kind: .rTree) },
          partialPredicate: random.oneIn(3) ? "spot.latitude > -20" : nil))
    }
    guard let schema = try? Schema(definition) else { return }
    for place in definition.entities.indices {
      guard let entity = schema.entity(named: definition.entities[place].name) else { continue }
      let attributes = RandomPredicates.attributes(entity)
      for n in 0..<(attributes.isEmpty ? 0 : random.below(4)) {
        var elements = (0..<(1 + random.below(3))).map { _ in
          IndexElement(random.pick(attributes).path, ascending: random.oneIn(2))
        }
        if random.oneIn(2), let text = attributes.first(where: { $0.type == .string }) {
          elements[0] = IndexElement(text.path, ascending: elements[0].isAscending)
        }
        if random.oneIn(6), let toOne = entity.allRelationships.first(where: { !$0.isToMany }) {
          elements[0] = IndexElement(toOne.name)
        }
        var index = IndexSchema("x\(n)", elements)
        let (path, type) = random.pick(attributes)
        if random.oneIn(3) {
          index.partialPredicate = condition(path, type, &random)
        }
        definition.entities[place].indexes.append(index)
      }
      let numbers = attributes.filter { $0.type.isNumeric && $0.type != .boolean || $0.type == .date }
      if numbers.count > 1, random.oneIn(2) {
        let first = random.below(numbers.count)
        let second = (first + 1 + random.below(numbers.count - 1)) % numbers.count
        definition.entities[place].indexes.append(
          IndexSchema("r", [first, second].map { IndexElement(numbers[$0].path, kind: .rTree) }))
      }
    }
  }

  /// A value of an attribute, of few that there are; now and then longer than a key.
  private static func value(_ attribute: AttributeSchema, _ random: inout SplitMix64, domain: UInt64) -> Value {
    if random.oneIn(6), attribute.isOptional { return .null }
    if attribute.type == .composite {
      return .composite(
        CompositeValue(
          names: attribute.elements.map { $0.name },
          values: attribute.elements.map { Self.value($0, &random, domain: domain) }))
    }
    if attribute.type == .string {
      if random.oneIn(40) { return .string(String(repeating: "long ", count: 300) + "\(random.below(3))") }
      return .string(random.pick(["a", "A", "ab", "b", "", "caf\u{E9}", "cafe\u{301}", "Cafe", "\u{36E}", "x y z"]))
    }
    if attribute.type == .double || attribute.type == .float || attribute.type == .date, random.oneIn(12) {
      let special = random.pick([Double.nan, -0.0, .infinity])
      return attribute.type == .double
        ? .double(special) : attribute.type == .date ? .date(special) : .float(Float(special))
    }
    var few = SplitMix64(seed: domain &+ UInt64(random.below(6)))
    let found: Value = RandomModel.value(attribute.type, &few)
    if case .binary(let bytes) = found { return .binary(Array(bytes.prefix(20))) }
    return found
  }

  /// A condition of a partial index.
  private static func condition(_ path: String, _ type: AttributeType, _ random: inout SplitMix64) -> String {
    if type.isNumeric, type != .boolean, !random.oneIn(3) {
      return path + random.pick([" > -20", " <= 10", " BETWEEN {-50, 50}", " != 0", " IN {0, 1, 2, 3}"])
    }
    if type == .string, !random.oneIn(3) {
      return path
        + random.pick([" >[c] 'B'", " <=[cd] 'b'", " > 'A'", " == 'a'", " IN {'a', 'ab', 'Cafe'}", " BEGINSWITH 'a'"])
    }
    return path + " != nil"
  }

  /// Deletes some objects, and leaves what leads to them.
  private static func deleteSome(
    _ t: EntityTransaction, _ random: inout SplitMix64
  ) throws(EngineError) -> [UInt64: ObjectReference] {
    var found: [ObjectReference] = []
    for entity in t.store.schema.entities where entity.parentID == nil && entity.childIDs.isEmpty {
      try t.rows(entity: entity) { (row) throws(EngineError) in
        found.append(row.reference)
        return true
      }
    }
    var ghosts: [UInt64: ObjectReference] = [:]
    for reference in found where random.oneIn(6) {
      try t.delete(reference)
      ghosts[reference.row] = reference
    }
    return ghosts
  }

  private static func ask(
    _ store: EntityStore, _ place: String, _ random: inout SplitMix64, _ tally: inout Tally
  ) throws {
    let before = try store.view()
    try ask(before, [:], place, &random, &tally)
    guard random.oneIn(3) else { return }
    // What a transaction has changed so far, it sees; and others go on to see what they saw.
    var failure: (any Error)?
    var ghosts: [UInt64: ObjectReference] = [:]
    var generator = random
    var counted = tally
    try store.write { (t) throws(EngineError) in
      ghosts = try deleteSome(t, &generator)
      do { try ask(t, ghosts, place + ", in a transaction", &generator, &counted) } catch { failure = error }
    }
    if let failure { throw failure }
    try ask(try store.view(), ghosts, place + ", some deleted", &generator, &counted)
    try ask(before, [:], place + ", as it was before", &generator, &counted)
    // Migrations, which come next, are about objects that are there.
    try store.write { (t) throws(EngineError) in
      for reference in ghosts.values.sorted(by: { $0.row < $1.row }) { try t.insert(reference, RowValues()) }
    }
    (random, tally) = (generator, counted)
  }

  private static func ask(
    _ view: EntityView, _ ghosts: [UInt64: ObjectReference], _ place: String, _ random: inout SplitMix64,
    _ tally: inout Tally
  ) throws {
    let store = view.store
    let values = NaiveValues(store.schema, try NaiveStore(view), ghosts: ghosts)
    var predicates = RandomPredicates(values: values, random: SplitMix64(seed: random.next()))
    for entity in store.schema.entities {
      for _ in 0..<12 {
        let predicate = predicates.predicate(entity, depth: 3)
        guard let checked = try? predicate.check(against: store.schema, entity: entity.id) else {
          tally.refused += 1
          #expect(throws: EngineError.self, "\(place): \(predicate)") {
            try view.fetch(EngineFetch(entity, predicate: predicate))
          }
          continue
        }
        var fetch = EngineFetch(entity, predicate: predicate)
        fetch.includesSubentities = !random.oneIn(4)
        // Stores are small: without a word for indexes they would hardly be used.
        fetch.costs.scannedRow = random.pick([1, 10, 10_000])
        if fetch.costs.scannedRow == 10_000 { fetch.costs.siftedRow = 10_000 }
        fetch.costs.soughtRow = random.pick([1, 5, 500, 500])
        fetch.costs.readElsewhere = random.pick([1, 25, 10_000])
        let all = values.objects(of: entity, includesSubentities: fetch.includesSubentities)
        var expected = try all.filter { try values.holds(checked, for: $0) }
        tally.predicates += 1
        let printed = predicate.description
        for text in operators where printed.contains(bytesOf: text) { tally.operators[text, default: 0] += 1 }
        if !expected.isEmpty, expected.count < all.count { tally.telling += 1 }
        if random.oneIn(3) {
          fetch.sort = sort(entity, &random)
          expected = sorted(expected, fetch.sort, values)
          if random.oneIn(2) { fetch.costs.strayRow = 0.01 }
        }
        if random.oneIn(fetch.sort.first?.origin == nil ? 3 : 2) {
          fetch.offset = random.below(3)
          fetch.limit = random.below(6)
        }
        let page = Array(expected.dropFirst(fetch.offset).prefix(fetch.limit ?? .max))
        let plan = try view.explain(fetch)
        for kind in plan.kinds { tally.kinds[kind, default: 0] += 1 }
        // Made only if it is told: to print a predicate takes as long as to ask it.
        var text: Comment { "\(place): \(entity.name), \(printed), \(fetch.sort), \(plan)" }
        let found = try view.fetch(fetch)
        #expect(found == page, text)
        #expect(try view.count(fetch) == page.count, text)
        if random.oneIn(4) { #expect(try view.fetchRows(fetch).map(\.reference) == page, text) }
        fetch.usesIndexes = false
        #expect(try view.fetch(fetch) == page, "looking at every row: \(text)")
        if found != page { return }
      }
      for _ in 0..<4 { try askValues(entity, view, values, &predicates, text: place, &random, &tally) }
    }
  }

  private static func sort(_ entity: EntitySchema, _ random: inout SplitMix64) -> [EngineSort] {
    let spot = entity.allAttributes.first {
      $0.type == .composite && $0.elements.map(\.name) == ["latitude", "longitude"]
    }
    if let spot, !random.oneIn(3) {
      let origin = EnginePlace(latitude: Double(random.below(180) - 90), longitude: Double(random.below(360) - 180))
      return [EngineSort(distanceOf: spot.name, from: origin, ascending: !random.oneIn(6))]
    }
    var paths = RandomPredicates.attributes(entity).filter { $0.type != .binary }.map { $0.path }
    // What there are indexes for, more often than not.
    for index in entity.indexes where index.elements.allSatisfy({ paths.contains($0.path) }) && random.oneIn(2) {
      let reversed = random.oneIn(2)
      let count = random.oneIn(3) ? 1 + random.below(index.elements.count) : index.elements.count
      return index.elements.prefix(count).map { EngineSort($0.path, ascending: $0.isAscending != reversed) }
    }
    for relationship in entity.allRelationships where !relationship.isToMany && random.oneIn(3) {
      if let name = entity.allAttributes.first(where: { $0.type == .string })?.name,
        relationship.destination == entity.name
      {
        paths.append(relationship.name + "." + name)
      }
    }
    if paths.isEmpty { return [] }
    return (0..<(1 + random.below(2))).map { _ in
      EngineSort(
        random.pick(paths), ascending: random.oneIn(2), textOrder: random.oneIn(5) ? .caseInsensitive : .scalars)
    }
  }

  private static func sorted(
    _ objects: [ObjectReference], _ sort: [EngineSort], _ values: NaiveValues
  ) -> [ObjectReference] {
    let keyed = objects.map { object in (object, sort.map { $0.key(values.value(object, $0.keyPath)) }) }
    return keyed.sorted { a, b in
      for (i, key) in sort.enumerated() {
        let order = key.order(a.1[i], b.1[i])
        if order != 0 { return key.isAscending ? order < 0 : order > 0 }
      }
      return a.0.row < b.0.row
    }.map { $0.0 }
  }
}

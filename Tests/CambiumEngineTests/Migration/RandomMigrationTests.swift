import CambiumEngine
import CambiumKernel
import CambiumTesting
import Foundation
import Testing

/// Random models, filled with random objects and changed at random: the store must become what a plain migration in
/// memory makes of the objects, or say what stands in the way where the rules say so.
@Suite struct RandomMigrationTests {
  /// How many models are changed up to three times; `CAMBIUM_MIGRATIONS` sets another number.
  static var count: Int { testCount("CAMBIUM_MIGRATIONS", short: 700, full: 2500) }

  /// What random migrations came to.
  private struct Tally {
    /// By kind of change, how often it was tried, and how often in a migration that was made.
    var tried: [String: Int] = [:]
    var made: [String: Int] = [:]
    /// By what is told, how often.
    var told: [String: Int] = [:]
    var stores = 0
    var inferable = 0
    var migrated = 0
    var refused = 0
    var blocked = 0
    var deferred = 0
    /// Stores that began with one tree for all hierarchies, and migrations that left the rows of a hierarchy in the
    /// tree of another one.
    var beganShared = 0
    var shared = 0
    /// Models and changes of them that are none.
    var unusable = 0
  }

  @Test func migratedStoresAreWhatTheRulesSay() throws {
    let first = testSeed(20_261_121)
    print("random migrations from seed \(first)")
    var tally = Tally()
    for n in 0..<UInt64(Self.count) {
      if try !Self.round(first &+ n, &tally) { return }
    }
    let (refused, blocked) = (tally.refused, tally.blocked)
    print(
      "\(tally.stores) stores, \(refused) refused, \(tally.inferable) inferable, \(blocked) of them blocked, "
        + "\(tally.migrated) migrated, \(tally.shared) of them to a tree that hierarchies share; "
        + "\(tally.beganShared) stores began with such a tree; \(tally.unusable) models are none")
    for operation in RandomModel.operations.sorted(by: { $0.name < $1.name }) {
      print("  \(operation.name): \(tally.tried[operation.name] ?? 0), made \(tally.made[operation.name] ?? 0)")
    }
    for (what, times) in tally.told.sorted(by: { $0.key < $1.key }) { print("  told \(what): \(times)") }
    // Every kind of change was tried often enough to mean something, and made, but for those that cannot be by
    // themselves.
    for operation in RandomModel.operations {
      let tried = tally.tried[operation.name] ?? 0
      #expect(tried >= Self.count / 50, "\(operation.name) was tried \(tried) times")
      let made = tally.made[operation.name] ?? 0
      let least = Self.seldomMade.contains(operation.name) ? 0 : Self.count / 250
      #expect(made >= least, "\(operation.name) was made \(made) times")
    }
    for what in Self.allTold {
      #expect(tally.told[what] ?? 0 >= Self.count / 200, "\(what) was told \(tally.told[what] ?? 0) times")
    }
    #expect(tally.deferred >= Self.count / 20, "\(tally.deferred) stores had something put off")
    #expect(tally.shared >= Self.count / 200, "\(tally.shared) migrations let hierarchies share a tree")
    #expect(tally.beganShared >= Self.count / 8, "\(tally.beganShared) stores began with a tree that hierarchies share")
    #expect(tally.inferable * 10 >= (tally.inferable + refused) * 6)
    #expect(refused >= Self.count / 15 && blocked >= Self.count / 15)
    #expect(tally.migrated >= Self.count)
    #expect(tally.unusable <= Self.count / 50)
  }

  /// Kinds of changes that are only made where what they change is as new as they are, or hardly ever.
  private static let seldomMade: Set<String> = ["type changed", "to-many made to-one", "destination changed"]

  private static let allTold = [
    "missing value", "overflow", "duplicate", "abstract entity", "ambiguous inverse", "type", "toOne", "destination",
    "hierarchy",
  ]

  /// Several steps on one store, so that rows of several layouts meet. Answers whether there is any use in going on.
  private static func round(_ seed: UInt64, _ tally: inout Tally) throws -> Bool {
    var random = SplitMix64(seed: seed)
    var source = RandomModel(seed: random.next())
    source.vary()
    guard (try? Schema(source.definition)) != nil else {
      tally.unusable += 1
      return true
    }
    var store = try EntityStore.open(try Self.store(source.definition, &random))
    tally.stores += 1
    if SharedRowsTests.isShared(store) { tally.beganShared += 1 }
    for _ in 0..<3 {
      let before = try NaiveStore(store)
      let next = source.changed()
      guard (try? Schema(next.definition, basedOn: store.schema)) != nil else {
        tally.unusable += 1
        continue
      }
      next.changes.forEach { tally.tried[$0, default: 0] += 1 }
      let naive = NaiveMigration(store.schema.definition, next.definition)
      let defers = random.oneIn(2)
      var shares = false
      let outcome = Self.migrate(store, next.definition, defers: defers) { shares = shares || $0.kind == .shareRows }
      let text = "seed \(seed), \(next.changes)"
      let refusals = naive.refusals()
      guard refusals.isEmpty else {
        guard case .failure(.notInferable(let obstacles)) = outcome else {
          Issue.record("\(text): expected refusals at \(refusals), got \(outcome)")
          return true
        }
        tally.refused += 1
        let difference = ToldObstacles.difference(obstacles, refusals)
        #expect(difference == nil, "\(text): \(difference ?? "")")
        #expect(try NaiveStore(store) == before, "\(text)")
        for kind in Set(refusals.map { "\($0.kind)" }) { tally.told[kind, default: 0] += 1 }
        break
      }
      tally.inferable += 1
      switch (naive.migrate(before), outcome) {
      case (.blocked(let expected), .failure(.migrationBlocked(let blocks))):
        tally.blocked += 1
        let difference = ToldObstacles.difference(blocks, expected, before, store.schema)
        #expect(difference == nil, "\(text): \(difference ?? "")")
        let planned = try store.migrationPlan(to: next.definition, defers: defers).blocks
        #expect(ToldObstacles.first(planned) == blocks, "\(text), the plan")
        #expect(try NaiveStore(store) == before, "\(text)")
        for name in Set(expected.keys.map { ToldObstacles.name($0.reason) }) { tally.told[name, default: 0] += 1 }
      case (.migrated(let expected), .success(let after)):
        tally.migrated += 1
        if shares { tally.shared += 1 }
        next.changes.forEach { tally.made[$0, default: 0] += 1 }
        guard try Self.isMigrated(store, after, expected, text) else { return false }
        try Self.changeSomething(after, &random)
        let filled = try NaiveStore(after)
        // What was put off is done in parts, perhaps not to the end before the next migration.
        for _ in 0..<random.below(6) { _ = try after.runDeferredTask(maximumRows: 3) }
        #expect(filled.difference(from: try NaiveStore(after)) == nil, "\(text), part of a task done")
        store = after
        source = next
      case (let expected, let found):
        Issue.record("\(text): expected \(expected), found \(found)")
        return false
      }
    }
    let last = try NaiveStore(store)
    if try !store.deferredTasks().isEmpty { tally.deferred += 1 }
    while try store.runDeferredTask(maximumRows: 5) {}
    #expect(try store.deferredTasks().isEmpty)
    let end = try EntityStore.open(store.kernel)
    #expect(last.difference(from: try NaiveStore(end)) == nil, "seed \(seed), all tasks done")
    #expect(try end.check().isSound, "seed \(seed), all tasks done")
    return true
  }

  /// Compares a store that was migrated with what the rules say.
  private static func isMigrated(
    _ before: EntityStore, _ after: EntityStore, _ expected: NaiveStore, _ text: String
  ) throws -> Bool {
    let difference = expected.difference(from: try NaiveStore(after))
    #expect(difference == nil, "\(text): \(difference ?? "")")
    if difference != nil { return false }
    let reopened = try EntityStore.open(after.kernel)
    #expect(try NaiveStore(reopened) == expected, "\(text), opened again")
    let report = try after.check()
    #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
    #expect(!report.relationships.contains { $0.contains("links of objects") }, "\(text): \(report.relationships)")
    #expect(throws: EngineError.self, "\(text): the old store must refuse") { try before.view() }
    return report.isSound
  }

  static func migrate(
    _ store: EntityStore, _ definition: SchemaDefinition, defers: Bool, observe: ((MigrationStep) -> Void)? = nil
  ) -> Result<EntityStore, EngineError> {
    do throws(EngineError) {
      return .success(try store.migrate(to: definition, defers: defers, observe: observe))
    } catch {
      return .failure(error)
    }
  }

  /// A store of a model with some objects, some of them in pages; of each entity, if `each` is set.
  static func store(
    _ definition: SchemaDefinition, _ random: inout SplitMix64, on device: MemoryDevice = MemoryDevice(),
    nulls: Bool = true, each: Bool = false, links: LinkFilling? = nil
  ) throws -> Store {
    let seed = random.next()
    var options = StoreOptions()
    // What is written anew then goes straight into pages.
    if seed % 3 == 0 { options.deltaBytes = 4096 }
    let kernel = try Store.create(on: device, environment: TestEnvironment(seed: seed), options: options)
    let store =
      seed % 4 == 1
      ? try SharedRowsTests.sharing(kernel, definition)
      : try EntityStore.create(in: kernel, schema: try Schema(definition))
    // In some stores many objects have the same values.
    let repeats = random.oneIn(3)
    let filling = links ?? (random.oneIn(2) ? .all : .some)
    try fill(store, &random, atLeast: each ? 1 : 0, links: filling) {
      value($0, &$1, nulls: nulls, repeats: repeats)
    }
    if random.oneIn(2) { try kernel.checkpoint() }
    return kernel
  }

  private static func value(
    _ attribute: AttributeSchema, _ random: inout SplitMix64, nulls: Bool, repeats: Bool
  ) -> Value {
    if random.oneIn(4), attribute.isOptional, nulls { return .null }
    guard attribute.type == .composite else {
      var few = SplitMix64(seed: random.next() % (repeats ? 4 : .max))
      return RandomModel.value(attribute.type, &few)
    }
    return .composite(
      CompositeValue(
        names: attribute.elements.map { $0.name },
        values: attribute.elements.map { value($0, &random, nulls: nulls, repeats: repeats) }))
  }

  /// A value of a type that no other row has; null for types that have too few.
  private static func unique(_ type: AttributeType, _ row: UInt64) -> Value {
    switch type {
    case .integer16, .integer32, .integer64: return .integer(Int64(row))
    case .double: return .double(Double(row))
    case .float: return .float(Float(row))
    case .decimal: return .decimal(DecimalValue(Int64(row)))
    case .string: return .string("unique \(row)")
    case .date: return .date(Double(row))
    case .binary: return .binary([UInt8(truncatingIfNeeded: row)])
    case .uuid: return .uuid(UUIDBytes(high: 0, low: row))
    case .uri: return .uri("urn:\(row)")
    default: return .null
    }
  }

  /// Which relationships of generated objects lead anywhere.
  enum LinkFilling {
    case none, some
    /// No relationship that leads anywhere is left empty, on one side at least, so that it can become a required one.
    case all
  }

  /// Fills a store with fewer than `bound` objects of each entity.
  static func fill(
    _ store: EntityStore, _ random: inout SplitMix64, fewerThan bound: Int = 8, atLeast least: Int = 0,
    links filling: LinkFilling = .some, _ value: (AttributeSchema, inout SplitMix64) -> Value
  ) throws {
    let schema = store.schema
    var generator = random
    try store.write { (t) throws(EngineError) in
      var references: [ObjectReference] = []
      var values: [UInt64: RowValues] = [:]
      for entity in schema.entities where !entity.isAbstract {
        for _ in 0..<max(least, generator.below(bound)) {
          let reference = try t.reserveReference(entity)
          references.append(reference)
          var row = RowValues()
          for attribute in entity.allAttributes { row.set(attribute.name, value(attribute, &generator)) }
          values[reference.row] = row
        }
      }
      for entity in schema.entities {
        for constraint in entity.uniquenessConstraints {
          for reference in references where schema.isEntity(reference.entity, orDescendantOf: entity.id) {
            guard let attribute = entity.attribute(named: constraint.paths[0]) else { continue }
            values[reference.row]?.set(attribute.name, unique(attribute.type, reference.row))
          }
        }
      }
      let linked = filling == .none ? [] : links(schema, references, &generator, bound, filling == .all)
      for (row, toOne, toMany) in linked {
        for (name, target) in toOne { values[row]?.set(toOne: name, target) }
        for (name, targets) in toMany { values[row]?.set(toMany: name, targets) }
      }
      for reference in references {
        if let row = values[reference.row] { try t.insert(reference, row) }
      }
    }
    random = generator
  }

  /// Random links that agree on both sides.
  private static func links(
    _ schema: Schema, _ references: [ObjectReference], _ random: inout SplitMix64, _ bound: Int, _ all: Bool
  ) -> [(UInt64, [String: ObjectReference], [String: [ObjectReference]])] {
    var targets: [UInt32: [UInt64: [ObjectReference]]] = [:]
    var isDone: Set<UInt32> = []
    for entity in schema.entities {
      for relationship in entity.relationships where !isDone.contains(relationship.id) {
        isDone.insert(relationship.id)
        let inverse = schema.inverse(of: relationship)
        if let inverse { isDone.insert(inverse.id) }
        let owners = references.filter { schema.isEntity($0.entity, orDescendantOf: entity.id) }
        let others = references.filter { r in
          schema.entity(named: relationship.destination).map { schema.isEntity(r.entity, orDescendantOf: $0.id) }
            ?? false
        }
        if owners.isEmpty || others.isEmpty { continue }
        // A relationship that is its own inverse, or leads within one entity, is linked in pairs all the same.
        var pairs = (0..<random.below(bound + bound / 2)).map { _ in (random.pick(owners), random.pick(others)) }
        if all {
          let ownersFirst = random.oneIn(2)
          pairs =
            (ownersFirst ? owners.map { ($0, random.pick(others)) } : others.map { (random.pick(owners), $0) }) + pairs
        }
        for (a, b) in pairs {
          let mine = targets[relationship.id]?[a.row] ?? []
          let theirs = inverse.flatMap { targets[$0.id]?[b.row] } ?? []
          if mine.contains(b) || (!relationship.isToMany && !mine.isEmpty) { continue }
          if let inverse, !inverse.isToMany, !theirs.isEmpty { continue }
          if let inverse, inverse.id == relationship.id, a == b { continue }
          targets[relationship.id, default: [:]][a.row, default: []].append(b)
          if let inverse { targets[inverse.id, default: [:]][b.row, default: []].append(a) }
        }
      }
    }
    return references.map { reference in
      var toOne: [String: ObjectReference] = [:]
      var toMany: [String: [ObjectReference]] = [:]
      for relationship in schema.entity(id: reference.entity)?.allRelationships ?? [] {
        guard let found = targets[relationship.id]?[reference.row] else { continue }
        if relationship.isToMany { toMany[relationship.name] = found } else { toOne[relationship.name] = found.first }
      }
      return (reference.row, toOne, toMany)
    }
  }

  /// Writes some rows under the new model, so that layouts mix.
  static func changeSomething(_ store: EntityStore, _ random: inout SplitMix64) throws {
    var rows: [(ObjectReference, EntitySchema)] = []
    let view = try store.view()
    for entity in store.schema.entities {
      try view.rows(entity: entity, includesSubentities: false) { (row) throws(EngineError) in
        rows.append((row.reference, entity))
        return true
      }
    }
    var generator = random
    let before = try NaiveStore(store)
    var expected = before
    try store.write { (t) throws(EngineError) in
      for (reference, entity) in rows where generator.oneIn(3) {
        let unique = Set(
          store.schema.entities.flatMap { $0.uniquenessConstraints.flatMap { $0.paths } })
        guard let attribute = entity.allAttributes.first(where: { $0.type != .composite && !unique.contains($0.name) })
        else { continue }
        var row = RowValues()
        let value = RandomModel.value(attribute.type, &generator)
        row.set(attribute.name, value)
        try t.update(reference, row)
        expected.objects[reference.row]?.attributes[attribute.name] = value
      }
    }
    random = generator
    let difference = expected.difference(from: try NaiveStore(store))
    #expect(difference == nil, "after a change: \(difference ?? "")")
    if random.oneIn(3) { try store.kernel.checkpoint() }
  }
}

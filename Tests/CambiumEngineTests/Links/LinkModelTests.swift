import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Random edits of links by the public interface, over random models, compared with ``LinkModel`` after every commit:
/// both directions agree, and the check of the store finds nothing.
@Suite struct LinkModelTests {
  /// How many operations; `CAMBIUM_LINKS` sets another number.
  private static var count: Int { testCount("CAMBIUM_LINKS", short: 10_000, full: 100_000) }

  @Test func bothSidesAgree() throws {
    let first = testSeed(20_261_129)
    print("links from seed \(first)")
    var operations = 0
    var round: UInt64 = 0
    var images = 0
    var pending = 0
    while operations < Self.count {
      round += 1
      var run = try LinkRun(seed: first &+ round)
      try run.work(transactions: 30)
      operations += run.operations
      images += run.images
      pending += run.pendingTransactions
      if run.hasFailed { return }
    }
    print(
      "\(operations) operations in \(round) models, \(images) crash images, \(pending) transactions beside rows that wait"
    )
    #expect(images > Self.count / 500 && pending > Self.count / 500)
  }
}

/// One random model, and transactions on its store.
private struct LinkRun {
  private var random: SplitMix64
  private let seed: UInt64
  private var model: LinkModel
  private var store: EntityStore
  private let disk: SimulatedDisk
  /// The states that commits have left, by sequence.
  private var states: [UInt64: LinkModel] = [:]
  private(set) var operations = 0
  private(set) var images = 0
  private(set) var pendingTransactions = 0
  private(set) var hasFailed = false

  init(seed: UInt64) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    model = Self.model(&random)
    disk = SimulatedDisk()
    var options = StoreOptions()
    if random.oneIn(3) { options.deltaBytes = 4096 }
    let kernel = try Store.create(on: disk, environment: TestEnvironment(seed: seed), options: options)
    store = try EntityStore.create(in: kernel, schema: try Schema(Self.definition(model)))
    states[try store.view().sequence] = model
  }

  // MARK: Models

  /// Pairs of relationships of all kinds between four entities, one of which inherits from another.
  private static func model(_ random: inout SplitMix64) -> LinkModel {
    let entities = ["Person", "Worker", "Club", "Step"]
    var sides: [LinkModel.Side] = []
    for number in 0..<(2 + random.below(4)) {
      let owner = random.pick(entities)
      let destination = random.pick(entities)
      let first = sides.count
      func side(_ name: String, _ owner: String, _ destination: String, _ inverse: Int?) -> LinkModel.Side {
        let isToMany = random.oneIn(2)
        var side = LinkModel.Side(
          name: "\(name)\(number)", owner: owner, destination: destination, isToMany: isToMany,
          isOrdered: isToMany && random.oneIn(2), inverse: inverse)
        if random.oneIn(6) { side.rule = .noAction }
        return side
      }
      switch random.below(8) {
      case 0: sides.append(side("alone", owner, destination, nil))
      case 1 where owner == destination: sides.append(side("same", owner, owner, first))
      default:
        sides.append(side("a", owner, destination, first + 1))
        sides.append(side("b", destination, owner, first))
      }
    }
    var result = LinkModel(sides)
    result.parents = ["Worker": "Person"]
    return result
  }

  private static func definition(_ model: LinkModel) -> SchemaDefinition {
    var entities: [EntitySchema] = []
    for name in ["Person", "Worker", "Club", "Step"] {
      var relationships: [RelationshipSchema] = []
      for side in model.sides where side.owner == name {
        let inverse = side.inverse.map { model.sides[$0].name }
        var relationship =
          side.isToMany
          ? RelationshipSchema(side.name, toMany: side.destination, inverse: inverse, ordered: side.isOrdered)
          : RelationshipSchema(side.name, to: side.destination, inverse: inverse)
        relationship.deleteRule = side.rule
        relationships.append(relationship)
      }
      let attributes = model.parents[name] == nil ? [AttributeSchema("number", .integer64)] : []
      var entity = EntitySchema(name, attributes: attributes, relationships: relationships)
      entity.parent = model.parents[name]
      entities.append(entity)
    }
    return SchemaDefinition(entities)
  }

  // MARK: Transactions

  private struct RolledBack: Error {}

  mutating func work(transactions: Int) throws {
    for number in 0..<transactions where !hasFailed {
      if try !store.deferredTasks().isEmpty { pendingTransactions += 1 }
      try transact()
      if number % 10 == 7 { try widen() }
      if random.oneIn(8) { try store.kernel.checkpoint() }
      if random.oneIn(6) { _ = try store.runDeferredTask(maximumRows: 2) }
    }
    if !hasFailed { try crash() }
  }

  private mutating func transact() throws {
    var after = model
    let isKept = !random.oneIn(6)
    var log: [String] = []
    var count = 0
    let steps = 1 + random.below(14)
    var random = random
    do throws(EngineError) {
      try store.write { (t) throws(EngineError) in
        // Objects that are inserted at the end, and are led to before.
        var promised: [(ObjectReference, String)] = []
        for _ in 0..<steps {
          try Self.step(t, &after, &promised, &random, &log)
          count += 1
        }
        for (reference, entity) in promised {
          try Self.insert(t, reference, entity, &after, &random, &log, isPromised: true)
        }
        if !isKept { throw .cancelled }
      }
      model = after
      states[try store.view().sequence] = after
    } catch {
      guard case .cancelled = error else { throw error }
    }
    self.random = random
    operations += count
    let text = "seed \(seed): \(log.joined(separator: "; "))"
    let difference = try model.difference(from: store.view())
    #expect(difference == nil, "\(difference ?? "") after \(text)")
    let report = try store.check()
    #expect(report.isSound && report.relationships.isEmpty, "\(report.problems) \(report.relationships) after \(text)")
    hasFailed = difference != nil || !report.relationships.isEmpty || !report.isSound
  }

  private static func schema(_ t: EntityTransaction, _ object: ObjectReference, _ side: LinkModel.Side)
    throws(EngineError) -> RelationshipSchema
  {
    guard let found = t.store.schema.entity(id: object.entity)?.relationship(named: side.name) else {
      throw .misuse("no relationship")
    }
    return found
  }

  private static func insert(
    _ t: EntityTransaction, _ reference: ObjectReference, _ entity: String, _ model: inout LinkModel,
    _ random: inout SplitMix64, _ log: inout [String], isPromised: Bool
  ) throws(EngineError) {
    var values = RowValues()
    var wanted: [(Int, [ObjectReference])] = []
    if !isPromised { model.insert(reference, entity) }
    for (place, side) in model.sides.enumerated() where model.isKind(entity, of: side.owner) && random.oneIn(4) {
      // Both sides of one pair might contradict each other in one row.
      if let inverse = side.inverse, wanted.contains(where: { $0.0 == inverse }) { continue }
      let targets = Self.targets(model, place, &random, upTo: side.isToMany ? 3 : 1)
      if targets.isEmpty { continue }
      // A row that is led to already keeps what it does not say otherwise.
      if side.isToMany { values.set(toMany: side.name, targets) } else { values.set(toOne: side.name, targets[0]) }
      wanted.append((place, targets))
    }
    // Two relationships of one new row are written in the order of the model.
    log.append(
      "insert \(entity) \(reference.row) with \(wanted.map { "\(model.sides[$0.0].name): \($0.1.map(\.row))" })")
    try t.insert(reference, values)
    for (place, targets) in wanted where model.sides[place].isToMany && !model.sides[place].isOrdered {
      model.replace(place, reference, targets)
    }
    for (place, targets) in wanted where !(model.sides[place].isToMany && !model.sides[place].isOrdered) {
      model.replace(place, reference, targets)
    }
  }

  private static func targets(
    _ model: LinkModel, _ side: Int, _ random: inout SplitMix64, upTo count: Int
  ) -> [ObjectReference] {
    let all = model.objects.keys.filter { model.mayLead(side, to: $0) }.sorted()
    if all.isEmpty { return [] }
    var result: [ObjectReference] = []
    for _ in 0..<(1 + random.below(count)) {
      let target = random.pick(all)
      if !result.contains(target) { result.append(target) }
    }
    return result
  }

  private static func step(
    _ t: EntityTransaction, _ model: inout LinkModel, _ promised: inout [(ObjectReference, String)],
    _ random: inout SplitMix64, _ log: inout [String]
  ) throws(EngineError) {
    let waiting = Set(promised.map { $0.0 })
    let objects = model.objects.keys.filter { !waiting.contains($0) }.sorted()
    let kind = random.below(16)
    if objects.count < 4 || kind < 2 {
      let name = random.pick(["Person", "Worker", "Club", "Step"])
      guard let entity = t.store.schema.entity(named: name) else { return }
      let reference = try t.reserveReference(entity)
      if random.oneIn(3) {
        model.insert(reference, name)
        promised.append((reference, name))
        log.append("promise \(name) \(reference.row)")
        return
      }
      return try insert(t, reference, name, &model, &random, &log, isPromised: false)
    }
    if kind == 2 {
      let gone = Array(Set((0..<(1 + random.below(3))).map { _ in random.pick(objects) }).sorted())
      log.append("delete \(gone.map(\.row))")
      model.delete(gone, waiting: waiting)
      return try t.delete(gone)
    }
    let object = random.pick(objects)
    let places = model.sides.indices.filter { model.has(object, $0) }
    guard let place = places.isEmpty ? nil : random.pick(places) else { return }
    let side = model.sides[place]
    let relationship = try schema(t, object, side)
    let targets = targets(model, place, &random, upTo: 4)
    guard let target = targets.first else { return }
    let now = model.destinations(place, object).filter { model.objects[$0] != nil }
    switch kind {
    case 3..<8:
      log.append("link \(object.row).\(side.name) to \(target.row)")
      model.link(place, object, target)
      try t.link(object, relationship, to: target)
    case 8..<11:
      let target = now.isEmpty || random.oneIn(4) ? target : random.pick(now)
      log.append("unlink \(object.row).\(side.name) from \(target.row)")
      model.unlink(place, object, target)
      try t.unlink(object, relationship, from: target)
    case 11 where side.isOrdered && !now.isEmpty:
      let (moved, other) = (random.pick(now), random.oneIn(3) ? nil : random.pick(now))
      log.append("move \(moved.row) in \(object.row).\(side.name) after \(other.map { "\($0.row)" } ?? "nothing")")
      model.move(place, object, moved, after: other)
      try t.move(moved, in: relationship, of: object, after: other)
    case 11, 12:
      var values = RowValues()
      if side.isToMany {
        let targets = random.oneIn(4) ? [] : targets
        log.append("set \(object.row).\(side.name) to \(targets.map(\.row))")
        values.set(toMany: side.name, targets)
        model.replace(place, object, targets)
      } else {
        let target = random.oneIn(3) ? nil : target
        log.append("set \(object.row).\(side.name) to \(target.map { "\($0.row)" } ?? "nothing")")
        values.set(toOne: side.name, target)
        if let target { model.link(place, object, target) } else { model.replace(place, object, []) }
      }
      try t.update(object, values)
    default:
      if !side.isToMany { return }
      log.append("replace \(object.row).\(side.name) with \(targets.map(\.row))")
      model.replace(place, object, targets)
      try t.replace(object, relationship, with: targets)
    }
  }

  // MARK: Migrations and crashes

  /// Lets a to-one relationship lead to many, by a migration that leaves its links in the rows.
  private mutating func widen() throws {
    var wider = model
    let places = wider.sides.indices.filter { place in
      let side = wider.sides[place]
      let inverse = side.inverse.map { wider.sides[$0] }
      return !side.isToMany && side.inverse != place && (inverse.map { $0.isToMany } ?? true)
    }
    guard let place = places.isEmpty ? nil : random.pick(places) else { return }
    wider.sides[place].isToMany = true
    do throws(EngineError) { store = try store.migrate(to: Self.definition(wider), defers: true) } catch {
      guard case .notInferable = error else { throw error }
      return
    }
    model = wider
    states[try store.view().sequence] = model
    let difference = try model.difference(from: store.view())
    #expect(difference == nil, "seed \(seed), widened: \(difference ?? "")")
  }

  private mutating func crash() throws {
    try store.close()
    for _ in 0..<4 {
      let point = random.below(disk.operationCount + 1)
      for image in disk.crashImages(at: point, limit: 2, seed: random.next()) {
        // A crash before the store is whole leaves nothing to be opened.
        guard let kernel = try? Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 1)),
          let opened = try? EntityStore.open(kernel)
        else { continue }
        images += 1
        let view = try opened.view()
        guard let state = states[view.sequence] else { continue }
        let difference = try state.difference(from: view)
        #expect(difference == nil, "seed \(seed), crash at \(point): \(difference ?? "")")
        let report = try opened.check()
        #expect(
          report.isSound && report.relationships.isEmpty, "seed \(seed), crash at \(point): \(report.relationships)")
      }
    }
  }
}

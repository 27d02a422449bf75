import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Transactions that write many new rows, whose index entries other threads gather: what they leave behind is what one
/// thread leaves behind, whatever is looked at or changed in between.
@Suite struct NewRowsTests {
  private static let definition: SchemaDefinition = {
    var vehicle = EntitySchema(
      "Vehicle",
      attributes: [
        AttributeSchema("number", .integer64), AttributeSchema("name", .string),
        AttributeSchema("colour", elements: [AttributeSchema("primary", .string), AttributeSchema("share", .double)]),
        AttributeSchema("remark", .string),
      ],
      relationships: [RelationshipSchema("owner", to: "Owner", inverse: "owned")],
      indexes: [
        IndexSchema("byColour", [IndexElement("colour.primary"), IndexElement("number", ascending: false)]),
        IndexSchema("byName", [IndexElement("name")]),
      ])
    vehicle.uniquenessConstraints = [UniquenessConstraint(["number"])]
    let owner = EntitySchema(
      "Owner", attributes: [AttributeSchema("name", .string)],
      relationships: [RelationshipSchema("owned", toMany: "Vehicle", inverse: "owner")])
    // What a predicate decides is not gathered elsewhere.
    var partial = EntitySchema("Part", attributes: [AttributeSchema("number", .integer64)])
    partial.indexes = [IndexSchema("odd", [IndexElement("number")], partialPredicate: "number > 100")]
    return SchemaDefinition([vehicle, owner, partial])
  }()

  private static func store(threads: Int, deltaBytes: Int) throws -> EntityStore {
    var options = StoreOptions()
    options.maximumThreads = threads
    options.deltaBytes = deltaBytes
    options.cacheBytes = 1 << 20
    return try EntityStore.create(
      in: Store.create(
        on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(seed: 4, processors: 4), options: options),
      schema: Schema(definition))
  }

  private static func equal(_ path: String, _ value: Value) -> Predicate {
    .compare(.keyPath(path), .equal, .constant(value))
  }

  /// Steps of one transaction that are the same for every store; answers what was seen in between.
  private static func work(_ store: EntityStore, seed: UInt64, rows: Int) throws -> [String] {
    var seen: [String] = []
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    let owner = try #require(store.schema.entity(named: "Owner"))
    let part = try #require(store.schema.entity(named: "Part"))
    let back = try #require(owner.allRelationships.first { $0.name == "owned" })
    var random = SplitMix64(seed: seed)
    try store.write { (t) throws(EngineError) in
      let owners = try (0..<20).map { (n) throws(EngineError) in
        let reference = try t.reserveReference(owner)
        var values = RowValues()
        values.set("name", .string("owner \(n)"))
        try t.insert(reference, values)
        return reference
      }
      var vehicles: [ObjectReference] = []
      for n in 0..<rows {
        let isPart = random.oneIn(200)
        let reference = try t.reserveReference(isPart ? part : vehicle)
        var values = RowValues()
        values.set("number", .integer(Int64(n)))
        if !isPart {
          if !random.oneIn(9) { values.set("name", .string("name \(random.below(300))")) }
          values.set("remark", .string(String(repeating: "r", count: random.below(60))))
          if !random.oneIn(4) {
            values.set(
              "colour",
              .composite(
                CompositeValue(
                  names: ["primary", "share"],
                  values: [
                    random.oneIn(3) ? .null : .string(["red", "green"][random.below(2)]), .double(Double(n % 9)),
                  ])))
          }
          if random.oneIn(2) { values.set(toOne: "owner", owners[random.below(owners.count)]) }
          vehicles.append(reference)
        }
        try t.insert(reference, values)
        // Now and then somebody looks, or changes what was just written.
        switch random.below(9_000) {
        case 0:
          var fetch = EngineFetch(vehicle)
          fetch.predicate = equal("name", .string("name \(random.below(300))"))
          seen.append("\(try t.count(fetch))")
        case 1:
          var fetch = EngineFetch(vehicle)
          fetch.predicate = equal("colour.primary", .string("red"))
          fetch.sort = [EngineSort("number", ascending: false)]
          fetch.limit = 5
          seen.append("\(try t.fetch(fetch))")
        case 2:
          let changed = vehicles[vehicles.count - 1 - random.below(min(vehicles.count, 2_000))]
          var values = RowValues()
          values.set("name", .string("changed"))
          values.set("number", .integer(Int64(1_000_000 + n)))
          values.set(toOne: "owner", owners[random.below(owners.count)])
          try t.update(changed, values)
        case 3:
          let place = vehicles.count - 1 - random.below(min(vehicles.count, 50))
          try t.delete(vehicles.remove(at: place))
        case 4:
          var owned: [ObjectReference] = []
          try t.destinations(of: back).forEach(from: owners[0]) { (found) in
            owned.append(found)
            return true
          }
          seen.append("\(owned.count) \(owned.last?.description ?? "")")
        default: break
        }
      }
    }
    return seen
  }

  private static func content(_ store: EntityStore) throws -> [String] {
    let view = try store.view()
    var found: [String] = []
    for name in ["Vehicle", "Owner", "Part"] {
      let entity = try #require(store.schema.entity(named: name))
      try view.forEach(EngineFetch(entity)) { (row) throws(EngineError) in
        let row = row.copy()
        var line = row.reference.description
        for attribute in entity.allAttributes { line += " \(try row.value(keyPath: attribute.name))" }
        found.append(line)
        return true
      }
    }
    return found
  }

  @Test func severalThreadsLeaveWhatOneLeaves() throws {
    let seed = testSeed(2_611)
    for round in 0..<(isFullLength ? 3 : 1) as Range<UInt64> {
      let one = try Self.store(threads: 1, deltaBytes: 1 << 20)
      let several = try Self.store(threads: 4, deltaBytes: 1 << 20)
      let seen = try Self.work(one, seed: seed &+ round, rows: 24_000)
      let others = try Self.work(several, seed: seed &+ round, rows: 24_000)
      #expect(seen == others && seen.count > 3, "seed \(seed), round \(round)")
      let isSame = try Self.content(one) == Self.content(several)
      #expect(isSame, "seed \(seed), round \(round)")
      // Each index, constraint and way back has an entry for each row, and no others.
      let reports = try [one.check(), several.check()]
      for report in reports { #expect(report.isSound, "\(report.problems) \(report.kernel.problems)") }
      #expect(try several.kernel.check().problems.isEmpty)
    }
  }

  /// Two rows with the value of a constraint, far from each other, among thousands of which the entries are gathered
  /// elsewhere.
  @Test(arguments: [(300, 20_000), (12_000, 12_001), (19_000, 23_900)]) func duplicatesAreFound(_ rows: (Int, Int))
    throws
  {
    let store = try Self.store(threads: 4, deltaBytes: 1 << 20)
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    let number = try store.field("number", of: vehicle)
    let remark = try store.field("remark", of: vehicle)
    var references: [ObjectReference] = []
    do {
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(vehicle)
        for n in 0..<24_000 {
          writer.begin()
          try writer.set(number, Int64(n == rows.1 ? rows.0 : n))
          try writer.set(remark, String(repeating: "x", count: 50))
          references.append(try writer.save())
        }
      }
      Issue.record("nothing was found")
    } catch {
      guard case .uniqueViolation(_, _, let existing, let offending) = error else { throw error }
      #expect(Set([existing, offending]) == Set([references[rows.0], references[rows.1]]))
    }
    #expect(try store.view().count(EngineFetch(vehicle)) == 0)
  }

  /// What other threads cannot make anything of ends the transaction, even if it is met at its very end.
  @Test(arguments: [10, 6_000]) func whoGathersMayFail(_ rows: Int) throws {
    let store = try Self.store(threads: 4, deltaBytes: 1 << 20)
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    let number = try store.field("number", of: vehicle)
    let remark = try store.field("remark", of: vehicle)
    #expect(throws: EngineError.self) {
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(vehicle)
        func add(_ n: Int) throws(EngineError) {
          writer.begin()
          try writer.set(number, Int64(n))
          try writer.set(remark, String(repeating: "x", count: 100))
          try writer.save()
        }
        for n in 0..<6_000 { try add(n) }
        var gathered = 0
        let rowsTree = try store.plan(vehicle.id).rows
        try storing { () throws(StoreError) in
          // Bytes that are no row.
          for n in 0..<rows {
            let isGathered = try [UInt8](repeating: 0xEE, count: 64).withUnsafeBytesEngine { (b) throws(StoreError) in
              try t.transaction.put(rowsTree, behind: UInt64(1_000_000 + n), b)
            }
            gathered += isGathered ? 1 : 0
          }
        }
        #expect(gathered > 0)
      }
    }
    #expect(try store.view().count(EngineFetch(vehicle)) == 0)
  }

  /// What was gathered takes as much memory as it may, again and again, while more is being gathered: nothing of it is
  /// lost.
  @Test func entriesAreMadeInBetween() throws {
    let store = try Self.store(threads: 4, deltaBytes: 1 << 20)
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    let number = try store.field("number", of: vehicle)
    let name = try store.field("name", of: vehicle)
    var most = 0
    let count = 40_000
    try store.write { (t) throws(EngineError) in
      let writer = try t.writer(vehicle)
      for n in 0..<count {
        writer.begin()
        try writer.set(number, Int64(n ^ 0x155))
        try writer.set(name, "a name of some length \(n % 700)")
        try writer.save()
        most = max(most, t.gatheredElsewhere)
      }
    }
    // Several times as much was gathered in all.
    #expect(most > 200_000 && most < 3 << 20)
    let report = try store.check()
    #expect(report.isSound, "\(report.problems)")
    var fetch = EngineFetch(vehicle)
    fetch.predicate = Self.equal("name", .string("a name of some length 7"))
    #expect(try store.view().count(fetch) == (count - 7 + 699) / 700)
  }
}

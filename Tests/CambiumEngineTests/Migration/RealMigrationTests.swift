import CambiumEngine
import CambiumKernel
import CambiumModels
import CambiumTesting
import Foundation
import Testing

/// Every version of real applications' models to every later one, and back, with generated objects: what can be
/// inferred, what stands in the way, and every value. Where the folder of models is missing there is nothing to do;
/// `RandomMigrationTests` covers the same kinds of changes.
@Suite struct RealMigrationTests {
  struct Pair {
    var folder: String
    var from: String
    var to: String
    var verdict: String
  }

  /// Whether every pair is tried, and not one in four of those that lie apart: at full length, or if
  /// `CAMBIUM_MIGRATIONS` is set.
  static var isThorough: Bool {
    isFullLength || ProcessInfo.processInfo.environment["CAMBIUM_MIGRATIONS"] != nil
  }

  static let pairs: [Pair] = {
    guard let folder = RealMigrationTests.realModelsFolder(),
      let text = try? String(contentsOf: folder.appendingPathComponent("pairs.tsv"), encoding: .utf8)
    else { return [] }
    return text.split(separator: "\n").dropFirst().map { line in
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
      return Pair(folder: columns[0], from: columns[1], to: columns[2], verdict: columns[3])
    }
  }()

  /// The folder, beside the repository; nil where there is none.
  static func realModelsFolder() -> URL? {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let folder = root.deletingLastPathComponent().appendingPathComponent("shared/models")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }

  static func model(_ folder: URL, _ name: String) throws -> Schema {
    let file = folder.appendingPathComponent(name + ".xml")
    return try ModelFile(contents: [UInt8](try Data(contentsOf: file))).schema
  }

  /// The applications whose versions have an order, by name, each with its models in that order.
  static func applications() throws -> [(name: String, models: [Schema])] {
    let root = try #require(realModelsFolder())
    return try FileManager.default.contentsOfDirectory(atPath: root.path).sorted().compactMap { name in
      let folder = root.appendingPathComponent(name)
      guard let order = try? String(contentsOf: folder.appendingPathComponent("ORDER.txt"), encoding: .utf8) else {
        return nil
      }
      return (
        name,
        try order.split(separator: "\n").map {
          try model(folder, String($0.replacingOccurrences(of: ".xml", with: "")))
        }
      )
    }
  }

  @Test(.enabled(if: Self.realModelsFolder() != nil)) func verdictsAgree() throws {
    let root = try #require(Self.realModelsFolder())
    #expect(Self.pairs.count == 57)
    for pair in Self.pairs {
      let folder = root.appendingPathComponent(pair.folder)
      let from = try Self.model(folder, pair.from)
      let to = try Self.model(folder, pair.to)
      let verdict: String
      do throws(EngineError) {
        let mapping = try SchemaMapping.infer(from: from, to: to)
        verdict = to.versionChecksum == from.versionChecksum ? "same-hash" : "LIGHTWEIGHT"
        if verdict == "same-hash" { #expect(mapping.isIdentity, "\(pair)") }
      } catch {
        guard case .notInferable(let obstacles) = error else { throw error }
        verdict = "NOT-INFERABLE"
        #expect(!obstacles.isEmpty)
      }
      #expect(verdict == pair.verdict, "\(pair)")
    }
  }

  /// An application that knows all versions of its model may make every migration to a later one. One that knows none
  /// of them makes those without drops, or to a higher number. Two of these applications have a mistaken renaming
  /// identifier, and one gave a later version a lower number.
  @Test(.enabled(if: Self.realModelsFolder() != nil)) func knownModelsMayBeDropped() throws {
    var count = 0
    var strays: Set<String> = []
    var refusals: [String] = []
    for (name, models) in try Self.applications() {
      for from in models.indices {
        for to in models.indices.dropFirst(from + 1) {
          let step = ModelStep(from: models[from], to: models[to], known: models)
          let text = "\(name), version \(from + 1) to \(to + 1)"
          strays.formUnion(step.strayIdentifiers.map { "\($0.entity).\($0.property ?? "") \($0.identifier)" })
          var rule = DropRule()
          rule.knownModels = Set(models.map { $0.versionChecksum })
          if rule.refusal(of: step, from: models[from], to: models[to]) != nil { refusals.append(text) }
          var isHigher = false
          if let old = models[from].versionNumber, let new = models[to].versionNumber { isHigher = new > old }
          let isRefused = DropRule().refusal(of: step, from: models[from], to: models[to]) != nil
          #expect(isRefused == (!step.drops.isEmpty && !isHigher), "\(text)")
          if !step.drops.isEmpty { count += 1 }
        }
      }
    }
    print("real models: \(count) migrations to later versions drop something")
    #expect(count > 300)
    #expect(strays == ["CachedCarbObject.anchorKey modificationCounter", "User.type user_role"])
    #expect(refusals == ["artsy+energy, version 17 to 18"])
  }

  /// Every version to the next, with all relationships filled and with none: migrated at once, and with what can be put
  /// off done later; each rolled back as well. Every value is compared.
  @Test(.enabled(if: Self.realModelsFolder() != nil)) func everyVersionToTheNextAndBack() throws {
    var random = SplitMix64(seed: testSeed(20_261_130))
    var (pairs, migrated, putOff, values) = (0, 0, 0, 0)
    for (name, models) in try Self.applications() {
      for (from, to) in zip(models, models.dropFirst()) {
        pairs += 1
        let naive = NaiveMigration(from.definition, to.definition)
        if !naive.refusals().isEmpty { continue }
        for round in 0..<4 {
          let (links, defers) = (round % 2 == 0 ? RandomMigrationTests.LinkFilling.none : .all, round > 1)
          let text = "\(name), pair \(pairs), links \(links), defers \(defers)"
          let kernel = try RandomMigrationTests.store(from.definition, &random, nulls: false, each: true, links: links)
          let store = try EntityStore.open(kernel)
          let before = try NaiveStore(store)
          // What stands in the way is what `everyVersionToEveryOther` is about.
          guard case .migrated(let expected) = naive.migrate(before) else { continue }
          let after = try store.migrate(to: to.definition, defers: defers, keepsPriorState: true)
          let difference = expected.difference(from: try NaiveStore(after))
          #expect(difference == nil, "\(text): \(difference ?? "")")
          if try !after.deferredTasks().isEmpty { putOff += 1 }
          while try after.runDeferredTask(maximumRows: 3) {}
          let finished = expected.difference(from: try NaiveStore(after))
          #expect(finished == nil, "\(text), finished: \(finished ?? "")")
          #expect(try after.check().isSound, "\(text)")
          migrated += 1
          values += expected.objects.values.reduce(0) { $0 + $1.attributes.count + $1.relationships.count }
          if from.versionChecksum == to.versionChecksum { continue }
          let back = before.difference(from: try NaiveStore(after.rollBackMigration(discardsCommits: true)))
          #expect(back == nil, "\(text), rolled back: \(back ?? "")")
        }
      }
    }
    print("real models: \(pairs) pairs, \(migrated) migrated and back, \(putOff) with work put off, \(values) values")
    #expect(pairs >= 57 && migrated >= 150 && putOff >= 20)
  }

  @Test(.enabled(if: Self.realModelsFolder() != nil)) func everyVersionToEveryOther() throws {
    var random = SplitMix64(seed: testSeed(20_261_123))
    var migrated = 0
    var refused = 0
    var blocked = 0
    for (name, models) in try Self.applications() {
      for from in models.indices {
        for to in models.indices where to != from {
          // Back: what the application made optional, or gave up, is required again, and objects may stand in the way.
          let isNear = to == from + 1 || to == from - 1
          if !isNear, !(Self.isThorough || to > from && random.oneIn(4)) { continue }
          let text = "\(name), version \(from + 1) to \(to + 1)"
          // Often without nulls, so that nothing is missing.
          let kernel = try RandomMigrationTests.store(
            models[from].definition, &random, nulls: to < from || random.oneIn(3))
          let store = try EntityStore.open(kernel)
          let before = try NaiveStore(store)
          let naive = NaiveMigration(models[from].definition, models[to].definition)
          let outcome = RandomMigrationTests.migrate(store, models[to].definition, defers: random.oneIn(2))
          let refusals = naive.refusals()
          if !refusals.isEmpty {
            refused += 1
            guard case .failure(.notInferable(let obstacles)) = outcome else {
              Issue.record("\(text): expected refusals at \(refusals), got \(outcome)")
              continue
            }
            let difference = ToldObstacles.difference(obstacles, refusals)
            #expect(difference == nil, "\(text): \(difference ?? "")")
            #expect(try NaiveStore(store) == before, "\(text)")
            continue
          }
          switch (naive.migrate(before), outcome) {
          case (.migrated(let expected), .success(let after)):
            migrated += 1
            let difference = expected.difference(from: try NaiveStore(after))
            #expect(difference == nil, "\(text): \(difference ?? "")")
            let report = try after.check()
            #expect(report.isSound, "\(text): \(report.problems)")
          case (.blocked(let expected), .failure(.migrationBlocked(let blocks))):
            blocked += 1
            let difference = ToldObstacles.difference(blocks, expected, before, store.schema)
            #expect(difference == nil, "\(text): \(difference ?? "")")
            #expect(try NaiveStore(store) == before, "\(text)")
          case (let expected, let found):
            Issue.record("\(text): expected \(expected), found \(found)")
          }
        }
      }
    }
    print("real models: \(migrated) migrated, \(refused) refused, \(blocked) blocked")
    #expect(migrated >= (Self.isThorough ? 750 : 150) && refused >= (Self.isThorough ? 130 : 15))
    #expect(blocked >= (Self.isThorough ? 40 : 1))
  }
}

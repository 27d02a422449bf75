import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

@testable import Cambium
@testable import CambiumEngineTests

/// Random chains of versions with random stages, cut short in their handlers: each store ends where a plain run in
/// memory ends, or is refused where that is, with its reason.
@Suite struct StagedChainTests {
  /// How many chains; `CAMBIUM_CHAINS` sets another number.
  static var count: Int { testCount("CAMBIUM_CHAINS", short: 150, full: 2000) }

  struct Killed: Error {}

  @Test func chainsEndWhereThePlainRunEnds() throws {
    let first = testSeed(20_261_201)
    print("chains of stages from seed \(first)")
    var ends: [NaiveStages.End: Int] = [:]
    var singleSteps = 0
    var kills = 0
    var deferred = 0
    var chains = 0
    var tries: UInt64 = 0
    while chains < Self.count, tries < UInt64(3 * Self.count) {
      tries += 1
      let seed = first &+ tries
      var random = SplitMix64(seed: seed)
      guard let chain = StagedChain(&random) else { continue }
      let device = MemoryDevice()
      guard
        (try? RandomMigrationTests.store(
          chain.definitions[chain.start], &random, on: device, nulls: random.oneIn(3))) != nil
      else { continue }
      chains += 1
      let text =
        "seed \(seed), versions \(chain.definitions.count), from \(chain.start) to \(chain.target), \(chain.parts.map(\.name))"
      let naive = NaiveStages(chain, try NaiveStore(try Self.open(device).current()))
      ends[naive.end, default: 0] += 1
      singleSteps += naive.singleSteps
      let defers = random.oneIn(2)
      let (result, store) = try run(chain, device, defers: defers, &random, &kills)
      let end = try store.current()
      #expect(end.schema.versionChecksum == chain.checksums[naive.place], "\(text): \(result.map { "\($0)" } ?? "")")
      let difference = naive.store.difference(from: try NaiveStore(end))
      #expect(difference == nil, "\(text): \(difference ?? "")")
      #expect(
        Self.isExpected(result, naive.end), "\(text): \(naive.end), found \(result.map { "\($0)" } ?? "no error")")
      let isPending = try end.view().stageRecord() != nil
      #expect(!isPending || naive.end != .reached, "\(text)")
      if difference != nil { return }
      if !(try end.deferredTasks().isEmpty) { deferred += 1 }
      while try end.runDeferredTask(maximumRows: 5) {}
      let reopened = try Self.open(device).current()
      #expect(naive.store.difference(from: try NaiveStore(reopened)) == nil, "\(text), opened again")
      if chains % 4 == 0 {
        let report = try reopened.check()
        #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
      }
    }
    print("\(chains) chains: \(ends); \(kills) kills, \(singleSteps) single steps, \(deferred) with tasks left")
    #expect(chains == Self.count)
    #expect(ends[.reached] ?? 0 >= Self.count / 3)
    for end in [NaiveStages.End.unknown, .backwards, .notInferable, .blocked] {
      #expect(ends[end] ?? 0 >= Self.count / 100, "\(end)")
    }
    #expect(kills >= Self.count / 3 && singleSteps >= Self.count / 20 && deferred >= Self.count / 20)
  }

  private static func open(_ device: MemoryDevice) throws -> SharedStore {
    SharedStore(try EntityStore.open(try Store.open(on: device, environment: TestEnvironment(seed: 3))))
  }

  /// Migrates, and starts anew as often as the process is killed in a handler.
  private func run(
    _ chain: StagedChain, _ device: MemoryDevice, defers: Bool, _ random: inout SplitMix64, _ kills: inout Int
  ) throws -> (CambiumError?, SharedStore) {
    var left = random.oneIn(4) ? Int.max : random.below(5)
    while true {
      let shared = try Self.open(device)
      let manager = try chain.manager {
        if left == 0 { throw Killed() }
        left -= 1
      }
      let error = cambiumError {
        _ = try migrateByStages(shared, to: chain.models[chain.target], manager, defers: defers)
      }
      guard error?.underlyingErrors.first is Killed else { return (error, shared) }
      kills += 1
      // So that it comes to an end.
      left = random.oneIn(3) ? Int.max : 2 + random.below(8)
    }
  }

  private static func isExpected(_ error: CambiumError?, _ end: NaiveStages.End) -> Bool {
    switch end {
    case .reached: return error == nil
    case .unknown: return error?.code.rawValue == 134504
    case .backwards: return error?.code.rawValue == 134506
    case .notInferable: return error?.code.rawValue == 134100 && !(error?.underlyingErrors.isEmpty ?? true)
    case .blocked:
      return [134110, 134111, 134190].contains(error?.code.rawValue)
        && error?.message.hasPrefix("Cannot migrate store") == true
    }
  }
}

extension StagedChain.Part {
  /// In messages.
  var name: String {
    switch self {
    case .lightweight(let versions): return "lightweight \(versions)"
    case .custom(let version, let will, let did):
      return "custom \(version)\(will == nil ? "" : ", will")\(did == nil ? "" : ", did")"
    }
  }
}

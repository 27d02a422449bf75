import Cambium
import CambiumSwiftData
import CambiumTesting
import Dispatch
import Foundation
import Testing

/// Random chains of versions, whose migrations are killed: the store has the old state or the new one, never one
/// between.
@Suite struct PlanChainTests {
  /// How many chains; `CAMBIUM_PLAN_CHAINS` sets another number.
  private static var count: Int {
    let isShort = ProcessInfo.processInfo.environment["CAMBIUM_SHORT"] != nil
    return testCount("CAMBIUM_PLAN_CHAINS", short: isShort ? 60 : 200, full: 1_000)
  }

  private struct Stop: Error {}

  /// What a kill would leave in the folder of a store.
  private struct Image: Sendable {
    var store: Data
    var others: [String: Data]

    init(_ folder: URL, _ name: String) {
      var files: [String: Data] = [:]
      for file in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
        files[file] = try? Data(contentsOf: folder.appendingPathComponent(file))
      }
      store = files.removeValue(forKey: name) ?? Data()
      others = files
    }

    func write(to file: borrowing StoreFile) throws {
      try store.write(to: file.url)
      for (name, bytes) in others { try bytes.write(to: file.folder.appendingPathComponent(name)) }
    }
  }

  private struct Tally: Sendable {
    var images = 0
    var reopened = 0
    var withCopies = 0
    var failures = 0
    var inPlace = 0
    var kinds: Set<String> = []

    static func + (a: Tally, b: Tally) -> Tally {
      Tally(
        images: a.images + b.images, reopened: a.reopened + b.reopened, withCopies: a.withCopies + b.withCopies,
        failures: a.failures + b.failures, inPlace: a.inPlace + b.inPlace, kinds: a.kinds.union(b.kinds))
    }
  }

  @Test func chainsThatAreKilledAreOldOrNew() throws {
    let seed = testSeed(20_261_130)
    print("chains of plans from seed \(seed)")
    let result = Locked(Swift.Result<Tally, any Error>.success(Tally()))
    // On two threads, because the disk keeps one waiting.
    DispatchQueue.concurrentPerform(iterations: 2) { worker in
      let part = Swift.Result {
        var tally = Tally()
        for number in stride(from: worker, to: Self.count, by: 2) { try run(seed &+ UInt64(number), &tally) }
        return tally
      }
      result.withLock { all in all = Swift.Result { try all.get() + part.get() } }
    }
    let tally = try result.withLock { $0 }.get()
    print(
      "\(Self.count) chains of \(tally.kinds.count) kinds: \(tally.images) images, \(tally.withCopies) with copies, "
        + "\(tally.reopened) opened again, \(tally.failures) failures, \(tally.inPlace) in one commit")
    #expect(tally.images > 4 * Self.count && tally.reopened > Self.count / 3 && tally.withCopies > Self.count)
    #expect(tally.failures > Self.count / 10 && tally.inPlace > Self.count / 20 && tally.kinds.count > Self.count / 2)
  }

  private func run(_ seed: UInt64, _ tally: inout Tally) throws {
    var random = SplitMix64(seed: seed)
    let chain = RandomChain(&random)
    try chain.numbered { try run(chain, &random, "seed \(seed): \(chain.text)", &tally) }
  }

  private func run(_ chain: RandomChain, _ random: inout SplitMix64, _ text: String, _ tally: inout Tally) throws {
    let start = random.oneIn(4) ? random.below(chain.steps.count + 1) : 0
    tally.kinds.insert("\(start) \(chain.text)")
    let file = try StoreFile(isSynced: false)
    let first = chain.versions[start]
    let old = try file.open(first) { context in
      for part in first.parts { part.insert(context, &random) }
      try context.save()
      return try RandomChain.read(first, context)
    }
    let new = chain.migrated(old, from: start)
    let bytes = file.bytes

    // A handler fails.
    var passes = random.below(6)
    if random.oneIn(2) {
      let stages = chain.stages {
        passes -= 1
        if passes < 0 { throw Stop() }
      }
      if let error = swiftDataError({ try file.migrate(chain.versions, stages) }) {
        tally.failures += 1
        #expect(error.cambiumError?.underlyingErrors.first is Stop, "\(text): \(error)")
        #expect(file.bytes == bytes, "\(text)")
      } else {
        // No handler was called so often.
        try bytes.write(to: file.url)
      }
      #expect(try file.others.isEmpty, "\(text)")
    }

    if start + 1 == chain.steps.count, case .lightweight = chain.steps[start] {
      tally.inPlace += 1
      try killInPlace(chain, file, old, new, text, &random, &tally)
    }
    let images = try imagesOfMigration(chain, file, new, text, random.next())
    for image in images {
      tally.images += 1
      if !image.others.isEmpty { tally.withCopies += 1 }
      #expect(image.store == bytes || image.others.isEmpty, "\(text)")
    }
    // All images but the last have the same bytes under the store's name, so that one is enough.
    if images.count > 1, random.oneIn(2) {
      tally.reopened += 1
      try checkReopened(random.pick(Array(images.dropLast())), chain, start, old, new, text)
    }
    try file.migrate(chain.versions, chain.stages { throw Stop() }) { context in
      let found = try RandomChain.read(chain.versions[chain.steps.count], context)
      #expect(found == new, "\(text), opened again")
    }
  }

  /// Migrates; answers what a kill would have left at each save of a handler, and at some of the writes.
  private func imagesOfMigration(
    _ chain: RandomChain, _ file: borrowing StoreFile, _ new: [[PartRow]], _ text: String, _ seed: UInt64
  ) throws -> [Image] {
    let (folder, name) = (file.folder, file.url.lastPathComponent)
    let images = Locked<(images: [Image], random: SplitMix64)>(([], SplitMix64(seed: seed)))
    let stages = chain.stages { images.withLock { $0.images.append(Image(folder, name)) } }
    try watchingCopies {
      images.withLock { if $0.random.oneIn(12) { $0.images.append(Image(folder, name)) } }
    } during: {
      try file.migrate(chain.versions, stages) { context in
        let found = try RandomChain.read(chain.versions[chain.steps.count], context)
        #expect(found == new, "\(text)")
      }
    }
    #expect(try file.others.isEmpty, "\(text)")
    return images.withLock { $0.images } + [Image(folder, name)]
  }

  /// Opens what a kill left: it has the old state, or the new one.
  private func checkReopened(
    _ image: Image, _ chain: RandomChain, _ start: Int, _ old: [[PartRow]], _ new: [[PartRow]], _ text: String
  ) throws {
    let file = try StoreFile(isSynced: false)
    try image.write(to: file)
    let last = chain.versions[chain.steps.count]
    let checksum = try PersistentStoreCoordinator.cachedModelForPersistentStore(at: file.url).versionChecksum
    let isOld = try checksum == CambiumSwiftData.Schema(versionedSchema: chain.versions[start]).checksumOfModel()
    let isNew = try checksum == CambiumSwiftData.Schema(versionedSchema: last).checksumOfModel()
    #expect(isOld || isNew, "\(text)")
    let (version, rows) = isOld ? (chain.versions[start], old) : (last, new)
    let found = try file.open(version) { try RandomChain.read(version, $0) }
    #expect(found == rows, "\(text)")
    #expect(try file.others.isEmpty, "\(text)")
    try file.migrate(chain.versions, chain.stages {}) { context in
      let found = try RandomChain.read(last, context)
      #expect(found == new, "\(text), opened again")
    }
  }

  /// Cuts the power in the middle of a migration that is one commit, which is made in the store's own file.
  private func killInPlace(
    _ chain: RandomChain, _ file: borrowing StoreFile, _ old: [[PartRow]], _ new: [[PartRow]], _ text: String,
    _ random: inout SplitMix64, _ tally: inout Tally
  ) throws {
    let disk = SimulatedDisk([UInt8](file.bytes))
    let begin = try migrateOnDisk(disk, chain, file.url)
    for _ in 0..<2 {
      let point = begin + random.below(disk.operationCount - begin + 1)
      for bytes in disk.crashImages(at: point, limit: 2, seed: random.next()) {
        var image = Image(file.folder, file.url.lastPathComponent)
        image.store = Data(bytes.bytes)
        tally.reopened += 1
        try checkReopened(image, chain, chain.steps.count - 1, old, new, "\(text), \(bytes)")
      }
    }
  }
}

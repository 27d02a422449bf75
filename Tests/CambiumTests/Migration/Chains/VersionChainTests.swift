import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// Chains of versions with the kinds of change that real applications' models have had (`RealMigrationTests` has those
/// themselves, where they are): what is inferred between any two versions, and every value, version by version and with
/// versions skipped.
@Suite struct VersionChainTests {
  @Test(arguments: VersionChain.all) func verdicts(_ chain: VersionChain) throws {
    for from in 1..<chain.versions.count {
      for to in from + 1...chain.versions.count {
        let text = "\(chain.testDescription), version \(from) to \(to)"
        let source = try chain.model(from)
        let destination = try chain.model(to)
        let isSame = try source.versionChecksum == destination.versionChecksum
        #expect(isSame == (chain.verdict(from, to) == .sameHash), "\(text)")
        #expect(try (source.entityVersionHashesByName == destination.entityVersionHashesByName) == isSame, "\(text)")
        let error = cambiumError { _ = try MappingModel.inferred(from: source, to: destination) }
        guard case .notInferable(let places) = chain.verdict(from, to) else {
          #expect(error == nil, "\(text)")
          continue
        }
        #expect(error?.code == .migrationMissingMappingModel, "\(text)")
        #expect(Self.places(error) == places, "\(text)")
      }
    }
  }

  private static func places(_ error: CambiumError?) -> [String] {
    (error?.underlyingErrors ?? []).compactMap { $0 as? CambiumError }.map { cause in
      [cause.entityName, cause.key].compactMap { $0 }.joined(separator: ".")
    }
  }

  @Test(arguments: VersionChain.all) func versionByVersion(_ chain: VersionChain) throws {
    for defers in [false, true] {
      let directory = try TemporaryDirectory()
      try chain.fill(try directory.container(model: chain.model(1)).viewContext)
      for version in 2...chain.versions.count {
        let error = cambiumError {
          _ = try directory.container(model: chain.model(version)) { $0.shouldMigrateStoreAutomatically = false }
        }
        let isSame = chain.verdict(version - 1, version) == .sameHash
        #expect(error?.code == (isSame ? nil : .persistentStoreIncompatibleVersionHash))
        #expect(error?.mismatchedEntities.isEmpty != true)
        let container = try Self.go(directory, chain, Array(1...version), defers: defers)
        let agreement = try FetchAgreement(container.viewContext, chain.model(version))
        #expect(agreement.disagreements.isEmpty && agreement.count > 10, "version \(version), defers \(defers)")
      }
      try Self.finish(directory, chain, Array(1...chain.versions.count))
    }
  }

  /// From each version to each later one but the next, and from there on in turn. Where it is refused nothing is
  /// changed, and the way in turn is open.
  @Test(arguments: VersionChain.all) func versionsSkipped(_ chain: VersionChain) throws {
    var skips = 0
    let last = chain.versions.count
    for from in 1...last - 2 {
      for to in from + 2...last {
        let defers = skips % 2 == 1
        skips += 1
        let directory = try TemporaryDirectory()
        try chain.fill(try directory.container(model: chain.model(1)).viewContext)
        var path = [1]
        for version in 1..<from {
          path.append(version + 1)
          try Self.go(directory, chain, path, defers: defers)
        }
        if case .notInferable(let places) = chain.verdict(from, to) {
          let error = cambiumError { _ = try directory.container(model: chain.model(to)) }
          #expect(error?.code == .persistentStoreIncompatibleVersionHash)
          #expect(Self.places(error?.underlyingErrors.first as? CambiumError) == places)
          let model = try chain.model(from)
          let context = try directory.container(model: model) { $0.shouldMigrateStoreAutomatically = false }.viewContext
          #expect(try ObjectListing.lines(context, model) == chain.lines(path), "\(path), refused to \(to)")
        } else {
          path.append(to)
          try Self.go(directory, chain, path, defers: defers)
        }
        while let version = path.last, version < last {
          path.append(version + 1)
          try Self.go(directory, chain, path, defers: defers)
        }
        try Self.finish(directory, chain, path)
      }
    }
    #expect(skips == (last - 1) * (last - 2) / 2)
  }

  /// Opens a store with the last version of a path, lets the application do its part, and compares every value.
  @discardableResult private static func go(
    _ directory: TemporaryDirectory, _ chain: VersionChain, _ path: [Int], defers: Bool
  ) throws -> PersistentContainer {
    let version = try #require(path.last)
    let model = try chain.model(version)
    let container = try directory.container(model: model) { $0.shouldDeferLightweightMigration = defers }
    try chain.work[version]?(container.viewContext)
    #expect(try ObjectListing.lines(container.viewContext, model) == chain.lines(path), "\(path), defers \(defers)")
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(store.metadata[PersistentStore.modelVersionChecksumKey] as? String == (try model.versionChecksum))
    return container
  }

  /// Does what was put off, and compares every value in the store as it is in the file.
  private static func finish(_ directory: TemporaryDirectory, _ chain: VersionChain, _ path: [Int]) throws {
    let model = try chain.model(try #require(path.last))
    let container = try directory.container(model: model) { $0.shouldMigrateStoreAutomatically = false }
    try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
    #expect(try ObjectListing.lines(container.viewContext, model) == chain.lines(path), "\(path), finished")
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.engine.check()
    #expect(report.isSound, "\(path): \(report.problems)")
  }
}

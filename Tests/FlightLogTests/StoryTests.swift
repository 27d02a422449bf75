import CambiumTesting
import Foundation
import Testing

@testable import FlightLog

/// The flat log that is migrated by stages, on the month of flights that is in the repository.
@Suite struct StoryTests {
  /// All of the month at full length, else its first flights; `CAMBIUM_STORY_FLIGHTS` sets another number.
  private static var flights: Int { testCount("CAMBIUM_STORY_FLIGHTS", short: 1500, full: .max) }

  @Test func aFlatLogBecomesWhatAPlainImportMakes() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString).store").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var story = Story(data: try DataFolder(path: nil), store: path)
    story.flightLimit = Self.flights
    let outcome = try story.run()
    #expect(outcome.difference == nil)
    #expect(outcome.flights > 1000 && outcome.deferredRows == UInt64(outcome.flights))
    #expect(outcome.deferredIndexes > 0)
    #expect(outcome.answeredMeanwhile >= 10)
    // Besides the flights, what the reference files describe.
    #expect(outcome.compared > outcome.flights + 4000)
  }

  @Test func theLastVersionIsThePresentModel() throws {
    #expect(try FlightLogModel.version3().versionChecksum != FlightLogModel.make().versionChecksum)
    #expect(
      try FlightLogModel.version2().entitiesByName["LogEntry"]?.attributesByName["originCode"]?.renamingIdentifier
        == "origin")
  }
}

import CambiumGenerator
import CambiumModelFiles
import Foundation
import Testing

@Suite struct GeneratedCodeTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("F1: the generator makes a class for each entity of the model file, with its attributes and relationships")
  func createSwiftDataCode() throws {
    let file = Self.root.appendingPathComponent(
      "Sources/SampleTrips/SampleTrips.xcdatamodeld/SampleTrips.xcdatamodel/contents")
    let document = try ModelDocument(contents: [UInt8](try Data(contentsOf: file)))
    let code = try CodeGenerator.generate(
      [CodeVersion(name: "SampleTrips", document: document)], current: nil,
      CodeOptions(modelName: "SampleTrips", forms: [.swiftData], sourceName: "SampleTrips.xcdatamodeld"))
    #expect(code.files.map { $0.name } == ["BucketListItem.swift", "LivingAccommodation.swift", "Trip.swift"])
    let trip = try #require(code.files.last).text
    for line in [
      "@Model final class Trip {", "var name: String", "var destination: String", "var startDate: Date",
      "var endDate: Date", "var bucketList: [BucketListItem]", "var livingAccommodation: LivingAccommodation?",
    ] {
      #expect(trip.contains(line), "\(trip)")
    }
  }
}

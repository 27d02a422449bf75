import Foundation
import Testing

@testable import SampleTrips

@Suite struct StoryTests {
  @Test @MainActor func theStoryGoesAsTheChapterTells() async throws {
    let store = FileManager.default.temporaryDirectory.appendingPathComponent("SampleTrips-\(UUID()).store")
    defer { try? FileManager.default.removeItem(at: store) }
    var lines: [String] = []
    try await Story(store: store, say: { lines.append($0) }).tell()
    let told = lines.filter { !$0.hasPrefix("   another stack") }
    #expect(
      told == [
        "1. The Core Data application saves two trips.",
        "   Fjords, 2 items, Hut Bergen",
        "   Volcanoes, 2 items, Hut Vik",
        "2. The model classes of SwiftData describe the same entities.",
        "   BucketListItem: same hash",
        "   LivingAccommodation: same hash",
        "   Trip: same hash",
        "3. Both stacks have the store open.",
        #"   SwiftData reads ["Fjords", "Volcanoes"]"#,
        "   SwiftData saved a trip, and Core Data reads Museums to Rome",
        #"   Core Data renamed it, and SwiftData shows ["Museums and ruins", "Fjords", "Volcanoes"]"#,
        #"   The history has saves by ["nobody", "swiftdata", "core data"]"#,
        "4. A Core Data stack without history tracking may only read.",
        "   read-only: true",
        "5. A model that only one stack changed is refused while the other stack is open.",
        "6. The application adopts SwiftData completely, and opens the store without Core Data.",
        #"   upcoming: ["Fjords", "Volcanoes"]"#,
        "   saved by itself: 3 upcoming trips",
        "   after deleting them: 1 trip, 1 item, 0 places to stay",
      ])
    let refusal = try #require(lines.first { $0.hasPrefix("   another stack") })
    #expect(refusal.contains("Trip: rating: attribute added"))
  }
}

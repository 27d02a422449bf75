import Testing

@testable import CambiumEngine

@Suite struct NearestNameTests {
  @Test(
    arguments: [
      ("remrk", "remark"), ("REMARK", "remark"), ("day", nil), ("dya", "day"), ("da", "day"), ("dday", "day"),
      ("cabin", nil), ("", nil), ("departrueDelay", "departureDelay"), ("departure", nil), ("x", nil),
      ("pläne", "plane"),
    ] as [(String, String?)])
  func nearest(name: String, expected: String?) {
    #expect(nearestName(to: name, among: ["day", "remark", "plane", "departureDelay", "a"]) == expected)
  }

  @Test func ofEquallyCloseNamesTheFirstCounts() {
    #expect(nearestName(to: "bat", among: ["cat", "hat"]) == "cat")
    #expect(nearestName(to: "bat", among: []) == nil)
  }
}

import Testing

@testable import Cambium

/// What a process's arguments and its environment turn on.
@Suite struct DebugLogTests {
  @Test func switchesAreRead() {
    #expect(DebugLog.levels([], [:]).isEmpty)
    #expect(DebugLog.levels(["program", "-com.cambium.StoreDebug", "1"], [:]) == [.store: 1])
    #expect(
      DebugLog.levels(
        ["program", "-com.cambium.RequestDebug", "2", "-com.cambium.MigrationDebug", "1"],
        ["CAMBIUM_STORE_DEBUG": "1", "CAMBIUM_REQUEST_DEBUG": "1"]) == [.store: 1, .migration: 1, .request: 2])
    // An argument goes before the environment, and what is no number, or none above 0, turns nothing on.
    #expect(
      DebugLog.levels(["program", "-com.cambium.StoreDebug", "0"], ["CAMBIUM_STORE_DEBUG": "1"]).isEmpty)
    #expect(
      DebugLog.levels(
        ["program", "-com.cambium.MigrationDebug"], ["CAMBIUM_REQUEST_DEBUG": "yes", "CAMBIUM_STORE_DEBUG": "-1"]
      ).isEmpty)
  }
}

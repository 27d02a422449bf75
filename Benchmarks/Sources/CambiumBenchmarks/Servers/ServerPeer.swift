/// What answers the requests of a server, each in a task of its own.
protocol ServerPeer: AnyObject, Sendable {
  var name: String { get }
  /// Begins a store with some aircraft.
  func create(_ rows: ArraySlice<Aircraft>) throws
  /// Inserts an aircraft and saves, durably.
  func save(_ row: Aircraft) async throws
  /// Counts the aircraft that have more hours, for which no index serves.
  func count(hoursAbove hours: Double) async throws -> Int
  /// How many aircraft there are.
  func count() throws -> Answer
}

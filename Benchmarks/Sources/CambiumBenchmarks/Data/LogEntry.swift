/// A row of the second table: a random aircraft, a date in random order, numbers that may be absent.
struct LogEntry: Sendable, Equatable {
  var id: Int
  var aircraft: Int
  /// Seconds since 2001-01-01.
  var date: Double
  var flight: Int32
  var distance: Int32?
  var delay: Double?
  var remark: String?

  /// Dates are a minute apart on average, so that a window of n minutes holds about n rows.
  static func date(_ minute: Int) -> Double { 600_000_000 + Double(minute) * 60 }

}

extension LogEntry {
  /// The row of an id, among `rows` entries of as many aircraft.
  init(id: Int, rows: Int) {
    self.id = id
    aircraft = 1 + Int(mix(id, 21) % UInt64(rows))
    date = Self.date(Int(mix(id, 22) % UInt64(rows)))
    flight = Int32(mix(id, 23) % 9000)
    distance = id % 7 == 0 ? nil : Int32(mix(id, 24) % 4000)
    delay = id % 5 == 0 ? nil : Double(mix(id, 25) % 3000) / 10
    remark = id % 2 == 0 ? nil : "remark \(mix(id, 26) % 100_000)"
  }
}

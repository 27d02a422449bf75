import CambiumKernel

/// Reads moments as ISO 8601 writes them.
///
/// Read are a date, `2001-03-01`, and a date with a time: `2001-03-01T14:30`, with seconds, `2001-03-01T14:30:15`, and
/// with a fraction of them, `2001-03-01T14:30:15.25`. A space may stand in place of the `T`. Behind a time may stand a
/// zone: `Z`, `+01:00`, `-05:00`. Without a zone the time is UTC, and without a time it is midnight UTC.
public enum ISODate {
  /// Why a text is no date.
  public struct Problem: Error, Equatable, Sendable {
    /// The reason, and what to write.
    public let detail: String
  }

  /// Returns the seconds since 2001-01-01 00:00:00 UTC that a text stands for.
  ///
  /// - Throws: ``Problem`` for another form, or for a day or time that the calendar does not have.
  public static func seconds(of text: String) throws(Problem) -> Double {
    var reader = Reader(text)
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
      let day = reader.number(2), reader.isAtEnd || reader.take("T") || reader.take(" ")
    else { throw reader.problem() }
    guard year >= 1 else { throw reader.problem("there is no year 0") }
    guard 1...12 ~= month else { throw reader.problem("there is no month \(month)") }
    let days = daysOfMonth(month, of: year)
    guard 1...days ~= day else { throw reader.problem("month \(month) of \(year) has \(days) days") }
    // 2001-01-01 is day 730,791 from 0000-03-01. `Int` of 32 bits has seconds for 68 years only.
    let midnight = Int64(dayNumber(year, month, day) - 730_791) * 86_400
    if reader.isAtEnd {
      // A separator promises a time.
      if reader.isBehindSeparator { throw reader.problem() }
      return Double(midnight)
    }
    guard let hour = reader.number(2), reader.take(":"), let minute = reader.number(2) else { throw reader.problem() }
    var second = 0
    var fraction = 0.0
    if reader.take(":") {
      guard let whole = reader.number(2) else { throw reader.problem() }
      second = whole
      if reader.take(".") || reader.take(",") {
        guard let part = reader.fraction() else { throw reader.problem() }
        fraction = part
      }
    }
    guard hour < 24, minute < 60, second < 60 else {
      throw reader.problem("a day ends at 23:59:59, and hours and minutes go to 59")
    }
    var offset = 0
    if !reader.take("Z"), !reader.isAtEnd {
      let isWest = reader.take("-")
      guard isWest || reader.take("+"), let hours = reader.number(2), reader.take(":"), let minutes = reader.number(2),
        hours < 24, minutes < 60
      else { throw reader.problem() }
      offset = (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
    }
    guard reader.isAtEnd else { throw reader.problem() }
    return Double(midnight + Int64(hour * 3600 + minute * 60 + second - offset)) + fraction
  }

  private static func daysOfMonth(_ month: Int, of year: Int) -> Int {
    switch month {
    case 2: return year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  /// Days since 0000-03-01. Years begin with March, so that the leap day ends one.
  private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let marchYear = month > 2 ? year : year - 1
    let marchMonth = month > 2 ? month - 3 : month + 9
    return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + (153 * marchMonth + 2) / 5 + day - 1
  }

  /// Takes digits and signs from the start of a text.
  private struct Reader {
    private let text: String
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: String) {
      self.text = text
      bytes = Array(text.utf8)
    }

    var isAtEnd: Bool { place == bytes.count }
    var isBehindSeparator: Bool { place > 10 }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
      place += 1
      return true
    }

    /// A number of so many digits.
    mutating func number(_ count: Int) -> Int? {
      guard bytes.count - place >= count else { return nil }
      var result = 0
      for byte in bytes[place..<place + count] {
        guard isDigit(byte) else { return nil }
        result = result * 10 + Int(byte - UInt8(ascii: "0"))
      }
      place += count
      return result
    }

    /// The digits behind a point, as a fraction.
    mutating func fraction() -> Double? {
      let start = place
      while place < bytes.count, isDigit(bytes[place]) { place += 1 }
      guard place > start else { return nil }
      return DecimalValue.nearestDouble(toText: "0." + String(decoding: bytes[start..<place], as: UTF8.self))
    }

    func problem(_ reason: String? = nil) -> Problem {
      let advice = reason ?? "write a date such as \"2001-03-01\", or with a time in UTC \"2001-03-01T14:30:00Z\""
      return Problem(detail: "'\(text)' is no date: \(advice)")
    }
  }
}

extension CSVReader {
  /// A field of the form `hhmm` (`517` is 5:17, `2400` the end of the day) as minutes after midnight; nil if the value
  /// is missing.
  func optionalMinutes(_ column: Int) throws(CSVError) -> Int? {
    guard let number = try optionalInteger(column) else { return nil }
    let (hours, minutes) = number.quotientAndRemainder(dividingBy: 100)
    guard number >= 0, minutes < 60, hours < 24 || number == 2400 else {
      throw failure("column '\(header[column])' is \(number), which is not a time of day")
    }
    return hours * 60 + minutes
  }
}

/// Days from 2001-01-01 to a day of the Gregorian calendar, which is the unit that dates are stored from; nil for what
/// is no day.
func daysSince2001(year: Int, month: Int, day: Int) -> Int? {
  guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  guard day <= lengths[month - 1] else { return nil }
  let before = year - 1
  let untilYear = before * 365 + before / 4 - before / 100 + before / 400
  let until2001 = 2000 * 365 + 2000 / 4 - 2000 / 100 + 2000 / 400
  return untilYear - until2001 + lengths[..<(month - 1)].reduce(0, +) + day - 1
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }

  /// The duration to be read by people: `12.3 ms`, `4.56 s`.
  var text: String {
    let seconds = inSeconds
    return seconds < 1 ? "\(fixed(seconds * 1000, 1)) ms" : "\(fixed(seconds, 2)) s"
  }
}

/// A number with so many digits after the point, rounded.
func fixed(_ value: Double, _ digits: Int) -> String {
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  guard let units = Int(exactly: (value.magnitude * scale).rounded()) else { return "\(value)" }
  let sign = value < 0 && units > 0 ? "-" : ""
  if digits == 0 { return sign + "\(units)" }
  let (whole, fraction) = units.quotientAndRemainder(dividingBy: Int(scale))
  let text = String(fraction)
  return "\(sign)\(whole)." + String(repeating: "0", count: max(0, digits - text.count)) + text
}

/// A number with its digits in threes: `1,234,567`.
func grouped(_ value: Int) -> String {
  var result = ""
  let digits = String(value.magnitude)
  for (index, digit) in digits.enumerated() {
    if index > 0, (digits.count - index) % 3 == 0 { result += "," }
    result.append(digit)
  }
  return value < 0 ? "-" + result : result
}

/// Text moved to the right of a column.
func padded(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}

/// Text at the left of a column, cut to it.
func column(_ text: String, _ width: Int) -> String {
  let cut = String(text.prefix(width))
  return cut + String(repeating: " ", count: width - cut.count)
}

/// Minutes after midnight as `5:17`.
func clock(_ minutes: Int?) -> String {
  guard let minutes else { return "--:--" }
  let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
  return "\(hour):\(minute < 10 ? "0" : "")\(minute)"
}

/// Minutes with their sign: `+12`.
func signed(_ minutes: Int?) -> String {
  guard let minutes else { return "?" }
  return minutes > 0 ? "+\(minutes)" : "\(minutes)"
}

/// Days since 2001-01-01, as dates of the log are.
func day(_ year: Int, _ month: Int, _ day: Int) -> Date {
  Date(timeIntervalSinceReferenceDate: Double(daysSince2001(year: year, month: month, day: day) ?? 0) * 86_400)
}

/// A date of the log as `2013-01-31`.
func dayText(_ date: Date?) -> String {
  guard let date else { return "?" }
  return String(date.formatted(.iso8601).prefix(10))
}

import Foundation

/// The table as Markdown. What stands outside the two marks in an existing file is kept.
enum Markdown {
  static func marks(_ suite: String) -> (begin: String, end: String) {
    ("<!-- table \(suite): begin -->", "<!-- table \(suite): end -->")
  }

  static func table(_ results: Results) -> String {
    guard let subject = results.peers.first else { return "" }
    let others = results.peers.dropFirst()
    var text = "| | unit | " + results.peers.joined(separator: " | ") + " | "
    text += others.map { "to \($0)" }.joined(separator: " | ") + " |\n"
    text += "|---|---|" + String(repeating: "---:|", count: results.peers.count + others.count) + "\n"
    for row in results.rows where !row.samples.isEmpty {
      text += "| \(row.line.title) | \(row.line.unit.rawValue) |"
      for peer in results.peers {
        if let s = row.samples[peer], !s.values.isEmpty {
          let spread = s.values.count > 1 ? " ±\(Int(s.spread.rounded()))%" : ""
          text += " \(short(s.median))\(spread) |"
        } else {
          text += " – |"
        }
      }
      for peer in others {
        if let ratio = row.ratio(subject, to: peer) {
          text += " **\(factor(ratio))** |"
        } else {
          text += " – |"
        }
      }
      text += "\n"
    }
    return text
  }

  /// How many times better, with two or three digits.
  static func factor(_ ratio: Double) -> String {
    if ratio >= 10 { return "\(Int(ratio.rounded()))" }
    let digits = ratio < 0.1 ? 1000.0 : 100.0
    return "\((ratio * digits).rounded() / digits)"
  }

  /// The new text of a file that may hold a table already.
  static func replace(in old: String, suite: String, with body: String) -> String {
    let (begin, end) = marks(suite)
    let block = begin + "\n" + body + end
    if let from = old.range(of: begin), let to = old.range(of: end), from.lowerBound < to.lowerBound {
      return old[..<from.lowerBound] + block + old[to.upperBound...]
    }
    return old.isEmpty ? block + "\n" : old + "\n" + block + "\n"
  }
}

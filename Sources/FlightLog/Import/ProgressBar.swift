/// Shows how far something has come: a bar that is drawn again and again on a terminal, elsewhere a line at every
/// tenth.
struct ProgressBar {
  private let title: String
  private let total: Int
  private let isTerminal = standardOutputIsTerminal()
  private let start = ContinuousClock.now
  private var shown = -1

  /// Something called `title` that is `total` units long.
  init(_ title: String, total: Int) {
    self.title = title
    self.total = max(total, 1)
  }

  /// Shows that `done` units are done, which are `rows` rows.
  mutating func show(_ done: Int, rows: Int) {
    let percent = min(100, done * 100 / total)
    guard isTerminal || percent / 10 > shown / 10 || shown < 0 else { return }
    shown = percent
    let seconds = (ContinuousClock.now - start).inSeconds
    let rate = seconds > 0 ? Int(Double(rows) / seconds) : 0
    let status = "\(padded("\(percent)", 3)) %  \(grouped(rows)) rows, \(grouped(rate)) a second"
    if isTerminal {
      let filled = percent * 32 / 100
      let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 32 - filled)
      say("\r\(title) [\(bar)] \(status)  ", terminator: "")
    } else {
      say("\(title) \(status)")
    }
  }

  /// Ends the bar's line.
  func finish() {
    if isTerminal { say("") }
  }
}

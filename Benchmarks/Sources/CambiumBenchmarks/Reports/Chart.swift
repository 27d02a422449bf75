import Foundation

/// The ratios as a bar chart: one group a line, one bar a peer, on a logarithmic scale around 1.
enum Chart {
  static func svg(_ results: Results) -> String {
    guard let subject = results.peers.first else { return "" }
    let others = Array(results.peers.dropFirst())
    let rows = results.rows.filter { row in others.contains { row.ratio(subject, to: $0) != nil } }
    let left = 470.0
    let width = 420.0
    let bar = 9.0
    let group = bar * Double(others.count) + 8
    let height = 50 + group * Double(rows.count) + 20
    let colours = ["#4c78a8", "#f58518", "#54a24b", "#b279a2"]
    // From a fiftieth to fifty times.
    func x(_ ratio: Double) -> Double { left + width * (log10(min(50, max(0.02, ratio))) / log10(50) + 1) / 2 }
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(left + width + 70))" height="\(Int(height))" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="white"/>
      <text x="8" y="16" font-size="13">\(escape(results.title)): times better than each peer (right of 1)</text>

      """
    for (i, peer) in others.enumerated() {
      text += "<rect x=\"\(8 + i * 90)\" y=\"24\" width=\"10\" height=\"10\" fill=\"\(colours[i % 4])\"/>"
      text += "<text x=\"\(22 + i * 90)\" y=\"33\">\(escape(peer))</text>\n"
    }
    for tick in [0.1, 0.5, 1, 2, 5, 10, 20] {
      let line = "<line x1=\"\(x(tick))\" x2=\"\(x(tick))\" y1=\"44\" y2=\"\(height - 12)\""
      text += line + " stroke=\"\(tick == 1 ? "#333" : "#ddd")\"/>"
      text += "<text x=\"\(x(tick))\" y=\"41\" text-anchor=\"middle\">\(short(tick))</text>\n"
    }
    for (n, row) in rows.enumerated() {
      let top = 50 + group * Double(n)
      let middle = top + group / 2
      text += "<text x=\"\(left - 8)\" y=\"\(middle)\" text-anchor=\"end\">\(escape(row.line.title))</text>\n"
      for (i, peer) in others.enumerated() {
        guard let ratio = row.ratio(subject, to: peer) else { continue }
        let from = min(x(1), x(ratio))
        let length = max(1, abs(x(ratio) - x(1)))
        let y = top + bar * Double(i)
        text += "<rect x=\"\(from)\" y=\"\(y)\" width=\"\(length)\" height=\"\(bar - 1)\" fill=\"\(colours[i % 4])\"/>"
        text += "<text x=\"\(left + width + 6)\" y=\"\(y + 8)\" font-size=\"9\">\(Markdown.factor(ratio))</text>\n"
      }
    }
    return text + "</svg>\n"
  }

  private static func escape(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}

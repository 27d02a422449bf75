import Foundation

/// The growth as a table and as lines on two logarithmic scales.
enum GrowthReport {
  static func table(_ suite: GrowthSuite, peers: [String]) -> String {
    var text = "| ns | peer | " + suite.sizes.map { "\(short(Double($0))) rows" }.joined(separator: " | ")
    text += " | growth |\n|---|---|" + String(repeating: "---:|", count: suite.sizes.count + 1) + "\n"
    for measure in GrowthSuite.Measure.allCases {
      for peer in peers {
        let values = suite.sizes.map { suite.times[peer]?[measure]?[$0] }
        text += line(measure.rawValue, peer, values)
      }
    }
    for peer in peers {
      text += line("bytes a row in the file", peer, suite.sizes.map { suite.bytesPerRow[peer]?[$0] })
    }
    return text
  }

  /// The last column: how many times more it is at the largest size than at the smallest.
  private static func line(_ title: String, _ peer: String, _ values: [Double?]) -> String {
    var text = "| \(title) | \(peer) |"
    for value in values { text += value.map { " \(short($0)) |" } ?? " – |" }
    if let first = values.first ?? nil, let last = values.last ?? nil, first > 0 {
      return text + " \(Markdown.factor(last / first)) |\n"
    }
    return text + " – |\n"
  }

  /// A line for each measure and peer, the first peer's drawn through.
  static func svg(_ suite: GrowthSuite, peers: [String]) -> String {
    let colours = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#333333"]
    let (left, top, width, height) = (70.0, 40.0, 520.0, 420.0)
    let least = log10(Double(suite.sizes.first ?? 1))
    let span = max(1e-9, log10(Double(suite.sizes.last ?? 1)) - least)
    // From 10 ns to 10 ms.
    func x(_ size: Int) -> Double { left + width * (log10(Double(size)) - least) / span }
    func y(_ time: Double) -> Double { top + height * (7 - log10(min(1e7, max(10, time)))) / 6 }
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(left + width + 300))" height="\(Int(top + height + 50))" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="white"/>
      <text x="8" y="18" font-size="13">Time by the number of rows (\(peers.first ?? "") drawn through, others dashed)</text>

      """
    for power in 1...7 {
      let time = pow(10, Double(power))
      text += "<line x1=\"\(left)\" x2=\"\(left + width)\" y1=\"\(y(time))\" y2=\"\(y(time))\" stroke=\"#ddd\"/>"
      let label = ["10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms", "10 ms"][power - 1]
      text += "<text x=\"\(left - 6)\" y=\"\(y(time) + 4)\" text-anchor=\"end\">\(label)</text>\n"
    }
    for size in suite.sizes {
      text += "<text x=\"\(x(size))\" y=\"\(top + height + 18)\" text-anchor=\"middle\">\(short(Double(size)))</text>\n"
    }
    for (n, measure) in GrowthSuite.Measure.allCases.enumerated() {
      let colour = colours[n % colours.count]
      for (i, peer) in peers.enumerated() {
        let points = suite.sizes.compactMap { size in
          suite.times[peer]?[measure]?[size].map { "\(x(size)),\(y($0))" }
        }
        let dash = i == 0 ? "" : " stroke-dasharray=\"\(6 - 2 * min(2, i)) 3\""
        text += "<polyline points=\"\(points.joined(separator: " "))\" fill=\"none\" stroke=\"\(colour)\""
        text += " stroke-width=\"\(i == 0 ? 2 : 1)\"\(dash)/>\n"
      }
      let place = top + 14 + Double(n) * 18
      text += "<rect x=\"\(left + width + 16)\" y=\"\(place - 9)\" width=\"10\" height=\"10\" fill=\"\(colour)\"/>"
      text += "<text x=\"\(left + width + 32)\" y=\"\(place)\">\(measure.rawValue)</text>\n"
    }
    return text + "</svg>\n"
  }
}

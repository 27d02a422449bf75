import Foundation

/// The results as JSON: every sample, medians, spreads and ratios.
enum JSONReport {
  private struct Cell: Codable {
    var peer: String
    var median: Double
    var spreadPercent: Double
    var samples: [Double]
    var ratio: Double?
  }
  private struct Row: Codable {
    var workload: String
    var line: String
    var title: String
    var unit: String
    var higherIsBetter: Bool
    var peers: [Cell]
  }
  private struct Report: Codable {
    var suite: String
    var title: String
    var environment: RunEnvironment
    var rows: Int
    var rounds: Int
    var lines: [Row]
    var disagreements: [String]
  }

  static func text(_ results: Results, _ options: Options) throws -> String {
    let subject = results.peers.first ?? ""
    let lines = results.rows.map { row in
      Row(
        workload: row.workload, line: row.line.id, title: row.line.title, unit: row.line.unit.rawValue,
        higherIsBetter: row.line.unit.higherIsBetter,
        peers: results.peers.compactMap { peer in
          row.samples[peer].map {
            Cell(
              peer: peer, median: $0.median, spreadPercent: $0.spread, samples: $0.values,
              ratio: peer == subject ? nil : row.ratio(subject, to: peer))
          }
        })
    }
    let report = Report(
      suite: options.suite.rawValue, title: results.title, environment: .now(), rows: options.rows,
      rounds: options.rounds, lines: lines, disagreements: results.disagreements)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
  }
}

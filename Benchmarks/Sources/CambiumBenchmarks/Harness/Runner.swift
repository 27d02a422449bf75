import Foundation

/// Runs workloads: for each the answers first, then the timed runs, peers in turn.
final class Runner<P> {
  private let peers: [(name: String, peer: P)]
  private let context: RunContext
  private(set) var results: Results

  init(title: String, peers: [(name: String, peer: P)], context: RunContext) {
    self.peers = peers
    self.context = context
    results = Results(title: title, peers: peers.map { $0.name })
  }

  func run(_ workload: Workload<P>) throws {
    if !context.options.wants(workload.name) { return }
    log("\(workload.name):")
    var able: [(name: String, peer: P)] = []
    if let check = workload.check {
      able = try compare(workload.name, peers, check)
    } else {
      able = peers
    }
    let first = results.rows.count
    for line in workload.lines { results.rows.append(Results.Row(line: line, workload: workload.name)) }
    for round in 0..<min(context.options.rounds(of: workload.name), workload.rounds ?? .max) {
      // Another one begins each round.
      let turn = able.isEmpty ? 0 : round % able.count
      for (name, peer) in able[turn...] + able[..<turn] {
        do {
          try workload.prepare?(peer, context, round)
          // What was written before is not on its way to the device while this is timed: it may be another peer's.
          sync()
          let values = try workload.run(peer, context, round)
          for (i, line) in workload.lines.enumerated() {
            guard let value = values[line.id] else { continue }
            results.rows[first + i].samples[name, default: Samples()].values.append(value)
          }
          log(
            "  \(name) \(values.sorted { $0.key < $1.key }.map { "\($0.key) \(short($0.value))" }.joined(separator: ", "))"
          )
        } catch is NotSupported {
          continue
        } catch {
          results.disagreements.append("\(workload.name): \(name) failed: \(error)")
          log("  \(name) FAILED: \(error)")
        }
      }
    }
    if let check = workload.checkAfter { _ = try compare(workload.name + " (afterwards)", able, check) }
  }

  /// Asks all peers and notes it if they do not answer alike; answers those that can do it.
  private func compare(
    _ name: String, _ peers: [(name: String, peer: P)], _ check: (P, RunContext) throws -> Answer
  ) throws -> [(name: String, peer: P)] {
    var able: [(name: String, peer: P)] = []
    var answers: [(peer: String, answer: Answer)] = []
    for entry in peers {
      do {
        answers.append((entry.name, try check(entry.peer, context)))
        able.append(entry)
      } catch is NotSupported {
        continue
      } catch {
        results.disagreements.append("\(name): \(entry.name) failed: \(error)")
        log("  \(entry.name) FAILED: \(error)")
      }
    }
    if let first = answers.first, answers.contains(where: { $0.answer != first.answer }) {
      let text = answers.map { "\($0.peer): \($0.answer)" }.joined(separator: "; ")
      results.disagreements.append("\(name): \(text)")
      log("  DIFFERENT ANSWERS: \(text)")
    }
    return able
  }
}

/// Tells the person at the terminal how far it is.
func log(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}

/// A number with three digits that count.
func short(_ value: Double) -> String {
  if !value.isFinite { return "-" }
  let magnitude = abs(value)
  if magnitude == 0 { return "0" }
  if magnitude >= 1e9 { return "\(rounded(value / 1e9)) G" }
  if magnitude >= 1e6 { return "\(rounded(value / 1e6)) M" }
  if magnitude >= 1e4 { return "\(rounded(value / 1e3)) k" }
  return rounded(value)
}

private func rounded(_ value: Double) -> String {
  let digits = abs(value) >= 100 ? 1.0 : abs(value) >= 10 ? 10.0 : 100.0
  let n = (value * digits).rounded() / digits
  return digits == 1 ? "\(Int(n))" : "\(n)"
}

/// The same few things on stores of growing size: what should not grow, and what may.
struct GrowthSuite {
  /// What is measured. Everything is a time, so that less is better and a flat line is what is hoped for.
  enum Measure: String, CaseIterable {
    case load = "load, a row"
    case open = "open and get one value"
    case commit = "durable commit of a row, median"
    case unsynced = "commit of a row, not synced, median"
    case get = "get by id, one column"
    case unique = "get by unique tail number, a struct"
    case equality = "indexed equality, a row"
    case scan = "scan with two conditions, a row"
  }

  /// The rows of stores, ascending.
  let sizes: [Int]
  let options: Options
  /// Nanoseconds by peer, measure and size.
  private(set) var times: [String: [Measure: [Int: Double]]] = [:]
  private(set) var bytesPerRow: [String: [Int: Double]] = [:]
  private(set) var disagreements: [String] = []

  init(_ options: Options) {
    self.options = options
    sizes = options.sizes.sorted()
  }

  mutating func run(_ peers: [any Peer]) throws {
    for size in sizes {
      var answers: [(peer: String, answer: Answer)] = []
      for peer in peers {
        log("\(size) rows, \(peer.name):")
        answers.append((peer.name, try run(peer, size)))
      }
      if let first = answers.first, answers.contains(where: { $0.answer != first.answer }) {
        disagreements.append("\(size) rows: \(answers.map { "\($0.peer): \($0.answer)" }.joined(separator: "; "))")
      }
    }
  }

  /// The nanoseconds that `body` takes, the median of several times.
  private func median(_ body: () throws -> Void) rethrows -> Double {
    var samples = Samples()
    for _ in 0..<5 { samples.values.append(1e9 * (try seconds(body))) }
    return samples.median
  }

  private mutating func note(_ peer: any Peer, _ measure: Measure, _ size: Int, _ nanoseconds: Double) {
    times[peer.name, default: [:]][measure, default: [:]][size] = nanoseconds
    log("  \(measure.rawValue): \(short(nanoseconds)) ns")
  }

  /// Everything for one peer at one size; answers what was read, to be compared.
  private mutating func run(_ peer: any Peer, _ size: Int) throws -> Answer {
    try peer.create(.synced)
    // By parts, so that the rows of the largest store need not all be in memory.
    var time = 0.0
    for first in stride(from: 1, through: size, by: 1_000_000) {
      let rows = (first...min(size, first + 999_999)).map { Aircraft(id: $0) }
      time += try seconds { try peer.load(rows[...]) }
    }
    note(peer, .load, size, 1e9 * time / Double(size))
    bytesPerRow[peer.name, default: [:]][size] = Double(try peer.fileBytes()) / Double(size)

    var opening = Samples()
    for i in 0..<30 {
      try peer.close()
      let id = 1 + (size / 2 + i * 7) % size
      opening.values.append(1e9 * (try seconds { _ = try peer.openAndRead(.synced, id: id) }))
    }
    note(peer, .open, size, opening.median)

    var random = SplitMix64(seed: 7)
    let ids = (0..<20_000).map { _ in 1 + Int(random.next() % UInt64(size)) }
    var answer = try peer.hours(ids: ids)
    note(peer, .get, size, try median { _ = try peer.hours(ids: ids) } / Double(ids.count))
    let tailNumbers = ids.prefix(5_000).map { Aircraft.tailNumber($0) }
    try peer.rows(tailNumbers: tailNumbers) { answer.addWhole($0) }
    time = try median { try peer.rows(tailNumbers: tailNumbers) { _ in } }
    note(peer, .unique, size, time / Double(tailNumbers.count))
    var found = 0
    try peer.rows(primary: Aircraft.colour(11)) { row in
      answer.addWhole(row)
      found += 1
    }
    time = try median { try peer.rows(primary: Aircraft.colour(11)) { _ in } }
    note(peer, .equality, size, time / Double(max(1, found)))
    answer.add(UInt64(try peer.count(secondary: Aircraft.colour(33), hoursOver: 7500)))
    time = try median { _ = try peer.count(secondary: Aircraft.colour(33), hoursOver: 7500) }
    note(peer, .scan, size, time / Double(size))

    for (measure, durability, commits) in [
      (Measure.commit, CommitDurability.synced, 300), (.unsynced, .unsynced, 5_000),
    ] {
      try peer.close()
      try peer.open(durability)
      var latencies = Samples()
      let first = size + 1 + (durability == .synced ? 0 : 300)
      for id in first..<(first + commits) {
        let row = Aircraft(id: id)
        latencies.values.append(1e9 * (try seconds { try peer.insert(row) }))
      }
      note(peer, measure, size, latencies.median)
    }
    try peer.close()
    return answer
  }
}

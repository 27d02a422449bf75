/// What a run measured.
struct Results {
  struct Row {
    let line: Line
    let workload: String
    /// By peer.
    var samples: [String: Samples] = [:]

    /// How many times better the first peer is than `peer`: the median of the rounds' ratios, since the runs of one
    /// round lie next to one another in time.
    func ratio(_ subject: String, to peer: String) -> Double? {
      if line.unit == .remark { return nil }
      guard let a = samples[subject]?.values, let b = samples[peer]?.values else { return nil }
      let pairs = zip(a, b).filter { $0 > 0 && $1 > 0 }
      if pairs.isEmpty { return nil }
      return Samples(values: pairs.map { line.unit.higherIsBetter ? $0 / $1 : $1 / $0 }).median
    }
  }

  var title: String
  var peers: [String]
  var rows: [Row] = []
  /// Workloads whose answers differed, with what was answered.
  var disagreements: [String] = []
}

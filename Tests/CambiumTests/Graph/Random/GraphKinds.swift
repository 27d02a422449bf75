import CambiumTesting

/// What random models may have, and what may happen, beside what all have. Each model draws which of these it has, so
/// that each is met alone and with others.
///
/// Without any, a seed gives what it gave before there were these: what a seed has found once is found by it still.
struct GraphKinds: OptionSet {
  let rawValue: Int

  /// Attributes and relationships that are not optional, default values, least and greatest counts.
  static let rules = GraphKinds(rawValue: 1)

  /// Composite attributes, which are set whole and by element.
  static let composites = GraphKinds(rawValue: 2)

  /// Relationships without inverse, and those whose rule is to do nothing: what is deleted may still be led to.
  static let dangling = GraphKinds(rawValue: 4)

  /// A store that keeps history.
  static let history = GraphKinds(rawValue: 8)

  /// Objects that are refreshed, and lose their changes.
  static let refreshes = GraphKinds(rawValue: 16)

  /// Attributes that are derived from others, and from relationships.
  static let derived = GraphKinds(rawValue: 32)

  /// Two stores, each of which has some of the entities.
  static let stores = GraphKinds(rawValue: 64)

  /// What is drawn as a rule; `CAMBIUM_GRAPH_KINDS=32` draws what is derived alone.
  static let all: GraphKinds = [.rules, .composites, .dangling, .history, .refreshes, .derived, .stores]

  /// Seeds that find what is not mended yet, and what their models go without until then; `CAMBIUM_GRAPH_KINDS=3` draws
  /// it all the same.
  static let open: [UInt64: GraphKinds] = [:]

  /// Those of these that a seed has: of each it does not depend on which others there are.
  func drawn(_ seed: UInt64) -> GraphKinds {
    var result: GraphKinds = []
    for bit in 0..<Int.bitWidth where rawValue & (1 << bit) != 0 {
      let kind = GraphKinds(rawValue: 1 << bit)
      var random = kind.random(seed)
      if Bool.random(using: &random) { result.insert(kind) }
    }
    return result
  }

  /// Chance of a kind's own, so that a seed without it goes on as ever.
  func random(_ seed: UInt64) -> SplitMix64 {
    var random = SplitMix64(seed: seed ^ UInt64(rawValue) << 40)
    _ = random.next()
    return random
  }
}

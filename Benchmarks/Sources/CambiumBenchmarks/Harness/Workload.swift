/// What a line of the table is measured in.
enum Unit: String, Sendable {
  case rowsPerSecond = "rows/s"
  case perSecond = "/s"
  case nanoseconds = "ns"
  case microseconds = "us"
  case milliseconds = "ms"
  case bytes = "bytes"
  case count = ""
  /// What explains another line; neither more nor less is better.
  case remark = "commits"
  /// A part of a whole that cannot be reached.
  case share = "%"

  /// Whether more is better.
  var higherIsBetter: Bool { self == .rowsPerSecond || self == .perSecond || self == .share }
}

/// A line of the table.
struct Line: Sendable {
  let id: String
  let title: String
  let unit: Unit

  init(_ id: String, _ title: String, _ unit: Unit) {
    self.id = id
    self.title = title
    self.unit = unit
  }
}

/// A workload: the same for every peer, and the lines that it gives. `P` is what the peers of its suite have in common.
struct Workload<P> {
  /// For `--only`.
  let name: String
  let lines: [Line]
  /// How often at most; nil for as often as the run says.
  var rounds: Int?
  /// Asked of every peer before anything is timed; all must answer alike.
  var check: ((P, RunContext) throws -> Answer)?
  /// Done before each timed run.
  var prepare: ((P, RunContext, Int) throws -> Void)?
  /// A timed run: a value for each line, by id.
  let run: (P, RunContext, Int) throws -> [String: Double]
  /// Asked of every peer after the last round.
  var checkAfter: ((P, RunContext) throws -> Answer)?

  init(
    _ name: String, _ lines: [Line], rounds: Int? = nil,
    check: ((P, RunContext) throws -> Answer)? = nil,
    prepare: ((P, RunContext, Int) throws -> Void)? = nil,
    checkAfter: ((P, RunContext) throws -> Answer)? = nil,
    run: @escaping (P, RunContext, Int) throws -> [String: Double]
  ) {
    self.name = name
    self.lines = lines
    self.rounds = rounds
    self.check = check
    self.prepare = prepare
    self.checkAfter = checkAfter
    self.run = run
  }
}

/// A workload of the main suite.
typealias MainWorkload = Workload<any Peer>

/// What workloads know of their run.
final class RunContext {
  /// Made before anything is timed, once somebody has asked for it: see ``prepareData()``.
  private(set) lazy var data = Dataset(rows: options.rows)
  let options: Options
  /// Ids of aircraft beyond the loaded ones that were given out, by peer.
  private var nextIDs: [String: Int] = [:]

  init(_ options: Options) {
    self.options = options
  }

  var rows: Int { options.rows }

  /// Makes the data, so that nobody's time includes that.
  func prepareData() { _ = data.aircraft.count }

  /// Ids for new rows: every peer gets the same ones in the same order.
  func newRows(_ count: Int, for peer: any Peer) -> [Aircraft] {
    let first = nextID(for: peer)
    nextIDs[peer.name] = first + count
    return (first..<(first + count)).map { Aircraft(id: $0) }
  }

  /// The id of the next new row of a peer.
  func nextID(for peer: any Peer) -> Int { nextIDs[peer.name] ?? rows + 1 }
}

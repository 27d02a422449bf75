import Foundation

/// The flights as the first version of their log has them: one flat table, everything by its code.
struct StoryData {
  /// A flight; numbers in the order of ``numbers``.
  struct Flight {
    var date: Double
    var numbers: [Int64?]
    var carrier: String
    var tail: String?
    var origin: String
    var destination: String
  }

  /// The columns of numbers.
  static let numbers = [
    "flightNumber", "departureScheduled", "departureActual", "departureDelay", "arrivalScheduled", "arrivalActual",
    "arrivalDelay", "airTime", "distance",
  ]
  private static let columns = [
    "flight", "sched_dep_time", "dep_time", "dep_delay", "sched_arr_time", "arr_time", "arr_delay", "air_time",
    "distance",
  ]

  let flights: [Flight]

  /// Reads `flights.csv` of a folder.
  init(folder: String, limit: Int) throws {
    let text = try String(contentsOfFile: folder + "/flights.csv", encoding: .utf8)
    if text.contains("\"") { throw OracleError("flights.csv has quoted fields, which are not read here") }
    var flights: [Flight] = []
    var places: [String: Int] = [:]
    for line in text.split(whereSeparator: { $0.isNewline }) {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      if places.isEmpty {
        places = Dictionary(uniqueKeysWithValues: fields.enumerated().map { (String($0.element), $0.offset) })
        continue
      }
      if flights.count == limit { break }
      func text(_ name: String) throws -> Substring {
        guard let place = places[name], place < fields.count else { throw OracleError("flights.csv lacks \(name)") }
        return fields[place]
      }
      func number(_ name: String) throws -> Int64? { Int64(try text(name), radix: 10) }
      let tail = try text("tailnum")
      // Of a day of the year only that it is another one than that of the day before matters here.
      let day = (try number("month") ?? 0) * 31 + (try number("day") ?? 0)
      flights.append(
        Flight(
          date: Double(378_691_200 + day * 86_400), numbers: try Self.columns.map { try number($0) },
          carrier: String(try text("carrier")), tail: tail == "NA" || tail.isEmpty ? nil : String(tail),
          origin: String(try text("origin")), destination: String(try text("dest"))))
    }
    self.flights = flights
  }
}

/// What goes through the versions of the log: flat; with objects that the entries lead to; with times gathered and
/// codes dropped.
protocol StoryPeer: AnyObject {
  var name: String { get }
  /// A log of the first version, open, its log of changes emptied into its file.
  func prepare(_ data: StoryData) throws
  /// To the second version's model.
  func toObjects() throws
  /// What the application does then: makes the objects that codes stand for, and links every entry, 10,000 a
  /// transaction.
  func link() throws
  /// To the third version's model; the application goes on when this returns.
  func toComposites() throws
  /// What was put off.
  func finish() throws
  /// Closes it, so that all that is to be written is.
  func close() throws
  /// Every entry of the third version, with the codes of what it leads to. Opens it if need be.
  func answer() throws -> Answer
}

/// The story as one workload.
func storyWorkloads(_ data: StoryData) -> [Workload<any StoryPeer>] {
  [
    Workload(
      "story",
      [
        Line("objects", "from the flat table to the model with objects", .milliseconds),
        Line("link", "the application makes objects of codes and links every entry", .milliseconds),
        Line("composites", "times gathered, codes and flat attributes dropped: until control is back", .milliseconds),
        Line("finish", "what was put off", .milliseconds),
        Line("migrations", "both migrations, what was put off included", .milliseconds),
        Line("control", "both migrations, until control is back", .milliseconds),
        Line("all", "all of it", .milliseconds), Line("bytes", "bytes written in all", .bytes),
      ],
      prepare: { peer, _, _ in try peer.prepare(data) },
      checkAfter: { peer, _ in try peer.answer() },
      run: { peer, _, _ in
        let before = ProcessCounters.now().written
        let objects = try seconds { try peer.toObjects() }
        let link = try seconds { try peer.link() }
        let composites = try seconds { try peer.toComposites() }
        let finish = try seconds { try peer.finish() }
        let close = try seconds { try peer.close() }
        return [
          "objects": objects * 1000, "link": link * 1000, "composites": composites * 1000, "finish": finish * 1000,
          "migrations": (objects + composites + finish) * 1000, "control": (objects + composites) * 1000,
          "all": (objects + link + composites + finish + close) * 1000,
          "bytes": Double(ProcessCounters.now().written - before),
        ]
      })
  ]
}

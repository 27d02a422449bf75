import Foundation

/// The whole run.
struct Program {
  let options: Options

  init(_ options: Options) { self.options = options }

  /// Runs; answers the exit status.
  func run() throws -> Int32 {
    try FileManager.default.createDirectory(atPath: options.directory, withIntermediateDirectories: true)
    if options.isOracle, options.isTimed || options.isFixed { return try TimedRun(options: options).run() }
    if options.isOracle { return try OracleRun(options: options).run() }
    if options.suite == .growth { return try growthSuite() }
    let results: Results
    switch options.suite {
    case .query: results = try querySuite()
    case .redb: results = try redbSuite()
    case .objects: results = try objectSuite()
    case .story: results = try storySuite()
    case .servers: results = try serverSuite()
    default: results = try mainSuite()
    }
    try report(results)
    for text in results.disagreements { log("DIFFERENT: \(text)") }
    return results.disagreements.isEmpty ? 0 : 1
  }

  /// A peer by its name, with its files in `directory`.
  static func peer(_ name: String, directory: String) throws -> any Peer {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    switch name {
    case "cambium": return CambiumPeer(directory: directory)
    case "sqlite": return SQLitePeer(directory: directory)
    case "lmdb": return LMDBPeer(directory: directory)
    case "grdb": return GRDBPeer(directory: directory, manual: false)
    case "grdb-manual": return GRDBPeer(directory: directory, manual: true)
    default: throw Options.Mistake(text: "there is no peer \(name)")
    }
  }

  private func mainSuite() throws -> Results {
    let context = RunContext(options)
    let peers = try options.peers.map { try Self.peer($0, directory: options.directory) }
    if options.reusesStores {
      for peer in peers { try peer.open(.synced) }
    } else {
      context.prepareData()
    }
    let runner = Runner(
      title: "Aircraft and log entries, \(options.rows) rows each", peers: peers.map { ($0.name, $0) }, context: context
    )
    for workload in loadingWorkloads() { try runner.run(workload) }
    for workload in readingWorkloads(context) { try runner.run(workload) }
    for workload in committingWorkloads(context) { try runner.run(workload) }
    for workload in threadWorkloads(context) { try runner.run(workload) }
    for workload in writingWorkloads(context) { try runner.run(workload) }
    for workload in openingWorkloads(context) { try runner.run(workload) }
    for workload in sizeWorkloads(context) { try runner.run(workload) }
    for workload in migrationWorkloads(context) { try runner.run(workload) }
    for peer in peers { try peer.close() }
    return runner.results
  }

  private func redbSuite() throws -> Results {
    let context = RunContext(options)
    let directory = options.directory + "/redb"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let peers: [any KeyValuePeer] = options.peers.compactMap { name in
      switch name {
      case "cambium": return KeyValueCambium(directory: directory)
      case "sqlite": return KeyValueSQLite(directory: directory)
      case "lmdb": return KeyValueLMDB(directory: directory)
      default: return nil
      }
    }
    let size = RedbSize(scale: options.scale)
    let runner = Runner(
      title: "redb's workload, \(size.bulk) pairs", peers: peers.map { ($0.name, $0) }, context: context)
    // A round is the whole of it, since each step builds on the one before.
    for workload in redbWorkloads(size) { try runner.run(workload) }
    for peer in peers { try peer.close() }
    return runner.results
  }

  private func querySuite() throws -> Results {
    let context = RunContext(options)
    let folder = options.data ?? FlightTwins.repositoryData
    log("loading the flights of \(folder), and \(options.rows) aircraft and log entries")
    let data = QueryData(
      flights: try FlightTwins.load(data: folder, directory: options.directory, name: "flights"),
      aircraft: try AircraftTwins.load(context.data, directory: options.directory, name: "aircraft"))
    let peers: [any QueryPeer] = try options.peers.compactMap { name in
      switch name {
      case "cambium": return CambiumQueries(data)
      case "sqlite": return SQLiteQueries(data)
      case "grdb": return try GRDBQueries(data)
      default: return nil
      }
    }
    let flights = try data.flights.table("LogEntry").rows.count
    let runner = Runner(
      title: "Questions about \(flights) flights, and \(options.rows) aircraft with as many log entries",
      peers: peers.map { ($0.name, $0) }, context: context)
    for workload in queryWorkloads(try flightQueries(data.flights) + aircraftQueries(options.rows)) {
      try runner.run(workload)
    }
    try data.flights.close()
    try data.aircraft.close()
    return runner.results
  }

  private func objectSuite() throws -> Results {
    let data = Dataset(rows: max(1_000, options.rows / 10))
    let directory = options.directory + "/objects"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let peers: [any ObjectPeer] = options.peers.compactMap { name in
      switch name {
      case "cambium": return CambiumObjects(directory: directory)
      case "swiftdata": return SwiftDataObjects(directory: directory)
      case "sqlite": return SQLiteObjects(directory: directory)
      case "grdb": return GRDBObjects(directory: directory, manual: false)
      case "grdb-manual": return GRDBObjects(directory: directory, manual: true)
      default: return nil
      }
    }
    let runner = Runner(
      title: "Objects: \(data.rows) aircraft and as many log entries", peers: peers.map { ($0.name, $0) },
      context: RunContext(options))
    for workload in objectWorkloads(data) { try runner.run(workload) }
    return runner.results
  }

  private func storySuite() throws -> Results {
    let data = try StoryData(
      folder: options.data ?? FlightTwins.repositoryData, limit: options.isQuick ? options.rows : .max)
    let directory = options.directory + "/story"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let peers: [any StoryPeer] = options.peers.compactMap { name in
      switch name {
      case "cambium": return CambiumStory(directory: directory)
      case "sqlite": return SQLiteStory(directory: directory)
      default: return nil
      }
    }
    let runner = Runner(
      title: "\(data.flights.count) flights, from one flat table to objects and composites",
      peers: peers.map { ($0.name, $0) }, context: RunContext(options))
    for workload in storyWorkloads(data) { try runner.run(workload) }
    for peer in peers { try peer.close() }
    return runner.results
  }

  private func serverSuite() throws -> Results {
    let data = Dataset(rows: max(1_000, options.rows / 10))
    let directory = options.directory + "/servers"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let peers: [any ServerPeer] = options.peers.compactMap { name in
      switch name {
      case "cambium": return CambiumServer(directory: directory)
      case "grdb": return GRDBServer(directory: directory)
      default: return nil
      }
    }
    let runner = Runner(
      title: "Requests of many tasks to a store of \(data.rows) aircraft, beside a heartbeat of 2 ms",
      peers: peers.map { ($0.name, $0) }, context: RunContext(options))
    for workload in serverWorkloads(data, seconds: options.isQuick ? 0.3 : 5) { try runner.run(workload) }
    return runner.results
  }

  private func growthSuite() throws -> Int32 {
    if options.json != nil { throw Options.Mistake(text: "the growth suite writes Markdown and SVG, no JSON") }
    var suite = GrowthSuite(options)
    let peers = try options.peers.map { try Self.peer($0, directory: options.directory + "/growth") }
    try suite.run(peers)
    let names = peers.map { $0.name }
    try write(
      "Stores of aircraft that grow. One round, \(surroundings). Last column: how many times more the largest takes.",
      GrowthReport.table(suite, peers: names), svg: GrowthReport.svg(suite, peers: names))
    for text in suite.disagreements { log("DIFFERENT: \(text)") }
    return suite.disagreements.isEmpty ? 0 : 1
  }

  /// When and where this runs.
  private var surroundings: String {
    let environment = RunEnvironment.now()
    return "\(environment.date), \(environment.processor), \(environment.cores) cores, \(environment.memoryGiB) GiB, "
      + "\(environment.system), SQLite \(environment.sqlite)"
  }

  private func report(_ results: Results) throws {
    if let path = options.json {
      try JSONReport.text(results, options).write(toFile: path, atomically: true, encoding: .utf8)
    }
    try write(
      "\(results.title). \(options.rounds) rounds, \(surroundings). Medians; ± half the range. Ratios: how many times better "
        + "\(results.peers.first ?? "") is, median of the rounds' ratios.",
      Markdown.table(results), svg: Chart.svg(results))
  }

  /// Writes a table and a chart where the options say, and prints the table.
  private func write(_ title: String, _ table: String, svg: String) throws {
    let body = title + "\n\n" + table
    if let path = options.markdown {
      let old = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      try Markdown.replace(in: old, suite: options.suite.rawValue, with: body)
        .write(toFile: path, atomically: true, encoding: .utf8)
    }
    if let path = options.svg { try svg.write(toFile: path, atomically: true, encoding: .utf8) }
    print(body)
  }
}

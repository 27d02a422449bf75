/// When a commit counts as done.
enum CommitDurability: Sendable {
  /// Synced before it is acknowledged.
  case synced
  /// Not synced one by one: a killed process loses nothing.
  case unsynced
}

/// What a peer cannot do, or not in a way worth comparing.
struct NotSupported: Error {}

/// A store that does the workloads. Whatever is fastest among what its own documentation recommends is right.
///
/// One thread uses it, but for ``session()``.
protocol Peer: AnyObject {
  /// As in the options and the table.
  var name: String { get }
  /// Its main file or folder.
  var path: String { get }

  /// Makes an empty store in place of what was there, and opens it.
  func create(_ durability: CommitDurability) throws
  func open(_ durability: CommitDurability) throws
  func close() throws

  /// Adds rows in one durable transaction, indexes included.
  func load(_ rows: ArraySlice<Aircraft>) throws
  func load(_ rows: ArraySlice<LogEntry>) throws
  /// Adds a row in a transaction of its own.
  func insert(_ row: Aircraft) throws

  func hours(ids: [Int]) throws -> Answer
  func rows(ids: [Int], _ body: (Aircraft) -> Void) throws
  /// Every row in a read transaction of its own.
  func rowsOneByOne(ids: [Int], _ body: (Aircraft) -> Void) throws
  func rows(tailNumbers: [String], _ body: (Aircraft) -> Void) throws
  func rows(primary: String, _ body: (Aircraft) -> Void) throws
  /// Ids alone.
  func ids(primary: String) throws -> Answer
  /// By the index on the date.
  func entries(from: Double, before: Double, _ body: (LogEntry) -> Void) throws
  /// How many have this second colour and more hours: no index helps.
  func count(secondary: String, hoursOver: Double) throws -> Int
  /// The rows with the smallest ids.
  func firstRows(_ count: Int, _ body: (Aircraft) -> Void) throws
  /// Hours of the aircraft of entries.
  func tailNumbers(entries: [Int]) throws -> Answer
  /// The entries of aircraft: their distances are summed.
  func entries(tailNumbers: [String]) throws -> Answer

  /// Sets the hours of rows, in one transaction or in one each.
  func setHours(ids: [Int], _ hours: Double, oneByOne: Bool) throws
  /// Sets the indexed colour of rows in one transaction.
  func setPrimary(ids: [Int], _ colour: String) throws
  func delete(ids: [Int], oneByOne: Bool) throws

  /// Changes the table of aircraft, durably.
  func change(_ change: SchemaChange) throws
  /// Whether some of a change may be left to be done later.
  var putsOffChanges: Bool { get }
  /// Does what such changes left to be done, part by part; others may read and write meanwhile.
  func finishChanges() throws

  /// Whatever makes the file as small as the peer can make it.
  func compact() throws
  /// Bytes of all its files, after a checkpoint.
  func fileBytes() throws -> UInt64

  /// Opens the store, reads one value, and leaves it open.
  func openAndRead(_ durability: CommitDurability, id: Int) throws -> Double
  /// Bytes in the log since the last checkpoint.
  func logBytes() throws -> UInt64

  /// Something with which another thread can work at the same time.
  func session() throws -> any PeerSession
}

/// What one thread works with beside others.
protocol PeerSession: AnyObject, Sendable {
  /// Adds a row in a transaction of its own.
  func insert(_ row: Aircraft) throws
  /// Reads a column in a read transaction of its own.
  func hours(id: Int) throws -> Double
  func close()
}

extension Peer {
  func entries(tailNumbers: [String]) throws -> Answer { throw NotSupported() }
  func tailNumbers(entries: [Int]) throws -> Answer { throw NotSupported() }
  func rowsOneByOne(ids: [Int], _ body: (Aircraft) -> Void) throws { throw NotSupported() }
  func ids(primary: String) throws -> Answer { throw NotSupported() }
  func setPrimary(ids: [Int], _ colour: String) throws { throw NotSupported() }
  func change(_ change: SchemaChange) throws { throw NotSupported() }
  var putsOffChanges: Bool { false }
  // Nothing was left.
  func finishChanges() throws {}
  func compact() throws { throw NotSupported() }
  func session() throws -> any PeerSession { throw NotSupported() }
  func logBytes() throws -> UInt64 { throw NotSupported() }

  func openAndRead(_ durability: CommitDurability, id: Int) throws -> Double {
    try open(durability)
    return Double(bitPattern: try hours(ids: [id]).sum)
  }

  /// All aircraft, every byte of them; but for the ids of rows that were added after the load, since threads that add
  /// rows beside one another get theirs in any order.
  func digest(_ rows: Int) throws -> Answer {
    var answer = Answer()
    try firstRows(.max) { row in
      var row = row
      if row.id > rows { row.id = 0 }
      answer.addWhole(row)
    }
    return answer
  }
}

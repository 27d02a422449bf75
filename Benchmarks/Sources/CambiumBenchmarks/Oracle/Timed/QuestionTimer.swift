import CSQLite
import CambiumEngine

/// Measures the processor time of all threads that an answer takes, on both sides.
///
/// Each side answers once first, which is not counted, so that its pages are in memory. Then it answers five times, and
/// the least time counts. Both sides plan each time: SQLite prepares its statement anew, and Cambium plans each fetch.
/// SQLite is stopped at 2 s, which then counts as its time. If Cambium's first answer took longer than 2 s, the time of
/// that answer counts, and Cambium is not asked again.
final class QuestionTimer {
  /// Seconds after which SQLite is stopped.
  static let longest = 2.0
  /// Seconds after which Cambium is stopped.
  static let longestOfCambium = 30.0
  static let repeats = 5

  private let connection: SQLiteConnection
  private let stop = SQLiteStop()

  init(_ connection: SQLiteConnection) {
    self.connection = connection
    sqlite3_progress_handler(
      connection.handle, 20_000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<SQLiteStop>.fromOpaque(context).takeUnretainedValue().isReached ? 1 : 0
      }, Unmanaged.passUnretained(stop).toOpaque())
  }

  deinit { sqlite3_progress_handler(connection.handle, 0, nil, nil) }

  // MARK: Cambium

  /// The least time of an answer, in seconds.
  func time(_ asker: [CambiumAsker]) throws -> (seconds: Double, answer: Answer) {
    var answer = Answer()
    let deadline = processorSeconds() + Self.longestOfCambium
    let first = try measured {
      do {
        for one in asker { try one.ask(&answer, isCancelled: { processorSeconds() > deadline }) }
      } catch EngineError.cancelled {}
    }
    if first > Self.longest { return (first, answer) }
    var least = Double.infinity
    for _ in 0..<Self.repeats {
      answer = Answer()
      least = min(least, try measured { for one in asker { try one.ask(&answer) } })
    }
    return (least, answer)
  }

  // MARK: SQLite

  /// SQLite's time.
  struct SQLiteFigure {
    var seconds: Double
    var wasStopped: Bool
    /// Which of the ways to write the question was the fastest.
    var way: Int
    var answer: Answer
  }

  /// The least time of an answer that several ways of writing the same question take. Each way is a list of statements.
  func time(_ ways: [[String]]) throws -> SQLiteFigure {
    var firsts: [SQLiteFigure] = []
    for (number, statements) in ways.enumerated() { firsts.append(try ask(statements, number)) }
    guard let fastest = firsts.min(by: { $0.seconds < $1.seconds }) else { throw OracleError("no statement") }
    if fastest.seconds >= Self.longest { return fastest }
    var best = fastest
    best.seconds = .infinity
    // The first answer of a way may have read pages for the others, so near ones are all measured.
    for first in firsts where first.seconds < fastest.seconds * 2 {
      for _ in 0..<Self.repeats {
        let figure = try ask(ways[first.way], first.way)
        if figure.seconds < best.seconds { best = figure }
      }
    }
    return best
  }

  private func ask(_ statements: [String], _ way: Int) throws -> SQLiteFigure {
    var figure = SQLiteFigure(seconds: 0, wasStopped: false, way: way, answer: Answer())
    figure.seconds = try measured {
      figure.wasStopped = try !within(Self.longest) {
        for sql in statements { try read(sql, &figure.answer) }
      }
    }
    if figure.wasStopped { figure.seconds = Self.longest }
    return figure
  }

  /// Runs `body`, whose statements stop after so many seconds; answers whether it came to its end.
  func within(_ seconds: Double, _ body: () throws -> Void) throws -> Bool {
    stop.deadline = processorSeconds() + seconds
    stop.wasReached = false
    defer { stop.deadline = .infinity }
    do { try body() } catch let error as SQLiteError {
      if stop.wasReached { return false }
      throw error
    }
    return true
  }

  /// Prepares a statement, and reads every column of every row. A single number a row becomes a list in memory, as the
  /// identifiers that Cambium finds do.
  private func read(_ sql: String, _ answer: inout Answer) throws {
    let statement = try connection.prepare(sql)
    let columns = sqlite3_column_count(statement.handle)
    if columns == 1 {
      var found: [Int] = []
      var digest = RowDigest()
      while try statement.step() {
        if sqlite3_column_type(statement.handle, 0) == SQLITE_INTEGER {
          found.append(statement.int(0))
        } else {
          Self.add(statement, 0, &digest)
          answer.add(digest.value)
        }
      }
      answer.count += found.count
      answer.sum &+= UInt64(bitPattern: Int64(found.last ?? 0))
      return
    }
    while try statement.step() {
      var digest = RowDigest()
      for column in 0..<columns { Self.add(statement, column, &digest) }
      answer.add(digest.value)
    }
  }

  @inline(__always)
  private static func add(_ statement: SQLiteStatement, _ column: Int32, _ digest: inout RowDigest) {
    switch sqlite3_column_type(statement.handle, column) {
    case SQLITE_INTEGER: digest.add(Optional(Int64(statement.int(column))))
    case SQLITE_FLOAT: digest.add(Optional(statement.double(column)))
    case SQLITE_TEXT: digest.add(Optional(statement.text(column)))
    default: digest.add(nil as Int64?)
    }
  }

  private func measured(_ body: () throws -> Void) rethrows -> Double {
    let start = processorSeconds()
    try body()
    return processorSeconds() - start
  }
}

/// The time at which SQLite stops what it does.
private final class SQLiteStop {
  var deadline = Double.infinity
  var wasReached = false

  var isReached: Bool {
    guard deadline < .infinity, processorSeconds() > deadline else { return false }
    wasReached = true
    return true
  }
}

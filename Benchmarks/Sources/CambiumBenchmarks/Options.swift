/// What the command line asks for.
struct Options {
  enum Suite: String { case main, redb, growth, query, objects, story, servers }

  var isQuick = false
  var rows = 1_000_000
  var rounds = 3
  var only: [String] = []
  var peers = ["cambium", "sqlite", "lmdb", "grdb", "grdb-manual"]
  var suite = Suite.main
  var scale = 1.0
  /// Rows of the stores of the growth suite.
  var sizes = [10_000, 100_000, 1_000_000, 10_000_000]
  var json: String?
  var markdown: String?
  var svg: String?
  var directory = ".build/benchmarks"
  /// Compare answers to random questions instead of measuring.
  var isOracle = false
  /// The folder with the flight data; nil for the month in the repository.
  var data: String?
  /// What the random questions are made from; nil for another one each time, or for the published one if timed.
  var seed: UInt64?
  /// Ask random questions, and tell how long both sides take.
  var isTimed = false
  /// Compare the answers to random questions with those of careful SQL before they are timed.
  var isCompared = true
  /// Ask the fixed questions, and tell how long both sides take.
  var isFixed = false
  /// The number of random questions that are timed.
  var questions = 3_000
  /// The number of questions that are printed with both plans, those with the least ratios.
  var worst = 50
  /// The file that the figures of each question are written to.
  var save: String?
  var predicates = 2_000
  var groups = 200
  /// Take the stores that an earlier run left instead of loading them: for profiles of reads.
  var reusesStores = false
  /// What a process that another one started is to do, with its arguments.
  var child: [String] = []

  static let help = """
    usage: CambiumBenchmarks [--suite main|redb|growth|query|objects|story|servers] [--rows N] [--rounds N] [--peers NAME,...] [--only NAME,...]
                             [--reuse] [--scale F] [--sizes N,...] [--json FILE] [--markdown FILE] [--svg FILE] [--directory DIR] [--quick]

      --suite      main: aircraft and log entries (the default); redb: redb's published workload;
                   growth: stores of growing size; query: questions about flights and aircraft;
                   objects: managed objects, a tenth of the rows;
                   story: three versions of a flight log (--data; --peers cambium,sqlite);
                   servers: requests of many tasks beside a heartbeat, a tenth of the rows
      --rows       rows of each table, 1,000,000 by default
      --rounds     how often each workload is run, 3 by default
      --peers      cambium,sqlite,lmdb,grdb,grdb-manual by default; the ratios are the first one's to the others
      --only       these workloads alone (load and entries are always run)
      --scale      size of redb's workload, 1 by default
      --sizes      rows of the stores that grow, 10,000 to 10,000,000 by default
      --directory  where the files are made, .build/benchmarks by default
      --reuse      the stores that an earlier run with as many rows left, instead of loading them: for profiles of reads
      --quick      10,000 rows, 1 round: are the answers right? Exit status 1 if not

           CambiumBenchmarks --oracle [--data DIR] [--seed N] [--predicates N] [--groups N] [--directory DIR] [--quick]

      --oracle     random predicates and questions about groups on flight data: does SQLite answer the same? Exit
                   status 1 if not
      --data       the folder with the CSV files of flights, by default the month in Sources/FlightLog/Data; also of
                   --suite query and --suite story
      --seed       makes the same questions again
      --predicates, --groups   how many, 2,000 and 200 by default (--quick: 200 and 40)

           CambiumBenchmarks --oracle --timed [--fixed] [--data DIR] [--seed N] [--questions N]
                             [--worst N] [--only KIND,NUMBER,...] [--uncompared] [--save FILE] [--directory DIR] [--quick]

      --timed      random questions, timed on both sides: prints the distribution of SQLite's time divided by
                   Cambium's, by kind of question, and the questions with the least ratios with both plans
      --fixed      the fixed questions, timed on both sides: those of the table of slow ones, and the 22 of FlightLog
      --seed       of other questions than those of the published figures
      --questions  how many random ones, 3,000 by default (--quick: 100)
      --worst      how many are printed with their plans, 50 by default
      --only       times the random questions of these kinds or with these numbers alone (orderLimit,distinct,1704)
      --uncompared times questions without comparing their answers first, which may take 20 s for each: for seeds whose
                   answers were compared before
      --save       writes the figures of each random question as tab-separated values
    """

  struct Mistake: Error { let text: String }

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(_ name: String) throws -> String {
      guard let value = rest.popFirst() else { throw Mistake(text: "\(name) needs a value") }
      return value
    }
    func number(_ name: String) throws -> Int {
      guard let n = Int(try value(name)), n > 0 else { throw Mistake(text: "\(name) needs a number") }
      return n
    }
    func list(_ name: String) throws -> [String] { try value(name).split(separator: ",").map(String.init) }
    while let argument = rest.popFirst() {
      switch argument {
      case "--quick":
        isQuick = true
        rows = 10_000
        rounds = 1
        scale = 0.002
        sizes = [2_000, 10_000]
        predicates = 200
        questions = 100
        groups = 40
      case "--rows": rows = max(10_000, try number(argument))
      case "--rounds": rounds = try number(argument)
      case "--only": only = try list(argument)
      case "--peers": peers = try list(argument)
      case "--suite":
        guard let suite = Suite(rawValue: try value(argument)) else { throw Mistake(text: "there is no such suite") }
        self.suite = suite
      case "--scale":
        guard let factor = Double(try value(argument)), factor > 0 else {
          throw Mistake(text: "--scale needs a factor")
        }
        scale = factor
      case "--sizes":
        sizes = try list(argument).map { text in
          guard let n = Int(text), n > 0 else { throw Mistake(text: "--sizes needs numbers") }
          return n
        }
      case "--reuse": reusesStores = true
      case "--oracle": isOracle = true
      case "--data": data = try value(argument)
      case "--seed": seed = UInt64(try number(argument))
      case "--uncompared": isCompared = false
      case "--timed": isTimed = true
      case "--fixed": isFixed = true
      case "--questions": questions = try number(argument)
      case "--worst": worst = try number(argument)
      case "--save": save = try value(argument)
      case "--predicates": predicates = try number(argument)
      case "--groups": groups = try number(argument)
      case "--json": json = try value(argument)
      case "--markdown": markdown = try value(argument)
      case "--svg": svg = try value(argument)
      case "--directory": directory = try value(argument)
      case "--child":
        child = Array(rest)
        rest = []
      default: throw Mistake(text: "unknown argument \(argument)")
      }
    }
  }

  /// What every other workload of a suite needs.
  static let always = ["load", "entries", "bulk", "insert"]

  func wants(_ name: String) -> Bool {
    if reusesStores, Self.always.contains(name) { return false }
    return only.isEmpty || only.contains(name) || Self.always.contains(name)
  }

  /// How often a workload is run; once, if it is only run because others need it.
  func rounds(of name: String) -> Int { only.isEmpty || only.contains(name) ? rounds : 1 }
}

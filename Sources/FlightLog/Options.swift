/// What the command line asks for.
struct Options {
  /// The folder with the CSV files; nil for the one in the repository.
  var data: String?
  /// The store. The story has one of its own, since it begins anew.
  var store: String { givenStore ?? (tellsStory ? "FlightLog-story.store" : "FlightLog.store") }
  private var givenStore: String?
  /// Whether to tell how a flat log became this one.
  var tellsStory = false
  /// Whether only to explain.
  var wantsHelp = false

  /// What `--help` prints.
  static let help = """
    usage: FlightLog [--story] [--data FOLDER] [--store FILE]

    Imports flights, aircraft, airlines and airports from CSV files into a Cambium store, opens it again, and answers a
    pilot's and a dispatcher's questions from it.

      --story         import them into one flat table instead, and migrate that to the present model, stage by stage
      --data FOLDER   the CSV files; by default the month that is in the repository
      --store FILE    the store, by default ./FlightLog.store; an import that was cut short is taken up where it stopped.
                      The story's is ./FlightLog-story.store by default, and replaced if it is there
    """

  /// Reads a command line, without the program's name.
  init(_ arguments: [String]) throws(OptionError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--data": data = try Self.value(of: argument, &rest)
      case "--store": givenStore = try Self.value(of: argument, &rest)
      case "--story": tellsStory = true
      case "--help", "-h": wantsHelp = true
      default: throw OptionError(description: "unknown argument '\(argument)'; try --help")
      }
    }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(OptionError) -> String {
    guard let value = rest.popFirst() else { throw OptionError(description: "\(option) takes a path") }
    return value
  }
}

/// What is wrong with the command line.
struct OptionError: Error, CustomStringConvertible {
  var description: String
}

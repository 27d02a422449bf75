/// A command line, taken apart: operands in order, and which options were given.
///
/// Options may stand anywhere; after `--` everything is an operand.
struct Arguments {
  /// What is no option: the command, then what it works on.
  private(set) var operands: [String] = []
  /// The options, with their dashes.
  private(set) var options: Set<String> = []

  /// All options that there are.
  static let known = forMigrations.union(["--json", "--help", "-h", "--version", "--sync"])
  /// Those that only `cambium migrate` takes.
  static let forMigrations: Set<String> = ["--deferred", "--keep", "--discard"]

  /// Takes a command line apart.
  ///
  /// - Throws: ``ToolError/usage(_:)`` for an option that does not exist.
  init(_ arguments: [String]) throws(ToolError) {
    var onlyOperands = false
    for argument in arguments {
      if onlyOperands || !argument.hasPrefix("-") || argument == "-" {
        operands.append(argument)
      } else if argument == "--" {
        onlyOperands = true
      } else if Self.known.contains(argument) {
        options.insert(argument)
      } else {
        throw .usage("unknown option '\(argument)'")
      }
    }
  }

  /// Whether the answer is to be JSON.
  var wantsJSON: Bool { options.contains("--json") }
  /// Whether a model is to be fit for a cloud database.
  var wantsSync: Bool { options.contains("--sync") }
  /// Whether to explain instead of doing.
  var wantsHelp: Bool { options.contains("--help") || options.contains("-h") }
  /// Whether to tell the version instead of doing.
  var wantsVersion: Bool { options.contains("--version") }
}

import CambiumEngine

/// A command line, taken apart: operands in order, and which options were given.
///
/// Options may stand anywhere; after `--` everything is an operand. The value of an option is the next argument,
/// whatever it begins with, or stands behind `=`.
struct Arguments {
  /// What is no option: the command, then what it works on.
  private(set) var operands: [String] = []
  /// The options, with their dashes.
  private(set) var options: Set<String> = []
  /// The values of those that have one.
  private(set) var values: [String: String] = [:]

  /// All options without a value that there are.
  static let known = flagsForMigrations.union(["--json", "--help", "-h", "--version", "--sync"]).union(flagsForQueries)
    .union(flagsForGenerating).union(flagsForMoving)
  /// Those that only `cambium migrate` takes.
  static let forMigrations = flagsForMigrations.union(budgets)
  private static let flagsForMigrations: Set<String> = ["--deferred", "--keep", "--discard"]
  private static let budgets: Set<String> = ["--budget-milliseconds", "--budget-pages"]
  /// Those that only `cambium query` takes.
  static let forQueries = flagsForQueries.union(valuesForQueries)
  private static let flagsForQueries: Set<String> = ["--csv", "--explain", "--run"]
  private static let valuesForQueries: Set<String> = [
    "--columns", "--group-by", "--having", "--sort", "--limit", "--offset",
  ]
  /// Those that only `cambium generate` takes.
  static let forGenerating = flagsForGenerating.union(valuesForGenerating)
  private static let flagsForGenerating: Set<String> = [
    "--swiftdata", "--managed-objects", "--builder", "--xcdatamodel", "--public",
  ]
  private static let valuesForGenerating: Set<String> = ["--output"]
  /// Those that only `cambium migrate-source` takes.
  static let forMoving = flagsForMoving.union(valuesForMoving)
  private static let flagsForMoving: Set<String> = ["--write"]
  private static let valuesForMoving: Set<String> = ["--model"]
  private static let withValue = valuesForQueries.union(budgets).union(valuesForGenerating).union(valuesForMoving)

  /// Takes a command line apart.
  ///
  /// - Throws: ``ToolError/usage(_:)`` for an option that does not exist, lacks its value, or is given a value twice.
  init(_ arguments: [String]) throws(ToolError) {
    var rest = arguments[...]
    var onlyOperands = false
    while let argument = rest.popFirst() {
      if onlyOperands || !argument.hasPrefix("-") || argument == "-" {
        operands.append(argument)
      } else if argument == "--" {
        onlyOperands = true
      } else if Self.known.contains(argument) {
        options.insert(argument)
      } else {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard Self.withValue.contains(name) else {
          let all = Self.known.union(Self.withValue).sorted()
          throw .usage("unknown option '\(argument)'" + suggestion(for: name, among: all))
        }
        guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
          throw .usage("\(name) needs a value")
        }
        guard values.updateValue(value, forKey: name) == nil else { throw .usage("\(name) is given twice") }
        options.insert(name)
      }
    }
  }

  /// The value of an option as a count; nil if it was not given.
  func count(_ name: String) throws(ToolError) -> Int? {
    guard let text = values[name] else { return nil }
    guard let count = Int(text), count >= 0 else { throw .usage("\(name) takes a number from 0, not '\(text)'") }
    return count
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

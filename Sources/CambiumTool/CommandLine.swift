import CambiumEngine
import CambiumSystem

/// What a command prints on success, in both forms.
struct Answer {
  /// For people.
  var text: String
  /// For programs.
  var json: JSON
  /// What to end with.
  var status = ExitStatus.success
  /// Hints about the question, for standard error.
  var notes: [String] = []
}

/// Does what a command line (without the program's name) asks for, and answers what to end with.
func runCommandLine(_ arguments: [String]) -> ExitStatus {
  // Known before the options are, so that even a complaint about them comes in the form that was asked for.
  let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
  do throws(ToolError) {
    let arguments = try Arguments(arguments)
    let operands = arguments.operands
    if arguments.wantsVersion {
      print(wantsJSON ? JSON.object([("version", .string(toolVersion))]).text() : "cambium \(toolVersion)")
      return .success
    }
    guard let name = operands.first else {
      if arguments.wantsHelp {
        print(generalHelp)
        return .success
      }
      throw .usage("no command given")
    }
    if name == helpCommand {
      print(try helpText(about: operands.dropFirst().first))
      return .success
    }
    let command = try Command(named: name)
    if arguments.wantsHelp {
      print(command.help)
      return .success
    }
    if command == .query {
      // Rows are written as they are found: there may be more of them than memory.
      let output = StandardOutput()
      try runQuery(try command.checked(Array(operands.dropFirst()), arguments), arguments, output)
      return .success
    }
    let answer = try command.run(Array(operands.dropFirst()), arguments)
    for note in answer.notes { StandardError.write(line: "note: \(note)") }
    print(wantsJSON ? answer.json.text() : answer.text)
    return answer.status
  } catch {
    if wantsJSON {
      let json = JSON.object([("error", .string(error.name)), ("message", .string(error.text))])
      print(arguments.first == Command.query.rawValue ? json.line : json.text())
    } else {
      StandardError.write(line: "cambium: \(error.text)")
      if case .usage = error { StandardError.write(line: "Try 'cambium --help'.") }
    }
    return error.status
  }
}

/// The commands.
enum Command: String, CaseIterable {
  case info, check, count, query, compact, model, generate, migrate
  case migrateSource = "migrate-source"

  /// The command of a name.
  ///
  /// - Throws: ``ToolError/usage(_:)`` with the name that was probably meant.
  init(named name: String) throws(ToolError) {
    guard let command = Command(rawValue: name) else {
      let names = Command.allCases.map { $0.rawValue } + [helpCommand]
      throw .usage("unknown command '\(name)'" + suggestion(for: name, among: names))
    }
    self = command
  }

  /// The operands, if there are as many as the command takes, and the options are its own.
  func checked(_ operands: [String], _ arguments: Arguments) throws(ToolError) -> [String] {
    if arguments.wantsSync, self != .model { throw .usage("--sync is for 'cambium model' only") }
    if self != .migrate, let option = Arguments.forMigrations.intersection(arguments.options).min() {
      throw .usage("\(option) is for 'cambium migrate' only")
    }
    if self != .query, let option = Arguments.forQueries.intersection(arguments.options).min() {
      throw .usage("\(option) is for 'cambium query' only")
    }
    if self != .generate, let option = Arguments.forGenerating.intersection(arguments.options).min() {
      throw .usage("\(option) is for 'cambium generate' only")
    }
    if self != .migrateSource, let option = Arguments.forMoving.intersection(arguments.options).min() {
      throw .usage("\(option) is for 'cambium migrate-source' only")
    }
    guard expected.contains(operands.count) else {
      throw .usage(operands.count < expected.lowerBound ? "too few arguments: \(synopsis)" : "too many: \(synopsis)")
    }
    return operands
  }

  /// How many operands the command takes.
  private var expected: ClosedRange<Int> {
    switch self {
    case .info, .check, .compact, .migrateSource: return 1...1
    case .count, .query: return 2...3
    case .generate: return 1...2
    case .model, .migrate: return 1...4
    }
  }

  /// Runs a command that answers when it is done on its operands.
  func run(_ operands: [String], _ arguments: Arguments) throws(ToolError) -> Answer {
    let operands = try checked(operands, arguments)
    switch self {
    case .info: return try showInfo(path: operands[0])
    case .check: return try checkStore(path: operands[0])
    case .count:
      return try countObjects(path: operands[0], entity: operands[1], predicate: operands.count > 2 ? operands[2] : nil)
    case .query: throw .usage("'cambium query' writes as it goes")
    case .compact: return try compactStore(path: operands[0])
    case .migrate: return try runMigrate(operands, arguments)
    case .model: return try runModel(operands, sync: arguments.wantsSync)
    case .generate: return try runGenerate(operands, arguments)
    case .migrateSource: return try runMigrateSource(folder: operands[0], arguments)
    }
  }
}

import CambiumEngine
import CambiumKernel
import CambiumSystem

/// What `cambium migrate` does.
enum MigrateAction: String, CaseIterable {
  case plan, run, finish, rollback, confirm

  /// How many operands follow it.
  var operandCount: ClosedRange<Int> {
    switch self {
    case .plan, .run: return 2...3
    case .finish, .rollback, .confirm: return 1...1
    }
  }

  /// The options that it takes.
  var options: Set<String> {
    switch self {
    case .plan: return ["--deferred"]
    case .run: return ["--deferred", "--keep"]
    case .rollback: return ["--discard"]
    case .finish: return ["--budget-milliseconds", "--budget-pages"]
    case .confirm: return []
    }
  }
}

/// `cambium migrate`: gives a store another model, and undoes that.
func runMigrate(_ operands: [String], _ arguments: Arguments) throws(ToolError) -> Answer {
  guard let name = operands.first, let action = MigrateAction(rawValue: name) else {
    let known = MigrateAction.allCases.map { $0.rawValue }.joined(separator: ", ")
    let guess = suggestion(for: operands.first ?? "", among: MigrateAction.allCases.map { $0.rawValue })
    throw .usage("'\(operands.first ?? "")' is nothing that 'cambium migrate' does; it does \(known)\(guess)")
  }
  let rest = Array(operands.dropFirst())
  guard action.operandCount.contains(rest.count) else {
    throw .usage(
      "\(rest.count < action.operandCount.lowerBound ? "too few" : "too many") arguments for 'migrate \(name)'")
  }
  for option in Arguments.forMigrations.subtracting(action.options).sorted() where arguments.options.contains(option) {
    throw .usage("'migrate \(name)' does not take \(option)")
  }
  let path = rest[0]
  switch action {
  case .plan, .run:
    let model = try LoadedModel(path: rest[1], version: rest.count > 2 ? rest[2] : nil)
    return try migrate(path, to: model, onlyPlans: action == .plan, arguments)
  case .finish:
    return try finishMigration(
      path, milliseconds: try arguments.count("--budget-milliseconds"), pages: try arguments.count("--budget-pages"))
  case .rollback: return try rollBackMigration(path, discards: arguments.options.contains("--discard"))
  case .confirm: return try confirmMigration(path)
  }
}

/// The entities of a store that is open for writing.
private func entities(_ store: OpenedStore) throws(ToolError) -> EntityStore {
  guard let entities = try store.entities() else {
    throw .failed("\(store.path): nothing has been stored yet, so there is nothing to migrate")
  }
  return entities
}

// MARK: plan, run

private func migrate(
  _ path: String, to model: LoadedModel, onlyPlans: Bool, _ arguments: Arguments
) throws(ToolError) -> Answer {
  let store = try OpenedStore(path: path, forWriting: true)
  let source = try entities(store)
  let definition = model.schema.definition
  let defers = arguments.options.contains("--deferred")
  let isThere = try attempting(path) { () throws(EngineError) in
    do throws(SchemaError) {
      return try Schema(definition, basedOn: source.schema).isEqualButForOrder(to: source.schema)
    } catch { throw .schema(error) }
  }
  let stage = try StageText(source, path: path)
  if isThere {
    try store.close()
    return Answer(
      text: (["\(path): has this model already"] + (stage.map { ["  " + $0.text] } ?? [])).joined(separator: "\n"),
      json: .object([
        ("path", .string(path)), ("isMigrated", .boolean(false)), ("steps", .array([])),
        ("migrationStage", stage?.json ?? .null),
      ]))
  }
  var lines: [String] = []
  var json: [JSON] = []
  func note(_ step: MigrationStep) {
    lines.append("  \(step.description)")
    json.append(
      .object([
        ("kind", .string("\(step.kind)")), ("entity", step.entity.map { .string($0) } ?? .null),
        ("name", step.name.map { .string($0) } ?? .null), ("entries", .count(step.entries)),
        ("pages", .count(step.pages)), ("bytes", .count(step.bytes)), ("isDeferrable", .boolean(step.isDeferrable)),
        ("isPutOff", .boolean(step.isPutOff)),
      ]))
  }
  var drops: [ModelDrop] = []
  var inTheWay = try strayIdentifiers(path, source, model)
  if let stage, stage.isMigrated { inTheWay.append(stage.text) }
  var migrated: EntityStore?
  do throws(EngineError) {
    if onlyPlans {
      let plan = try source.migrationPlan(to: definition, defers: defers)
      drops = plan.drops
      for step in plan.steps { note(step) }
      inTheWay += plan.blocks.map { $0.description }
    } else if inTheWay.isEmpty {
      let showsProgress = standardErrorIsTerminal()
      migrated = try source.migrate(
        to: definition, defers: defers, keepsPriorState: arguments.options.contains("--keep")
      ) { step in
        if showsProgress { StandardError.write(line: "  \(step.description)") }
        note(step)
      }
    }
  } catch {
    switch error {
    case .notInferable(let obstacles): inTheWay = obstacles.map { $0.description }
    case .migrationBlocked(let blocks): inTheWay = blocks.map { $0.description }
    default: throw ToolError(error, path: path)
    }
  }
  let tasks = try migrated.map { (store) throws(ToolError) in
    try attempting(path) { () throws(EngineError) in try store.deferredTasks(estimatesFreed: true) }
  }
  try store.close()
  let title =
    !inTheWay.isEmpty
    ? "\(path): cannot be migrated to \(model.name):"
    : onlyPlans ? "\(path): migrating to \(model.name) would" : "\(path): migrated to \(model.name)"
  var text = [title] + inTheWay.map { "  \($0)" } + drops.map { "  \($0)" }
  if let stage, !stage.isMigrated { text.append("  " + stage.text) }
  if inTheWay.isEmpty { text += lines }
  for task in tasks ?? [] { text.append("  put off: \(task.description)") }
  return Answer(
    text: text.joined(separator: "\n"),
    json: .object([
      ("path", .string(path)), ("isMigrated", .boolean(migrated != nil)),
      ("inTheWay", .array(inTheWay.map { .string($0) })), ("drops", .array(drops.map(dropJSON))),
      ("steps", .array(json)), ("migrationStage", stage?.json ?? .null),
      ("deferredTasks", .array((tasks ?? []).map(taskJSON))),
    ]), status: inTheWay.isEmpty ? .success : .damaged)
}

/// Returns the errors about renaming identifiers that name nothing in the model of a store.
private func strayIdentifiers(
  _ path: String, _ source: EntityStore, _ model: LoadedModel
) throws(ToolError) -> [String] {
  let destination = try attempting(path) { () throws(EngineError) in
    do throws(SchemaError) { return try Schema(model.schema.definition, basedOn: source.schema) } catch {
      throw .schema(error)
    }
  }
  return ModelStep(from: source.schema, to: destination, known: model.versions()).strayIdentifiers.map {
    $0.description
  }
}

/// Returns a drop as JSON.
func dropJSON(_ drop: ModelDrop) -> JSON {
  .object([
    ("kind", .string("\(drop.kind)")), ("entity", .string(drop.entity)),
    ("path", drop.path.map { .string($0) } ?? .null), ("values", drop.values.map { .count($0) } ?? .null),
    ("isNamed", .boolean(drop.isNamed)), ("line", .string(drop.line)),
  ])
}

/// A task as JSON.
func taskJSON(_ task: DeferredTask) -> JSON {
  .object([
    ("kind", .string(task.kind == .buildIndex ? "buildIndex" : "rewriteRows")), ("entity", .string(task.entity)),
    ("index", task.index.map { .string($0) } ?? .null), ("rows", .count(task.rows)), ("bytes", .count(task.bytes)),
    ("freedBytes", task.freedBytes.map { .count($0) } ?? .null), ("nextRow", .count(task.nextRow)),
  ])
}

// MARK: finish, rollback, confirm

/// Does what was put off, or as much of it as a budget allows.
private func finishMigration(_ path: String, milliseconds: Int?, pages: Int?) throws(ToolError) -> Answer {
  let clock = ContinuousClock()
  let start = clock.now
  let store = try OpenedStore(path: path, forWriting: true)
  let entities = try entities(store)
  let tasks = try attempting(path) { () throws(EngineError) in try entities.deferredTasks() }
  let showsProgress = standardErrorIsTerminal()
  var allowance = DeferredAllowance(duration: milliseconds.map { .milliseconds(Int64($0)) }, pages: pages)
  var shown: Duration?
  try attempting(path) { () throws(EngineError) in
    while let task = try entities.deferredTasks().first, let limit = allowance.limit(of: task, after: clock.now - start)
    {
      var turn = clock.now
      let part = try entities.runDeferredPart(within: limit, durably: allowance.isDurable) { turn = clock.now }
      allowance.note(clock.now - turn, part, of: task)
      let passed = clock.now - start
      // Parts may take less than a millisecond.
      if showsProgress, shown.map({ passed - $0 > .milliseconds(200) }) ?? true {
        shown = passed
        StandardError.write(
          line: "  \(task.entity)\(task.index.map { "." + $0 } ?? ""): \(grouped(part.nextRow ?? task.rows)) of "
            + "\(grouped(task.rows)) rows")
      }
    }
  }
  do throws(StoreError) { try store.kernel.makeDurable() } catch { throw ToolError(error, path: path) }
  let left = try attempting(path) { () throws(EngineError) in try entities.deferredTasks() }
  try store.close()
  let done =
    tasks.isEmpty
    ? "nothing was put off"
    : left.isEmpty
      ? "done what was put off" : "went through \(grouped(allowance.total)) rows; \(left.count) tasks are left"
  return Answer(
    text: "\(path): \(done)" + (left.isEmpty ? tasks : left).map { "\n  \($0.description)" }.joined(),
    json: .object([
      ("path", .string(path)),
      ("done", .array(tasks.filter { task in !left.contains { $0.isSame(as: task) } }.map(taskJSON))),
      ("left", .array(left.map(taskJSON))), ("rows", .count(allowance.total)),
    ]))
}

private func rollBackMigration(_ path: String, discards: Bool) throws(ToolError) -> Answer {
  let store = try OpenedStore(path: path, forWriting: true)
  let entities = try entities(store)
  let prior = try attempting(path) { () throws(EngineError) in try entities.priorState() }
  let back: EntityStore
  do throws(EngineError) { back = try entities.rollBackMigration(discardsCommits: discards) } catch {
    guard case .commitsSinceMigration = error else { throw ToolError(error, path: path) }
    throw .failed("\(path): \(error.description) (--discard)")
  }
  let checksum = back.schema.versionChecksum
  try store.close()
  let discarded = prior?.commitsSince ?? 0
  return Answer(
    text: "\(path): the migration is undone, the model is \(checksum)"
      + (discarded > 0 ? "; \(grouped(discarded)) commits were discarded" : ""),
    json: .object([
      ("path", .string(path)), ("modelChecksum", .string(checksum)), ("discardedCommits", .count(discarded)),
    ]))
}

private func confirmMigration(_ path: String) throws(ToolError) -> Answer {
  let store = try OpenedStore(path: path, forWriting: true)
  let entities = try entities(store)
  try attempting(path) { () throws(EngineError) in try entities.confirmMigration() }
  try store.close()
  return Answer(
    text: "\(path): the state before the migration is given up", json: .object([("path", .string(path))]))
}

import CambiumEngine

/// `cambium query`: the objects of an entity that match a predicate, or what groups of them come to, row by row.
func runQuery(_ operands: [String], _ arguments: Arguments, _ output: any RowOutput) throws(ToolError) {
  let options = arguments.options
  if arguments.wantsJSON, options.contains("--csv") { throw .usage("--json and --csv exclude one another") }
  if options.contains("--explain"), options.contains("--csv") { throw .usage("--explain answers with text or --json") }
  if options.contains("--run"), !options.contains("--explain") { throw .usage("--run is for --explain") }
  let (path, name) = (operands[0], operands[1])
  let store = try OpenedStore(path: path)
  let (entities, entity) = try store.entity(named: name)
  let request = try QueryRequest(
    schema: entities.schema, entity: entity, predicate: operands.count > 2 ? operands[2] : nil, arguments)
  let printer = RowPrinter(
    arguments.wantsJSON ? .json : options.contains("--csv") ? .csv : .table,
    names: request.values.columns.map(\.name), schema: entities.schema, output: output)
  for note in request.notes { output.note(note) }
  let view = try attempting(path) { () throws(EngineError) in try entities.view() }
  if options.contains("--explain") {
    let explanation: QueryExplanation
    do throws(EngineError) {
      explanation = try view.explain(request.values, running: options.contains("--run"))
    } catch { throw request.error(error, path: path) }
    try output.write((arguments.wantsJSON ? json(explanation).line : explanation.description) + "\n", force: true)
    return try store.close()
  }
  var isBegun = false
  var failure: ToolError?
  do throws(EngineError) {
    try request.values.check(against: entities.schema)
    try view.forEachValues(request.values) { (values) throws(EngineError) in
      do throws(ToolError) {
        // Not before the first row: what is wrong with the predicate is said instead of a heading.
        if !isBegun { try printer.begin() }
        isBegun = true
        try printer.add(values)
        return true
      } catch {
        failure = error
        return false
      }
    }
  } catch { throw request.error(error, path: path) }
  if let failure { throw failure }
  if !isBegun { try printer.begin() }
  try printer.finish()
  try store.close()
}

private func json(_ explanation: QueryExplanation) -> JSON {
  .object([
    (
      "steps",
      .array(
        explanation.steps.map { step in
          .object([
            ("depth", .count(step.depth)), ("text", .string(step.text)),
            ("estimatedRows", step.estimatedRows.map { .count($0) } ?? .null),
          ])
        })
    ), ("estimatedRows", .count(explanation.estimatedRows)),
    ("actualRows", explanation.actualRows.map { .count($0) } ?? .null),
  ])
}

/// What `cambium query` is asked for.
struct QueryRequest {
  let schema: Schema
  let entity: EntitySchema
  private(set) var values: EngineValuesFetch
  /// Hints about the predicates, for standard error.
  private(set) var notes: [String] = []

  /// Reads the request.
  ///
  /// - Throws: ``ToolError/usage(_:)`` for what cannot be read.
  init(schema: Schema, entity: EntitySchema, predicate text: String?, _ arguments: Arguments) throws(ToolError) {
    self.schema = schema
    self.entity = entity
    var fetch = EngineFetch(entity)
    if let text {
      let question = try PredicateText(text)
      fetch.predicate = try question.predicate(in: schema, of: entity)
      notes += question.notes
    }
    fetch.limit = try arguments.count("--limit")
    fetch.offset = try arguments.count("--offset") ?? 0
    if let text = arguments.values["--sort"] {
      for part in try QueryText.parts(text, of: "--sort") { fetch.sort.append(try QueryText.sortKey(part)) }
    }
    let groupBy = try arguments.values["--group-by"].map { (text) throws(ToolError) in
      try QueryText.parts(text, of: "--group-by")
    }
    var columns: [EngineColumn] = []
    if let text = arguments.values["--columns"] {
      for part in try QueryText.parts(text, of: "--columns") { columns.append(try QueryText.column(part)) }
    } else if let groupBy {
      columns = groupBy.map { EngineColumn($0, .keyPath($0)) }
      columns.append(EngineColumn("count", .function("count", [.evaluatedObject])))
    } else {
      columns = Self.columns(of: entity)
    }
    values = EngineValuesFetch(fetch, columns: columns)
    values.groupBy = groupBy ?? []
    if let text = arguments.values["--having"] {
      let question = try PredicateText(text, place: "--having: ")
      values.having = try question.predicate(in: schema, of: entity)
      notes += question.notes
    }
  }

  /// All that an object itself has: its attributes, composites taken apart, and the objects that it leads to.
  private static func columns(of entity: EntitySchema) -> [EngineColumn] {
    var columns: [EngineColumn] = []
    func add(_ attribute: AttributeSchema, prefix: String) {
      let path = prefix + attribute.name
      if attribute.type == .composite {
        for element in attribute.elements { add(element, prefix: path + ".") }
      } else if !attribute.isTransient {
        columns.append(EngineColumn(path, .keyPath(path)))
      }
    }
    for attribute in entity.allAttributes { add(attribute, prefix: "") }
    for relationship in entity.allRelationships where !relationship.isToMany {
      columns.append(EngineColumn(relationship.name, .keyPath(relationship.name)))
    }
    // An entity without any of these still has objects.
    return columns.isEmpty ? [EngineColumn("SELF", .evaluatedObject)] : columns
  }

  // MARK: What is wrong

  /// What to say of an error, with the names that there are where one was not found.
  func error(_ error: EngineError, path: String) -> ToolError {
    switch error {
    case .unknownProperty(_, let name):
      return .usage(error.description + schema.alternatives(along: name, from: entity.id))
    case .predicate, .misuse, .unsupported, .typeMismatch, .schema(.unknownKeyPath), .schema(.keyPathTooLong):
      return .usage(error.description)
    default: return ToolError(error, path: path)
    }
  }
}

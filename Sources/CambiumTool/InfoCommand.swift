import CambiumEngine
import CambiumKernel

/// `cambium info`: the model, the numbers of objects, the sizes.
func showInfo(path: String) throws(ToolError) -> Answer {
  let store = try OpenedStore(path: path)
  let statistics = try store.statistics()
  var lines = ["\(path)", "  store \(store.uuidText)"]
  lines.append("  commit \(statistics.sequence), checkpoint \(statistics.publication)")
  lines.append(
    "  \(grouped(statistics.fileBytes)) bytes: \(grouped(statistics.liveBytes)) live in pages and values, "
      + "\(grouped(statistics.logSegmentBytes)) log, \(grouped(statistics.freeBytes)) free")
  var members: [(String, JSON)] = [
    ("path", .string(path)), ("uuid", .string(store.uuidText)), ("commit", .count(statistics.sequence)),
    ("checkpoint", .count(statistics.publication)), ("fileBytes", .count(statistics.fileBytes)),
    ("liveBytes", .count(statistics.liveBytes)), ("segmentBytes", .count(statistics.segmentBytes)),
    ("logSegmentBytes", .count(statistics.logSegmentBytes)), ("logBytes", .count(statistics.logBytes)),
    ("freeBytes", .count(statistics.freeBytes)),
  ]
  if let entityStore = try store.entities() {
    let schema = entityStore.schema
    members.append(("versionIdentifiers", .array(schema.versionIdentifiers.map { .string($0) })))
    if !schema.versionIdentifiers.isEmpty {
      lines.append("  model version \(schema.versionIdentifiers.joined(separator: ", "))")
    }
    let view = try attempting(path) { () throws(EngineError) in try entityStore.view() }
    var entities: [JSON] = []
    for entity in schema.entities {
      var fetch = EngineFetch(entity)
      fetch.includesSubentities = false
      let count = try attempting(path) { () throws(EngineError) in try view.count(fetch) }
      lines.append("")
      lines += describe(entity, count: count)
      entities.append(json(entity, count: count))
    }
    members.append(("entities", .array(entities)))
  } else {
    lines.append("  no model: nothing has been stored yet")
    members.append(("entities", .null))
  }
  let kept = try describeKept(store)
  if !kept.lines.isEmpty { lines += [""] + kept.lines }
  members += kept.members
  try store.close()
  return Answer(text: lines.joined(separator: "\n"), json: .object(members))
}

/// What migrations have put off, and the states that are retained.
private func describeKept(_ store: OpenedStore) throws(ToolError) -> (lines: [String], members: [(String, JSON)]) {
  let tasks: [DeferredTask]
  if let entities = try store.entities() {
    tasks = try attempting(store.path) { () throws(EngineError) in try entities.deferredTasks(estimatesFreed: true) }
  } else {
    tasks = []
  }
  let retained: [RetainedCommit]
  do throws(StoreError) { retained = try store.kernel.retainedCommits() } catch {
    throw ToolError(error, path: store.path)
  }
  let stage = try store.entities().flatMap { (entities) throws(ToolError) in
    try StageText(entities, path: store.path)
  }
  let lines =
    (stage.map { [$0.text] } ?? []) + tasks.map { "put off: \($0.description)" }
    + retained.map { "kept: commit \($0.sequence), \(grouped($0.heldBytes)) bytes: \($0.reason)" }
  let members: [(String, JSON)] = [
    ("migrationStage", stage?.json ?? .null), ("deferredTasks", .array(tasks.map(taskJSON))),
    (
      "retainedCommits",
      .array(
        retained.map { commit in
          .object([
            ("id", .count(commit.id)), ("commit", .count(commit.sequence)), ("reason", .string(commit.reason)),
            ("made", .count(commit.made)), ("expires", commit.expires.map { .count($0) } ?? .null),
            ("limitBytes", commit.limitBytes.map { .count($0) } ?? .null), ("heldBytes", .count(commit.heldBytes)),
          ])
        })
    ),
  ]
  return (lines, members)
}

// MARK: Text

private func describe(_ entity: EntitySchema, count: Int) -> [String] {
  let parent = entity.parent.map { ": \($0)" } ?? ""
  var lines = ["\(entity.isAbstract ? "abstract " : "")\(entity.name)\(parent)  \(grouped(count)) objects"]
  for attribute in entity.attributes { lines += describe(attribute, indent: "  ") }
  for relationship in entity.relationships {
    let arrow = relationship.isToMany ? "->>" : "->"
    let inverse = relationship.inverse.map { ", inverse \($0)" } ?? ""
    let order = relationship.isOrdered ? ", ordered" : ""
    let required = relationship.isOptional ? "" : ", required"
    lines.append("  \(relationship.name) \(arrow) \(relationship.destination)\(inverse)\(order)\(required)")
  }
  for index in entity.indexes {
    let parts = index.elements.map { $0.isAscending ? $0.path : "\($0.path) descending" }
    let partial = index.partialPredicate.map { " where \($0)" } ?? ""
    lines.append("  index \(index.name) (\(parts.joined(separator: ", ")))\(partial)")
  }
  for constraint in entity.uniquenessConstraints {
    lines.append("  unique (\(constraint.paths.joined(separator: ", ")))")
  }
  return lines
}

private func describe(_ attribute: AttributeSchema, indent: String) -> [String] {
  let required = attribute.isOptional ? "" : ", required"
  let name = attribute.compositeName.map { "\(attribute.type.name) \($0)" } ?? attribute.type.name
  var lines = ["\(indent)\(attribute.name): \(name)\(required)"]
  for element in attribute.elements { lines += describe(element, indent: indent + "  ") }
  return lines
}

// MARK: JSON

private func json(_ entity: EntitySchema, count: Int) -> JSON {
  .object([
    ("name", .string(entity.name)), ("parent", entity.parent.map { .string($0) } ?? .null),
    ("isAbstract", .boolean(entity.isAbstract)), ("count", .count(count)),
    ("attributes", .array(entity.attributes.map(json))),
    (
      "relationships",
      .array(
        entity.relationships.map { relationship in
          .object([
            ("name", .string(relationship.name)), ("destination", .string(relationship.destination)),
            ("inverse", relationship.inverse.map { .string($0) } ?? .null),
            ("isToMany", .boolean(relationship.isToMany)), ("isOrdered", .boolean(relationship.isOrdered)),
            ("isOptional", .boolean(relationship.isOptional)),
          ])
        })
    ),
    (
      "indexes",
      .array(
        entity.indexes.map { index in
          .object([
            ("name", .string(index.name)), ("paths", .array(index.elements.map { .string($0.path) })),
            ("isAscending", .array(index.elements.map { .boolean($0.isAscending) })),
            ("where", index.partialPredicate.map { .string($0) } ?? .null),
          ])
        })
    ),
    (
      "uniquenessConstraints",
      .array(entity.uniquenessConstraints.map { .array($0.paths.map { .string($0) }) })
    ),
  ])
}

private func json(_ attribute: AttributeSchema) -> JSON {
  var members: [(String, JSON)] = [
    ("name", .string(attribute.name)), ("type", .string(attribute.type.name)),
    ("isOptional", .boolean(attribute.isOptional)),
  ]
  if let name = attribute.compositeName { members.append(("composite", .string(name))) }
  if !attribute.elements.isEmpty { members.append(("elements", .array(attribute.elements.map(json)))) }
  return .object(members)
}

/// A number with its digits in threes: `1,234,567`.
func grouped(_ value: some BinaryInteger) -> String {
  var result = ""
  let digits = String(value)
  for (index, digit) in digits.enumerated() {
    let left = digits.count - index
    if index > 0, left % 3 == 0, result != "-" { result += "," }
    result.append(digit)
  }
  return result
}

import CambiumEngine
import CambiumKernel
import CambiumModelFiles
import CambiumModels
import CambiumSystem

/// `cambium model promote`: makes a model the one that is in production, if it only adds to that.
func promoteModel(development: String, production: String) throws(ToolError) -> Answer {
  let new = try LoadedModel(path: development)
  var old: LoadedModel?
  if PlainFiles.names(inFolder: production) != nil { old = try LoadedModel(path: production) }
  if let problem = XcodeFolder.problem(of: production, names: PlainFiles.names(inFolder: production)) {
    throw .usage(problem)
  }
  let step = AdditiveStep(from: old?.schema, to: new.schema)
  let changes = old.map { !SchemaDifference(from: $0.schema, to: new.schema).isEmpty } ?? true
  if step.isAllowed, changes { try write(new, to: production) }
  return Answer(
    text: promotionLines(step, from: production, to: new.name, isDone: true).joined(separator: "\n"),
    json: .object([
      ("development", .string(development)), ("production", .string(production)), ("promotion", promotionJSON(step)),
    ]),
    status: step.isAllowed ? .success : .damaged)
}

/// Writes a model as a folder of Xcode's.
private func write(_ model: LoadedModel, to folder: String) throws(ToolError) {
  let bytes: [UInt8]
  do throws(ModelDocumentError) { bytes = try model.document.contents() } catch {
    throw .failed("\(model.name): the model cannot be written as Xcode's: \(error.detail)")
  }
  do throws(StoreError) {
    try PlainFiles.makeFolder(folder)
    try PlainFiles.replace(folder + "/contents", with: bytes)
  } catch { throw ToolError(error, path: folder) }
}

/// Returns the lines that say whether a step to another model can be promoted.
func promotionLines(_ step: AdditiveStep, from old: String, to new: String, isDone: Bool = false) -> [String] {
  guard step.isAllowed else {
    return ["\(new) cannot be promoted to \(old), because devices share what is in production:"]
      + step.obstacles.map { "  \($0)" }
  }
  let verb = isDone ? "was" : "can be"
  if step.additions.isEmpty { return ["\(new) \(verb) promoted to \(old): nothing is added"] }
  return ["\(new) \(verb) promoted to \(old), which adds:"] + step.additions.map { "  \($0)" }
}

/// Returns a step as JSON.
func promotionJSON(_ step: AdditiveStep) -> JSON {
  .object([
    ("isAllowed", .boolean(step.isAllowed)), ("additions", .array(step.additions.map { .string($0) })),
    ("obstacles", .array(step.obstacles.map(findingJSON))),
  ])
}

/// Returns a finding as JSON.
func findingJSON(_ finding: ModelFinding) -> JSON {
  .object([("rule", .string(finding.rule)), ("place", .string(finding.place)), ("text", .string(finding.text))])
}

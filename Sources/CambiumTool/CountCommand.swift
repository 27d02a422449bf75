import CambiumEngine

/// `cambium count`: how many objects of an entity match a predicate.
func countObjects(path: String, entity name: String, predicate text: String?) throws(ToolError) -> Answer {
  let question = try text.map { (text) throws(ToolError) in try PredicateText(text) }
  let store = try OpenedStore(path: path)
  let (entityStore, entity) = try store.entity(named: name)
  let predicate = try question?.predicate(in: entityStore.schema, of: entity)
  let count = try attempting(path) { () throws(EngineError) in
    try entityStore.view().count(EngineFetch(entity, predicate: predicate))
  }
  try store.close()
  return Answer(
    text: String(count),
    json: .object([
      ("path", .string(path)), ("entity", .string(name)), ("predicate", text.map { .string($0) } ?? .null),
      ("count", .count(count)),
    ]), notes: question?.notes ?? [])
}

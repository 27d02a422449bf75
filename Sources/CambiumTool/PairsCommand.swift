import CambiumEngine
import CambiumKernel
import CambiumModels
import CambiumSystem

/// The result of opening a store of an older version of an application with a newer version.
private enum Opening {
  /// Opens it as it is, and the older version goes on opening it.
  case shared
  /// Migrates it. The older version does not open it any more.
  case migrated
  /// Cannot migrate it.
  case refused([String])

  var name: String {
    switch self {
    case .shared: return "shared"
    case .migrated: return "migrated"
    case .refused: return "refused"
    }
  }

  var text: String {
    switch self {
    case .shared: return "both open one store"
    case .migrated: return "a store migrates"
    case .refused: return "a store cannot be migrated"
    }
  }

  var reasons: [String] {
    if case .refused(let reasons) = self { return reasons }
    return []
  }
}

/// `cambium model pairs`: opens a store of each version of a model with each later one, and says which versions can
/// live together.
func pairVersions(path: String, sync: Bool) throws(ToolError) -> Answer {
  guard PlainFiles.names(inFolder: path) != nil else {
    throw .usage("'model pairs' takes a folder with the versions of a model, and \(path) is none")
  }
  var models: [LoadedModel] = []
  for name in try wholeModelFolder(path).versionNames { models.append(try LoadedModel(path: path, version: name)) }
  let ordered = orderedVersions(models)
  var lines: [String] = []
  var json: [JSON] = []
  var isSound = true
  for (place, old) in ordered.enumerated() {
    for new in ordered[(place + 1)...] {
      let opening = try open(old.schema, with: new.schema, path)
      let step = sync ? AdditiveStep(from: old.schema, to: new.schema) : nil
      var text = "\(old.name) -> \(new.name): \(opening.text)"
      if let step { text += step.isAllowed ? "; both can be synchronised" : "; they cannot be synchronised together" }
      lines.append(text)
      lines += opening.reasons.map { "  \($0)" } + (step?.obstacles.map { "  \($0)" } ?? [])
      isSound = isSound && opening.reasons.isEmpty && step?.isAllowed != false
      json.append(
        .object([
          ("old", .string(old.name)), ("new", .string(new.name)), ("opening", .string(opening.name)),
          ("reasons", .array(opening.reasons.map { .string($0) })), ("promotion", step.map(promotionJSON) ?? .null),
        ]))
    }
  }
  if json.isEmpty { lines.append("\(path): there is one version, and so no pair") }
  return Answer(
    text: lines.joined(separator: "\n"), json: .object([("path", .string(path)), ("pairs", .array(json))]),
    status: isSound ? .success : .damaged)
}

// MARK: Opening

/// Makes a store of the older model in memory, with an object of each entity, and opens it with the newer one.
private func open(_ old: Schema, with new: Schema, _ path: String) throws(ToolError) -> Opening {
  if new.differingEntities(from: old).isEmpty { return .shared }
  do throws(EngineError) {
    let store = try filledStore(old)
    _ = try store.migrate(to: new.definition)
    return .migrated
  } catch {
    switch error {
    case .notInferable(let obstacles): return .refused(obstacles.map { $0.description })
    case .migrationBlocked(let blocks): return .refused(blocks.map { $0.description })
    default: throw ToolError(error, path: path)
    }
  }
}

private func filledStore(_ schema: Schema) throws(EngineError) -> EntityStore {
  let environment = SystemEnvironment()
  let device = MemoryDevice(lock: environment.makeLock())
  let kernel: Store
  do throws(StoreError) {
    try Store.format(device, environment: environment, options: StoreOptions())
    kernel = try Store.open(on: device, environment: environment, options: StoreOptions())
  } catch { throw .store(error) }
  let store = try EntityStore.create(in: kernel, schema: schema)
  for (number, entity) in store.schema.entities.enumerated() where !entity.isAbstract {
    var values = RowValues()
    for attribute in entity.allAttributes where !attribute.isTransient && attribute.derivation == nil {
      values.set(attribute.name, sample(attribute, number))
    }
    do throws(EngineError) {
      try store.write { (t) throws(EngineError) in try t.insert(try t.reserveReference(entity), values) }
    } catch {
      // A constraint that the entity inherits may forbid the default a second time. The store then has no such object.
      if case .uniqueViolation = error { continue }
      throw error
    }
  }
  return store
}

/// A value of an attribute: its default, or another one that objects of different entities do not share.
private func sample(_ attribute: AttributeSchema, _ number: Int) -> Value {
  if !attribute.defaultValue.isNull { return attribute.defaultValue }
  switch attribute.type {
  case .integer16, .integer32, .integer64, .decimal, .double, .float:
    return attribute.type.coerce(.integer(Int64(number % 1000))) ?? .null
  case .boolean: return .boolean(false)
  case .string: return .string("\(number)")
  case .date: return .date(Double(number))
  case .binary: return .binary([UInt8(truncatingIfNeeded: number)])
  case .uuid: return .uuid(UUIDBytes(high: 0, low: UInt64(number)))
  case .uri: return .uri("x:\(number)")
  case .composite:
    let elements = attribute.elements
    return .composite(CompositeValue(names: elements.map { $0.name }, values: elements.map { sample($0, number) }))
  case .undefined, .transformable, .objectID: return .null
  }
}

import CambiumEngine
import CambiumKernel
import CambiumModels
import CambiumSystem

/// What `cambium model` does.
enum ModelAction: String, CaseIterable {
  case checksum, compile, diff, lint, pairs, promote

  /// How many operands it takes, itself not counted.
  var operandCount: ClosedRange<Int> {
    switch self {
    case .checksum, .lint: return 1...2
    case .pairs: return 1...1
    case .compile, .promote: return 2...2
    case .diff: return 2...3
    }
  }
}

/// `cambium model`: what concerns models, of Xcode's folders, compiled ones, and stores.
func runModel(_ operands: [String], sync: Bool) throws(ToolError) -> Answer {
  guard let name = operands.first, let action = ModelAction(rawValue: name) else {
    let known = ModelAction.allCases.map { $0.rawValue }.joined(separator: ", ")
    let guess = suggestion(for: operands.first ?? "", among: ModelAction.allCases.map { $0.rawValue })
    throw .usage("'\(operands.first ?? "")' is nothing that 'cambium model' does; it does \(known)\(guess)")
  }
  if sync, action != .lint, action != .diff, action != .pairs {
    throw .usage("--sync is for 'cambium model lint', diff and pairs")
  }
  let rest = Array(operands.dropFirst())
  guard action.operandCount.contains(rest.count) else {
    throw .usage(
      "\(rest.count < action.operandCount.lowerBound ? "too few" : "too many") arguments for 'model \(name)'")
  }
  switch action {
  case .checksum: return try showChecksums(path: rest[0], version: rest.count > 1 ? rest[1] : nil)
  case .compile: return try compileModel(source: rest[0], target: rest[1])
  case .diff:
    return rest.count == 2
      ? try diffModels(try LoadedModel(path: rest[0]), try LoadedModel(path: rest[1]), sync: sync)
      : try diffModels(
        try LoadedModel(path: rest[0], version: rest[1]), try LoadedModel(path: rest[0], version: rest[2]), sync: sync)
  case .lint: return try lintModel(path: rest[0], version: rest.count > 1 ? rest[1] : nil, sync: sync)
  case .pairs: return try pairVersions(path: rest[0], sync: sync)
  case .promote: return try promoteModel(development: rest[0], production: rest[1])
  }
}

// MARK: checksum

private func showChecksums(path: String, version: String?) throws(ToolError) -> Answer {
  var models: [LoadedModel] = []
  var current: String?
  if version == nil, PlainFiles.names(inFolder: path) != nil {
    let folder = try wholeModelFolder(path)
    current = folder.currentVersionName
    for name in folder.versionNames { models.append(try LoadedModel(path: path, version: name)) }
  } else {
    models = [try LoadedModel(path: path, version: version)]
  }
  var lines: [String] = []
  var json: [JSON] = []
  for model in models {
    lines.append("\(model.schema.versionChecksum)  \(model.name)\(model.name == current ? " (current)" : "")")
    let hashes = model.schema.entityVersionHashesByName.sorted { $0.key < $1.key }
    json.append(
      .object([
        ("version", .string(model.name)), ("isCurrent", .boolean(model.name == current)),
        ("checksum", .string(model.schema.versionChecksum)),
        ("entityVersionHashes", .object(hashes.map { ($0.key, .string($0.value.base64)) })),
      ]))
  }
  return Answer(
    text: lines.joined(separator: "\n"), json: .object([("path", .string(path)), ("versions", .array(json))]))
}

// MARK: compile

private func compileModel(source: String, target: String) throws(ToolError) -> Answer {
  let folder = try wholeModelFolder(source)
  let versions = try readingModel(source) { () throws(ModelFileError) in try folder.versions() }
  guard let current = folder.currentVersionName, versions.contains(where: { $0.name == current }) else {
    throw .damaged(
      "\(source): nothing says which version is the current one; choose it in the model editor (.xccurrentversion)")
  }
  do throws(StoreError) {
    let files = ModelFolder.compiledFiles(versions, current: current)
    try PlainFiles.makeFolder(target)
    // The list of versions last: a version that it has another checksum of is refused, until it is compiled again.
    for file in files { try PlainFiles.replace(target + "/" + file.name, with: file.bytes) }
    let names = Set(files.map { $0.name })
    for name in PlainFiles.names(inFolder: target) ?? [] where name.hasSuffix(".schema") && !names.contains(name) {
      try PlainFiles.remove(target + "/" + name)
    }
  } catch { throw ToolError(error, path: target) }
  var lines = ["\(target): \(versions.count) versions, \(current) is current"]
  var warnings: [JSON] = []
  for version in versions {
    for warning in version.warnings {
      lines.append("\(version.name), \(warning.description)")
      warnings.append(
        .object([
          ("version", .string(version.name)), ("line", .count(warning.line)), ("text", .string(warning.text)),
        ]))
    }
  }
  return Answer(
    text: lines.joined(separator: "\n"),
    json: .object([
      ("path", .string(target)), ("current", .string(current)),
      ("checksums", .object(versions.map { ($0.name, .string($0.schema.versionChecksum)) })),
      ("warnings", .array(warnings)),
    ]))
}

// MARK: diff

private func diffModels(_ old: LoadedModel, _ new: LoadedModel, sync: Bool) throws(ToolError) -> Answer {
  let difference = SchemaDifference(from: old.schema, to: new.schema)
  var lines: [String] = []
  var entities: [JSON] = []
  for entity in difference.entities {
    lines.append("\(entity.name)  \(entity.kind == .changed ? "" : entity.kind.rawValue)".trimmed)
    var changes: [JSON] = []
    for change in entity.changes {
      let place = change.property.map { "\($0): " } ?? ""
      lines.append("  \(change.isStored ? "*" : " ") \(place)\(change.text)")
      changes.append(
        .object([
          ("property", change.property.map { .string($0) } ?? .null), ("change", .string(change.text)),
          ("isStored", .boolean(change.isStored)),
        ]))
    }
    entities.append(
      .object([
        ("entity", .string(entity.name)), ("kind", .string(entity.kind.rawValue)), ("changes", .array(changes)),
      ]))
  }
  lines += difference.others
  let differing = new.schema.differingEntities(from: old.schema)
  var obstacles: [MappingObstacle] = []
  if !differing.isEmpty {
    do throws(EngineError) { _ = try SchemaMapping.infer(from: old.schema, to: new.schema) } catch {
      guard case .notInferable(let found) = error else { throw ToolError(error, path: new.name) }
      obstacles = found
    }
  }
  let verdict: String
  if difference.isEmpty {
    verdict = "same"
    lines.append("the models are the same")
  } else if differing.isEmpty {
    verdict = "compatible"
    lines.append("stores can be opened with either model: nothing that is stored (*) differs")
  } else if obstacles.isEmpty {
    verdict = "inferable"
    lines.append("stores have to be migrated, which can be inferred: \(differing.joined(separator: ", "))")
  } else {
    verdict = "notInferable"
    lines.append("stores have to be migrated, which cannot be inferred:")
    lines += obstacles.map { "  \($0)" }
  }
  let step = ModelStep(from: old.schema, to: new.schema, known: old.versions() + new.versions())
  lines += step.drops.map { "  \($0)\($0.isNamed ? "" : ": " + $0.line)" }
  lines += step.strayIdentifiers.map { "error: \($0)" } + step.findings.map { "\($0)" }
  let additive = sync ? AdditiveStep(from: old.schema, to: new.schema) : nil
  if let additive { lines += promotionLines(additive, from: old.name, to: new.name) }
  return Answer(
    text: lines.joined(separator: "\n"),
    json: .object([
      ("old", .string(old.name)), ("new", .string(new.name)), ("verdict", .string(verdict)),
      ("promotion", additive.map(promotionJSON) ?? .null),
      ("entities", .array(entities)), ("others", .array(difference.others.map { .string($0) })),
      ("differingEntities", .array(differing.map { .string($0) })),
      (
        "obstacles",
        .array(
          obstacles.map {
            .object([
              ("entity", .string($0.entity)), ("property", $0.property.map { .string($0) } ?? .null),
              ("reason", .string($0.reason)), ("remedy", .string($0.remedy)),
            ])
          })
      ),
      ("drops", .array(step.drops.map(dropJSON))),
      ("errors", .array(step.strayIdentifiers.map { .string($0.description) })),
      ("findings", .array(step.findings.map { .string($0.description) })),
    ]),
    status: obstacles.isEmpty && step.strayIdentifiers.isEmpty && additive?.isAllowed != false ? .success : .damaged)
}

// MARK: lint

private func lintModel(path: String, version: String?, sync: Bool) throws(ToolError) -> Answer {
  var models: [LoadedModel] = []
  if version == nil, PlainFiles.names(inFolder: path) != nil {
    for name in try wholeModelFolder(path).versionNames { models.append(try LoadedModel(path: path, version: name)) }
  } else {
    models = [try LoadedModel(path: path, version: version)]
  }
  var lines: [String] = []
  var json: [JSON] = []
  func add(_ model: LoadedModel, _ rule: String, _ place: String, _ text: String) {
    lines.append("\(models.count > 1 ? model.name + ", " : "")\(place): \(text) [\(rule)]")
    json.append(
      .object([
        ("version", .string(model.name)), ("rule", .string(rule)), ("place", .string(place)), ("text", .string(text)),
      ]))
  }
  var byChecksum: [String: String] = [:]
  for model in models {
    for warning in model.warnings { add(model, "file", "line \(warning.line)", warning.text) }
    for finding in model.schema.findings() + (sync ? model.schema.syncFindings() : []) {
      add(model, finding.rule, finding.place, finding.text)
    }
    if let other = byChecksum.updateValue(model.name, forKey: model.schema.versionChecksum) {
      add(
        model, "same-checksum", model.name,
        "version \(other) has the same checksum, so that a staged migration cannot tell them apart; remove one, or set a "
          + "version hash modifier")
    }
  }
  for (old, new) in consecutive(models) {
    let step = ModelStep(from: old.schema, to: new.schema, known: models.map { $0.schema })
    for stray in step.strayIdentifiers {
      let place = stray.property.map { stray.entity + "." + $0 } ?? stray.entity
      add(new, "stray-identifier", place, "from version \(old.name), \(stray)")
    }
    for finding in step.findings {
      add(new, finding.rule, finding.place, "from version \(old.name), \(finding.text)")
    }
  }
  let count = lines.count
  lines.append(count == 0 ? "\(path): nothing found" : "\(path): \(count) found")
  return Answer(
    text: lines.joined(separator: "\n"), json: .object([("path", .string(path)), ("findings", .array(json))]),
    status: count == 0 ? .success : .damaged)
}

/// Returns the steps from each version to the next.
private func consecutive(_ models: [LoadedModel]) -> [(LoadedModel, LoadedModel)] {
  let ordered = orderedVersions(models)
  return Array(zip(ordered, ordered.dropFirst()))
}

/// Returns versions from the oldest to the newest. Their numbers give the order if all have one, otherwise their names
/// do.
func orderedVersions(_ models: [LoadedModel]) -> [LoadedModel] {
  let numbered = models.compactMap { model in model.schema.versionNumber.map { ($0, model) } }
  return numbered.count == models.count
    ? numbered.sorted { $0.0 < $1.0 }.map { $0.1 }
    : models.sorted { sortingKey($0.name) < sortingKey($1.name) }
}

/// Returns a name whose numbers are filled up with zeros, so that "Flights 10" comes after "Flights 9".
private func sortingKey(_ name: String) -> String {
  var key = ""
  var digits = ""
  for character in name + " " {
    if character.isASCII, character.isNumber {
      digits.append(character)
      continue
    }
    if !digits.isEmpty { key += String(repeating: "0", count: max(0, 20 - digits.count)) + digits }
    digits = ""
    key.append(character)
  }
  return key
}

extension String {
  /// Without spaces at the end.
  fileprivate var trimmed: String {
    var result = Substring(self)
    while result.last == " " { result.removeLast() }
    return String(result)
  }
}

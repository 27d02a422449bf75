import CambiumEngine
import CambiumGenerator
import CambiumKernel
import CambiumModels
import CambiumSystem

/// `cambium generate`: Swift code of a model, or Xcode's file of one.
func runGenerate(_ operands: [String], _ arguments: Arguments) throws(ToolError) -> Answer {
  let path = operands[0]
  let version = operands.count > 1 ? operands[1] : nil
  let forms = Set(CodeForm.allCases.filter { arguments.options.contains("--" + $0.rawValue) })
  if arguments.options.contains("--xcdatamodel") {
    guard forms.isEmpty, !arguments.options.contains("--public") else {
      throw .usage("--xcdatamodel goes with no option but --output")
    }
    return try writeXcodeModel(path: path, version: version, to: arguments.values["--output"])
  }
  guard forms.count == 1 || forms == [.managedObjects, .builder] else {
    throw .usage(
      "say what to generate: --swiftdata, --managed-objects, --builder, --managed-objects --builder, or --xcdatamodel")
  }
  return try writeCode(path: path, version: version, forms, arguments)
}

// MARK: Swift

private func writeCode(
  path: String, version: String?, _ forms: Set<CodeForm>, _ arguments: Arguments
) throws(ToolError) -> Answer {
  let source = try CodeSource(path: path, version: version)
  var options = CodeOptions(
    modelName: source.name, forms: forms, sourceName: path.split(separator: "/").last.map { String($0) } ?? path)
  options.isPublic = arguments.options.contains("--public")
  let code: GeneratedCode
  do throws(Refusals) {
    code = try CodeGenerator.generate(source.versions, current: source.current, options)
    let unusable = forms.contains(.builder) ? source.unusableRules() : []
    if !unusable.isEmpty { throw Refusals(all: unusable) }
  } catch { return refusalAnswer(error, path: path) }
  let notes = code.notes + source.notes(besides: code.notes)
  guard let folder = arguments.values["--output"] else {
    for note in notes { StandardError.write(line: "note: \(note)") }
    let whole = SourceFile.joined(code.files, name: source.name + ".swift")
    return Answer(text: trimmedEnd(whole.text), json: filesJSON(code.files, notes, removed: []))
  }
  let removed = try write(code.files, into: folder)
  let lines =
    code.files.map { "\(folder)/\($0.name)" } + removed.map { "removed: \(folder)/\($0)" } + notes.map { "note: \($0)" }
  return Answer(text: lines.joined(separator: "\n"), json: filesJSON(code.files, notes, removed: removed))
}

/// Writes the files, and removes those that an earlier call made of the same model.
///
/// - Returns: The names of the files that were removed.
/// - Throws: `failed` for a file that is in the way and was not generated. Nothing is written then.
private func write(_ files: [SourceFile], into folder: String) throws(ToolError) -> [String] {
  var stale: [String] = []
  for name in (PlainFiles.names(inFolder: folder) ?? []).sorted() where name.hasSuffix(".swift") {
    let heading = try firstLine(ofFile: folder + "/" + name)
    // File systems may not tell capital letters from small ones.
    let isWritten = files.contains { $0.name.lowercased() == name.lowercased() }
    if isWritten, !heading.hasPrefix("// \(SourceFile.origin) ") {
      throw .failed(
        "\(folder)/\(name): the file was not made by 'cambium generate', and would be overwritten; move it away, or name "
          + "another folder")
    }
    if !isWritten, let own = files.first, heading == "// " + own.heading { stale.append(name) }
  }
  do throws(StoreError) {
    try makeFolders(folder)
    for file in files { try PlainFiles.replace(folder + "/" + file.name, with: Array(file.text.utf8)) }
    for name in stale { try PlainFiles.remove(folder + "/" + name) }
  } catch { throw ToolError(error, path: folder) }
  return stale
}

private func firstLine(ofFile path: String) throws(ToolError) -> String {
  let bytes: [UInt8]?
  do throws(StoreError) { bytes = try PlainFiles.bytes(ofFile: path, limit: 1 << 30) } catch {
    throw ToolError(error, path: path)
  }
  return String(decoding: (bytes ?? []).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

/// The versions of a model that code is made of.
private struct CodeSource {
  let name: String
  private(set) var current: String?
  private var models: [LoadedModel] = []

  /// Reads the versions at a path: all of a folder of several, or one. Each is built, so that what no model can be is
  /// told first.
  init(path: String, version: String?) throws(ToolError) {
    let whole = try? modelFolder(path)
    guard let whole, version == nil, whole.versionNames.count > 1 else {
      models = [try LoadedModel(path: path, version: version)]
      name = whole?.name ?? CodeSource.storeName(path)
      return
    }
    name = whole.name
    current = whole.currentVersionName
    if let problem = CodeVersion.problem(ofCurrent: current, among: whole.versionNames) {
      throw .failed("\(path): \(problem)")
    }
    for name in whole.versionNames { models.append(try LoadedModel(path: path, version: name)) }
  }

  private static func storeName(_ path: String) -> String {
    let file = path.split(separator: "/").last ?? ""
    return file.split(separator: ".").first.map { String($0) } ?? "Store"
  }

  var versions: [CodeVersion] { models.map { CodeVersion(name: $0.name, document: $0.document) } }

  /// Sentences about what reading the model found, and the generator does not know of: parts that a store cannot use.
  func notes(besides known: [String]) -> [String] {
    models.flatMap { model in
      let warnings = model.warnings.filter { warning in !known.contains { $0.hasSuffix(warning.text) } }
        .map { "line \($0.line): \($0.text)" }
      let findings = model.schema.findings().filter { $0.rule == "derivation" }.map { "\($0.place): \($0.text)" }
      return (warnings + findings).map { models.count > 1 ? "version \(model.name), \($0)" : $0 }
    }
  }

  /// The patterns and conditions that a model file may have, because reading it leaves them out, and that a model in
  /// code cannot be made with.
  func unusableRules() -> [Refusal] {
    models.flatMap { model -> [Refusal] in
      var found: [Refusal] = []
      for entity in model.document.entities {
        guard let built = model.schema.entity(named: entity.name) else { continue }
        for attribute in entity.attributes where attribute.regularExpression != nil {
          guard built.attribute(named: attribute.name)?.regularExpression == nil else { continue }
          found.append(
            Refusal(
              entity.name, attribute.name, "the pattern '\(attribute.regularExpression?.value ?? "")' cannot be used",
              "correct or remove it in the model"))
        }
        for index in entity.allIndexes() where index.partialPredicate != nil {
          guard !built.indexes.contains(where: { $0.name == index.name }) else { continue }
          found.append(
            Refusal(
              entity.name, nil, "the condition of the index '\(index.name)' cannot be used",
              "correct the condition, or remove the index in the model"))
        }
      }
      return found.map { refusal in
        var refusal = refusal
        if models.count > 1 { refusal.version = model.name }
        return refusal
      }
    }
  }
}

private func refusalAnswer(_ refusals: Refusals, path: String) -> Answer {
  let count = refusals.all.count
  let lines =
    refusals.all.map { $0.description } + ["\(path): nothing is generated, for \(count) reason\(count == 1 ? "" : "s")"]
  return Answer(
    text: lines.joined(separator: "\n"),
    json: .object([
      ("path", .string(path)),
      (
        "refusals",
        .array(
          refusals.all.map {
            .object([
              ("version", .string($0.version)), ("entity", $0.entity.map { .string($0) } ?? .null),
              ("property", $0.property.map { .string($0) } ?? .null), ("reason", .string($0.reason)),
              ("remedy", .string($0.remedy)),
            ])
          })
      ),
    ]),
    status: .damaged)
}

private func filesJSON(_ files: [SourceFile], _ notes: [String], removed: [String]) -> JSON {
  .object([
    ("files", .array(files.map { .object([("name", .string($0.name)), ("text", .string($0.text))]) })),
    ("removed", .array(removed.map { .string($0) })), ("notes", .array(notes.map { .string($0) })),
  ])
}

/// Makes a folder, and those that it lies in.
private func makeFolders(_ path: String) throws(StoreError) {
  var place = path.hasPrefix("/") ? "/" : ""
  for part in path.split(separator: "/") {
    place += (place.isEmpty || place.hasSuffix("/") ? "" : "/") + part
    try PlainFiles.makeFolder(place)
  }
}

private func trimmedEnd(_ text: String) -> String { text.hasSuffix("\n") ? String(text.dropLast()) : text }

// MARK: XML

private func writeXcodeModel(path: String, version: String?, to folder: String?) throws(ToolError) -> Answer {
  if let folder, let problem = XcodeFolder.problem(of: folder, names: PlainFiles.names(inFolder: folder)) {
    throw .failed(problem)
  }
  let model = try LoadedModel(path: path, version: version)
  let document = model.document
  let bytes: [UInt8]
  do throws(ModelDocumentError) { bytes = try document.contents() } catch {
    throw .failed("\(path): the model cannot be written as Xcode's: \(error.detail)")
  }
  let notes = document.warnings.map { $0.line == 0 ? $0.text : $0.description }
  let text = String(decoding: bytes, as: UTF8.self)
  let json = JSON.object([
    ("checksum", .string(model.schema.versionChecksum)), ("contents", .string(text)),
    ("notes", .array(notes.map { .string($0) })),
  ])
  guard let folder else {
    for note in notes { StandardError.write(line: "note: \(note)") }
    return Answer(text: trimmedEnd(text), json: json)
  }
  do throws(StoreError) {
    try makeFolders(folder)
    try PlainFiles.replace(folder + "/contents", with: bytes)
  } catch { throw ToolError(error, path: folder) }
  let lines = ["\(folder)/contents"] + notes.map { "note: \($0)" }
  return Answer(text: lines.joined(separator: "\n"), json: json)
}

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
  } catch { return refusalAnswer(error, path: path) }
  guard let folder = arguments.values["--output"] else {
    for note in code.notes { StandardError.write(line: "note: \(note)") }
    let whole = SourceFile.joined(code.files, name: source.name + ".swift")
    return Answer(text: trimmedEnd(whole.text), json: filesJSON(code.files, code.notes))
  }
  do throws(StoreError) {
    try makeFolders(folder)
    for file in code.files { try PlainFiles.replace(folder + "/" + file.name, with: Array(file.text.utf8)) }
  } catch { throw ToolError(error, path: folder) }
  let lines = code.files.map { "\(folder)/\($0.name)" } + code.notes.map { "note: \($0)" }
  return Answer(text: lines.joined(separator: "\n"), json: filesJSON(code.files, code.notes))
}

/// The versions of a model that code is made of.
private struct CodeSource {
  let name: String
  var versions: [CodeVersion] = []
  var current: String?

  /// Reads the versions at a path: all of a folder of several, or one. Each is built, so that what no model can be is
  /// told first.
  init(path: String, version: String?) throws(ToolError) {
    let whole = try? modelFolder(path)
    guard let whole, version == nil, whole.versionNames.count > 1 else {
      let model = try LoadedModel(path: path, version: version)
      name = whole?.name ?? CodeSource.storeName(path)
      versions = [CodeVersion(name: model.name, document: model.document)]
      return
    }
    name = whole.name
    current = whole.currentVersionName
    for name in whole.versionNames {
      let model = try LoadedModel(path: path, version: name)
      versions.append(CodeVersion(name: name, document: model.document))
    }
  }

  private static func storeName(_ path: String) -> String {
    let file = path.split(separator: "/").last ?? ""
    return file.split(separator: ".").first.map { String($0) } ?? "Store"
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

private func filesJSON(_ files: [SourceFile], _ notes: [String]) -> JSON {
  .object([
    ("files", .array(files.map { .object([("name", .string($0.name)), ("text", .string($0.text))]) })),
    ("notes", .array(notes.map { .string($0) })),
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

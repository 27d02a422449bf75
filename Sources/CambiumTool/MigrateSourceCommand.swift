import CambiumSourceMover

/// `cambium migrate-source`: rewrites a folder of Core Data sources for CambiumCoreData.
func runMigrateSource(folder path: String, _ arguments: Arguments) throws(ToolError) -> Answer {
  let isWritten = arguments.options.contains("--write")
  var model: LoadedModel?
  if let modelPath = arguments.values["--model"] { model = try LoadedModel(path: modelPath) }
  let sources = try SourceFolder(path: path)
  let move = FolderMove(sources.files.map { (name: $0.name, text: $0.text) }, model: model?.document)
  var moved: [MovedFile] = []
  for (file, result) in zip(sources.files, move.sources) {
    if isWritten, result.text != file.text { try sources.write(result.text, to: file.name) }
    if !result.changes.isEmpty || !result.findings.isEmpty { moved.append(MovedFile(name: file.name, source: result)) }
  }
  let made = move.made
  if isWritten { for file in made { try sources.write(file.text, to: file.name) } }
  let isComplete = sources.unreadable.isEmpty && moved.allSatisfy { $0.source.findings.isEmpty }
  let report = MoveReport(
    path: path, files: moved, made: made, unreadable: sources.unreadable, count: sources.files.count,
    isWritten: isWritten)
  return Answer(text: report.text, json: report.json, status: isComplete ? .success : .damaged)
}

/// A file in which something was changed or found.
struct MovedFile {
  var name: String
  var source: MovedSource
}

/// What `cambium migrate-source` prints.
private struct MoveReport {
  let path: String
  let files: [MovedFile]
  let made: [GeneratedClasses.File]
  let unreadable: [(name: String, reason: String)]
  /// How many sources were read.
  let count: Int
  let isWritten: Bool

  private var changeCount: Int { files.reduce(0) { $0 + $1.source.changes.count } }
  private var findingCount: Int { files.reduce(0) { $0 + $1.source.findings.count } }

  /// The changes by file, then the findings by cause.
  var text: String {
    var lines: [String] = []
    for file in files where !file.source.changes.isEmpty {
      lines.append(file.name)
      lines += file.source.changes.map { "  \($0.line): \($0.text)" }
    }
    for file in made { lines.append("\(file.name): a new file, as Xcode makes it of the model with every build") }
    if findingCount > 0 { lines.append("left:") }
    for (cause, places) in causes {
      lines.append("  \(cause.reason) (\(places.count)): \(cause.remedy)")
      lines += places.map { "    \($0.file):\($0.finding.line): \($0.finding.text)" }
    }
    for file in unreadable { lines.append("not read: \(file.name): \(file.reason)") }
    let changed = files.count { !$0.source.changes.isEmpty }
    lines.append(
      "\(Self.count(changeCount, "change")) in \(changed) of \(Self.count(count, "file")), \(findingCount) left"
        + (isWritten || changeCount == 0 && made.isEmpty ? "" : "; nothing is written without --write"))
    return lines.joined(separator: "\n")
  }

  /// The findings of all files by cause, the most frequent first.
  private var causes: [(Cause, [(file: String, finding: MovedSource.Finding)])] {
    var places: [Cause: [(file: String, finding: MovedSource.Finding)]] = [:]
    for file in files {
      for finding in file.source.findings { places[finding.cause, default: []].append((file.name, finding)) }
    }
    return places.sorted { ($1.value.count, $0.key.reason) < ($0.value.count, $1.key.reason) }
      .map { ($0.key, $0.value) }
  }

  var json: JSON {
    .object([
      ("path", .string(path)), ("written", .boolean(isWritten)), ("sources", .count(count)),
      (
        "files",
        .array(
          files.map { file in
            .object([
              ("name", .string(file.name)),
              (
                "changes",
                .array(
                  file.source.changes.map { .object([("line", .count($0.line)), ("text", .string($0.text))]) })
              ),
              (
                "left",
                .array(
                  file.source.findings.map {
                    .object([
                      ("line", .count($0.line)), ("text", .string($0.text)), ("reason", .string($0.cause.reason)),
                      ("remedy", .string($0.cause.remedy)),
                    ])
                  })
              ),
            ])
          })
      ),
      ("made", .array(made.map { .object([("name", .string($0.name)), ("text", .string($0.text))]) })),
      (
        "unreadable",
        .array(unreadable.map { .object([("name", .string($0.name)), ("reason", .string($0.reason))]) })
      ),
    ])
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

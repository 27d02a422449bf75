import CambiumEngine
import CambiumKernel

/// A finding of `cambium check`.
private struct Finding {
  /// The part of the store.
  var place: String
  /// Where, in bytes from the start of the file, if it is one place.
  var offset: UInt64?
  /// What is wrong.
  var detail: String
  /// How many findings in a row were like this one.
  var times = 1

  var text: String {
    let position = offset.map { ", byte \($0)" } ?? ""
    let repetition = times > 1 ? " (\(grouped(times)) times)" : ""
    return "  \(place)\(position): \(detail)\(repetition)"
  }

  var json: JSON {
    .object([
      ("place", .string(place)), ("offset", offset.map { .count($0) } ?? .null), ("detail", .string(detail)),
      ("times", .count(times)),
    ])
  }
}

/// What was found, and how much was looked at.
private struct Examination {
  var findings: [Finding] = []
  var pages: UInt64 = 0
  var entries: UInt64 = 0
  var rows = 0
  /// What relationships say that does not fit, and is no damage.
  var relationships: [String] = []

  init(_ report: CheckReport) {
    pages = report.pages
    entries = report.entries
    for problem in report.problems {
      add(Finding(place: "\(problem.place)", offset: problem.knownOffset, detail: "\(problem.detail)"))
    }
  }

  init(_ report: EngineCheckReport) {
    self.init(report.kernel)
    rows = report.rows
    relationships = report.relationships
    for problem in report.problems { add(Finding(place: "entities", detail: problem)) }
  }

  init(unopened detail: String) { add(Finding(place: "store", detail: detail)) }

  /// Adds a finding; one that is the same as the last is counted with it.
  mutating func add(_ finding: Finding) {
    if let last = findings.last, last.place == finding.place, last.offset == finding.offset,
      last.detail == finding.detail
    {
      findings[findings.count - 1].times += 1
    } else {
      findings.append(finding)
    }
  }

  func answer(path: String) -> Answer {
    let counts = "\(grouped(pages)) pages, \(grouped(entries)) entries, \(grouped(rows)) rows"
    let isSound = findings.isEmpty
    let heading = isSound ? "\(path): sound (\(counts))" : "\(path): DAMAGED (\(counts) visited)"
    return Answer(
      text: ([heading] + findings.map(\.text) + relationships.map { "  relationship: \($0)" }).joined(separator: "\n"),
      json: .object([
        ("path", .string(path)), ("sound", .boolean(isSound)), ("pages", .count(pages)), ("entries", .count(entries)),
        ("rows", .count(rows)), ("findings", .array(findings.map(\.json))),
        ("relationships", .array(relationships.map { .string($0) })),
      ]),
      status: isSound ? .success : .damaged)
  }
}

/// `cambium check`: everything that can be verified, verified.
func checkStore(path: String) throws(ToolError) -> Answer {
  let store: OpenedStore
  do throws(ToolError) { store = try OpenedStore(path: path) } catch {
    guard case .damaged(let text) = error else { throw error }
    return Examination(unopened: text).answer(path: path)
  }
  var examination: Examination
  do throws(ToolError) {
    if let entityStore = try store.entities() {
      examination = Examination(try attempting(path) { () throws(EngineError) in try entityStore.check() })
    } else {
      examination = Examination(try kernelReport(store))
    }
  } catch {
    guard case .damaged(let text) = error else { throw error }
    // The model cannot be read: what the pages say is still worth knowing.
    examination = Examination(try kernelReport(store))
    examination.add(Finding(place: "model", detail: text))
  }
  try store.close()
  return examination.answer(path: path)
}

private func kernelReport(_ store: OpenedStore) throws(ToolError) -> CheckReport {
  do throws(StoreError) { return try store.kernel.check() } catch { throw ToolError(error, path: store.path) }
}

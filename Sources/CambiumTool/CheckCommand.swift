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

  var text: String {
    let position = offset.map { ", byte \($0)" } ?? ""
    return "  \(place)\(position): \(detail)"
  }

  var json: JSON {
    .object([
      ("place", .string(place)), ("offset", offset.map { .count($0) } ?? .null), ("detail", .string(detail)),
    ])
  }
}

/// `cambium check`: everything that can be verified, verified.
func checkStore(path: String) throws(ToolError) -> Answer {
  let store = try OpenedStore(path: path)
  var findings: [Finding] = []
  var pages: UInt64 = 0
  var rows = 0
  var entries: UInt64 = 0
  do throws(ToolError) {
    if let entityStore = try store.entities() {
      let report = try attempting(path) { () throws(EngineError) in try entityStore.check() }
      findings = report.kernel.problems.map(Finding.init)
      findings += report.problems.map { Finding(place: "entities", offset: nil, detail: $0) }
      pages = report.kernel.pages
      entries = report.kernel.entries
      rows = report.rows
    } else {
      let report = try kernelReport(store)
      findings = report.problems.map(Finding.init)
      pages = report.pages
      entries = report.entries
    }
  } catch {
    guard case .damaged(let text) = error else { throw error }
    // The model cannot be read: what the pages say is still worth knowing.
    let report = try kernelReport(store)
    findings = report.problems.map(Finding.init)
    findings.append(Finding(place: "model", offset: nil, detail: text))
    pages = report.pages
    entries = report.entries
  }
  try store.close()
  let counts = "\(grouped(pages)) pages, \(grouped(entries)) entries, \(grouped(rows)) rows"
  let isSound = findings.isEmpty
  let heading = isSound ? "\(path): sound (\(counts))" : "\(path): DAMAGED, \(findings.count) findings (\(counts))"
  return Answer(
    text: ([heading] + findings.map(\.text)).joined(separator: "\n"),
    json: .object([
      ("path", .string(path)), ("sound", .boolean(isSound)), ("pages", .count(pages)), ("entries", .count(entries)),
      ("rows", .count(rows)), ("findings", .array(findings.map(\.json))),
    ]),
    status: isSound ? .success : .damaged)
}

private func kernelReport(_ store: OpenedStore) throws(ToolError) -> CheckReport {
  do throws(StoreError) { return try store.kernel.check() } catch { throw ToolError(error, path: store.path) }
}

extension Finding {
  fileprivate init(_ problem: CheckReport.Problem) {
    self.init(place: problem.place.name, offset: problem.offset, detail: "\(problem.detail)")
  }
}

extension StorePlace {
  /// What to call the place in a report.
  fileprivate var name: String {
    switch self {
    case .superblock: return "superblock"
    case .directory: return "directory"
    case .segment: return "segment"
    case .log: return "log"
    case .page(let tree): return "page of tree \(tree.rawValue)"
    case .extent(let value): return "extent of large value \(value)"
    case .record: return "record"
    case .key: return "key"
    }
  }
}

/// A file while its rules run: the source, and everything they have found.
struct FileMove {
  let source: SourceText
  let structure: SourceStructure
  let folder: Folder
  private(set) var edits = SourceEdits()
  private(set) var changes: [MovedSource.Change] = []
  private(set) var findings: [MovedSource.Finding] = []

  init(_ text: String, in folder: Folder) {
    source = SourceText(text)
    structure = SourceStructure(source)
    self.folder = folder
  }

  /// Puts a text in the place of some bytes, and reports it.
  mutating func replace(_ range: Range<Int>, with text: String, as change: String? = nil) {
    edits.replace(range, with: text)
    note(change ?? "\(source.text(range)) -> \(text)", at: range.lowerBound)
  }

  /// Puts a text in the place of some tokens, and reports it.
  mutating func replace(_ tokens: ClosedRange<Int>, with text: String, as change: String? = nil) {
    guard let range = bytes(of: tokens) else { return }
    replace(range, with: text, as: change)
  }

  /// Puts a text in the place of some tokens without a report of its own.
  mutating func substitute(_ tokens: ClosedRange<Int>, with text: String) {
    if let range = bytes(of: tokens) { edits.replace(range, with: text) }
  }

  /// Inserts a text without a report of its own.
  mutating func insert(_ text: String, at offset: Int) { edits.insert(text, at: offset) }

  /// Takes bytes out without a report of its own.
  mutating func drop(_ range: Range<Int>) { edits.replace(range, with: "") }

  /// Takes tokens out, with the line if nothing else is on it.
  mutating func remove(_ tokens: ClosedRange<Int>, isReported: Bool = true) {
    guard let range = bytes(of: tokens) else { return }
    edits.remove(range)
    if isReported { note("\(source.text(range)) is left out", at: range.lowerBound) }
  }

  mutating func note(_ change: String, at offset: Int) {
    changes.append(MovedSource.Change(line: source.line(at: offset), text: Self.phrase(change)))
  }

  /// Reports a place that stays.
  mutating func find(_ cause: Cause, _ tokens: ClosedRange<Int>) {
    guard let range = bytes(of: tokens) else { return }
    let finding = MovedSource.Finding(
      line: source.line(at: range.lowerBound), cause: cause, text: Self.phrase(source.text(range)))
    if !findings.contains(finding) { findings.append(finding) }
  }

  /// The result, in the order of the lines.
  func result() -> MovedSource {
    MovedSource(
      text: edits.applied(to: source),
      changes: changes.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
        .map { $0.element },
      findings: findings.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
        .map { $0.element })
  }

  private func bytes(of tokens: ClosedRange<Int>) -> Range<Int>? {
    guard let first = source[tokens.lowerBound], let last = source[tokens.upperBound],
      first.range.lowerBound <= last.range.upperBound
    else { return nil }
    return first.range.lowerBound..<last.range.upperBound
  }

  /// A text on one line.
  private static func phrase(_ text: String) -> String {
    text.split(whereSeparator: { $0.isWhitespace }).joined(separator: " ")
  }
}

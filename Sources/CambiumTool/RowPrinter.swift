import CambiumEngine

/// Writes rows of values in one of three forms.
final class RowPrinter {
  enum Form { case table, csv, json }

  private let form: Form
  private let names: [String]
  private let texts: ValueText
  private let output: any RowOutput
  private let began = ContinuousClock.now
  /// Rows of a table that wait until the widths of its columns are known; nil once they are.
  private var waiting: [[Cell]]? = []
  private var widths: [Int]

  private struct Cell {
    var text: String
    var isNumber = false
  }

  /// By how many rows the columns of a table are aligned, unless they take too long to come.
  static let sampleSize = 100
  static let sampleTime = Duration.milliseconds(50)

  init(_ form: Form, names: [String], schema: Schema, output: any RowOutput) {
    self.form = form
    self.names = names
    self.output = output
    texts = ValueText(schema: schema)
    widths = names.map { Self.oneLine($0).count }
  }

  /// Writes what stands above the rows.
  func begin() throws(ToolError) {
    if form == .csv { try output.write(names.map { csv($0) }.joined(separator: ",") + "\r\n", force: true) }
  }

  /// Writes a row.
  func add(_ values: [Value]) throws(ToolError) {
    switch form {
    case .json:
      let members = zip(names, values).map { ($0, texts.json($1)) }
      try output.write(JSON.object(members).line + "\n", force: false)
    case .csv:
      let cells = values.map { csv(texts.text($0)) }
      // A line that is one empty field would be no line to many readers.
      let line = cells == [""] ? "\"\"" : cells.joined(separator: ",")
      try output.write(line + "\r\n", force: false)
    case .table:
      let cells = values.map { Cell(text: texts.text($0).map(Self.oneLine) ?? "nil", isNumber: $0.isNumeric) }
      guard waiting != nil else { return try output.write(line(cells), force: false) }
      waiting?.append(cells)
      if (waiting?.count ?? 0) >= Self.sampleSize || ContinuousClock.now - began > Self.sampleTime { try release() }
    }
  }

  /// Writes what has not been written yet.
  func finish() throws(ToolError) {
    if form == .table { try release() }
    try output.write("", force: true)
  }

  // MARK: Tables

  private func release() throws(ToolError) {
    guard let rows = waiting else { return }
    waiting = nil
    for row in rows {
      for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.text.count) }
    }
    // A heading stands where the values of its column do.
    let headings = names.enumerated().map { column, name in
      Cell(text: Self.oneLine(name), isNumber: rows.contains { $0[column].isNumber })
    }
    try output.write(line(headings), force: false)
    try output.write(line(widths.map { Cell(text: String(repeating: "-", count: $0)) }), force: false)
    for row in rows { try output.write(line(row), force: false) }
  }

  private func line(_ cells: [Cell]) -> String {
    var text = ""
    for (column, cell) in cells.enumerated() {
      if column > 0 { text += "  " }
      let room = String(repeating: " ", count: max(0, widths[column] - cell.text.count))
      text += cell.isNumber ? room + cell.text : column == cells.count - 1 ? cell.text : cell.text + room
    }
    return text + "\n"
  }

  /// Text without line ends and other control characters, which would spoil a table, or command a terminal.
  private static func oneLine(_ text: String) -> String {
    if text.unicodeScalars.allSatisfy({ !isControl($0) }) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if isControl(scalar) {
          result += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || scalar.value == 0x2028 || scalar.value == 0x2029
  }

  // MARK: CSV

  /// A field as RFC 4180 has it; null is an empty one, empty text one in quotes.
  private func csv(_ text: String?) -> String {
    guard let text else { return "" }
    if text.isEmpty { return "\"\"" }
    let needsQuotes = text.unicodeScalars.contains { $0 == "," || $0 == "\"" || $0 == "\r" || $0 == "\n" }
    if !needsQuotes { return text }
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" { result += "\"" }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }
}

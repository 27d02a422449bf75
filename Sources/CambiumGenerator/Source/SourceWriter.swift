/// Collects lines of Swift source, with two spaces for each level.
struct SourceWriter {
  private(set) var lines: [String] = []
  private var depth = 0

  /// Adds a line; an empty one without spaces.
  mutating func line(_ text: String = "") {
    lines.append(text.isEmpty ? "" : String(repeating: "  ", count: depth) + text)
  }

  /// Adds a line that begins a block, and the lines of the block.
  mutating func block(_ opening: String, closing: String = "}", _ body: (inout SourceWriter) -> Void) {
    let count = lines.count
    line(opening + " {")
    depth += 1
    body(&self)
    depth -= 1
    // Nothing in it: `{}` in one line.
    if lines.count == count + 1 {
      lines[count] += closing
    } else {
      line(closing)
    }
  }

  /// Adds the lines of another piece of source, one level deeper than they are.
  mutating func append(_ other: [String]) { for text in other { line(text) } }
}

/// A file of Swift source.
public struct SourceFile: Equatable, Sendable {
  /// The name of the file, with its extension.
  public let name: String
  /// The modules that the file imports, in order.
  public let imports: [String]
  /// The declarations.
  let lines: [String]

  /// The content of the file.
  public var text: String { SourceFile.text(heading: heading, imports: imports, bodies: [lines]) }
  /// The first line of the file, without the marks of a comment. It names the model's file.
  package let heading: String
  /// The beginning of every heading.
  package static let origin = "Made by 'cambium generate'"

  static func text(heading: String, imports: [String], bodies: [[String]]) -> String {
    var result = ["// \(heading)", ""] + imports.map { "import \($0)" }
    for body in bodies { result += [""] + body }
    return result.joined(separator: "\n") + "\n"
  }

  /// Returns one file with the content of several.
  public static func joined(_ files: [SourceFile], name: String) -> SourceFile {
    var lines: [String] = []
    for file in files {
      if !lines.isEmpty { lines.append("") }
      lines += file.lines
    }
    return SourceFile(
      name: name, imports: Set(files.flatMap { $0.imports }).sorted(), lines: lines,
      heading: files.first?.heading ?? "")
  }
}

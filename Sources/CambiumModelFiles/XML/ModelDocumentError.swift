/// The reason why a model file is no model document. Lines and columns count from 1, columns in Unicode scalars.
public enum ModelDocumentError: Error, Equatable, Sendable {
  /// The file is no well-formed XML, or uses what this reader does not read (a DTD's own declarations, other
  /// encodings).
  case malformed(line: Int, column: Int, detail: String)
  /// The file is well-formed, but says something that a model cannot be; `detail` says what, and what to write instead.
  case unusable(line: Int, column: Int, detail: String)
  /// The file is longer than ``XMLReader/sizeLimit`` bytes.
  case tooLarge
  /// There is no such file or folder, or none that holds a model.
  case missing(path: String, detail: String)
  /// The system could not read or write the file; `detail` has its words.
  case system(path: String, detail: String)
}

extension ModelDocumentError: CustomStringConvertible {
  /// One sentence for the developer.
  @_optimize(none)
  public var description: String {
    switch self {
    case .malformed(let line, let column, let detail), .unusable(let line, let column, let detail):
      return "line \(line), column \(column): \(detail)"
    case .tooLarge: return "the file is longer than \(XMLReader.sizeLimit) bytes, which no model is"
    case .missing(let path, let detail), .system(let path, let detail): return "\(path): \(detail)"
    }
  }

  /// The reason without its place.
  public var detail: String {
    switch self {
    case .malformed(_, _, let detail), .unusable(_, _, let detail), .missing(_, let detail), .system(_, let detail):
      return detail
    case .tooLarge: return description
    }
  }
}

/// Something in a model file that Cambium passes over, since nothing that is stored depends on it.
public struct ModelFileWarning: Equatable, Sendable {
  /// The line, from 1.
  public var line: Int
  /// What was passed over, and what that means.
  public var text: String

  /// A warning about a line.
  public init(_ line: Int, _ text: String) {
    self.line = line
    self.text = text
  }
}

extension ModelFileWarning: CustomStringConvertible {
  /// Line and text.
  public var description: String { "line \(line): \(text)" }
}

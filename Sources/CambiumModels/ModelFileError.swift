import CambiumEngine
import CambiumModelFiles

/// Why a model file cannot be read. Lines and columns count from 1, columns in Unicode scalars.
public enum ModelFileError: Error, Equatable, Sendable {
  /// The file is no well-formed XML, or uses what this reader does not read (a DTD's own declarations, other
  /// encodings).
  case malformed(line: Int, column: Int, detail: String)
  /// The file is well-formed, but says something that a model cannot be; `detail` says what, and what to write instead.
  case unusable(line: Int, column: Int, detail: String)
  /// What the file describes cannot be built; the schema's error says why.
  case model(SchemaError)
  /// The file is longer than `XMLReader.sizeLimit` bytes.
  case tooLarge
  /// There is no such file or folder, or none that holds a model.
  case missing(path: String, detail: String)
  /// The system could not read or write the file; `detail` has its words.
  case system(path: String, detail: String)

  init(_ error: ModelDocumentError) {
    switch error {
    case .malformed(let line, let column, let detail): self = .malformed(line: line, column: column, detail: detail)
    case .unusable(let line, let column, let detail): self = .unusable(line: line, column: column, detail: detail)
    case .tooLarge: self = .tooLarge
    case .missing(let path, let detail): self = .missing(path: path, detail: detail)
    case .system(let path, let detail): self = .system(path: path, detail: detail)
    }
  }
}

extension ModelFileError: CustomStringConvertible {
  /// One sentence for the developer.
  @_optimize(none)
  public var description: String {
    switch self {
    case .malformed(let line, let column, let detail):
      return ModelDocumentError.malformed(line: line, column: column, detail: detail).description
    case .unusable(let line, let column, let detail):
      return ModelDocumentError.unusable(line: line, column: column, detail: detail).description
    case .model(let error): return error.description
    case .tooLarge: return ModelDocumentError.tooLarge.description
    case .missing(let path, let detail), .system(let path, let detail): return "\(path): \(detail)"
    }
  }
}

import CambiumEngine
import CambiumKernel
import CambiumModels
import CambiumSystem

/// A model that a command works on: of a model's folder or file, or of a store.
struct LoadedModel {
  /// What it is called in answers.
  let name: String
  /// The model.
  let schema: Schema
  /// The model under Xcode's names.
  let document: ModelDocument
  /// What was passed over or mended in its file.
  var warnings: [ModelFileWarning] = []
  /// The folder that it was read from; nil for the model of a store.
  private var folder: ModelFolder?

  /// Returns all versions in the same folder, except those that cannot be read.
  func versions() -> [Schema] {
    guard let folder else { return [] }
    return folder.versionNames.compactMap { name in try? folder.version(named: name).schema }
  }

  /// Reads the model at a path: a version of a model's folder, a model file, or the model that a store holds.
  init(path: String, version: String? = nil) throws(ToolError) {
    if version == nil, Self.isStore(path) {
      let store = try OpenedStore(path: path)
      guard let entities = try store.entities() else {
        throw .failed("\(path): nothing has been stored yet, so no model")
      }
      name = path
      schema = entities.schema
      document = ModelDocument(schema.definition)
      try store.close()
      return
    }
    let folder = try modelFolder(path)
    if let version, !folder.versionNames.contains(version) {
      throw .failed("\(path): there is no version '\(version)'" + alternatives(to: version, folder.versionNames))
    }
    let found = try readingModel(path) { () throws(ModelFileError) in try folder.version(named: version) }
    name = found.name
    schema = found.schema
    document = found.document ?? ModelDocument(schema.definition)
    warnings = found.warnings
    self.folder = folder
  }

  /// Whether a file is neither XML nor a compiled version.
  private static func isStore(_ path: String) -> Bool {
    if PlainFiles.names(inFolder: path) != nil { return false }
    let start = firstBytes(ofFile: path, count: 8)
    guard start.count == 8 else { return false }
    let isText = start[0] == UInt8(ascii: "<") || start[0] == 0xEF || start[0] <= UInt8(ascii: " ") && start[0] >= 9
    return !isText && !start.starts(with: [0x43, 0x53, 0x01])
  }
}

/// The versions that lie at a path.
func modelFolder(_ path: String) throws(ToolError) -> ModelFolder {
  try readingModel(path) { () throws(ModelFileError) in try ModelFolder(path: path, source: SystemFiles()) }
}

/// Looks at the folder of a command that goes through all versions. Says on standard error which versions are passed
/// over, because what remains may be taken for all.
func wholeModelFolder(_ path: String) throws(ToolError) -> ModelFolder {
  let folder = try modelFolder(path)
  for warning in folder.warnings { StandardError.write(line: "cambium: \(path): \(warning)") }
  return folder
}

/// Runs a reading of model files, giving its errors the tool's type.
func readingModel<R>(_ path: String, _ body: () throws(ModelFileError) -> R) throws(ToolError) -> R {
  do throws(ModelFileError) { return try body() } catch {
    switch error {
    // What lies there is no model that can be used: a finding, as a damaged store is.
    case .malformed, .unusable, .model, .tooLarge: throw .damaged("\(path): \(error.description)")
    case .missing(let file, let detail), .system(let file, let detail): throw .failed("\(file): \(detail)")
    }
  }
}

/// The files of the system.
private final class SystemFiles: ModelFileSource {
  func names(inFolder path: String) -> [String]? { PlainFiles.names(inFolder: path) }

  func bytes(ofFile path: String) throws(ModelDocumentError) -> [UInt8]? {
    do throws(StoreError) { return try PlainFiles.bytes(ofFile: path, limit: XMLReader.sizeLimit) } catch {
      throw .system(path: path, detail: ToolError(error, path: path).text)
    }
  }
}

import CambiumEngine
import CambiumKernel
import CambiumModels
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ManagedObjectModel {
  /// Reads a model: Xcode's `.xcdatamodeld` (the version that its `.xccurrentversion` names) or `.xcdatamodel`, a bare
  /// `contents` file, or a folder that `cambium model compile` wrote. O(size of the file).
  ///
  /// - Parameters:
  ///   - url: A file URL.
  ///   - version: The version to read, by the name of its file without extension; the current one if there is none.
  /// - Throws: ``CambiumError/Code/invalidModel`` with the file, and the line where there is one; `ModelFileError` of
  ///   `CambiumModels` is underneath. ``CambiumError/Code/fileReadNoSuchFile`` if there is no model, or not that
  ///   version. Core Data's initialiser fails without a reason.
  @_optimize(none)
  public convenience init(contentsOf url: URL, version: String? = nil) throws {
    let (found, warnings) = try ModelReading.read(url) { folder throws(ModelFileError) in
      (try folder.version(named: version), folder.warnings)
    }
    self.init(schema: found.schema)
    storedWarnings += warnings + found.warnings.map { "\($0)" }
    filePath = url.path
  }

  /// Returns all versions of the model in the folder that it was read from, also if only one `.xcdatamodel` of the
  /// folder was read. Versions that cannot be read are left out. A model that was not read from a file has none.
  func versionsOfFile() -> [Schema] {
    guard let filePath else { return [] }
    var url = URL(fileURLWithPath: filePath)
    let parent = url.deletingLastPathComponent()
    if url.pathExtension == "xcdatamodel", parent.pathExtension == "xcdatamodeld" { url = parent }
    guard let folder = try? ModelFolder(path: url.path, source: FolderFiles()) else { return [] }
    return folder.versionNames.compactMap { name in try? folder.version(named: name).schema }
  }

  /// What was passed over or mended when the model was read from a file, with lines: nothing stored depends on it.
  public var fileWarnings: [String] { storedWarnings }

  /// The ``versionChecksum`` of every version of a model, by the version's name. Core Data:
  /// `checksumsForVersionedModel(at:)`.
  ///
  /// - Throws: as ``init(contentsOf:version:)``.
  public static func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
    let versions = try ModelReading.read(url) { folder throws(ModelFileError) in try folder.versions() }
    return Dictionary(versions.map { ($0.name, $0.schema.versionChecksum) }, uniquingKeysWith: { first, _ in first })
  }

  /// The names of the versions of a model, and which of them is the current one.
  ///
  /// - Throws: as ``init(contentsOf:version:)``.
  public static func versions(at url: URL) throws -> (names: [String], current: String?) {
    try ModelReading.read(url) { folder throws(ModelFileError) in (folder.versionNames, folder.currentVersionName) }
  }

  /// The model of a name in a folder: `Name.cambiummodel`, or else `Name.xcdatamodeld` or `Name.xcdatamodel`.
  ///
  /// - Throws: as ``init(contentsOf:version:)``.
  @_optimize(none)
  public convenience init(named name: String, in folder: URL, version: String? = nil) throws {
    let files = FolderFiles()
    for ending in ModelReading.endings {
      let url = folder.appendingPathComponent(name + "." + ending)
      guard files.names(inFolder: url.path) != nil else { continue }
      try self.init(contentsOf: url, version: version)
      return
    }
    throw CambiumError(
      .fileReadNoSuchFile,
      "there is no model '\(name)' in \(folder.path); looked for the endings \(ModelReading.endings.joined(separator: ", "))"
    )
  }

  /// The models that lie directly in folders, or are one.
  @_optimize(none)
  static func models(in folders: [URL], allVersions: Bool = false) throws -> [ManagedObjectModel] {
    var result: [ManagedObjectModel] = []
    for url in folders.flatMap({ files(in: $0) }) {
      guard allVersions else {
        result.append(try ManagedObjectModel(contentsOf: url))
        continue
      }
      for version in try versions(at: url).names {
        result.append(try ManagedObjectModel(contentsOf: url, version: version))
      }
    }
    return result
  }

  /// The files and folders of the models that lie directly in a folder, or are it.
  static func files(in folder: URL) -> [URL] {
    if ModelReading.endings.contains(folder.pathExtension) { return [folder] }
    let names = (FolderFiles().names(inFolder: folder.path) ?? []).ordered()
    return names.filter { name in ModelReading.endings.contains { name.hasSuffix("." + $0) } }
      .map { folder.appendingPathComponent($0) }
  }
}

/// Reads model folders, giving errors the module's type.
private enum ModelReading {
  /// In the order in which one is preferred.
  static let endings = ["cambiummodel", "xcdatamodeld", "xcdatamodel"]

  @_optimize(none)
  static func read<R>(_ url: URL, _ body: (ModelFolder) throws(ModelFileError) -> R) throws -> R {
    guard url.isFileURL else {
      throw CambiumError(.fileReadNoSuchFile, "'\(url.absoluteString)' is no file URL; models are read from files")
    }
    do throws(ModelFileError) { return try body(try ModelFolder(path: url.path, source: FolderFiles())) } catch {
      let code: CambiumError.Code =
        switch error {
        case .missing: .fileReadNoSuchFile
        default: .invalidModel
        }
      throw CambiumError(code, "\(url.lastPathComponent): \(error)", underlying: [error])
    }
  }
}

/// The files of the system.
private final class FolderFiles: ModelFileSource {
  func names(inFolder path: String) -> [String]? { PlainFiles.names(inFolder: path) }

  func bytes(ofFile path: String) throws(ModelDocumentError) -> [UInt8]? {
    do throws(StoreError) { return try PlainFiles.bytes(ofFile: path, limit: XMLReader.sizeLimit) } catch {
      throw .system(path: path, detail: error.description)
    }
  }
}

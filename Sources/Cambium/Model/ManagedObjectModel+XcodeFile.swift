import CambiumEngine
import CambiumKernel
import CambiumModelFiles
import CambiumModels
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ManagedObjectModel {
  /// Writes the model as a folder `.xcdatamodel`, which Xcode's model editor opens. A model that is read from the
  /// folder has equal version hashes.
  ///
  ///     for note in try model.writeXcodeModel(to: URL(fileURLWithPath: "Flights.xcdatamodel")) { print(note) }
  ///
  /// A composite attribute with elements of its own becomes one of a composite type, because Xcode has no others. Core
  /// Data has no such function: there the file comes first.
  ///
  /// - Parameter url: A file URL. The folder is made if it does not exist; its file `contents` is replaced.
  /// - Returns: A sentence about each part of the model that Xcode's file cannot have, and that is left out: validation
  ///   predicates, defaults of composites, and names of parts of earlier versions. None of these is in a version hash.
  /// - Throws: ``CambiumError/Code/invalidArgument`` for an `.xcdatamodeld`, which is a folder of versions: name a
  ///   folder
  ///   in it. ``CambiumError/Code/invalidModel`` for a model that is not sound, or has a text that XML cannot have; the
  ///   error of the system if the folder cannot be written.
  @_optimize(none)
  @discardableResult
  public func writeXcodeModel(to url: URL) throws -> [String] {
    guard url.isFileURL else {
      throw CambiumError(.invalidArgument, "'\(url.absoluteString)' is no file URL; models are written to files")
    }
    if let problem = XcodeFolder.problem(of: url.path, names: PlainFiles.names(inFolder: url.path)) {
      throw CambiumError(.invalidArgument, problem)
    }
    let document = CambiumModelFiles.ModelDocument(try schema().definition)
    let bytes: [UInt8]
    do throws(ModelDocumentError) { bytes = try document.contents() } catch {
      throw CambiumError(.invalidModel, "the model cannot be written for Xcode: \(error.detail)", underlying: [error])
    }
    do throws(StoreError) {
      try PlainFiles.makeFolder(url.path)
      try PlainFiles.replace(url.path + "/contents", with: bytes)
    } catch { throw CambiumError(error) }
    return document.warnings.map { $0.text }
  }
}

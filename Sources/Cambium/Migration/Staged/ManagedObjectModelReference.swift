import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A promise of a model, which a staged migration redeems when it needs the model. Core Data:
/// `NSManagedObjectModelReference`.
///
///     let v2 = ManagedObjectModelReference(name: "Flights 2", in: folder, versionChecksum: "PA0Gbxs46l…")
///
/// Every reference carries the checksum that the model had when the reference was written down
/// (``ManagedObjectModel/versionChecksum``; `cambium model checksum` prints it): a model that was changed since by
/// accident is found out before it is used. Thread-safe.
public final class ManagedObjectModelReference: @unchecked Sendable {
  // `@unchecked`: `resolved` is touched with `lock` held only.
  private enum Source {
    case model(ManagedObjectModel)
    case file(URL)
    case named(String, in: URL)
    case hashes([String: Data], in: [URL])
  }

  /// The checksum that the model must have.
  public let versionChecksum: String
  private let source: Source
  private let lock = StateLock()
  private var resolved: ManagedObjectModel?

  /// A reference to a model that is there.
  public init(model: ManagedObjectModel, versionChecksum: String) {
    source = .model(model)
    self.versionChecksum = versionChecksum
  }

  /// A reference to a model in a file or folder, of any kind that ``ManagedObjectModel/init(contentsOf:version:)``
  /// reads; of several versions, the one with the checksum.
  public init(fileURL: URL, versionChecksum: String) {
    source = .file(fileURL)
    self.versionChecksum = versionChecksum
  }

  /// A reference to a model in a file or folder; see ``init(fileURL:versionChecksum:)``.
  public convenience init(path: String, versionChecksum: String) {
    self.init(fileURL: URL(fileURLWithPath: path), versionChecksum: versionChecksum)
  }

  /// A reference to a model by name, among those that lie in a folder: a model of that name (of several versions the
  /// one with the checksum), or a version of that name of any of them. Core Data looks in a bundle: pass its
  /// `resourceURL`.
  public init(name: String, in folder: URL, versionChecksum: String) {
    source = .named(name, in: folder)
    self.versionChecksum = versionChecksum
  }

  /// A reference to the model whose entities have these version hashes
  /// (``ManagedObjectModel/entityVersionHashesByName``), among all versions of those that lie in folders.
  public init(entityVersionHashes: [String: Data], in folders: [URL], versionChecksum: String) {
    source = .hashes(entityVersionHashes, in: folders)
    self.versionChecksum = versionChecksum
  }

  /// The model. It is looked for at the first call, and kept.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectModelReferenceNotFound`` (134504) if there is no such model, or if it
  ///   has another checksum.
  public var resolvedModel: ManagedObjectModel {
    get throws {
      try lock.locked {
        if let resolved { return resolved }
        let model = try find()
        resolved = model
        return model
      }
    }
  }

  @_optimize(none)
  private func find() throws -> ManagedObjectModel {
    let candidates: [ManagedObjectModel]
    do { candidates = try self.candidates() } catch {
      let detail = (error as? CambiumError)?.message ?? "\(error)"
      throw CambiumError(
        .managedObjectModelReferenceNotFound,
        "the model reference with version checksum \(versionChecksum) cannot be resolved, \(place): \(detail)",
        underlying: [error])
    }
    var checksums: [String] = []
    for model in candidates {
      let found = try model.versionChecksum
      if found == versionChecksum { return model }
      if !checksums.contains(found) { checksums.append(found) }
    }
    if checksums.isEmpty {
      throw CambiumError(
        .managedObjectModelReferenceNotFound,
        "the model reference with version checksum \(versionChecksum) cannot be resolved: there is no model, \(place)")
    }
    throw CambiumError(
      .managedObjectModelReferenceNotFound,
      "the model reference with version checksum \(versionChecksum) resolves to a model with another checksum, \(place): "
        + "found \(checksums.joined(separator: ", ")). The model was changed after the checksum was noted: undo that, or "
        + "make a version of its own of the changed model")
  }

  /// Where was looked, for messages.
  private var place: String {
    switch source {
    case .model: return "given as an object"
    case .file(let url): return "looked for at \(url.path)"
    case .named(let name, let folder): return "looked for as '\(name)' in \(folder.path)"
    case .hashes(let hashes, let folders):
      return "looked for by the version hashes of \(hashes.keys.ordered().joined(separator: ", ")) in "
        + folders.map { $0.path }.joined(separator: ", ")
    }
  }

  private func candidates() throws -> [ManagedObjectModel] {
    switch source {
    case .model(let model): return [model]
    case .file(let url): return try Self.versions(of: url)
    case .named(let name, let folder):
      var result: [ManagedObjectModel] = []
      // Others in the folder that cannot be read are none of the reference's business.
      for url in ManagedObjectModel.files(in: folder) {
        if url.deletingPathExtension().lastPathComponent == name {
          result += try Self.versions(of: url)
        } else if let names = try? ManagedObjectModel.versions(at: url).names, names.contains(name) {
          result.append(try ManagedObjectModel(contentsOf: url, version: name))
        }
      }
      return result
    case .hashes(let hashes, let folders):
      return try ManagedObjectModel.models(in: folders, allVersions: true)
        .filter { try $0.entityVersionHashesByName == hashes }
    }
  }

  /// The current version first.
  private static func versions(of url: URL) throws -> [ManagedObjectModel] {
    let known = try ManagedObjectModel.versions(at: url)
    var names = known.names
    if let current = known.current, let place = names.firstIndex(of: current) {
      names.remove(at: place)
      names.insert(current, at: 0)
    }
    if names.isEmpty { return [try ManagedObjectModel(contentsOf: url)] }
    return try names.map { try ManagedObjectModel(contentsOf: url, version: $0) }
  }
}

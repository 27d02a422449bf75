import CambiumEngine
import CambiumKernel
import CambiumModelFiles

/// A version of a model, read.
public struct ModelVersion: Sendable {
  /// What the version's file is called, without its extension.
  public let name: String
  /// The model.
  public let schema: Schema
  /// The content of the version's file; `nil` for a compiled version.
  public let document: ModelDocument?
  /// What was passed over or mended in it.
  public let warnings: [ModelFileWarning]

  /// A version.
  public init(
    name: String, schema: Schema, document: ModelDocument? = nil, warnings: [ModelFileWarning] = []
  ) {
    self.name = name
    self.schema = schema
    self.document = document
    self.warnings = warnings
  }
}

/// The versions of a model that lie together, or one that lies alone. See the picture in `VersionFolder.swift`.
public struct ModelFolder {
  private let files: VersionFolder

  /// Where it is, as it was given, without a point or slash at the end.
  public var path: String { files.path }
  /// What the model is called: the folder's name without its extension.
  public var name: String { files.name }
  /// The versions, ordered by name.
  public var versionNames: [String] { files.versionNames }
  /// The version that is in use; `nil` if there are several and nothing says which.
  public var currentVersionName: String? { files.currentVersionName }
  /// What is passed over in the folder: versions from before Xcode 4, whose format is not documented.
  public var warnings: [String] {
    files.legacyVersionNames.map { "version '\($0)' is older than Xcode 4, and is passed over" }
  }

  /// Looks at what is at a path. Reads what says which version is in use, but no model yet.
  ///
  /// - Throws: `missing` if there is no model, or one that Xcode compiled; what reading the property list throws.
  @_optimize(none)
  public init(path: String, source: any ModelFileSource) throws(ModelFileError) {
    do throws(ModelDocumentError) { files = try VersionFolder(path: path, source: source) } catch {
      throw ModelFileError(error)
    }
  }

  // MARK: Reading

  /// Reads a version; the current one if no name is given.
  ///
  /// - Throws: `missing` if there is none of that name, or none is current; what ``ModelFile/init(contents:)`` throws;
  ///   `unusable` for a compiled version whose checksum is not the one in `VersionInfo.plist`.
  @_optimize(none)
  public func version(named wanted: String? = nil) throws(ModelFileError) -> ModelVersion {
    let content: VersionFolder.Content
    do throws(ModelDocumentError) { content = try files.content(of: wanted) } catch { throw ModelFileError(error) }
    // Compiled versions lie about under other names too.
    guard content.isCompiled || Schema.isEncoded(content.bytes) else {
      let file = try ModelFile(contents: content.bytes)
      return ModelVersion(
        name: content.name, schema: file.schema, document: file.document, warnings: file.warnings)
    }
    let schema: Schema
    do throws(SchemaError) { schema = try Schema(bytes: content.bytes) } catch { throw .model(error) }
    if let listed = content.listedChecksum, listed != schema.versionChecksum {
      throw .unusable(
        line: 1, column: 1,
        detail:
          "version '\(content.name)' has the checksum \(schema.versionChecksum), but VersionInfo.plist says \(listed); "
          + "compile the model again")
    }
    return ModelVersion(name: content.name, schema: schema)
  }

  /// Reads every version, in the order of their names.
  public func versions() throws(ModelFileError) -> [ModelVersion] {
    var result: [ModelVersion] = []
    for name in versionNames { result.append(try version(named: name)) }
    return result
  }

  // MARK: Compiling

  /// The files of a compiled model: names and contents, to be written into one folder.
  @_optimize(none)
  public static func compiledFiles(
    _ versions: [ModelVersion], current: String
  ) -> [(name: String, bytes: [UInt8])] {
    var files: [(name: String, bytes: [UInt8])] = []
    var checksums: [PropertyListEntry] = []
    var hashes: [PropertyListEntry] = []
    for version in versions {
      files.append((version.name + ".schema", version.schema.encoded()))
      checksums.append(PropertyListEntry(version.name, .text(version.schema.versionChecksum)))
      let entities = version.schema.entityVersionHashesByName.ordered { $0.key < $1.key }
      hashes.append(
        PropertyListEntry(
          version.name, .dictionary(entities.map { PropertyListEntry($0.key, .text($0.value.base64)) })))
    }
    let info = PropertyList.dictionary([
      PropertyListEntry("NSManagedObjectModel_CurrentVersionName", .text(current)),
      PropertyListEntry("NSManagedObjectModel_VersionChecksums", .dictionary(checksums)),
      PropertyListEntry("NSManagedObjectModel_VersionHashes", .dictionary(hashes)),
    ])
    files.append(("VersionInfo.plist", info.bytes))
    return files
  }
}

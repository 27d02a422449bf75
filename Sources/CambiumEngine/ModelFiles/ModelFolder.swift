//  Where models lie:
//
//    Name.xcdatamodeld/                       versions as Xcode's editor keeps them
//      .xccurrentversion                      property list: _XCCurrentVersionName = "V2.xcdatamodel"
//      V1.xcdatamodel/contents                one version, also without a folder around it
//      V2.xcdatamodel/contents
//
//    Name.cambiummodel/                       versions as `cambium model compile` writes them
//      VersionInfo.plist                      property list with the keys of Core Data's file of this name:
//                                               NSManagedObjectModel_CurrentVersionName = "V2"
//                                               NSManagedObjectModel_VersionChecksums = version: checksum
//                                               NSManagedObjectModel_VersionHashes = version: entity: hash (base64)
//      V1.schema                              a stored model (SchemaCodec)
//      V2.schema
//
//    anything                                 a file `contents` under any name
import CambiumKernel

/// What reads files for ``ModelFolder``. Paths have `/` between their parts.
public protocol ModelFileSource: AnyObject {
  /// The names in a folder; `nil` if the path is no folder.
  func names(inFolder path: String) throws(ModelFileError) -> [String]?
  /// The content of a file; `nil` if there is none.
  func bytes(ofFile path: String) throws(ModelFileError) -> [UInt8]?
}

/// A version of a model, read.
public struct ModelVersion: Sendable {
  /// What the version's file is called, without its extension.
  public let name: String
  /// The model.
  public let schema: Schema
  /// What was passed over or mended in it.
  public let warnings: [ModelFileWarning]

  /// A version.
  public init(name: String, schema: Schema, warnings: [ModelFileWarning] = []) {
    self.name = name
    self.schema = schema
    self.warnings = warnings
  }
}

/// The versions of a model that lie together, or one that lies alone. See the picture in `ModelFolder.swift`.
public struct ModelFolder {
  private enum Kind { case file, single, source, compiled }

  /// Where it is, as it was given, without a point or slash at the end.
  public let path: String
  /// What the model is called: the folder's name without its extension.
  public let name: String
  /// The versions, ordered by name.
  public let versionNames: [String]
  /// The version that is in use; `nil` if there are several and nothing says which.
  public let currentVersionName: String?
  private let kind: Kind
  private let source: any ModelFileSource

  /// Looks at what is at a path. Reads what says which version is in use, but no model yet.
  ///
  /// - Throws: `missing` if there is no model, or one that Xcode compiled; what reading the property list throws.
  @_optimize(none)
  public init(path given: String, source: any ModelFileSource) throws(ModelFileError) {
    var path = given
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = String(path.dropLast()) }
    self.path = path
    self.source = source
    let last = lastComponent(path)
    guard let names = try source.names(inFolder: path) else {
      // A file called `contents` is named by the folder that it lies in.
      let parent = path.utf8.count > last.utf8.count ? lastComponent(String(path.dropLast(last.count + 1))) : last
      name = withoutExtension(last == "contents" ? parent : last)
      kind = .file
      versionNames = [name]
      currentVersionName = name
      return
    }
    name = withoutExtension(last)
    if let compiled = names.first(where: { $0.hasSuffix(".mom") || $0.hasSuffix(".omo") }) {
      throw .missing(
        path: path,
        detail:
          "this is a model that Xcode compiled (\(compiled)), whose format is not documented; take the .xcdatamodeld that it "
          + "was made of")
    }
    if names.contains("VersionInfo.plist") {
      kind = .compiled
      versionNames = names.filter { $0.hasSuffix(".schema") }.map { withoutExtension($0) }.ordered()
      let info = try Self.propertyList(path + "/VersionInfo.plist", source)
      currentVersionName = info["NSManagedObjectModel_CurrentVersionName"]?.text
    } else if names.contains("contents") {
      kind = .single
      versionNames = [name]
      currentVersionName = name
    } else {
      kind = .source
      versionNames = names.filter { $0.hasSuffix(".xcdatamodel") }.map { withoutExtension($0) }.ordered()
      if versionNames.count == 1 {
        currentVersionName = versionNames.first
      } else if names.contains(".xccurrentversion") {
        let info = try Self.propertyList(path + "/.xccurrentversion", source)
        currentVersionName = info["_XCCurrentVersionName"]?.text.map { withoutExtension($0) }
      } else {
        currentVersionName = nil
      }
    }
    guard !versionNames.isEmpty else {
      throw .missing(
        path: path,
        detail: "there is no model in this folder: neither 'contents', nor folders .xcdatamodel, nor files .schema")
    }
  }

  private static func propertyList(
    _ path: String, _ source: any ModelFileSource
  ) throws(ModelFileError) -> PropertyList {
    guard let bytes = try source.bytes(ofFile: path) else {
      throw .missing(path: path, detail: "there is no such file")
    }
    return try PropertyList(bytes)
  }

  // MARK: Reading

  /// Reads a version; the current one if no name is given.
  ///
  /// - Throws: `missing` if there is none of that name, or none is current; what ``ModelFile/init(contents:)`` throws;
  ///   `unusable` for a compiled version whose checksum is not the one in `VersionInfo.plist`.
  @_optimize(none)
  public func version(named wanted: String? = nil) throws(ModelFileError) -> ModelVersion {
    let all = versionNames.joined(separator: ", ")
    guard let name = wanted ?? currentVersionName else {
      throw .missing(path: path, detail: "nothing says which version is the current one; name one of \(all)")
    }
    guard versionNames.contains(name) else {
      throw .missing(path: path, detail: "there is no version '\(name)', but \(all)")
    }
    switch kind {
    case .file: return try read(name, path)
    case .single: return try read(name, path + "/contents")
    case .source: return try read(name, path + "/" + name + ".xcdatamodel/contents")
    case .compiled:
      let file = path + "/" + name + ".schema"
      guard let bytes = try source.bytes(ofFile: file) else {
        throw .missing(path: file, detail: "there is no such file")
      }
      let schema: Schema
      do throws(SchemaError) { schema = try Schema(bytes: bytes) } catch { throw .model(error) }
      let info = try Self.propertyList(path + "/VersionInfo.plist", source)
      if let listed = info["NSManagedObjectModel_VersionChecksums"]?[name]?.text, listed != schema.versionChecksum {
        throw .unusable(
          line: 1, column: 1,
          detail: "version '\(name)' has the checksum \(schema.versionChecksum), but VersionInfo.plist says \(listed); "
            + "compile the model again")
      }
      return ModelVersion(name: name, schema: schema)
    }
  }

  private func read(_ name: String, _ file: String) throws(ModelFileError) -> ModelVersion {
    guard let bytes = try source.bytes(ofFile: file) else {
      throw .missing(path: file, detail: "there is no such file; models older than Xcode 4 have to be saved anew")
    }
    // Models lie about under other names too.
    if bytes.starts(with: Schema.signature) {
      do throws(SchemaError) { return ModelVersion(name: name, schema: try Schema(bytes: bytes)) } catch {
        throw .model(error)
      }
    }
    let file = try ModelFile(contents: bytes)
    return ModelVersion(name: name, schema: file.schema, warnings: file.warnings)
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

private func lastComponent(_ path: String) -> String {
  path.split(separator: "/").last.map { String($0) } ?? path
}

@_optimize(none)
private func withoutExtension(_ name: String) -> String {
  for ending in [".xcdatamodel", ".xcdatamodeld", ".cambiummodel", ".schema", ".xml", ".momd"]
  where name.hasSuffix(ending) && name.count > ending.count {
    return String(name.dropLast(ending.count))
  }
  return name
}

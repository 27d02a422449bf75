//  Where models lie:
//
//    Name.xcdatamodeld/                       versions as Xcode's editor keeps them
//      .xccurrentversion                      property list: _XCCurrentVersionName = "V2.xcdatamodel"
//      V1.xcdatamodel/contents                one version, also without a folder around it
//      V2.xcdatamodel/contents
//      V0.xcdatamodel/elements              a version from before Xcode 4 (with a file `layout`), which is passed over
//
//    Name.cambiummodel/                       versions as `cambium model compile` writes them
//      VersionInfo.plist                      property list with the keys of Core Data's file of this name:
//                                               NSManagedObjectModel_CurrentVersionName = "V2"
//                                               NSManagedObjectModel_VersionChecksums = version: checksum
//                                               NSManagedObjectModel_VersionHashes = version: entity: hash (base64)
//      V1.schema                              a stored model (the engine's SchemaCodec)
//      V2.schema
//
//    anything                                 a file `contents` under any name

/// Reads files for ``VersionFolder``. Paths have `/` between their parts.
public protocol ModelFileSource: AnyObject {
  /// The names in a folder; `nil` if the path is no folder.
  func names(inFolder path: String) throws(ModelDocumentError) -> [String]?
  /// The content of a file; `nil` if there is none.
  func bytes(ofFile path: String) throws(ModelDocumentError) -> [UInt8]?
}

/// The files of a model's versions, none of them read yet. See the picture in `VersionFolder.swift`.
public struct VersionFolder {
  private enum Kind { case file, single, source, compiled }

  /// Where it is, as it was given, without a point or slash at the end.
  public let path: String
  /// What the model is called: the folder's name without its extension.
  public let name: String
  /// The versions, ordered by name; without those that are passed over.
  public let versionNames: [String]
  /// The version that is in use; `nil` if there are several and nothing says which.
  public let currentVersionName: String?
  /// The versions from before Xcode 4, ordered by name, whose format is not documented. They are passed over, as Xcode
  /// does, because old ones stay in the folders of applications that live long.
  public private(set) var legacyVersionNames: [String] = []
  private let kind: Kind
  private let source: any ModelFileSource

  /// Looks at what is at a path. Reads what says which version is in use, but no model yet.
  ///
  /// - Throws: `missing` if there is no model, or one that Xcode compiled; what reading the property list throws.
  @_optimize(none)
  public init(path given: String, source: any ModelFileSource) throws(ModelDocumentError) {
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
      versionNames = names.filter { $0.hasSuffix(".schema") }.map { withoutExtension($0) }.sorted()
      let info = try Self.propertyList(path + "/VersionInfo.plist", source)
      currentVersionName = info["NSManagedObjectModel_CurrentVersionName"]?.text
    } else if names.contains("contents") {
      kind = .single
      versionNames = [name]
      currentVersionName = name
    } else {
      kind = .source
      var read: [String] = []
      for folder in names where folder.hasSuffix(".xcdatamodel") {
        let files = try source.names(inFolder: path + "/" + folder) ?? []
        if !files.contains("contents"), files.contains("elements") {
          legacyVersionNames.append(withoutExtension(folder))
        } else {
          read.append(withoutExtension(folder))
        }
      }
      versionNames = read.sorted()
      legacyVersionNames.sort()
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
        detail: legacyVersionNames.isEmpty
          ? "there is no model in this folder: neither 'contents', nor folders .xcdatamodel, nor files .schema"
          : "all versions in this folder are older than Xcode 4 (\(legacyVersionNames.joined(separator: ", "))); open the "
            + "model in Xcode and save it anew")
    }
  }

  private static func propertyList(
    _ path: String, _ source: any ModelFileSource
  ) throws(ModelDocumentError) -> PropertyList {
    guard let bytes = try source.bytes(ofFile: path) else {
      throw .missing(path: path, detail: "there is no such file")
    }
    return try PropertyList(bytes)
  }

  // MARK: Reading

  /// The file of a version, read.
  public struct Content: Sendable {
    /// The version's name.
    public let name: String
    /// The bytes of the file.
    public let bytes: [UInt8]
    /// Whether `cambium model compile` wrote the file, by the folder that it lies in.
    public let isCompiled: Bool
    /// The version's checksum in `VersionInfo.plist`, if there is one.
    public let listedChecksum: String?
  }

  /// Reads the file of a version; of the current one if no name is given.
  ///
  /// - Throws: `missing` if there is none of that name, or none is current; what the source throws.
  @_optimize(none)
  public func content(of wanted: String? = nil) throws(ModelDocumentError) -> Content {
    let all = versionNames.joined(separator: ", ")
    guard let name = wanted ?? currentVersionName else {
      throw .missing(path: path, detail: "nothing says which version is the current one; name one of \(all)")
    }
    if legacyVersionNames.contains(name) {
      throw .missing(
        path: path + "/" + name + ".xcdatamodel",
        detail: "this version is older than Xcode 4, and its format is not documented; open it in Xcode and save it "
          + "anew")
    }
    guard versionNames.contains(name) else {
      throw .missing(path: path, detail: "there is no version '\(name)', but \(all)")
    }
    let file: String
    switch kind {
    case .file: file = path
    case .single: file = path + "/contents"
    case .source: file = path + "/" + name + ".xcdatamodel/contents"
    case .compiled:
      let file = path + "/" + name + ".schema"
      guard let bytes = try source.bytes(ofFile: file) else {
        throw .missing(path: file, detail: "there is no such file")
      }
      let info = try Self.propertyList(path + "/VersionInfo.plist", source)
      let listed = info["NSManagedObjectModel_VersionChecksums"]?[name]?.text
      return Content(name: name, bytes: bytes, isCompiled: true, listedChecksum: listed)
    }
    guard let bytes = try source.bytes(ofFile: file) else {
      throw .missing(path: file, detail: "there is no such file")
    }
    return Content(name: name, bytes: bytes, isCompiled: false, listedChecksum: nil)
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

import CambiumEngine
import CambiumModels
import Testing

/// Files in memory.
private final class FakeFiles: ModelFileSource {
  private var files: [String: [UInt8]]

  init(_ files: [String: [UInt8]]) { self.files = files }

  func names(inFolder path: String) -> [String]? {
    let inside = files.keys.filter { $0.hasPrefix(path + "/") }.map { $0.dropFirst(path.count + 1) }
    if inside.isEmpty { return nil }
    return Array(Set(inside.map { String($0.prefix { $0 != "/" }) }))
  }

  func bytes(ofFile path: String) -> [UInt8]? { files[path] }
}

@Suite struct ModelFolderTests {
  private static func model(_ attribute: String) -> [UInt8] {
    Array(
      "<model><entity name=\"E\"><attribute name=\"\(attribute)\" optional=\"YES\" attributeType=\"String\"/></entity></model>"
        .utf8)
  }

  private static let current = Array(
    "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>V2.xcdatamodel</string></dict></plist>".utf8)

  private let source = FakeFiles([
    "/m/A.xcdatamodeld/V1.xcdatamodel/contents": model("a"),
    "/m/A.xcdatamodeld/V2.xcdatamodel/contents": model("b"),
    "/m/A.xcdatamodeld/.xccurrentversion": current,
    "/m/Open.xcdatamodeld/V1.xcdatamodel/contents": model("a"),
    "/m/Open.xcdatamodeld/V2.xcdatamodel/contents": model("b"),
    "/m/One.xcdatamodeld/Only.xcdatamodel/contents": model("a"),
    "/m/B.xcdatamodel/contents": model("c"),
    "/m/bare.xml": model("d"),
    "/m/empty/readme": [],
    "/m/Old.xcdatamodeld/V0.xcdatamodel/elements": [1],
    "/m/Old.xcdatamodeld/V0.xcdatamodel/layout": [2],
    "/m/Old.xcdatamodeld/V2.xcdatamodel/contents": model("b"),
    "/m/Old.xcdatamodeld/V3.xcdatamodel/contents": model("c"),
    "/m/Old.xcdatamodeld/.xccurrentversion": current,
    "/m/Ancient.xcdatamodeld/V0.xcdatamodel/elements": [1],
  ])

  private func attributes(_ path: String, _ version: String? = nil) throws -> [String] {
    let version = try ModelFolder(path: path, source: source).version(named: version)
    return version.schema.entity(named: "E")?.attributes.map { $0.name } ?? []
  }

  @Test func places() throws {
    #expect(try attributes("/m/A.xcdatamodeld") == ["b"])
    #expect(try attributes("/m/A.xcdatamodeld/", "V1") == ["a"])
    #expect(try attributes("/m/One.xcdatamodeld") == ["a"])
    #expect(try attributes("/m/B.xcdatamodel") == ["c"])
    #expect(try attributes("/m/B.xcdatamodel/contents") == ["c"])
    #expect(try attributes("/m/bare.xml") == ["d"])
    #expect(try ModelFolder(path: "/m/B.xcdatamodel/contents", source: source).name == "B")
    #expect(try ModelFolder(path: "/m/bare.xml", source: source).versionNames == ["bare"])
    let folder = try ModelFolder(path: "/m/A.xcdatamodeld", source: source)
    #expect(folder.name == "A")
    #expect(folder.versionNames == ["V1", "V2"])
    #expect(folder.currentVersionName == "V2")
    #expect(try folder.versions().map { $0.name } == ["V1", "V2"])
  }

  /// A version from before Xcode 4 is passed over with a warning, and the others are read.
  @Test func legacyVersions() throws {
    let folder = try ModelFolder(path: "/m/Old.xcdatamodeld", source: source)
    #expect(folder.versionNames == ["V2", "V3"] && folder.currentVersionName == "V2")
    #expect(try folder.versions().map { $0.name } == ["V2", "V3"])
    #expect(folder.warnings == ["version 'V0' is older than Xcode 4, and is passed over"])
    #expect {
      try folder.version(named: "V0")
    } throws: { "\($0)".contains("save it anew") }
    #expect {
      try ModelFolder(path: "/m/Ancient.xcdatamodeld", source: self.source)
    } throws: { "\($0)".contains("older than Xcode 4 (V0)") }
  }

  @Test func missing() throws {
    for (path, version) in [
      ("/m/none.xcdatamodeld", nil), ("/m/empty", nil), ("/m/Open.xcdatamodeld", nil), ("/m/A.xcdatamodeld", "V3"),
      ("/m/A.xcdatamodeld", "../B"),
    ] as [(String, String?)] {
      #expect {
        try attributes(path, version)
      } throws: { error in
        guard case .missing? = error as? ModelFileError else { return false }
        return true
      }
    }
    #expect(try attributes("/m/Open.xcdatamodeld", "V2") == ["b"])
  }

  @Test func compiled() throws {
    let folder = try ModelFolder(path: "/m/A.xcdatamodeld", source: source)
    let versions = try folder.versions()
    var files: [String: [UInt8]] = [:]
    for file in ModelFolder.compiledFiles(versions, current: "V2") {
      files["/m/A.cambiummodel/" + file.name] = file.bytes
    }
    #expect(files.keys.sorted() == ["V1.schema", "V2.schema", "VersionInfo.plist"].map { "/m/A.cambiummodel/" + $0 })
    let compiled = try ModelFolder(path: "/m/A.cambiummodel", source: FakeFiles(files))
    #expect(compiled.name == "A")
    #expect(compiled.versionNames == ["V1", "V2"])
    #expect(try compiled.version().schema == versions[1].schema)
    #expect(try compiled.versions().map { $0.schema } == versions.map { $0.schema })
    let info = try PropertyList(try #require(files["/m/A.cambiummodel/VersionInfo.plist"]))
    #expect(info["NSManagedObjectModel_VersionChecksums"]?["V1"]?.text == versions[0].schema.versionChecksum)
    #expect(
      info["NSManagedObjectModel_VersionHashes"]?["V1"]?["E"]?.text
        == versions[0].schema.entityVersionHashesByName["E"]?.base64)

    // A file of another version under its name is noticed; so is damage.
    files["/m/A.cambiummodel/V1.schema"] = files["/m/A.cambiummodel/V2.schema"]
    #expect(throws: ModelFileError.self) {
      try ModelFolder(path: "/m/A.cambiummodel", source: FakeFiles(files)).version(named: "V1")
    }
    files["/m/A.cambiummodel/V1.schema"] = [1, 2, 3]
    #expect(throws: ModelFileError.self) {
      try ModelFolder(path: "/m/A.cambiummodel", source: FakeFiles(files)).version(named: "V1")
    }
    // One file of a compiled model alone.
    files["/x.schema"] = versions[0].schema.encoded()
    #expect(try ModelFolder(path: "/x.schema", source: FakeFiles(files)).version().schema == versions[0].schema)
  }

  @Test func propertyLists() throws {
    let list = PropertyList.dictionary([
      PropertyListEntry("a<&>", .text("x < y & \"z\"\r\n")),
      PropertyListEntry("b", .array([.flag(true), .flag(false)])),
      PropertyListEntry("c", .dictionary([])),
    ])
    #expect(try PropertyList(list.bytes) == list)
    let numbers = "<plist><dict><key>n</key><integer>3</integer><key>d</key><data>\n QU\nI= </data></dict></plist>"
    #expect(try PropertyList(Array(numbers.utf8))["n"]?.text == "3")
    #expect(try PropertyList(Array(numbers.utf8))["d"]?.text == "QUI=")
    for text in [
      "bplist00", "<plist/>", "<dict/>", "<plist><dict><string>x</string></dict></plist>",
      "<plist><dict><key>x</key></dict></plist>", "<plist><thing/></plist>",
    ] {
      #expect(throws: ModelDocumentError.self) { try PropertyList(Array(text.utf8)) }
    }
  }
}

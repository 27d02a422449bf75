import CambiumEngine
import CambiumModels
import Foundation
import Testing

/// Reads the models of real applications, where a folder of them lies beside the repository: `shared/models`.
@Suite(.enabled(if: !realModels().isEmpty)) struct RealModelsTests {
  @Test(arguments: realModels()) func loads(path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let file = try ModelFile(contents: bytes)
    #expect(!file.schema.entities.isEmpty)
    #expect(file.schema.versionChecksum.utf8.count == 44)
    // What was read can be stored, and reads the same.
    #expect(try Schema(bytes: file.schema.encoded()) == file.schema)
    #expect(try ModelFile(contents: bytes).schema.versionChecksum == file.schema.versionChecksum)
    // Nothing in these files is unknown.
    #expect(file.warnings.filter { $0.text.hasSuffix("not known and is left out") } == [])
  }

  /// Between versions of one application: what is told to be stored is what the hashes differ by, and a mapping is
  /// inferred where nothing differs.
  @Test func versionsDiffer() throws {
    var byFolder: [String: [Schema]] = [:]
    for path in realModels() {
      let url = URL(fileURLWithPath: path)
      let schema = try ModelFile(contents: [UInt8](try Data(contentsOf: url))).schema
      byFolder[url.deletingLastPathComponent().path, default: []].append(schema)
    }
    for schemas in byFolder.values {
      for (old, new) in zip(schemas, schemas.dropFirst()) {
        let differing = new.differingEntities(from: old)
        #expect(SchemaDifference(from: old, to: new).isStored == !differing.isEmpty)
        #expect(differing == old.differingEntities(from: new))
        #expect(differing.isEmpty == (old.versionChecksum == new.versionChecksum))
        if differing.isEmpty { #expect(try SchemaMapping.infer(from: old, to: new).isIdentity) }
      }
    }
  }
}

private func realModels() -> [String] {
  let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let folder = root.deletingLastPathComponent().appendingPathComponent("shared/models")
  let files = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
  return files.filter { $0.hasSuffix(".xml") }.sorted().map { folder.path + "/" + $0 }
}

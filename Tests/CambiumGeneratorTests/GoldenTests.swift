import CambiumGenerator
import CambiumModelFiles
import Foundation
import Testing

/// The code of small models, compared with files. `CAMBIUM_UPDATE_GOLDEN=1` writes the files anew; `.ci/generated`
/// compiles the code.
@Suite struct GoldenTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  @Test(arguments: [
    ("Trips", [CodeForm.swiftData], "Trips.swiftdata"),
    ("Trips", [.managedObjects, .builder], "Trips.managed-objects-builder"),
    ("Trips", [.builder], "Trips.builder"), ("Trips/Trips 2", [.swiftData], "Trips2.swiftdata"),
    ("Trips/Trips 2", [.managedObjects], "Trips2.managed-objects"),
  ])
  func codeIsAsBefore(model: String, forms: [CodeForm], golden: String) throws {
    let parts = model.split(separator: "/").map { String($0) }
    let versions = parts.count > 1 ? [parts[1]] : ["Trips", "Trips 2"]
    var options = CodeOptions(modelName: parts[0], forms: Set(forms), sourceName: parts[0] + ".xcdatamodeld")
    options.isPublic = golden == "Trips2.swiftdata"
    let code = try CodeGenerator.generate(
      try versions.map { CodeVersion(name: $0, document: try Self.document("Trips", $0)) }, current: "Trips 2", options)
    let text = code.files.map { "// FILE \($0.name)\n" + $0.text }.joined(separator: "\n")
    let url = Self.folder.appendingPathComponent("Golden/\(golden).txt")
    if ProcessInfo.processInfo.environment["CAMBIUM_UPDATE_GOLDEN"] != nil {
      try Data(text.utf8).write(to: url)
    }
    #expect(text == String(decoding: try Data(contentsOf: url), as: UTF8.self))
  }

  private static func document(_ model: String, _ version: String) throws -> ModelDocument {
    let file = folder.appendingPathComponent("Models/\(model).xcdatamodeld/\(version).xcdatamodel/contents")
    return try ModelDocument(contents: [UInt8](try Data(contentsOf: file)))
  }

  /// One file of all has each import once, and every declaration.
  @Test func filesAreJoined() throws {
    let options = CodeOptions(modelName: "Trips", forms: [.swiftData], sourceName: "Trips.xcdatamodeld")
    let code = try CodeGenerator.generate(
      [CodeVersion(name: "Trips", document: try Self.document("Trips", "Trips"))], current: nil, options)
    #expect(code.files.map { $0.name } == ["BucketListItem.swift", "LivingAccommodation.swift", "Trip.swift"])
    let lines = SourceFile.joined(code.files, name: "All.swift").text.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("import ") } == ["import CambiumSwiftData", "import Foundation"])
    #expect(lines.filter { $0.contains("class ") }.count == 3)
  }
}

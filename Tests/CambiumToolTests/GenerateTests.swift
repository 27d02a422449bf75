import Foundation
import Testing

@testable import CambiumTool

/// `cambium generate` on a folder of versions.
@Suite final class GenerateTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("generate-\(UUID().uuidString)")
  private var model: String { folder.path + "/Trips.xcdatamodeld" }

  init() throws {
    try write("Trips", #"<entity name="Trip"><attribute name="name" attributeType="String"/></entity>"#)
    try write(
      "Trips 2",
      #"<entity name="Trip"><attribute name="title" attributeType="String" elementID="name" maxValueString="9"/></entity>"#
    )
    try Data(
      "<plist><dict><key>_XCCurrentVersionName</key><string>Trips 2.xcdatamodel</string></dict></plist>".utf8
    ).write(to: URL(fileURLWithPath: model + "/.xccurrentversion"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func write(_ version: String, _ content: String) throws {
    let place = URL(fileURLWithPath: "\(model)/\(version).xcdatamodel")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try Data("<model>\(content)</model>".utf8).write(to: place.appendingPathComponent("contents"))
  }

  private func generate(_ arguments: String...) throws -> Answer {
    let parsed = try Arguments(["generate"] + arguments)
    return try Command.generate.run(Array(parsed.operands.dropFirst()), parsed)
  }

  @Test func allVersions() throws {
    let output = folder.path + "/new/Sources"
    let answer = try generate(model, "--managed-objects", "--builder", "--public", "--output", output)
    #expect(answer.status == .success)
    #expect(
      answer.text.split(separator: "\n").map { $0.dropFirst(output.count + 1) } == [
        "TripsV1.swift", "TripsV2.swift", "Trips.swift",
      ])
    let current = try String(contentsOfFile: output + "/Trips.swift", encoding: .utf8)
    #expect(current.contains("public typealias Trip = TripsV2.Trip\n"))
    #expect(current.contains("public typealias TripsModel = TripsV2\n"))
    let second = try String(contentsOfFile: output + "/TripsV2.swift", encoding: .utf8)
    #expect(second.contains(#"Attribute("title", .string, optional: false, maximum: 9, renamed: "name")"#))
    #expect(second.contains("@Managed public var title: String\n"))
  }

  @Test func oneVersion() throws {
    let answer = try generate(model, "Trips", "--swiftdata")
    #expect(answer.text.contains("@Model final class Trip {\n  var name: String\n"))
    #expect(!answer.text.contains("enum"))
  }

  @Test func refusals() throws {
    let answer = try generate(model, "--swiftdata", "--output", folder.path + "/none")
    #expect(answer.status == .damaged)
    #expect(answer.text.hasPrefix("version Trips 2, Trip.title: SwiftData has no validation rules; "))
    #expect(answer.text.hasSuffix("nothing is generated, for 1 reason"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/none"))
  }

  @Test func xcodeModel() throws {
    let output = folder.path + "/Back.xcdatamodel"
    #expect(try generate(model, "Trips", "--xcdatamodel", "--output", output).text == output + "/contents")
    #expect(
      try LoadedModel(path: output).schema.versionChecksum
        == LoadedModel(path: model, version: "Trips").schema.versionChecksum)
    // A file of XML is no store, and what was compiled is a model.
    let compiled = folder.path + "/Trips.cambiummodel"
    _ = try Command.model.run(["compile", model, compiled], Arguments(["model"]))
    #expect(try generate(compiled, "Trips", "--swiftdata").text.contains("var name: String"))
  }

  /// A folder of versions with a file `contents` would be one version.
  @Test func aFolderOfVersionsIsKept() throws {
    let other = folder.path + "/Other"
    try FileManager.default.createDirectory(atPath: other + "/V1.xcdatamodel", withIntermediateDirectories: true)
    for place in [model, model + "/", folder.path + "/New.xcdatamodeld", other] {
      #expect {
        _ = try self.generate(self.model, "Trips", "--xcdatamodel", "--output", place)
      } throws: { error in
        guard case .failed(let text)? = error as? ToolError else { return false }
        return text.contains("this is a folder of versions")
      }
      #expect(!FileManager.default.fileExists(atPath: place + "/contents"))
    }
    #expect(try modelFolder(model).versionNames == ["Trips", "Trips 2"])
  }

  /// Files that the tool did not make stay.
  @Test func handwrittenFilesAreKept() throws {
    let output = folder.path + "/Sources"
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    let own = "// My own trips.\nstruct Trip {}\n"
    try Data(own.utf8).write(to: URL(fileURLWithPath: output + "/TripsV2.swift"))
    try Data(own.utf8).write(to: URL(fileURLWithPath: output + "/Other.swift"))
    #expect {
      _ = try self.generate(self.model, "--builder", "--output", output)
    } throws: { error in
      guard case .failed(let text)? = error as? ToolError else { return false }
      return text.hasPrefix(output + "/TripsV2.swift: the file was not made by 'cambium generate'")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: output).sorted() == ["Other.swift", "TripsV2.swift"])
    #expect(try String(contentsOfFile: output + "/TripsV2.swift", encoding: .utf8) == own)
  }

  /// Files of an earlier call, for versions or classes that are gone, do not stay.
  @Test func staleFilesAreRemoved() throws {
    let output = folder.path + "/Sources"
    #expect(try generate(model, "--builder", "--output", output).status == .success)
    try Data("struct Trip {}".utf8).write(to: URL(fileURLWithPath: output + "/Other.swift"))
    try Data("// Made by 'cambium generate' of Others.xcdatamodeld. Do not edit.\n".utf8).write(
      to: URL(fileURLWithPath: output + "/OthersV1.swift"))
    try FileManager.default.moveItem(atPath: model + "/Trips.xcdatamodel", toPath: model + "/Trips 1.xcdatamodel")
    try FileManager.default.moveItem(atPath: model + "/Trips 1.xcdatamodel", toPath: model + "/Trips 1.5.xcdatamodel")
    let answer = try generate(model, "--builder", "--output", output)
    #expect(answer.text.contains("removed: \(output)/TripsV1.swift"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: output).sorted() == [
        "Other.swift", "OthersV1.swift", "Trips.swift", "TripsV1_5.swift", "TripsV2.swift",
      ])
  }

  @Test(arguments: ["", "Trips 3"]) func noCurrentVersion(name: String) throws {
    let file = URL(fileURLWithPath: model + "/.xccurrentversion")
    if name.isEmpty {
      try FileManager.default.removeItem(at: file)
    } else {
      try Data(
        "<plist><dict><key>_XCCurrentVersionName</key><string>\(name).xcdatamodel</string></dict></plist>".utf8
      ).write(to: file)
    }
    #expect {
      _ = try self.generate(self.model, "--builder")
    } throws: { error in
      guard case .failed(let text)? = error as? ToolError else { return false }
      return text.hasSuffix(
        "nothing says which version is the current one; choose it in the model editor (.xccurrentversion)")
    }
    // One version needs no current one.
    #expect(try generate(model, "Trips", "--builder").status == .success)
  }

  /// What reading the file leaves out, code of the builder would throw for.
  @Test func patternsThatCannotBeUsed() throws {
    try write(
      "Trips",
      #"<entity name="Trip"><attribute name="name" attributeType="String" regularExpressionString="([a"/></entity>"#)
    let answer = try generate(model, "Trips", "--builder")
    #expect(answer.status == .damaged)
    #expect(answer.text.hasPrefix("Trip.name: the pattern '([a' cannot be used; correct or remove it in the model"))
    #expect(try generate(model, "--builder").text.hasPrefix("version Trips, Trip.name: the pattern"))
    let output = folder.path + "/Sources"
    #expect(
      try generate(model, "Trips", "--managed-objects", "--output", output).text.contains(
        "note: line 1: name: the pattern '([a' is left out"))
    try write(
      "Trips",
      #"<entity name="Trip"><attribute name="name" attributeType="String"/><fetchIndex name="byName"><fetchIndexElement "#
        + #"property="name" type="Binary" order="ascending"/></fetchIndex>"#
        + #"<attribute name="length" attributeType="Integer 64" derived="YES" derivationExpression="foo bar (("/></entity>"#
    )
    #expect(
      try generate(model, "Trips", "--builder", "--output", output).text.contains(
        "note: Trip.length: the attribute cannot be computed: the expression 'foo bar ((' is not supported"))
  }

  @Test(arguments: [
    ["--swiftdata", "--builder"], [], ["--xcdatamodel", "--builder"], ["--xcdatamodel", "--public"],
    ["--swiftdata", "--sync"],
  ])
  func usage(options: [String]) {
    #expect {
      let parsed = try Arguments(["generate", self.model] + options)
      _ = try Command.generate.run(Array(parsed.operands.dropFirst()), parsed)
    } throws: { error in
      guard case .usage? = error as? ToolError else { return false }
      return true
    }
  }

  @Test func optionsOfOtherCommands() throws {
    let parsed = try Arguments(["info", "x", "--builder"])
    #expect(throws: ToolError.self) { _ = try Command.info.run(["x"], parsed) }
  }

  @Test func missing() {
    #expect {
      _ = try self.generate(self.folder.path + "/none.xcdatamodeld", "--swiftdata")
    } throws: { error in
      guard case .failed? = error as? ToolError else { return false }
      return true
    }
  }
}

import Foundation
import Testing

@testable import CambiumTool

/// `cambium migrate-source` on a folder.
@Suite final class MigrateSourceTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("move-\(UUID().uuidString)")

  init() throws {
    try write("Item.swift", "import CoreData\nclass Item: NSManagedObject {}\n")
    try write("Model/Item+Properties.swift", "import CoreData\nextension Item { @NSManaged var kind: Kind }\n")
    try write("Model/Kind.swift", "enum Kind: Int { case a }\n")
    try write("Pods/Other.swift", "import CoreData\n")
    try write(".hidden/Other.swift", "import CoreData\n")
    try write("notes.txt", "import CoreData\n")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

  private func write(_ name: String, _ data: Data) throws {
    let url = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: url)
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
  }

  private func run(_ arguments: String...) throws -> Answer {
    let parsed = try Arguments(["migrate-source", folder.path] + arguments)
    return try Command.migrateSource.run(Array(parsed.operands.dropFirst()), parsed)
  }

  @Test func nothingIsWrittenUnlessAsked() throws {
    let answer = try run()
    #expect(answer.status == .success)
    #expect(
      answer.text == """
        Item.swift
          1: import CoreData -> import CambiumCoreData
        Model/Item+Properties.swift
          1: import CoreData -> import CambiumCoreData
          2: @NSManaged var kind: Kind -> @Managed(default: Kind.a) var kind: Kind
        Model/Kind.swift
          1: enum Kind conforms to AttributeRepresentable
          1: import CambiumCoreData is added
        5 changes in 3 of 3 files, 0 left; nothing is written without --write
        """)
    #expect(try text("Item.swift").hasPrefix("import CoreData\n"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 5)
  }

  @Test func filesAreWritten() throws {
    let answer = try run("--write")
    #expect(answer.text.hasSuffix("\n5 changes in 3 of 3 files, 0 left"))
    #expect(try text("Item.swift") == "import CambiumCoreData\nclass Item: NSManagedObject {}\n")
    #expect(try text("Model/Kind.swift").contains("enum Kind: Int, AttributeRepresentable { case a }"))
    #expect(try text("Pods/Other.swift") == "import CoreData\n" && text(".hidden/Other.swift") == "import CoreData\n")
    #expect(try text("notes.txt") == "import CoreData\n")
    #expect(try run("--write").text == "0 changes in 0 of 3 files, 0 left")
  }

  @Test func findingsEndWithOne() throws {
    try write("A.swift", "import CoreData\nlet a = #selector(f)\nlet b = NSAtomicStore, c = #selector(g)\n")
    let answer = try run()
    #expect(answer.status == .damaged)
    let lines = answer.text.split(separator: "\n").drop { $0 != "left:" }.map { String($0) }
    #expect(lines.count == 7)
    #expect(lines[1].contains("#selector") && lines[1].contains("(2): "))
    #expect(lines[2] == "    A.swift:2: #selector(f)" && lines[3] == "    A.swift:3: #selector(g)")
    #expect(lines[4].contains("(1): ") && lines[5] == "    A.swift:3: NSAtomicStore")
    #expect(answer.json.line.contains(#""name":"A.swift","changes":[{"line":1,"#))
    #expect(answer.json.line.contains(##"{"line":2,"text":"#selector(f)","reason":"##))
  }

  @Test func unreadableFilesDoNotStopTheRun() throws {
    try write("Latin.swift", Data([0x2F, 0x2F, 0xE9, 0x0A]))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/Gone.swift", withDestinationPath: folder.path + "/nowhere")
    try FileManager.default.createDirectory(atPath: folder.path + "/Folder.swift", withIntermediateDirectories: false)
    let answer = try run("--write")
    #expect(answer.status == .damaged)
    #expect(
      answer.text.contains("not read: Gone.swift: ") && answer.text.contains("not read: Latin.swift: not in UTF-8"))
    #expect(try text("Item.swift").hasPrefix("import CambiumCoreData\n"))
    #expect(answer.json.line.contains(#"{"name":"Latin.swift","reason":"not in UTF-8"}"#))
  }

  @Test func theModelSaysWhatIsARelationship() throws {
    try write("B.swift", "import CoreData\nclass B: NSManagedObject { @NSManaged var other: Unknown }\n")
    #expect(try run().status == .damaged)
    try write(
      "M.xcdatamodel/contents",
      """
      <model><entity name="B" representedClassName="B"><relationship name="other" destinationEntity="U" maxCount="1"/>
      </entity><entity name="U" representedClassName="Unknown" codeGenerationType="class"/></model>
      """)
    let answer = try run("--model", folder.path + "/M.xcdatamodel", "--write")
    #expect(answer.status == .success)
    // Nothing declares the other class.
    #expect(answer.text.contains("\nUnknown+CoreDataClass.swift: a new file, "))
    #expect(try text("Unknown+CoreDataClass.swift").contains("public class Unknown: NSManagedObject {"))
    #expect(try !run("--model", folder.path + "/M.xcdatamodel").text.contains("a new file"))
  }

  @Test func wrongUsage() throws {
    #expect(throws: ToolError.self) {
      let parsed = try Arguments(["migrate-source", folder.path + "/none"])
      _ = try Command.migrateSource.run(Array(parsed.operands.dropFirst()), parsed)
    }
    #expect(throws: ToolError.self) {
      let parsed = try Arguments(["info", "a.store", "--write"])
      _ = try Command.info.run(["a.store"], parsed)
    }
    #expect(Command.migrateSource.help.contains("--write"))
    #expect(generalHelp.contains("migrate-source FOLDER"))
  }
}

import CambiumKernel
import CambiumSystem
import Foundation
import Testing

@Suite struct PlainFilesTests {
  @Test func filesAndFolders() throws {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("plain-files-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: root) }
    #expect(PlainFiles.names(inFolder: root) == nil)
    try PlainFiles.makeFolder(root)
    try PlainFiles.makeFolder(root)
    #expect(PlainFiles.names(inFolder: root) == [])
    let file = root + "/größe.txt"
    #expect(try PlainFiles.bytes(ofFile: file, limit: 100) == nil)
    try PlainFiles.replace(file, with: [1, 2, 3])
    try PlainFiles.replace(file, with: [4, 5])
    #expect(try PlainFiles.bytes(ofFile: file, limit: 2) == [4, 5])
    #expect(throws: StoreError.self) { try PlainFiles.bytes(ofFile: file, limit: 1) }
    #expect(PlainFiles.names(inFolder: root) == ["größe.txt"])
    #expect(PlainFiles.names(inFolder: file) == nil)
    #expect(throws: StoreError.self) { try PlainFiles.bytes(ofFile: root, limit: 100) }
    #expect(throws: StoreError.self) { try PlainFiles.replace(root + "/none/x", with: []) }
    #expect(throws: StoreError.self) { try PlainFiles.makeFolder(root + "/none/x") }
    try PlainFiles.remove(file)
    try PlainFiles.remove(file)
    #expect(PlainFiles.names(inFolder: root) == [])
  }
}

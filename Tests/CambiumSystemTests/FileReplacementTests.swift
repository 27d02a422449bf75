import CambiumKernel
import Foundation
import Testing

@testable import CambiumSystem

/// A file that takes the place of another.
@Suite struct FileReplacementTests {
  private func store(_ directory: String, _ content: [UInt8] = [1, 2, 3]) throws -> String {
    let path = directory + "/store"
    #expect(FileManager.default.createFile(atPath: path, contents: Data(content)))
    return path
  }

  @Test func theNewFileTakesThePlace() throws {
    try withTemporaryDirectory { directory in
      let path = try store(directory)
      let before = try FileIdentity(path: path)
      try FileDevice.replace(at: path) { device, temporary throws(StoreError) in
        #expect(try FileIdentity(path: temporary) == device.identity)
        #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
        // It is locked, so that nobody opens it before it is done.
        #expect(thrown { () throws(StoreError) in _ = try FileDevice(path: temporary) } == .busy)
        FileDevice.removeUnfinishedReplacement(of: path)
        try device.write([9, 9], at: 0)
      }
      #expect(FileManager.default.contents(atPath: path) == Data([9, 9]))
      #expect(try FileIdentity(path: path) != before)
      #expect(try names(in: directory) == ["store"])
      try FileDevice(path: path).write([7], at: 0)
    }
  }

  @Test func whatFailsLeavesTheOldFile() throws {
    try withTemporaryDirectory { directory in
      let path = try store(directory)
      let inside = thrown { () throws(StoreError) in
        try FileDevice.replace(at: path) { _, _ throws(StoreError) in throw .misuse("") }
      }
      #expect(inside == .misuse(""))
      var calls = FileCalls.system
      calls.rename = { _, _ in -Int(EACCES) }
      let renaming = thrown { () throws(StoreError) in try FileDevice.replace(at: path, calls: calls) { _, _ in } }
      #expect(renaming == .device(operation: .rename, offset: 0, code: EACCES))
      calls = .system
      calls.sync = { _ in -Int(EIO) }
      let syncing = thrown { () throws(StoreError) in try FileDevice.replace(at: path, calls: calls) { _, _ in } }
      #expect(syncing == .device(operation: .sync, offset: 0, code: EIO))
      #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
      #expect(try names(in: directory) == ["store"])
      #expect(thrown { () throws(StoreError) in try FileDevice.replace(at: directory + "/no/x") { _, _ in } } != nil)
    }
  }

  /// The name may not be durable then; the path leads to the new file all the same.
  @Test func aDirectoryThatCannotBeSyncedIsTold() throws {
    try withTemporaryDirectory { directory in
      let path = try store(directory)
      var calls = FileCalls.system
      calls.syncDirectory = { _ in -Int(EIO) }
      let error = thrown { () throws(StoreError) in
        try FileDevice.replace(at: path, calls: calls) { device, _ throws(StoreError) in try device.write([9], at: 0) }
      }
      #expect(error == .device(operation: .sync, offset: 0, code: EIO))
      #expect(FileManager.default.contents(atPath: path) == Data([9]))
      #expect(try names(in: directory) == ["store"])
    }
  }

  /// What the directory holds before and after each step is what a kill there leaves.
  @Test func aKillLeavesTheOldFileOrTheNewOne() throws {
    try withTemporaryDirectory { directory in
      let place = directory + "/place"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      let path = try store(place)
      let copy: @Sendable (String) -> Void = { name in
        #expect(throws: Never.self) { try FileManager.default.copyItem(atPath: place, toPath: directory + "/" + name) }
      }
      var calls = FileCalls.system
      calls.sync = { file in
        copy("before-sync")
        return FileCalls.system.sync(file)
      }
      calls.rename = { from, to in
        copy("before-rename")
        defer { copy("after-rename") }
        return FileCalls.system.rename(from, to)
      }
      calls.syncDirectory = { path in
        defer { copy("after-directory-sync") }
        return FileCalls.system.syncDirectory(path)
      }
      try FileDevice.replace(at: path, calls: calls) { device, _ throws(StoreError) in
        copy("before-content")
        try device.write([9], at: 0)
      }
      for name in ["before-content", "before-sync", "before-rename", "after-rename", "after-directory-sync"] {
        let copied = directory + "/" + name
        let isOld = name.hasPrefix("before")
        #expect(try names(in: copied).count == (isOld ? 2 : 1))
        #expect(FileManager.default.contents(atPath: copied + "/store") == Data(isOld ? [1, 2, 3] : [9]))
        FileDevice.removeUnfinishedReplacement(of: copied + "/store")
        #expect(try names(in: copied) == ["store"])
        // And the next replacement is not held up by what there was.
        try FileDevice.replace(at: copied + "/store") { device, _ throws(StoreError) in try device.write([5], at: 0) }
        #expect(FileManager.default.contents(atPath: copied + "/store") == Data([5]))
      }
    }
  }

  @Test func leftoversAreNamedAfterTheFile() {
    #expect(TemporaryName.standing(for: "/a/b/store") == TemporaryName.standing(for: "store"))
    #expect(TemporaryName.standing(for: "/a/store") != TemporaryName.standing(for: "/a/Store"))
    #expect(TemporaryName.matches(TemporaryName.standing(for: "")))
    #expect(TemporaryName.matches(TemporaryName.standing(for: String(repeating: "x", count: 255))))
  }
}

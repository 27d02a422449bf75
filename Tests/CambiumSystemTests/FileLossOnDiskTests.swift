import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumSystem

/// Files that are deleted, replaced or cut while a store has them open.
@Suite struct FileLossOnDiskTests {
  private static let environment = SystemEnvironment()

  /// Calls `body` with the path of a store, the store, and a tree in which key 0 has a value.
  private func withStore(
    sharing: FileDevice.Sharing = .exclusive, _ durability: Durability = .full,
    _ body: (String, Store, TreeID) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/open.store"
      try FileDevice.create(at: path) { (device) throws(StoreError) in
        try Store.format(device, environment: Self.environment)
      }.close()
      var options = StoreOptions()
      options.durability = durability
      let store = try Store.open(
        on: FileDevice(path: path, sharing: sharing), environment: Self.environment, options: options)
      let t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      try t.put(tree, 0, [7])
      try t.commit()
      try body(path, store, tree)
    }
  }

  private func put(_ store: Store, _ tree: TreeID, _ key: UInt64) throws(StoreError) {
    let t = try store.beginWrite()
    try t.put(tree, key, [UInt8](repeating: 1, count: 100))
    try t.commit()
  }

  private func committing(_ store: Store, _ tree: TreeID) -> StoreError? {
    thrown { () throws(StoreError) in try put(store, tree, 1) }
  }

  @Test(arguments: [FileDevice.Sharing.exclusive, .shared]) func aDeletedFileTakesNoCommits(
    _ sharing: FileDevice.Sharing
  ) throws {
    try withStore(sharing: sharing) { path, store, tree in
      try FileManager.default.removeItem(atPath: path)
      #expect(committing(store, tree) == .fileLost(.deleted))
      #expect(try store.snapshot().value(tree, 0) == [7])
      #expect(thrown { () throws(StoreError) in try store.close() } == .fileLost(.deleted))
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  /// As an editor, or a restored backup, replaces a file.
  @Test func aFileThatAnotherTakesThePlaceOfTakesNoCommits() throws {
    try withStore { path, store, tree in
      #expect(FileManager.default.createFile(atPath: path + ".new", contents: Data([1, 2, 3])))
      #expect(FileCalls.system.rename(path + ".new", path) == 0)
      #expect(committing(store, tree) == .fileLost(.deleted))
      #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
    }
  }

  @Test(arguments: [0, 8192, 40_000] as [UInt64]) func aCutFileTakesNoCommits(_ size: UInt64) throws {
    try withStore { path, store, tree in
      let view = try store.snapshot()
      #expect(truncate(path, off_t(size)) == 0)
      guard case .fileLost(.cut(let found, let needed)) = committing(store, tree) else {
        Issue.record("the commit was acknowledged")
        return
      }
      #expect(found < needed)
      let left = FileManager.default.contents(atPath: path)?.count
      #expect(
        thrown { () throws(StoreError) in try store.close() } == .fileLost(.cut(sizeBytes: found, neededBytes: needed)))
      #expect(try view.value(tree, 0) == [7])
      #expect(FileManager.default.contents(atPath: path)?.count == left)
    }
  }

  /// A store that shares its file reads the end of the log before each commit, and finds nothing there.
  @Test(arguments: [0, 8192, 40_000] as [UInt64]) func aCutFileThatIsSharedTakesNoCommits(_ size: UInt64) throws {
    try withStore(sharing: .shared) { path, store, tree in
      #expect(truncate(path, off_t(size)) == 0)
      for _ in 0..<3 { #expect(committing(store, tree) != nil) }
      #expect(FileManager.default.contents(atPath: path)?.count == Int(size))
    }
  }

  @Test(arguments: [Durability.normal, .none]) func filesOfCommitsThatAreNotSyncedAreLookedAtNowAndThen(
    _ durability: Durability
  ) throws {
    try withStore(durability) { path, store, tree in
      try FileManager.default.removeItem(atPath: path)
      var acknowledged = 0
      while acknowledged < 1000, committing(store, tree) == nil { acknowledged += 1 }
      #expect(acknowledged < 64)
      #expect(committing(store, tree) == .fileLost(.deleted))
    }
  }

  @Test func anotherNameKeepsTheFileAlive() throws {
    try withStore { path, store, tree in
      try FileManager.default.linkItem(atPath: path, toPath: path + ".link")
      try FileManager.default.removeItem(atPath: path)
      #expect(committing(store, tree) == nil)
      try store.close()
      let again = try Store.open(on: FileDevice(path: path + ".link"), environment: Self.environment)
      #expect(try again.snapshot().value(tree, 1) != nil)
      try again.close()
    }
  }

  /// Not noticed, and nothing is lost.
  @Test func aRenamedFileGoesOn() throws {
    try withStore { path, store, tree in
      #expect(FileCalls.system.rename(path, path + ".moved") == 0)
      #expect(committing(store, tree) == nil)
      try store.close()
    }
  }

  /// As on file systems that count no names, and for files that never had one.
  @Test func aFileThatHadNoNameAtOpeningGoesOn() throws {
    try withStore { path, store, tree in
      try store.close()
      let file = FileCalls.system.open(path, .readingAndWriting)
      try FileManager.default.removeItem(atPath: path)
      let device = try FileDevice(file: file, access: .readWrite, calls: .system)
      #expect(device.fileState()?.isDeleted == false)
      let again = try Store.open(on: device, environment: Self.environment)
      #expect(committing(again, tree) == nil)
      #expect(try again.snapshot().value(tree, 1) != nil)
      try again.close()
    }
  }

  /// One call for size and names after each sync, by the descriptor: no path is looked up.
  @Test func aCommitAsksOnceForSizeAndLinks() throws {
    let counts = Locked((status: 0, path: 0, sync: 0, growths: 0))
    var calls = FileCalls.system
    calls.sizeAndLinks = { file, status in
      counts.withLock { $0.status += 1 }
      return FileCalls.system.sizeAndLinks(file, &status)
    }
    calls.pathStatus = { path, status in
      counts.withLock { $0.path += 1 }
      return FileCalls.system.pathStatus(path, &status)
    }
    calls.sync = { file in
      counts.withLock { $0.sync += 1 }
      return FileCalls.system.sync(file)
    }
    calls.reserve = { file, offset, count in
      counts.withLock { $0.growths += 1 }
      return FileCalls.system.reserve(file, offset, count)
    }
    try withStore { path, made, tree in
      try made.close()
      let device = try FileDevice(path: path, access: .readWrite, sharing: .exclusive, calls: calls)
      let store = try Store.open(on: device, environment: Self.environment)
      try put(store, tree, 1)
      counts.withLock { $0 = (0, 0, 0, 0) }
      for key in 2...101 as ClosedRange<UInt64> { try put(store, tree, key) }
      let (status, path, sync, growths) = counts.withLock { $0 }
      // Whatever makes the file longer looks twice.
      #expect(sync == 100 && status == 100 + 2 * growths && growths < 10 && path == 0)
      try store.close()
    }
  }

  /// A look that fails says nothing about the file.
  @Test func aLookThatFailsIsNoLoss() throws {
    let fails = Locked(false)
    var calls = FileCalls.system
    calls.sizeAndLinks = { file, status in
      fails.withLock { $0 } ? -Int(EIO) : FileCalls.system.sizeAndLinks(file, &status)
    }
    try withStore { path, made, tree in
      try made.close()
      let device = try FileDevice(path: path, access: .readWrite, sharing: .exclusive, calls: calls)
      let store = try Store.open(on: device, environment: Self.environment)
      // A commit that makes the file longer asks for its length.
      for key in 1...50 as ClosedRange<UInt64> { try put(store, tree, key) }
      fails.withLock { $0 = true }
      #expect(device.fileState() == nil)
      #expect(committing(store, tree) == nil)
      fails.withLock { $0 = false }
      try store.close()
    }
  }
}

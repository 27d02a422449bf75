import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumSystem

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct FileDeviceTests {
  @Test func readsWhatWasWritten() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      let device = try FileDevice.create(at: path) { device throws(StoreError) in
        try device.write([1, 2, 3], at: 2)
      }
      #expect(try device.everything() == [0, 0, 1, 2, 3])
      try device.resize(to: 3)
      #expect(try device.everything() == [0, 0, 1])
      try device.resize(to: 10_000)
      #expect(try device.everything() == [0, 0, 1] + [UInt8](repeating: 0, count: 9_997))
      #expect(try device.bytes(at: 9_999, 5) == [0])
      #expect(try device.bytes(at: .max, 5) == [])
      try device.sync()
      device.close()
      #expect(try names(in: directory) == ["store"])

      let again = try FileDevice(path: path, access: .readOnly)
      #expect(try again.size() == 10_000)
      #expect(thrown { () throws(StoreError) in try again.write([1], at: 0) } != nil)
      #expect(thrown { () throws(StoreError) in try again.resize(to: 0) } != nil)
      #expect(try again.size() == 10_000)
    }
  }

  @Test func reservesRoomWhenItGrows() throws {
    try withTemporaryDirectory { directory in
      let device = try FileDevice.create(at: directory + "/store") { device throws(StoreError) in
        try device.resize(to: 1 << 20)
      }
      var raw = stat()
      #expect(stat(directory + "/store", &raw) == 0)
      #expect(raw.st_blocks * 512 >= 1 << 20)
      device.close()
    }
  }

  @Test func refusesWhatIsNoFile() throws {
    try withTemporaryDirectory { directory in
      let missing = thrown { () throws(StoreError) in _ = try FileDevice(path: directory + "/none") }
      #expect(missing?.meansNoSuchFile == true)
      #expect(missing?.meansFileExists == false)
      #expect(thrown { () throws(StoreError) in _ = try FileDevice(path: directory, access: .readOnly) } == .notAStore)
      #expect(thrown { () throws(StoreError) in _ = try FileDevice(path: "") }?.meansNoSuchFile == true)
      #expect(thrown { () throws(StoreError) in _ = try FileDevice(path: "a\0b") } != nil)
      #expect(thrown { () throws(StoreError) in _ = try FileDevice.create(at: directory + "/no/x") { _ in } } != nil)
      #expect(systemErrorText(ENOSPC) == "No space left on device (28)")
    }
  }

  @Test func throwsAfterClosing() throws {
    try withTemporaryDirectory { directory in
      let device = try FileDevice.create(at: directory + "/store") { _ in }
      device.close()
      device.close()
      #expect(
        thrown { () throws(StoreError) in _ = try device.size() } == .device(operation: .size, offset: 0, code: EBADF))
      #expect(
        thrown { () throws(StoreError) in try device.sync() } == .device(operation: .sync, offset: 0, code: EBADF))
    }
  }

  // MARK: - Creating

  @Test func neverReplaces() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try FileDevice.create(at: path) { device throws(StoreError) in try device.write([1], at: 0) }.close()
      let error = thrown { () throws(StoreError) in _ = try FileDevice.create(at: path) { _ in Issue.record("ran") } }
      #expect(error?.meansFileExists == true)
      // One that comes into being while the content is written wins as well.
      let other = directory + "/other"
      let late = thrown { () throws(StoreError) in
        _ = try FileDevice.create(at: other) { _ in
          #expect(FileManager.default.createFile(atPath: other, contents: Data([9])))
        }
      }
      #expect(late?.meansFileExists == true)
      #expect(FileManager.default.contents(atPath: other) == Data([9]))
      #expect(try names(in: directory) == ["other", "store"])
    }
  }

  @Test func oneOfManyCreatorsWins() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/store"
    let results = await withTaskGroup(of: StoreError?.self) { group in
      for value in UInt8(0)..<8 {
        group.addTask {
          thrown { () throws(StoreError) in
            try FileDevice.create(at: path) { device throws(StoreError) in
              try device.write([UInt8](repeating: value, count: 1000), at: 0)
            }.close()
          }
        }
      }
      return await group.reduce(into: [StoreError?]()) { $0.append($1) }
    }
    #expect(results.count { $0 == nil } == 1)
    #expect(results.compactMap { $0 }.allSatisfy { $0.meansFileExists })
    #expect(try names(in: directory) == ["store"])
    let bytes = try FileDevice(path: path).everything()
    #expect(bytes.count == 1000 && Set(bytes).count == 1)
  }

  @Test func leavesNothingWhenInitializingFails() throws {
    try withTemporaryDirectory { directory in
      let error = thrown { () throws(StoreError) in
        _ = try FileDevice.create(at: directory + "/store") { _ throws(StoreError) in throw .misuse("") }
      }
      #expect(error == .misuse(""))
      let left = try names(in: directory)
      #expect(left == [])
    }
  }

  @Test func removesWhatAKilledCreateLeft() throws {
    try withTemporaryDirectory { directory in
      let stale = directory + "/" + TemporaryName.random()
      let used = directory + "/" + TemporaryName.random()
      let published = directory + "/" + TemporaryName.random()
      let foreign = directory + "/.cambium-new-notes"
      for path in [stale, used, published, foreign] {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
      }
      let holder = try FileDevice(path: used)
      let publisher = try FileDevice(path: published)
      #expect(link(published, directory + "/published") == 0)
      try FileDevice.create(at: directory + "/store") { _ in }.close()
      let expected = [URL(fileURLWithPath: used).lastPathComponent, ".cambium-new-notes", "published", "store"]
      #expect(try names(in: directory) == expected.sorted())
      holder.close()
      publisher.close()
    }
  }

  @Test func renamesWhereThereAreNoHardLinks() throws {
    try withTemporaryDirectory { directory in
      var calls = FileCalls.system
      calls.link = { _, _ in -Int(EPERM) }
      let path = directory + "/store"
      try FileDevice.create(at: path, calls: calls) { device throws(StoreError) in try device.write([5], at: 0) }
        .close()
      #expect(try FileDevice(path: path).everything() == [5])
      #expect(try names(in: directory) == ["store"])
    }
  }

  @Test func leavesNothingWhenACallFails() throws {
    try withTemporaryDirectory { directory in
      func fails(_ change: (inout FileCalls) -> Void) -> StoreError? {
        var calls = FileCalls.system
        change(&calls)
        return thrown { () throws(StoreError) in
          _ = try FileDevice.create(at: directory + "/store", calls: calls) { device throws(StoreError) in
            try device.write([1], at: 0)
          }
        }
      }
      #expect(fails { $0.sync = { _ in -Int(EIO) } } == .device(operation: .sync, offset: 0, code: EIO))
      #expect(fails { $0.syncDirectory = { _ in -Int(EIO) } } == .device(operation: .sync, offset: 0, code: EIO))
      #expect(fails { $0.link = { _, _ in -Int(EIO) } } == .device(operation: .rename, offset: 0, code: EIO))
      #expect(fails { $0.write = { _, _, _, _ in -Int(EDQUOT) } } == .deviceFull(bytes: 1))
      #expect(fails { $0.lock = { _, _, _, _ in -Int(EAGAIN) } } == .busy)
      #expect(
        fails { $0.lock = { _, _, _, _ in -Int(ENOLCK) } } == .device(operation: .lock, offset: 1 << 62, code: ENOLCK))
      let left = try names(in: directory)
      #expect(left == [])
    }
  }

  // MARK: - Calls that fall short

  @Test func goesOnAfterInterruptionsAndShortCalls() throws {
    try withTemporaryDirectory { directory in
      let interruptions = Locked(0)
      @Sendable func interrupt() -> Bool {
        interruptions.withLock { count in
          count += 1
          return count % 2 == 1
        }
      }
      let system = FileCalls.system
      var calls = system
      calls.read = { interrupt() ? -Int(EINTR) : system.read($0, $1, min($2, 7), $3) }
      calls.write = { interrupt() ? -Int(EINTR) : system.write($0, $1, min($2, 7), $3) }
      calls.sync = { interrupt() ? -Int(EINTR) : system.sync($0) }
      calls.truncate = { interrupt() ? -Int(EINTR) : system.truncate($0, $1) }
      calls.reserve = { interrupt() ? -Int(EINTR) : system.reserve($0, $1, $2) }
      let bytes = (0..<100).map { UInt8($0) }
      let device = try FileDevice.create(at: directory + "/store", calls: calls) { device throws(StoreError) in
        try device.write(bytes, at: 3)
      }
      #expect(try device.bytes(at: 3, 200) == bytes)
      try device.resize(to: 200)
      try device.resize(to: 50)
      #expect(try device.everything() == [0, 0, 0] + bytes.prefix(47))
      device.close()
    }
  }

  /// Its descriptor's number may be another file's as soon as it is closed.
  @Test func closingWaitsForCallsThatRun() throws {
    try withTemporaryDirectory { directory in
      let (isReading, mayRead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let order = Locked<[String]>([])
      let system = FileCalls.system
      var calls = system
      calls.read = {
        isReading.signal()
        mayRead.wait()
        defer { order.withLock { $0.append("read") } }
        return system.read($0, $1, $2, $3)
      }
      calls.pause = { milliseconds in
        mayRead.signal()
        system.pause(milliseconds)
      }
      calls.close = { file in
        order.withLock { $0.append("closed") }
        mayRead.signal()
        return system.close(file)
      }
      let device = try FileDevice.create(at: directory + "/store", calls: calls) { device throws(StoreError) in
        try device.write([1, 2, 3], at: 0)
      }
      let isOver = DispatchSemaphore(value: 0)
      let reader = Thread {
        _ = try? device.bytes(at: 0, 3)
        isOver.signal()
      }
      reader.start()
      isReading.wait()
      device.close()
      isOver.wait()
      #expect(order.withLock { $0 } == ["read", "closed"])
      #expect(
        thrown { () throws(StoreError) in _ = try device.bytes(at: 0, 3) }
          == .device(operation: .read, offset: 0, code: EBADF))
    }
  }

  @Test func saysWhereItFailed() throws {
    try withTemporaryDirectory { directory in
      let system = FileCalls.system
      var calls = system
      calls.write = { $3 >= 10 ? -Int(ENOSPC) : system.write($0, $1, min($2, 10 - Int($3)), $3) }
      calls.read = { $3 >= 5 ? -Int(EIO) : system.read($0, $1, min($2, 5), $3) }
      let device = try FileDevice.create(at: directory + "/store", calls: calls) { _ in }
      let bytes = [UInt8](repeating: 1, count: 25)
      #expect(thrown { () throws(StoreError) in try device.write(bytes, at: 0) } == .deviceFull(bytes: 15))
      #expect(
        thrown { () throws(StoreError) in _ = try device.bytes(at: 0, 9) }
          == .device(operation: .read, offset: 5, code: EIO))
      #expect(
        thrown { () throws(StoreError) in try device.write(bytes, at: .max) }
          == .device(operation: .write, offset: .max, code: EFBIG))
      device.close()
    }
  }

  @Test func growsByZerosWhereRoomCannotBeReserved() throws {
    try withTemporaryDirectory { directory in
      let system = FileCalls.system
      let written = Locked(0)
      var calls = system
      calls.reserve = { _, _, _ in -Int(EOPNOTSUPP) }
      calls.write = { file, source, count, offset in
        if offset >= 4_000_000 { return -Int(ENOSPC) }
        written.withLock { $0 += count }
        return system.write(file, source, count, offset)
      }
      let device = try FileDevice.create(at: directory + "/store", calls: calls) { _ in }
      try device.resize(to: 3_000_000)
      #expect(written.withLock { $0 } == 3_000_000)
      #expect(try device.everything() == [UInt8](repeating: 0, count: 3_000_000))
      guard case .deviceFull? = thrown({ () throws(StoreError) in try device.resize(to: 9_000_000) }) else {
        Issue.record("not full")
        return
      }
      #expect(try device.size() == 3_000_000)
      device.close()
    }
  }

  @Test func keepsItsSizeWhenThereIsNoRoom() throws {
    try withTemporaryDirectory { directory in
      let system = FileCalls.system
      var calls = system
      calls.reserve = { file, offset, count in
        _ = system.truncate(file, offset + count / 2)
        return -Int(ENOSPC)
      }
      let device = try FileDevice.create(at: directory + "/store", calls: calls) { _ in }
      #expect(thrown { () throws(StoreError) in try device.resize(to: 8192) } == .deviceFull(bytes: 8192))
      #expect(try device.size() == 0)
      device.close()
    }
  }

  // MARK: - Locks

  @Test func isExclusiveForWritersAndSharedForReaders() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      let maker = try FileDevice.create(at: path) { _ in }
      func opening(_ access: FileDevice.Access) -> StoreError? {
        thrown { () throws(StoreError) in _ = try FileDevice(path: path, access: access) }
      }
      #expect(opening(.readWrite) == .busy)
      #expect(opening(.readOnly) == .busy)
      // One that takes no part in it neither minds nor disturbs.
      try FileDevice(path: path, sharing: .cooperative).close()
      #expect(opening(.readWrite) == .busy)
      maker.close()
      let reader = try FileDevice(path: path, access: .readOnly)
      #expect(opening(.readOnly) == nil)
      #expect(opening(.readWrite) == .busy)
      reader.close()
      #expect(opening(.readWrite) == nil)
    }
  }

  @Test func locksRanges() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try FileDevice.create(at: path) { _ in }.close()
      let a = try FileDevice(path: path, sharing: .cooperative)
      let b = try FileDevice(path: path, sharing: .cooperative)
      let far: UInt64 = 1 << 61
      #expect(try a.tryLock(.shared, far..<far + 10))
      #expect(try b.tryLock(.shared, far + 5..<far + 6))
      #expect(try !b.tryLock(.exclusive, far + 9..<far + 20))
      #expect(try b.tryLock(.exclusive, far + 10..<far + 20))
      #expect(try a.isLockedByOther(.shared, far..<far + 11))
      #expect(try !a.isLockedByOther(.shared, far..<far + 10))
      #expect(try a.isLockedByOther(.exclusive, far..<far + 10))
      try b.unlock(far + 5..<far + 6)
      #expect(try !a.isLockedByOther(.exclusive, far..<far + 10))
      b.close()
      #expect(try a.tryLock(.exclusive, far..<far + 20))
      #expect(thrown { () throws(StoreError) in _ = try a.tryLock(.shared, 5..<5) } != nil)
      a.close()
    }
  }

  #if canImport(Glibc)
    /// A program that another thread is about to start has, until it runs, a copy of every descriptor, and with it the
    /// locks: whoever closes a device must give them up by himself, or nobody can open the file meanwhile.
    @Test func locksAreGoneWhileAnotherHoldsACopyOfTheDescriptor() throws {
      try withTemporaryDirectory { directory in
        let path = directory + "/store"
        try FileDevice.create(at: path) { _ in }.close()
        let file = Glibc.open(path, O_RDWR | O_CLOEXEC)
        let copy = dup(file)
        defer { _ = Glibc.close(copy) }
        let first = try FileDevice(file: Int(file), access: .readWrite, calls: .system)
        let far: UInt64 = 1 << 61
        #expect(try first.tryLock(.exclusive, far..<far + 10))
        let second = try FileDevice(path: path, sharing: .cooperative)
        #expect(try !second.tryLock(.shared, far..<far + 1))
        first.close()
        #expect(try second.tryLock(.exclusive, far..<far + 10))
        second.close()
      }
    }
  #endif
}

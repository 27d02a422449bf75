import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumSystem

/// What a commit asks of the operating system.
@Suite struct CommitCallsTests {
  /// Each of a thousand one-row transactions on a table with two indexes is one write, one sync and one look at the
  /// file. A few more writes prepare log segments. Under `strace -f -c -e trace=pwrite64,fdatasync,statx` the system
  /// counts the same.
  ///
  /// So it is if the file is shared with other processes, as long as there are none: catching up is one read then.
  @Test(arguments: [false, true])
  func aThousandCommitsAreAThousandWritesAndSyncs(_ isShared: Bool) throws {
    let environment = SystemEnvironment()
    try withTemporaryDirectory { directory in
      let path = directory + "/commits.store"
      _ = try FileDevice.create(at: path) { (device) throws(StoreError) in
        try Store.format(device, environment: environment, options: StoreOptions())
      }
      let device = CountingDevice(
        try FileDevice(path: path, access: .readWrite, sharing: isShared ? .shared : .exclusive))
      let store = try Store.open(on: device, environment: environment)
      var t = try store.beginWrite()
      let (table, first, second) = (try t.createTree(.integer), try t.createTree(.bytes), try t.createTree(.bytes))
      try t.commit()
      device.reset()
      let row = [UInt8](repeating: 7, count: 150)
      for key in UInt64(0)..<1000 {
        t = try store.beginWrite()
        try t.put(table, key, row)
        try t.put(first, Array("name of the row \(key)".utf8), [])
        try t.put(second, Array("\(key &* 977 % 1000) \(key)".utf8), [])
        try t.commit()
      }
      let counts = device.counts
      print("a thousand commits on a file: \(counts)")
      #expect(counts.syncs == 1000)
      // A segment that lengthens the file looks once more.
      #expect(counts.fileLooks >= 1000 && counts.fileLooks < 1050)
      #expect(counts.writes >= 1000 && counts.writes < 1050)
      #expect(counts.reads <= (isShared ? 1000 : 0))
      try store.close()
    }
  }
}

#if canImport(Glibc)
  import CambiumKernel

  /// A store of rows with one index, as a device keeps it: a tree of rows by number, and a tree of keys that lead to
  /// them.
  struct KernelRun {
    private let options: StoreOptions
    private let count: UInt64
    private let report: (String) -> Void
    private let device = RegionDevice(capacity: 8 << 20)
    private let environment = OneThread()
    private var rows = TreeID(rawValue: 0)
    private var index = TreeID(rawValue: 0)
    private var row = [UInt8](repeating: 0x52, count: 48)
    private var key = [UInt8](repeating: 0, count: 16)

    /// - Parameter report: Is called after each step, with its name.
    init(options: StoreOptions, count: UInt64, report: @escaping (String) -> Void) {
      self.options = options
      self.count = count
      self.report = report
    }

    /// Sets the key of a row: a scattered value, then the number.
    private mutating func setKey(_ i: UInt64) {
      let scattered = i &* 0x9E37_79B9_7F4A_7C15
      for n in 0..<8 {
        key[n] = UInt8(truncatingIfNeeded: scattered >> (56 - 8 * UInt64(n)))
        key[n + 8] = UInt8(truncatingIfNeeded: i >> (56 - 8 * UInt64(n)))
      }
    }

    private mutating func write(_ store: Store, _ i: UInt64) throws(StoreError) {
      let t = try store.beginWrite()
      setKey(i)
      row[0] = UInt8(truncatingIfNeeded: i)
      try t.put(rows, i, row)
      try t.put(index, key, [])
      try t.commit()
    }

    private func readAll(_ store: Store, _ count: UInt64) throws {
      let view = try store.snapshot()
      guard try view.count(rows) == count, try view.count(index) == count else { throw Failure("a count is wrong") }
      for i in 0..<count {
        guard let found = try view.value(rows, i), found[0] == UInt8(truncatingIfNeeded: i) else {
          throw Failure("row \(i) is missing")
        }
      }
      var seen: UInt64 = 0
      let cursor = try view.cursor(index)
      var isValid = try cursor.seekFirst()
      while isValid {
        seen += 1
        isValid = try cursor.next()
      }
      guard seen == count else { throw Failure("the index has \(seen) keys") }
    }

    private func open() throws(StoreError) -> Store {
      try Store.open(on: device, environment: environment, options: options)
    }

    mutating func run() throws {
      try makeRows()
      report("close")
      var last = try read()
      report("close")
      try crash(&last)
      report("commits and recoveries")
      let store = try open()
      try readAll(store, last)
      guard try store.check().problems.isEmpty else { throw Failure("the store is damaged") }
      try store.close()
      report("read, check and close")
    }

    private mutating func makeRows() throws {
      let store = try Store.create(on: device, environment: environment, options: options)
      report("create")
      let t = try store.beginWrite()
      rows = try t.createTree(.integer)
      index = try t.createTree(.bytes)
      try t.commit()
      for i in 0..<count { try write(store, i) }
      report("commits")
      try store.close()
      // A transaction that is kept keeps the store.
      withExtendedLifetime(t) { report("close with a transaction that is kept") }
    }

    private mutating func read() throws -> UInt64 {
      let store = try open()
      report("open")
      try readAll(store, count)
      report("read")
      let t = try store.beginWrite()
      for i in count..<count + 1000 {
        setKey(i)
        try t.put(rows, i, row)
        row[0] = UInt8(truncatingIfNeeded: i)
        try t.put(rows, i, row)
        try t.put(index, key, [])
      }
      try t.commit()
      report("a transaction of 1,000 rows")
      try store.close()
      return count + 1000
    }

    /// Commits some rows, and loses the process, again and again, with logs of all lengths.
    private mutating func crash(_ last: inout UInt64) throws {
      for n in 0..<UInt64(60) {
        let store = try open()
        guard try store.snapshot().count(rows) == last else { throw Failure("a recovery lost rows") }
        for _ in 0..<7 + n * 5 % 83 {
          try write(store, last)
          last += 1
        }
      }
    }
  }
#endif

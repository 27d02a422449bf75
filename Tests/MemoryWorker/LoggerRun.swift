#if canImport(Glibc)
  import CambiumEngine
  import CambiumKernel

  /// A store of measurements with an index on their time, as a logger keeps it: a schema described in code, one row a
  /// commit, and ranges read by the index.
  struct LoggerRun {
    private let options: StoreOptions
    private let count: Int
    private let report: (String) -> Void
    private let device = RegionDevice(capacity: 8 << 20)
    private let environment = OneThread()

    /// - Parameter report: Is called after each step, with its name.
    init(options: StoreOptions, count: Int, report: @escaping (String) -> Void) {
      self.options = options
      self.count = count
      self.report = report
    }

    private static func schema() throws -> Schema {
      let sample = EntitySchema(
        "Sample",
        attributes: [
          AttributeSchema("time", .integer64, optional: false), AttributeSchema("sensor", .integer16, optional: false),
          AttributeSchema("value", .double, optional: false),
        ],
        indexes: [IndexSchema("byTime", [IndexElement("time")])])
      return try Schema(SchemaDefinition([sample]))
    }

    private func insert(_ store: EntityStore, _ entity: EntitySchema, _ i: Int) throws {
      try store.write { (t) throws(EngineError) in
        var values = RowValues()
        values.set("time", .integer(Int64(i) * 10))
        values.set("sensor", .integer(Int64(i % 7)))
        values.set("value", .double(Double(i) / 4))
        try t.insert(try t.reserveReference(entity), values)
      }
    }

    /// Counts the rows of a range of time, and reads some of them.
    private func ask(_ store: EntityStore, _ entity: EntitySchema, _ range: Range<Int>) throws {
      let low = Predicate.compare(.keyPath("time"), .greaterOrEqual, .constant(.integer(Int64(range.lowerBound) * 10)))
      let high = Predicate.compare(.keyPath("time"), .less, .constant(.integer(Int64(range.upperBound) * 10)))
      var fetch = EngineFetch(entity, predicate: .and([low, high]))
      let view = try store.view()
      guard try view.count(fetch) == range.count else { throw Failure("rows are missing") }
      fetch.limit = 20
      for (n, row) in try view.fetchRows(fetch).enumerated() {
        guard try row.value(keyPath: "value") == .double(Double(range.lowerBound + n) / 4) else {
          throw Failure("a row is wrong")
        }
      }
    }

    func run() throws {
      let schema = try Self.schema()
      report("schema")
      var store = try EntityStore.create(
        in: Store.create(on: device, environment: environment, options: options), schema: schema)
      guard let entity = store.schema.entity(named: "Sample") else { throw Failure("no entity") }
      report("create")
      for i in 0..<count { try insert(store, entity, i) }
      report("commits")
      for start in stride(from: 0, to: count - 50, by: 97) { try ask(store, entity, start..<start + 50) }
      report("ranges")
      // Loses the process with logs of all lengths.
      var last = count
      for n in 0..<30 {
        store = try EntityStore.open(Store.open(on: device, environment: environment, options: options))
        guard let entity = store.schema.entity(named: "Sample") else { throw Failure("no entity") }
        try ask(store, entity, max(0, last - 100)..<last)
        for _ in 0..<3 + n * 11 % 61 {
          try insert(store, entity, last)
          last += 1
        }
      }
      report("recoveries")
      try store.close()
      report("close")
    }
  }
#endif

import CambiumEngine
import CambiumKernel
import CambiumSystem
import CambiumTesting
import Foundation
import Testing

/// Rows as structures, through a file.
@Suite struct StoredRowTests {
  enum Quality: Int16, StoredValue, Equatable { case good = 1, doubtful }

  @StoredRow struct Every: Equatable {
    var int: Int
    var int8: Int8
    var int16: Int16
    var int32: Int32
    let int64: Int64
    var uint8: UInt8
    var uint16: UInt16
    var uint32: UInt32
    var double: Double
    var float: Float
    var bool: Bool
    var string: String
    var bytes: [UInt8]
    var date: DateValue
    var uuid: UUIDBytes
    var decimal: DecimalValue
    var quality: Quality
    var `class`: String
    /// No attribute.
    let fixed = 7
    var sum: Int { Int(int8) + fixed }
  }

  @StoredRow struct Perhaps: Equatable {
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var double: Double?
    var float: Float?
    var bool: Bool?
    var string: String?
    var bytes: [UInt8]?
    var date: DateValue?
    var uuid: UUIDBytes?
    var decimal: DecimalValue?
    var quality: Optional<Quality>
  }

  private static let lowest = Every(
    int: Int.min, int8: .min, int16: .min, int32: .min, int64: .min, uint8: .min, uint16: .min, uint32: .min,
    double: -.infinity, float: -.greatestFiniteMagnitude, bool: false, string: "", bytes: [],
    date: DateValue(seconds: -978_307_200), uuid: UUIDBytes(high: 0, low: 0), decimal: DecimalValue(-3),
    quality: .good, class: "Zürich and more than fifteen bytes")
  private static let highest = Every(
    int: Int.max, int8: .max, int16: .max, int32: .max, int64: .max, uint8: .max, uint16: .max, uint32: .max,
    double: 1e300, float: 0.1, bool: true, string: "a", bytes: [0, 255, 7],
    date: DateValue(seconds: 2_174_774_400.25), uuid: UUIDBytes(high: .max, low: 1), decimal: DecimalValue(1 << 40),
    quality: .doubtful, class: "b")
  private static let nothing = Perhaps(quality: nil)
  private static let something = Perhaps(
    int: -1, int8: -2, int16: -3, int32: -4, int64: -5, uint8: 6, uint16: 7, uint32: 8, double: 0.5, float: 0.25,
    bool: false, string: "", bytes: [], date: DateValue(seconds: 0), uuid: UUIDBytes(high: 1, low: 2),
    decimal: DecimalValue(9), quality: .good)

  /// Runs a body with a store in a file of its own, which it may open again.
  private func withFile(
    _ entities: [EntitySchema], _ body: (_ store: EntityStore, _ reopen: () throws -> EntityStore) throws -> Void
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("rows.store").path
    let environment = SystemEnvironment()
    let device = try FileDevice.create(at: path) { (_) throws(StoreError) in }
    let kernel = try Store.create(on: device, environment: environment)
    let store = try EntityStore.create(in: kernel, schema: try Schema(SchemaDefinition(entities)))
    try body(store) { () throws in
      try EntityStore.open(try Store.open(on: try FileDevice(path: path), environment: environment))
    }
  }

  @Test func everyType() throws {
    try withFile([Every.entity(unique: [["int64"]]), Perhaps.entity()]) { store, reopen in
      let (every, perhaps) = (try store.rows(of: Every.self), try store.rows(of: Perhaps.self))
      let references = try store.write { (t) throws(EngineError) in
        [
          try every.insert(Self.lowest, in: t), try every.insert(Self.highest, in: t),
          try perhaps.insert(Self.nothing, in: t), try perhaps.insert(Self.something, in: t),
        ]
      }
      func verify(_ store: EntityStore) throws {
        let (every, perhaps) = (try store.rows(of: Every.self), try store.rows(of: Perhaps.self))
        let view = try store.view()
        #expect(try every.row(references[0], in: view) == Self.lowest)
        #expect(try every.row(references[1], in: view) == Self.highest)
        #expect(try perhaps.row(references[2], in: view) == Self.nothing)
        #expect(try perhaps.row(references[3], in: view) == Self.something)
        // The same by an index, and as copies of the rows.
        let byNumber = try view.lookup(every.entity, by: ["int64"])
        let found = try byNumber.withFirst(.integer(.max)) { (row) throws(EngineError) in try every.read(row) }
        #expect(found == Self.highest)
        #expect(try view.fetchRows(EngineFetch(every.entity)).map(every.read) == [Self.lowest, Self.highest])
        #expect(try view.row(references[2])?.value(keyPath: "string") == .null)
        #expect(try view.row(references[1])?.value(keyPath: "uint32") == .integer(Int64(UInt32.max)))
        #expect(try store.check().isSound)
      }
      try verify(store)
      try store.close()
      let again = try reopen()
      try verify(again)

      let rows = try again.rows(of: Perhaps.self)
      try again.write { (t) throws(EngineError) in
        try rows.update(references[2], to: Self.something, in: t)
        try rows.update(references[3], to: Self.nothing, in: t)
        #expect(try rows.row(references[3], in: t) == Self.nothing)
      }
      try again.close()
      let last = try reopen()
      let now = try last.rows(of: Perhaps.self)
      #expect(try now.row(references[2], in: last.view()) == Self.something)
      #expect(try now.row(references[3], in: last.view()) == Self.nothing)
      try last.close()
    }
  }

  @Test func schema() throws {
    let entity = Every.entity()
    #expect(entity.name == "Every" && entity.attributes.count == 18)
    #expect(entity.attributes.allSatisfy { !$0.isOptional && $0.defaultValue.isNull })
    let types: [AttributeType] = [
      .integer64, .integer16, .integer16, .integer32, .integer64, .integer16, .integer32, .integer64, .double, .float,
      .boolean, .string, .binary, .date, .uuid, .decimal, .integer16, .string,
    ]
    #expect(entity.attributes.map(\.type) == types)
    #expect(Perhaps.entity().attributes.map(\.type) == types.dropLast())
    #expect(Perhaps.entity().attributes.allSatisfy { $0.isOptional })
  }

  // MARK: Models that differ

  enum Earlier {
    @StoredRow struct Sample: Equatable { var number: Int32 }
  }

  enum Later {
    @StoredRow struct Sample: Equatable {
      var number: Int64
      var unit = "V"
      var factor: Double? = 2.5
      var note: String?
      var taken = DateValue(seconds: 60)
    }
  }

  /// Rows that are older than an attribute show its initial value.
  @Test func olderRows() throws {
    #expect(Later.Sample.storedAttributes.last?.defaultValue == .date(60))
    try withFile([Earlier.Sample.entity()]) { store, reopen in
      let reference = try store.write { (t) throws(EngineError) in
        try store.rows(of: Earlier.Sample.self).insert(Earlier.Sample(number: 5), in: t)
      }
      _ = try store.migrate(to: SchemaDefinition([Later.Sample.entity()]))
      try store.close()
      let later = try reopen()
      let rows = try later.rows(of: Later.Sample.self)
      let expected = Later.Sample(number: 5, unit: "V", factor: 2.5, note: nil, taken: DateValue(seconds: 60))
      #expect(try rows.row(reference, in: later.view()) == expected)
      #expect(try later.view().fetchRows(EngineFetch(rows.entity)).map(rows.read) == [expected])
      // The earlier structure reads rows of the later model, where integers of all widths are alike.
      let narrow = try later.rows(of: Earlier.Sample.self)
      #expect(try narrow.row(reference, in: later.view()) == Earlier.Sample(number: 5))
      let wide = Later.Sample(number: 1 << 40, factor: nil, note: "n")
      try later.write { (t) throws(EngineError) in
        try rows.update(reference, to: wide, in: t)
        // It does not change what it lacks.
        try narrow.update(reference, to: Earlier.Sample(number: 6), in: t)
        #expect(try rows.row(reference, in: t)?.note == "n")
        try rows.update(reference, to: wide, in: t)
      }
      let error = #expect(throws: EngineError.self) { try narrow.row(reference, in: later.view()) }
      guard case .unsupported(let text)? = error else { throw Unexpected() }
      #expect(text.contains("Sample.number"))
      try later.close()
    }
  }

  private struct Unexpected: Error {}

  // MARK: What does not fit

  @StoredRow("Sample") struct Texts { var number: String }
  @StoredRow("Sample") struct Missing { var other: Int }
  @StoredRow("Sample") struct Required: Equatable { var note: String }
  @StoredRow("Sample") struct Rated { var number: Quality }
  @StoredRow struct Other { var number: Int }

  private func error(_ body: () throws -> Void) -> EngineError? {
    do { try body() } catch { return error as? EngineError }
    return nil
  }

  private func isMisuse(_ body: () throws -> Void) -> Bool {
    if case .misuse = error(body) { return true }
    return false
  }

  @Test func modelsThatDoNotFit() throws {
    try withFile([Later.Sample.entity(), Other.entity()]) { store, _ in
      let texts = error { _ = try store.rows(of: Texts.self) }
      guard case .typeMismatch("Sample", "number", .integer64, "String") = texts else { throw Unexpected() }
      guard case .schema = error({ _ = try store.rows(of: Missing.self) }) else { throw Unexpected() }
      let unknown = error { _ = try store.rows(of: Every.self) }
      #expect(unknown?.description.hasPrefix("the store's model has no entity 'Every'") == true)
      try store.close()
    }
  }

  @Test func rowsThatDoNotFit() throws {
    let kernel = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 9))
    let schema = try Schema(SchemaDefinition([Later.Sample.entity(), Other.entity()]))
    let store = try EntityStore.create(in: kernel, schema: schema)
    let (samples, others) = (try store.rows(of: Later.Sample.self), try store.rows(of: Other.self))
    let required = try store.rows(of: Required.self)
    let rated = try store.rows(of: Rated.self)
    let (sample, other) = try store.write { (t) throws(EngineError) in
      (try samples.insert(Later.Sample(number: 5), in: t), try others.insert(Other(number: 5), in: t))
    }
    let view = try store.view()
    // Null where the property needs a value, and a raw value of no case.
    let null = error { _ = try required.row(sample, in: view) }
    guard case .typeMismatch("Sample", "note", .string, "null") = null else { throw Unexpected() }
    guard case .unsupported = error({ _ = try rated.row(sample, in: view) }) else { throw Unexpected() }
    // A row of another entity, read and written.
    #expect(isMisuse { _ = try samples.row(other, in: view) })
    #expect(
      isMisuse {
        try store.write { (t) throws(EngineError) in try others.update(sample, to: Other(number: 1), in: t) }
      })
    #expect(
      isMisuse {
        try store.write { (t) throws(EngineError) in try samples.update(other, to: Later.Sample(number: 1), in: t) }
      })
    // Fields of another structure.
    #expect(throws: EngineError.self) {
      try view.withRow(sample) { (row) throws(EngineError) in
        _ = try Later.Sample(storedRow: row, fields: required.fields)
      }
    }
    #expect(try samples.row(sample, in: store.view()) == Later.Sample(number: 5))
    #expect(try others.row(other, in: store.view())?.number == 5)
    #expect(try store.check().isSound)
    try store.close()
  }

  /// No structure is an abstract entity, whose rows belong to its subentities.
  @Test func abstractEntities() throws {
    var sample = Later.Sample.entity()
    sample.isAbstract = true
    let part = EntitySchema("Part", parent: "Sample", attributes: [AttributeSchema("size", .integer16)])
    try withFile([sample, part]) { store, _ in
      let samples = try store.rows(of: Later.Sample.self)
      #expect(
        isMisuse {
          try store.write { (t) throws(EngineError) in _ = try samples.insert(Later.Sample(number: 1), in: t) }
        })
      // The parent's structure reads and changes rows of subentities.
      let entity = try #require(store.schema.entity(named: "Part"))
      let reference = try store.write { (t) throws(EngineError) in
        let reference = try t.reserveReference(entity)
        var values = RowValues(["number": 3, "unit": "A", "size": 4])
        values.set("taken", .date(1))
        try t.insert(reference, values)
        return reference
      }
      let read = try samples.row(reference, in: store.view())
      #expect(read == Later.Sample(number: 3, unit: "A", factor: nil, note: nil, taken: DateValue(seconds: 1)))
      try store.write { (t) throws(EngineError) in
        try samples.update(reference, to: Later.Sample(number: 8), in: t)
      }
      #expect(try store.view().row(reference)?.value(keyPath: "size") == 4)
      #expect(try samples.row(reference, in: store.view()) == Later.Sample(number: 8))
      try store.close()
    }
  }

  @Test func moments() {
    #expect(DateValue(seconds: 1) < DateValue(seconds: 2))
    #expect(DateValue(seconds: 1) == DateValue(seconds: 1))
  }
}

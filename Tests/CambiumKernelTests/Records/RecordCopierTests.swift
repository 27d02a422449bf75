import CambiumTesting
import Testing

@testable import CambiumKernel

/// Copying a record against projecting it by way of a builder: the same bytes.
@Suite struct RecordCopierTests {
  /// The layout after some of its fields went, came, changed places, or had this happen within them.
  private static func changed(_ layout: RecordLayout, _ random: inout SplitMix64) throws -> RecordLayout {
    var fields: [RecordField] = []
    for field in layout.fields where !random.oneIn(5) {
      if case .nested(let inner) = field.kind, random.oneIn(2) {
        fields.append(RecordField(property: field.property, kind: .nested(try changed(inner, &random))))
      } else {
        fields.append(field)
      }
    }
    for field in try random.layout(depth: 2).fields where random.oneIn(4) {
      fields.append(RecordField(property: field.property + 1000, kind: field.kind))
    }
    for i in fields.indices where random.oneIn(4) { fields.swapAt(i, random.below(fields.count)) }
    return layout.isRow ? try RecordLayout(row: layout.id ^ 1, fields: fields) : try RecordLayout(nested: fields)
  }

  @Test func agreesWithProjecting() throws {
    var copied = 0
    for seed in 0..<UInt64(CrashTests.isOptimized ? 20_000 : 1500) {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      let old = try random.layout(depth: 3)
      let new = try Self.changed(old, &random)
      let defaults = RecordBuilder(new)
      let hasDefaults = random.oneIn(2)
      if hasDefaults { try defaults.fill(new.fields.map { random.value(of: $0.kind) }, order: &random) }
      let projection = try RecordProjection(
        from: old, to: new, defaults: hasDefaults ? try defaults.bytes() : nil)
      guard let copier = RecordCopier(projection) else { continue }
      let builder = RecordBuilder(old)
      let output = RecordBuilder(new)
      for _ in 0..<3 {
        builder.begin(entity: 8, version: UInt32(truncatingIfNeeded: random.next()))
        try builder.fill(old.fields.map { random.value(of: $0.kind) }, order: &random)
        try old.read(try builder.bytes()) { (view) throws(StoreError) in
          guard let found = try copier.copy(view, entity: 9) else { return }
          copied += 1
          output.begin(entity: 9, version: view.rowVersion)
          try projection.project(view, into: output)
          let expected = try output.bytes()
          #expect(found == expected, "seed \(CrashTests.seed &+ seed)")
          let room = UnsafeMutableRawBufferPointer.allocate(byteCount: expected.count + 1, alignment: 1)
          defer { room.deallocate() }
          #expect(throws: StoreError.self) { try copier.copy(view, entity: 9, to: room) }
        }
      }
    }
    #expect(copied > (CrashTests.isOptimized ? 10_000 : 800))
  }

  @Test func whatCannotBeCopied() throws {
    let old = try RecordLayout(
      row: 1, fields: [RecordField(property: 1, kind: .int16), RecordField(property: 2, kind: .bytes)])
    let wider = try RecordLayout(row: 2, fields: [RecordField(property: 1, kind: .int64)])
    #expect(RecordCopier(try RecordProjection(from: old, to: wider)) == nil)
    let fewer = try RecordLayout(row: 3, fields: [RecordField(property: 2, kind: .bytes)])
    let required = try RecordProjection(from: old, to: fewer, requiredProperties: [2])
    #expect(RecordCopier(required) == nil)
    let named = try RecordLayout(
      row: 4, fields: [RecordField(property: 2, kind: .bytes), RecordField(property: 3, kind: .string)])
    let builder = RecordBuilder(named)
    try builder.set("by default", at: 1)
    #expect(RecordCopier(try RecordProjection(from: old, to: named, defaults: try builder.bytes())) == nil)

    // Values outside the record keep their names only by way of a builder; other layouts are refused.
    let copier = try #require(RecordCopier(try RecordProjection(from: old, to: fewer)))
    let outside = RecordBuilder(old)
    try outside.set(external: ExternalValue(id: 7, byteCount: 1 << 20), at: 1)
    try old.read(try outside.bytes()) { (view) throws(StoreError) in
      #expect(try copier.size(of: view) == nil)
      #expect(try copier.copy(view, entity: 1) == nil)
    }
    _ = try fewer.read(try RecordBuilder(fewer).bytes()) { (view) throws(StoreError) in
      #expect(throws: StoreError.self) { try copier.size(of: view) }
    }
  }

  /// Whatever bytes a record has, copying it ends with a record or an error.
  @Test func damagedRecords() throws {
    var random = SplitMix64(seed: 17)
    for _ in 0..<(CrashTests.isOptimized ? 200 : 30) {
      let old = try random.layout(depth: 3)
      let projection = try RecordProjection(from: old, to: try Self.changed(old, &random))
      guard let copier = RecordCopier(projection) else { continue }
      let builder = RecordBuilder(old)
      try builder.fill(old.fields.map { random.value(of: $0.kind) }, order: &random)
      let whole = try builder.bytes()
      for _ in 0..<200 {
        var bytes = whole
        for _ in 0..<(1 + random.below(4)) {
          bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
        }
        if random.oneIn(4) { bytes.removeLast(random.below(bytes.count)) }
        try? old.read(bytes) { (view) throws(StoreError) in
          if let size = try copier.size(of: view) { #expect(try copier.copy(view, entity: 1)?.count == size) }
        }
      }
    }
  }
}

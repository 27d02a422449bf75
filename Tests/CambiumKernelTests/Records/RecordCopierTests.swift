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
    for seed in 0..<UInt64(isFullLength ? 20_000 : 1500) {
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
    #expect(copied > (isFullLength ? 10_000 : 800))
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

  /// Properties that are in a composite now, or out of one, and a reference that is a list now.
  @Test func propertiesChangeTheirLevel() throws {
    let inner = try RecordLayout(
      nested: [
        RecordField(property: 1, kind: .int64), RecordField(property: 2, kind: .string),
        RecordField(property: 5, kind: .int16),
      ])
    let flat = try RecordLayout(
      row: 1,
      fields: [
        RecordField(property: 2, kind: .string), RecordField(property: 1, kind: .int32),
        RecordField(property: 4, kind: .reference),
      ])
    let deep = try RecordLayout(
      row: 2, fields: [RecordField(property: 3, kind: .nested(inner)), RecordField(property: 4, kind: .references)])
    let defaults = RecordBuilder(deep)
    let nested = try defaults.nested(at: 0)
    try nested.set(9 as Int64, at: 2)
    let plain = try RecordProjection(from: flat, to: deep)
    let gathering = try RecordProjection(
      from: flat, to: deep, defaults: try defaults.bytes(), requiredProperties: [], changesLevels: true)
    #expect(RecordCopier(gathering) == nil)
    let builder = RecordBuilder(flat)
    let output = RecordBuilder(deep)
    for (text, number) in [("a", 7), (nil, 7), ("a", nil), (nil, nil)] as [(String?, Int64?)] {
      builder.begin(entity: 1, version: 1)
      try builder.set(text, at: 0)
      try builder.set(number, at: 1)
      try builder.set(reference: number.map { UInt64($0) }, at: 2)
      try flat.read(try builder.bytes()) { (view) throws(StoreError) in
        output.begin(entity: 1, version: 1)
        try plain.project(view, into: output)
        #expect(try output.isNull(at: 0))
        output.begin(entity: 1, version: 1)
        try gathering.project(view, into: output)
      }
      let bytes = try output.bytes()
      try deep.read(bytes) { (view) throws(StoreError) in
        #expect(try view.references(at: 1)?.array == number.map { [UInt64($0)] })
        let composite = try view.nested(at: 0)
        #expect((composite == nil) == (text == nil && number == nil))
        guard let composite else { return }
        #expect(try composite.int64(at: 0) == number)
        #expect(try composite.string(at: 1) == text)
        // An element that was added since.
        #expect(try composite.int64(at: 2) == 9)
      }
      // And back.
      let spreading = try RecordProjection(
        from: deep, to: try RecordLayout(row: 3, fields: Array(flat.fields.prefix(1))), changesLevels: true)
      let back = RecordBuilder(spreading.current)
      try deep.read(bytes) { (view) throws(StoreError) in
        back.begin(entity: 1, version: 1)
        try spreading.project(view, into: back)
      }
      try spreading.current.read(try back.bytes()) { (view) throws(StoreError) in
        #expect(try view.string(at: 0) == text)
      }
    }
  }

  /// Whatever bytes a record has, copying it ends with a record or an error.
  @Test func damagedRecords() throws {
    var random = SplitMix64(seed: 17)
    for _ in 0..<(isFullLength ? 200 : 30) {
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

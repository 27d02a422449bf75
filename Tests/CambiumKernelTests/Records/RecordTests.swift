import CambiumTesting
import Testing

@testable import CambiumKernel

@Suite struct RecordTests {
  @Test func bytesAreThoseOfTheSpecification() throws {
    let address = try RecordLayout(nested: [
      RecordField(property: 1, kind: .string), RecordField(property: 2, kind: .int16),
    ])
    let layout = try RecordLayout(
      row: 0x0102,
      fields: [
        RecordField(property: 1, kind: .string), RecordField(property: 2, kind: .boolean),
        RecordField(property: 3, kind: .int16), RecordField(property: 4, kind: .int64),
        RecordField(property: 5, kind: .nested(address)), RecordField(property: 6, kind: .string),
        RecordField(property: 7, kind: .references),
      ])
    let builder = RecordBuilder(layout)
    builder.begin(entity: 0x0304, version: 9)
    try builder.set("Ada", at: 0)
    try builder.set(true, at: 1)
    try builder.set(Int64(-2), at: 2)
    try builder.set(Int64(7), at: 3)
    let nested = try builder.nested(at: 4)
    try nested.set("Bern", at: 0)
    try builder.set(references: [1, 258], at: 6)
    let expected: [UInt8] = [
      0x02, 0x01, 0x04, 0x03, 9, 0, 0, 0, 0x00,  // layout, entity, version, shape
      0b1010_0000,  // null: field 5; value of the boolean
      7, 0, 0, 0, 0, 0, 0, 0, 0xFE, 0xFF,  // int64, int16
      3, 11, 11,  // ends of fields 0, 4, 5
      0x41, 0x64, 0x61,  // Ada
      0x00, 0b10, 0, 0, 0x42, 0x65, 0x72, 0x6E,  // shape, null: field 1, int16, Bern
      2, 1, 0, 2, 1,  // references of two bytes
    ]
    #expect(try builder.bytes() == expected)
  }

  @Test func typicalRowSpendsUnderTwentyBytes() throws {
    var fields = (0..<8).map { RecordField(property: UInt32($0), kind: .string) }
    fields += [.int64, .int32, .double, .date, .boolean].enumerated().map {
      RecordField(property: UInt32($0.offset + 8), kind: $0.element)
    }
    let builder = RecordBuilder(try RecordLayout(row: 1, fields: fields))
    for index in 0..<8 { try builder.set("text", at: index) }
    #expect(try builder.bytes().count - 8 * 4 - (8 + 4 + 8 + 8) == 18)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func roundTrips(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<60 {
      let layout = try random.layout(depth: 1 + random.below(5))
      let builder = RecordBuilder(layout)
      for _ in 0..<5 {
        let values = layout.fields.map { random.value(of: $0.kind) }
        let entity = UInt16(truncatingIfNeeded: random.next())
        let version = UInt32(truncatingIfNeeded: random.next())
        builder.begin(entity: entity, version: version)
        try builder.fill(values, order: &random)
        let bytes = try builder.bytes()
        try layout.read(bytes) { (view) throws(StoreError) in
          try view.validate()
          #expect(try view.values(layout) == values)
          #expect(view.entityID == entity && view.rowVersion == version)
          #expect(try RecordView.layoutID(of: view.bytes) == layout.id)
        }
        // Equal content, equal bytes, in whatever order it was set.
        let other = RecordBuilder(layout)
        other.begin(entity: entity, version: version)
        try other.fill(values, order: &random)
        #expect(try other.bytes() == bytes)
      }
    }
  }

  @Test(arguments: [5, 6] as [UInt64]) func editingCopiesTheRest(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let layout = try random.layout(depth: 3)
      let old = layout.fields.map { random.value(of: $0.kind) }
      var new = old
      let builder = RecordBuilder(layout)
      builder.begin(entity: 3, version: 1)
      try builder.fill(old, order: &random)
      let bytes = try builder.bytes()
      let edited = try layout.read(bytes) { (view) throws(StoreError) in
        try builder.begin(copying: view, version: 2)
        for index in 0..<new.count where random.oneIn(3) {
          new[index] = random.value(of: layout.fields[index].kind)
          let single = RecordBuilder(layout)
          try single.fill(new, order: &random)
          try layout.read(try single.bytes()) { (view) throws(StoreError) in
            try builder.copy(index, of: view, to: index)
          }
        }
        return try builder.bytes()
      }
      let direct = RecordBuilder(layout)
      direct.begin(entity: 3, version: 2)
      try direct.fill(new, order: &random)
      #expect(try direct.bytes() == edited)
    }
  }

  @Test func nestedRecordCanBeEditedInPart() throws {
    let inner = try RecordLayout(nested: [
      RecordField(property: 1, kind: .string), RecordField(property: 2, kind: .int32),
    ])
    let layout = try RecordLayout(row: 1, fields: [RecordField(property: 1, kind: .nested(inner))])
    let builder = RecordBuilder(layout)
    let child = try builder.nested(at: 0)
    try child.set("old", at: 0)
    try child.set(Int64(5), at: 1)
    let bytes = try builder.bytes()
    try layout.read(bytes) { (view) throws(StoreError) in
      try builder.begin(copying: view, version: 2)
      try builder.nested(at: 0, copying: view).set("new", at: 0)
    }
    let primary = try FieldPath([0, 0], in: layout)
    let number = try FieldPath([0, 1], in: layout)
    try layout.read(try builder.bytes()) { (view) throws(StoreError) in
      #expect(try view.string(at: primary) == "new")
      #expect(try view.int64(at: number) == 5)
    }
  }

  @Test func pathsReadThroughSixtyFourLevels() throws {
    var layout = try RecordLayout(nested: [RecordField(property: 1, kind: .string)])
    for level in 2..<64 {
      layout = try RecordLayout(nested: [
        RecordField(property: 1, kind: .nested(layout)), RecordField(property: UInt32(level), kind: .int16),
      ])
    }
    let row = try RecordLayout(row: 1, fields: [RecordField(property: 1, kind: .nested(layout))])
    #expect(row.depth == 64)
    let builder = RecordBuilder(row)
    var child = builder
    for _ in 1..<64 { child = try child.nested(at: 0) }
    try child.set("deep", at: 0)
    let path = try FieldPath([Int](repeating: 0, count: 64), in: row)
    try row.read(try builder.bytes()) { (view) throws(StoreError) in
      try view.validate()
      #expect(try view.string(at: path) == "deep")
    }
    builder.begin()
    try row.read(try builder.bytes()) { (view) throws(StoreError) in #expect(try view.isNull(path)) }
    let tooDeep = try RecordLayout(nested: [RecordField(property: 1, kind: .nested(layout))])
    #expect(throws: StoreError.self) {
      try RecordLayout(row: 1, fields: [RecordField(property: 1, kind: .nested(tooDeep))])
    }
  }

  @Test func builderMayBeUsedWhileARecordIsRead() throws {
    let builder = RecordBuilder(try RecordLayout(row: 1, fields: [RecordField(property: 1, kind: .string)]))
    try builder.set("first", at: 0)
    let expected = try builder.bytes()
    try builder.withBytes { (bytes) throws(StoreError) in
      builder.begin()
      try builder.set(String(repeating: "second", count: 1_000), at: 0)
      _ = try builder.bytes()
      #expect([UInt8](bytes) == expected)
    }
  }

  @Test func recordsAreLentWithinOneAnother() throws {
    let inner = try RecordLayout(nested: [RecordField(property: 1, kind: .string)])
    let layout = try RecordLayout(
      row: 1, fields: [RecordField(property: 1, kind: .string), RecordField(property: 2, kind: .nested(inner))])
    let builder = RecordBuilder(layout)
    func fill(_ text: String) throws(StoreError) -> [UInt8] {
      builder.begin()
      try builder.set(text, at: 0)
      try builder.element(at: 1).set(text + text, at: 0)
      return try builder.bytes()
    }
    let short = try fill("short")
    let long = try fill(String(repeating: "long", count: 1_000))
    for (first, second) in [("short", "long"), ("long", "short")] {
      let texts = ["short": "short", "long": String(repeating: "long", count: 1_000)]
      _ = try fill(try #require(texts[first]))
      try builder.withBytes { (outer) throws(StoreError) in
        // The outer record can be read from, and copied, as long as it is lent.
        let expected = first == "short" ? short : long
        #expect(try fill(texts[second] ?? "") == (second == "short" ? short : long))
        try builder.withBytes { (bytes) throws(StoreError) in
          #expect([UInt8](bytes) == (second == "short" ? short : long))
          try builder.begin(copying: try RecordView(outer, layout: layout), version: 0)
          try builder.element(at: 1).set("other", at: 0)
          #expect([UInt8](bytes) == (second == "short" ? short : long))
          try builder.element(at: 1).set((texts[first] ?? "") + (texts[first] ?? ""), at: 0)
        }
        #expect(try builder.bytes() == expected && [UInt8](outer) == expected)
      }
      #expect(try fill("short") == short)
    }
  }

  @Test func endsAreOfTheWidthThatTheValuesNeed() throws {
    let layout = try RecordLayout(row: 1, fields: (0..<5).map { RecordField(property: $0, kind: .bytes) })
    let builder = RecordBuilder(layout)
    for size in [0, 1, 17, 50, 51, 52, 255, 13_107, 13_108, 20_000] {
      builder.begin()
      for index in [3, 1, 4, 0, 2] {
        try builder.set(bytes: [UInt8](repeating: UInt8(index), count: size), at: index)
      }
      let bytes = try builder.bytes()
      let width = 5 * size <= 0xFF ? 1 : 5 * size <= 0xFFFF ? 2 : 4
      #expect(bytes.count == 10 + 4 * width + 5 * size)
      try layout.read(bytes) { (view) throws(StoreError) in
        try view.validate()
        for index in 0..<5 {
          let value = try view.bytes(at: index).map { [UInt8]($0) }
          #expect(value == [UInt8](repeating: UInt8(index), count: size))
        }
      }
    }
  }

  @Test func wrongUseThrows() throws {
    let layout = try RecordLayout(row: 1, fields: [RecordField(property: 1, kind: .int16)])
    let builder = RecordBuilder(layout)
    #expect(throws: StoreError.self) { try builder.set("text", at: 0) }
    #expect(throws: StoreError.self) { try builder.set(Int64(40_000), at: 0) }
    #expect(throws: StoreError.self) { try builder.set(Int64(1), at: 1) }
    #expect(throws: StoreError.self) { try builder.set(Int64(1), at: -1) }
    #expect(throws: StoreError.self) { try FieldPath([0, 0], in: layout) }
    #expect(throws: StoreError.self) {
      try RecordLayout(row: 1, fields: [RecordField(property: 1, kind: .int16), RecordField(property: 1, kind: .date)])
    }
    try layout.read(try builder.bytes()) { (view) throws(StoreError) in
      #expect(throws: StoreError.self) { try view.utf8(at: 0) }
      #expect(throws: StoreError.self) { try view.int64(at: 2) }
      #expect(throws: StoreError.self) { try view.isNull(-1) }
    }
  }

  @Test func externalValuesAreFound() throws {
    let inner = try RecordLayout(nested: [RecordField(property: 1, kind: .bytes)])
    let layout = try RecordLayout(
      row: 1, fields: [RecordField(property: 1, kind: .string), RecordField(property: 2, kind: .nested(inner))])
    let builder = RecordBuilder(layout)
    try builder.set(external: ExternalValue(id: 4, byteCount: 1 << 40), at: 0)
    try builder.nested(at: 1).set(external: ExternalValue(id: 5, byteCount: 9), at: 0)
    var found: [UInt64] = []
    try layout.read(try builder.bytes()) { (view) throws(StoreError) in
      try view.validate()
      #expect(throws: StoreError.self) { try view.utf8(at: 0) }
      try view.forEachExternal { (value) throws(StoreError) in found.append(value.id) }
    }
    #expect(found == [4, 5])
  }
}

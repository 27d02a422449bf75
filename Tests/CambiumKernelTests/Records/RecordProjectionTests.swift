import CambiumKernel
import Testing

@Suite struct RecordProjectionTests {
  @Test func fieldsFollowTheirProperties() throws {
    let oldInner = try RecordLayout(nested: [
      RecordField(property: 1, kind: .string), RecordField(property: 2, kind: .int16),
    ])
    let newInner = try RecordLayout(nested: [
      RecordField(property: 3, kind: .string), RecordField(property: 2, kind: .int64),
      RecordField(property: 1, kind: .string),
    ])
    let old = try RecordLayout(
      row: 1,
      fields: [
        RecordField(property: 10, kind: .string), RecordField(property: 11, kind: .float),
        RecordField(property: 12, kind: .nested(oldInner)), RecordField(property: 13, kind: .boolean),
        RecordField(property: 14, kind: .int32),
      ])
    let new = try RecordLayout(
      row: 2,
      fields: [
        RecordField(property: 15, kind: .uuid), RecordField(property: 12, kind: .nested(newInner)),
        RecordField(property: 13, kind: .boolean), RecordField(property: 11, kind: .double),
        RecordField(property: 10, kind: .string), RecordField(property: 16, kind: .string),
      ])
    let defaults = RecordBuilder(new)
    try defaults.set(UUIDBytes(high: 1, low: 2), at: 0)
    try defaults.nested(at: 1).set("added", at: 0)
    try defaults.set("required", at: 4)
    let projection = try RecordProjection(
      from: old, to: new, defaults: try defaults.bytes(), requiredProperties: [10])
    #expect(!projection.isIdentity)

    let builder = RecordBuilder(old)
    builder.begin(entity: 8, version: 3)
    try builder.set(Float(1.5), at: 1)
    let nested = try builder.nested(at: 2)
    try nested.set("kept", at: 0)
    try nested.set(Int64(-7), at: 1)
    try builder.set(true, at: 3)
    let output = RecordBuilder(new)
    try old.read(try builder.bytes()) { (view) throws(StoreError) in
      output.begin(entity: view.entityID, version: view.rowVersion)
      try projection.project(view, into: output)
    }
    try new.read(try output.bytes()) { (view) throws(StoreError) in
      try view.validate()
      #expect(view.entityID == 8 && view.rowVersion == 3)
      #expect(try view.uuid(at: 0) == UUIDBytes(high: 1, low: 2))
      #expect(try view.boolean(at: 2) == true)
      #expect(try view.double(at: 3) == 1.5)
      #expect(try view.string(at: 4) == "required")
      #expect(try view.isNull(5))
      let inner = try view.nested(at: 1)
      #expect(try inner?.string(at: 0) == "added")
      #expect(try inner?.int64(at: 1) == -7)
      #expect(try inner?.string(at: 2) == "kept")
    }
  }

  @Test func identityAndImpossibleChanges() throws {
    let fields = [RecordField(property: 1, kind: .string), RecordField(property: 2, kind: .int64)]
    let first = try RecordLayout(row: 1, fields: fields)
    let second = try RecordLayout(row: 2, fields: fields)
    #expect(try RecordProjection(from: first, to: second).isIdentity)
    let other = try RecordLayout(row: 3, fields: [RecordField(property: 1, kind: .int64)])
    #expect(throws: StoreError.self) { try RecordProjection(from: first, to: other) }
  }
}

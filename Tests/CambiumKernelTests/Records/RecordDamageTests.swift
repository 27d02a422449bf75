import CambiumTesting
import Testing

@testable import CambiumKernel

/// Whatever happens to the bytes of a record, reading it gives values or a typed error.
@Suite struct RecordDamageTests {
  /// Reads everything in every way; only `StoreError` may come out.
  private func readAll(_ bytes: UnsafeRawBufferPointer, _ layout: RecordLayout) {
    do throws(StoreError) {
      try layout.withView(of: bytes) { (view) throws(StoreError) in
        for index in 0..<layout.fields.count { _ = try? view.values(layout)[index] }
        try? view.forEachExternal { (_) throws(StoreError) in }
        try? view.validate()
        let builder = RecordBuilder(layout)
        try builder.begin(copying: view, version: 1)
        _ = try builder.bytes()
        var encoder = KeyEncoder(limit: 100)
        for index in 0..<layout.fields.count { _ = try? encoder.append(field: index, of: view) }
      }
    } catch {
      guard case .corrupt(let place, _, _) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(place == .record)
    }
  }

  /// Copies bytes to a block of their exact size, so that a read outside can be seen by an address sanitizer.
  private func withExactCopy(_ bytes: ArraySlice<UInt8>, _ body: (UnsafeRawBufferPointer) -> Void) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    body(UnsafeRawBufferPointer(copy))
  }

  @Test func everyMutationAndTruncationIsAnswered() throws {
    var random = SplitMix64(seed: 77)
    for _ in 0..<12 {
      let layout = try random.layout(depth: 3)
      let values = layout.fields.map { random.value(of: $0.kind) }
      let builder = RecordBuilder(layout)
      try builder.fill(values, order: &random)
      var bytes = try builder.bytes()
      guard bytes.count < 1_000 else { continue }
      for count in 0..<bytes.count { withExactCopy(bytes[..<count]) { readAll($0, layout) } }
      for index in bytes.indices {
        let old = bytes[index]
        for mask in [0x01, 0x80, 0xFF, UInt8(1 + random.below(255))] as [UInt8] {
          bytes[index] = old ^ mask
          withExactCopy(bytes[...]) { readAll($0, layout) }
        }
        bytes[index] = old
      }
    }
  }

  /// Damage, and not a caller's mistake: a decimal is never kept outside.
  @Test func aDecimalThatSaysItLiesOutsideIsDamaged() throws {
    let layout = try RecordLayout(
      row: 1, fields: [RecordField(property: 1, kind: .decimal), RecordField(property: 2, kind: .bytes)])
    let builder = RecordBuilder(layout)
    builder.begin()
    try builder.set(DecimalValue(7), at: 0)
    try builder.set(external: ExternalValue(id: 1, byteCount: 100_000), at: 1)
    let bytes = try builder.bytes()
    var refused = 0
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 3
      let read = Result { try layout.read(changed) { (view) throws(StoreError) in try view.decimal(at: 0) } }
      guard case .failure(let error) = read else { continue }
      refused += 1
      guard case .corrupt(.record, _, _) = error as? StoreError else {
        Issue.record("byte \(index): \(error)")
        continue
      }
    }
    #expect(refused > 0)
  }

  @Test func noiseIsAnswered() throws {
    var random = SplitMix64(seed: 78)
    for _ in 0..<1_000 {
      let layout = try random.layout(depth: 2)
      var bytes = random.bytes(random.below(80))
      // Let most of it past the first check.
      if bytes.count > 8 {
        bytes[0] = UInt8(truncatingIfNeeded: layout.id)
        bytes[1] = UInt8(truncatingIfNeeded: layout.id >> 8)
        bytes[8] &= 0x06
      }
      withExactCopy(bytes[...]) { readAll($0, layout) }
    }
  }

  /// What passes validation is canonical: writing it again gives the same bytes.
  @Test func validatedRecordsAreCanonical() throws {
    var random = SplitMix64(seed: 79)
    for _ in 0..<60 {
      let layout = try random.layout(depth: 2)
      let builder = RecordBuilder(layout)
      try builder.fill(layout.fields.map { random.value(of: $0.kind) }, order: &random)
      var bytes = try builder.bytes()
      for _ in 0..<40 {
        let index = random.below(bytes.count)
        bytes[index] ^= 1 << UInt8(random.below(8))
        let values = try? layout.read(bytes) { (view) throws(StoreError) in
          try view.validate()
          return (view.entityID, view.rowVersion, try view.values(layout))
        }
        guard let values else { continue }
        builder.begin(entity: values.0, version: values.1)
        try builder.fill(values.2, order: &random)
        #expect(try builder.bytes() == bytes)
      }
    }
  }
}

import CambiumTesting

@testable import CambiumKernel
@testable import CambiumKernelTests

/// A layout follows from the first bytes; the rest is read as a row of it:
///
///     fields (1) | kind of each (1; a nested record has fields of its own) | row ...
enum RecordTarget {
  static func problem(_ input: FuzzInput) -> String? {
    var input = input
    guard let layout = layout(&input, depth: 3) else { return nil }
    var row = input.rest()
    // Let it past the first check.
    if row.count > 1 {
      row[0] = UInt8(truncatingIfNeeded: layout.id)
      row[1] = UInt8(truncatingIfNeeded: layout.id >> 8)
    }
    // In a block of its exact size, so that a read outside is seen.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: row.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: row)
    return read(UnsafeRawBufferPointer(copy), layout)
  }

  private static func layout(_ input: inout FuzzInput, depth: Int) -> RecordLayout? {
    var fields: [RecordField] = []
    for index in 0..<input.below(12) {
      let kinds: [FieldKind] = [
        .boolean, .int16, .int32, .int64, .float, .double, .date, .uuid, .reference, .decimal, .string, .bytes,
        .references,
      ]
      let number = input.below(kinds.count + 2)
      var kind = kinds[min(number, kinds.count - 1)]
      if number >= kinds.count, depth > 1, let inner = layout(&input, depth: depth - 1) { kind = .nested(inner) }
      fields.append(RecordField(property: UInt32(index * 7 + 1), kind: kind))
    }
    return depth == 3 ? try? RecordLayout(row: 0x1234, fields: fields) : try? RecordLayout(nested: fields)
  }

  private static func read(_ bytes: UnsafeRawBufferPointer, _ layout: RecordLayout) -> String? {
    var problem: String?
    do throws(StoreError) {
      _ = try? RecordView.entityID(of: bytes)
      _ = try? RecordView.rowVersion(of: bytes)
      try layout.withView(of: bytes) { (view) throws(StoreError) in
        var encoder = KeyEncoder(limit: 100)
        for index in 0..<layout.fields.count { try? encoder.append(field: index, of: view) }
        try? view.forEachExternal { (_) throws(StoreError) in }
        let copy = RecordBuilder(layout)
        if (try? copy.begin(copying: view, version: 1)) != nil { _ = try? copy.bytes() }
        let values = try view.values(layout)
        try view.validate()
        // What is valid is canonical: writing the values gives the same bytes.
        let builder = RecordBuilder(layout)
        builder.begin(entity: view.entityID, version: view.rowVersion)
        var order = SplitMix64(seed: 1)
        try builder.fill(values, order: &order)
        if try builder.bytes() != [UInt8](bytes) { problem = "a valid row is not canonical: \(values)" }
      }
    } catch {
      guard case .corrupt(let place, _, _) = error, place == .record else { return "reading a row ended with \(error)" }
    }
    return problem
  }
}

import CambiumKernel
import CambiumTesting

/// A value of a record's field as the tests keep it.
enum TestValue: Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case float(UInt32)
  case double(UInt64)
  case date(UInt64)
  case uuid(UUIDBytes)
  case reference(UInt64)
  case decimal(DecimalValue)
  case string([UInt8])
  case bytes([UInt8])
  case references([UInt64])
  case external(ExternalValue)
  case nested([TestValue])
}

extension SplitMix64 {
  mutating func layout(depth: Int, isRow: Bool = true) throws -> RecordLayout {
    let count = below(depth > 1 ? 12 : 6)
    var fields: [RecordField] = []
    for index in 0..<count {
      let kinds: [FieldKind] = [
        .boolean, .int16, .int32, .int64, .float, .double, .date, .uuid, .reference, .decimal, .string, .bytes,
        .references,
      ]
      var kind = pick(kinds)
      if depth > 1, oneIn(4) { kind = .nested(try layout(depth: depth - 1, isRow: false)) }
      fields.append(RecordField(property: UInt32(index * 7 + 1), kind: kind))
    }
    return isRow
      ? try RecordLayout(row: UInt16(truncatingIfNeeded: next()), fields: fields) : try RecordLayout(nested: fields)
  }

  mutating func integer() -> Int64 {
    let edges: [Int64] = [0, 1, -1, 127, 128, -128, -129, 255, 256, -255, -256, -257, .max, .min, 65535, 65536]
    return oneIn(3) ? pick(edges) : Int64(bitPattern: next()) >> Int64(below(64))
  }

  mutating func double() -> Double {
    let edges: [Double] = [
      0, -0.0, 1, -1, .infinity, -.infinity, .nan, -.nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
      -.leastNonzeroMagnitude, .signalingNaN,
    ]
    return oneIn(3) ? pick(edges) : oneIn(2) ? Double(bitPattern: next()) : Double(integer() % 1000) / 8
  }

  mutating func decimal() -> DecimalValue {
    if oneIn(20) { return .notANumber }
    let wide = UInt128(next()) << 64 | UInt128(next())
    let coefficient = oneIn(10) ? UInt128.max : wide >> UInt128(below(128))
    let exponent = oneIn(3) ? pick([Int8.min, 127, 0, 1, -1]) : Int8(truncatingIfNeeded: next())
    return DecimalValue(isNegative: oneIn(2), coefficient: coefficient, exponent: oneIn(2) ? 0 : exponent)
  }

  /// Text of few letters, so that many are prefixes or canonical equivalents of one another.
  mutating func text(_ limit: Int = 12) -> String {
    let pieces = [
      "a", "b", "z", "\0", "\u{1}", "\u{2}", "\u{301}", "\u{300}", "\u{323}", "\u{e9}", "e", "\u{1e69}", "s",
      "\u{1e9b}", "\u{212b}", "\u{c5}", "\u{1100}", "\u{1161}", "\u{11a8}", "\u{ac00}", "\u{ac01}", "\u{fb2c}",
      "\u{1f600}", "\u{ffff}", "\u{10ffff}", "\u{2f800}", "\u{4e3d}", "\u{d7a3}", "\u{340}", "\u{1109a}", "\u{110ba}",
      "\u{958}", "\u{37e}",
    ]
    var text = String.UnicodeScalarView()
    for _ in 0..<below(limit + 1) { text.append(contentsOf: pick(pieces).unicodeScalars) }
    return String(text)
  }

  mutating func value(of field: FieldKind) -> TestValue {
    if oneIn(5) { return .null }
    switch field {
    case .boolean: return .boolean(oneIn(2))
    case .int16: return .integer(Int64(Int16(truncatingIfNeeded: integer())))
    case .int32: return .integer(Int64(Int32(truncatingIfNeeded: integer())))
    case .int64: return .integer(integer())
    case .float: return .float(UInt32(truncatingIfNeeded: next()) & 0xFF7F_FFFF)
    case .double: return .double(double().bitPattern)
    case .date: return .date(double().bitPattern)
    case .uuid: return .uuid(UUIDBytes(high: next(), low: next()))
    case .reference: return .reference(next() >> UInt64(below(64)))
    case .decimal: return .decimal(decimal())
    case .nested(let layout): return .nested(layout.fields.map { value(of: $0.kind) })
    case .string, .bytes, .references: break
    }
    if oneIn(12) { return .external(ExternalValue(id: next(), byteCount: next())) }
    switch field {
    case .string: return .string([UInt8](text(oneIn(30) ? 300 : 8).utf8))
    case .bytes: return .bytes(bytes(below(oneIn(200) ? 70_000 : 20)))
    default: return .references((0..<below(5)).map { [shift = below(64), bits = next()] _ in bits >> UInt64(shift) })
    }
  }
}

extension RecordBuilder {
  /// Sets all fields, in an order that `order` shuffles.
  func fill(_ values: [TestValue], order: inout SplitMix64) throws(StoreError) {
    for index in Array(0..<values.count).shuffled(using: &order) {
      if order.oneIn(8), case .bytes = values[index] { try set(bytes: [1, 2, 3], at: index) }
      try set(values[index], at: index, order: &order)
    }
  }

  private func set(_ value: TestValue, at index: Int, order: inout SplitMix64) throws(StoreError) {
    switch value {
    case .null: try setNull(at: index)
    case .boolean(let value): try set(value, at: index)
    case .integer(let value): try set(value, at: index)
    case .float(let bits): try set(Float(bitPattern: bits), at: index)
    case .double(let bits): try set(Double(bitPattern: bits), at: index)
    case .date(let bits): try set(date: Double(bitPattern: bits), at: index)
    case .uuid(let value): try set(value, at: index)
    case .reference(let value): try set(reference: value, at: index)
    case .decimal(let value): try set(value, at: index)
    case .string(let utf8): try set(String(decoding: utf8, as: UTF8.self), at: index)
    case .bytes(let value): try set(bytes: value, at: index)
    case .references(let value): try set(references: value, at: index)
    case .external(let value): try set(external: value, at: index)
    case .nested(let values): try nested(at: index).fill(values, order: &order)
    }
  }
}

extension RecordView {
  /// Reads all fields.
  func values(_ layout: RecordLayout) throws(StoreError) -> [TestValue] {
    var result: [TestValue] = []
    for index in 0..<layout.fields.count { result.append(try value(at: index, layout)) }
    return result
  }

  private func value(at index: Int, _ layout: RecordLayout) throws(StoreError) -> TestValue {
    switch layout.fields[index].kind {
    case .boolean: if let value = try boolean(at: index) { return .boolean(value) }
    case .int16: if let value = try int16(at: index) { return .integer(Int64(value)) }
    case .int32: if let value = try int32(at: index) { return .integer(Int64(value)) }
    case .int64: if let value = try int64(at: index) { return .integer(value) }
    case .float: if let value = try float(at: index) { return .float(value.bitPattern) }
    case .double: if let value = try double(at: index) { return .double(value.bitPattern) }
    case .date: if let value = try date(at: index) { return .date(value.bitPattern) }
    case .uuid: if let value = try uuid(at: index) { return .uuid(value) }
    case .reference: if let value = try reference(at: index) { return .reference(value) }
    case .decimal: if let value = try decimal(at: index) { return .decimal(value) }
    case .string:
      if let value = try external(at: index) { return .external(value) }
      if let value = try string(at: index) { return .string([UInt8](value.utf8)) }
    case .bytes:
      if let value = try external(at: index) { return .external(value) }
      if let value = try bytes(at: index) { return .bytes([UInt8](value)) }
    case .references:
      if let value = try external(at: index) { return .external(value) }
      if let value = try references(at: index) { return .references(value.array) }
    case .nested(let inner): if let view = try nested(at: index) { return .nested(try view.values(inner)) }
    }
    guard try isNull(index) else { throw .misuse("a value reads as null") }
    return .null
  }
}

extension RecordLayout {
  /// Reads a record of an array.
  func read<R>(_ bytes: [UInt8], _ body: (RecordView) throws(StoreError) -> R) throws(StoreError) -> R {
    var result: Result<R, StoreError>?
    bytes.withUnsafeBytes { buffer in
      do throws(StoreError) { result = .success(try withView(of: buffer, body)) } catch { result = .failure(error) }
    }
    guard let result else { throw .misuse("not read") }
    return try result.get()
  }
}

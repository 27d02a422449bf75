import CambiumKernel

//  A value in a stored model: one byte that says what it is, then
//
//    0 null        nothing                     7 date        8 bytes, as double
//    1 boolean     0 or 1                      8 binary      the bytes
//    2 integer     8 bytes, little-endian      9 UUID        16 bytes in the order of its text
//    3 decimal     text                       10 URI         text
//    4 double      8 bytes, little-endian     11 reference   entity, row: LEB128
//    5 float       4 bytes of the bits,       12 composite   for each element: length and text of the name, length and
//                  in 8, little-endian                       value; lengths LEB128
//    6 string      text                       13 list        for each: length (LEB128) and value
//
//  to the end of the field.

extension FieldWriter {
  mutating func append(value: Value) {
    switch value {
    case .null: append(raw: [0])
    case .boolean(let flag): append(raw: [1, flag ? 1 : 0])
    case .integer(let integer): append(2, UInt64(bitPattern: integer))
    case .decimal(let decimal): append(raw: [3] + Array(decimal.description.utf8))
    case .double(let double): append(4, double.bitPattern)
    case .float(let float): append(5, UInt64(float.bitPattern))
    case .string(let text): append(raw: [6] + Array(text.utf8))
    case .date(let seconds): append(7, seconds.bitPattern)
    case .binary(let bytes): append(raw: [8] + bytes)
    case .uuid(let uuid): append(raw: [9] + uuid.bytes)
    case .uri(let text): append(raw: [10] + Array(text.utf8))
    case .reference(let reference):
      append(raw: [11])
      append(number: UInt64(reference.entity))
      append(number: reference.row)
    case .composite(let composite):
      append(raw: [12])
      for index in composite.names.indices {
        append(sized: Array(composite.names[index].utf8))
        append(sized: composite.values[index])
      }
    case .list(let values):
      append(raw: [13])
      for value in values { append(sized: value) }
    }
  }

  private mutating func append(_ tag: UInt8, _ bits: UInt64) {
    append(raw: [tag])
    for shift in stride(from: UInt64(0), through: 56, by: 8) { append(raw: [UInt8(truncatingIfNeeded: bits >> shift)]) }
  }

  private mutating func append(sized bytes: [UInt8]) {
    append(number: UInt64(bytes.count))
    append(raw: bytes)
  }

  private mutating func append(sized value: Value) {
    var inner = FieldWriter()
    inner.append(value: value)
    append(sized: inner.bytes)
  }

  /// A value; left out if it is null.
  mutating func field(_ number: UInt64, value: Value) {
    if value.isNull { return }
    var content = FieldWriter()
    content.append(value: value)
    field(number, bytes: content.bytes)
  }
}

extension FieldReader {
  /// Reads a value to the end of the content.
  mutating func value(depth: Int = 0) throws(SchemaError) -> Value {
    guard depth <= Schema.compositeDepthLimit else { throw malformed("values are nested too deep") }
    let tag = try byte()
    let result: Value
    switch tag {
    case 0: result = .null
    case 1: result = .boolean(try flag())
    case 2: result = .integer(Int64(bitPattern: try fixed64()))
    case 3:
      guard let decimal = DecimalValue(try text()) else { throw malformed("a decimal is not a number") }
      result = .decimal(decimal)
    case 4: result = .double(Double(bitPattern: try fixed64()))
    case 5:
      guard let bits = UInt32(exactly: try fixed64()) else { throw malformed("a float has more than 32 bits") }
      result = .float(Float(bitPattern: bits))
    case 6: result = .string(try text())
    case 7: result = .date(Double(bitPattern: try fixed64()))
    case 8: result = .binary(rest())
    case 9:
      guard let uuid = UUIDBytes(bytes: rest()) else { throw malformed("a UUID does not have 16 bytes") }
      result = .uuid(uuid)
    case 10: result = .uri(try text())
    case 11: result = .reference(ObjectReference(entity: try number32(), row: try number()))
    case 12:
      var names: [String] = []
      var values: [Value] = []
      while !isAtEnd {
        var name = try part(try number())
        names.append(try name.text())
        var content = try part(try number())
        values.append(try content.value(depth: depth + 1))
      }
      result = .composite(CompositeValue(names: names, values: values))
    case 13:
      var values: [Value] = []
      while !isAtEnd {
        var content = try part(try number())
        values.append(try content.value(depth: depth + 1))
      }
      result = .list(values)
    default: throw malformed("no such kind of value")
    }
    try finish()
    return result
  }
}

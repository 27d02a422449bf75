import CambiumKernel

//  A layout in the catalogue, as fields of numbers and contents like a stored model's (`SchemaCodec.swift`):
//
//    1  entity                    number
//    2  whether new rows get it   flag
//    3  a field, in order         part:  1 property  2 kind, as in `kinds`  3 a field of the nested record, in order
//    4  what an added property    part:  1 property  2 value
//       is in rows of the layout
//    5  a property that is no longer optional: null in rows of the layout reads as its value of 4

/// What the catalogue keeps about the layout of rows: enough to read rows that were written under an earlier model as
/// rows of the current one, whatever happened in between.
///
/// Fields carry the properties of the *current* model. A migration brings that up to date in every layout that rows
/// still have: a property that got another identifier, since it moved to another entity, is renamed here; one that was
/// dropped gets an identifier that no property has; one that was added is noted with what it is in the rows that lack
/// it. So there is one step from any layout to the current one, however many migrations lie between.
struct LayoutDescriptor: Sendable {
  /// The identifiers of fields without a property begin here.
  static let firstDropped: UInt32 = 1 << 31
  /// Set in the identifier of a relationship that is kept in a tree, and whose links are in the row still: they are
  /// read there.
  static let pending: UInt32 = 1 << 30

  var entity: UInt32
  /// Whether new rows of the entity are written with the layout.
  var isCurrent: Bool
  var fields: [RecordField]
  /// Values of properties that the layout lacks, or where it has null and the property is required.
  var values: [UInt32: Value] = [:]
  /// Properties whose null reads as their value.
  var required: [UInt32] = []

  init(entity: UInt32, isCurrent: Bool, fields: [RecordField]) {
    self.entity = entity
    self.isCurrent = isCurrent
    self.fields = fields
  }

  // MARK: Bytes

  func encoded() -> [UInt8] {
    var writer = FieldWriter()
    writer.field(1, number: UInt64(entity))
    writer.field(2, flag: isCurrent)
    for field in fields { writer.field(3, part: Self.encode(field)) }
    for (property, value) in values.ordered(by: { $0.key < $1.key }) {
      var part = FieldWriter()
      part.field(1, number: UInt64(property))
      part.field(2, value: value)
      writer.field(4, part: part)
    }
    for property in required { writer.field(5, number: UInt64(property)) }
    return writer.bytes
  }

  private static func encode(_ field: RecordField) -> FieldWriter {
    var part = FieldWriter()
    part.field(1, number: UInt64(field.property))
    part.field(2, number: code(field.kind))
    if case .nested(let inner) = field.kind {
      for field in inner.fields { part.field(3, part: encode(field)) }
    }
    return part
  }

  init(_ bytes: [UInt8]) throws(EngineError) {
    entity = 0
    isCurrent = false
    fields = []
    do throws(SchemaError) {
      var reader = FieldReader(bytes)
      while case (let number, var content)? = try reader.field() {
        switch number {
        case 1: entity = try content.number32()
        case 2: isCurrent = try content.flag()
        case 3: fields.append(try Self.field(&content, depth: 1))
        case 4:
          var property: UInt32 = 0
          var value = Value.null
          while case (let number, var inner)? = try content.field() {
            switch number {
            case 1: property = try inner.number32()
            case 2: value = try inner.value()
            default: continue
            }
          }
          values[property] = value
        case 5: required.append(try content.number32())
        default: continue
        }
      }
    } catch {
      throw .corrupt("a layout in the catalogue cannot be read: \(error.description)")
    }
  }

  private static func field(_ content: inout FieldReader, depth: Int) throws(SchemaError) -> RecordField {
    guard depth <= RecordLayout.depthLimit else { throw content.malformed("a layout is nested too deep") }
    var property: UInt32 = 0
    var code: UInt64 = 0
    var inner: [RecordField] = []
    while case (let number, var part)? = try content.field() {
      switch number {
      case 1: property = try part.number32()
      case 2: code = try part.number()
      case 3: inner.append(try field(&part, depth: depth + 1))
      default: continue
      }
    }
    guard let kind = kind(code, inner) else { throw content.malformed("a field of a layout is of no known kind") }
    return RecordField(property: property, kind: kind)
  }

  /// The numbers of kinds in the catalogue; never used for something else.
  private static func code(_ kind: FieldKind) -> UInt64 {
    switch kind {
    case .boolean: return 1
    case .int16: return 2
    case .int32: return 3
    case .int64: return 4
    case .float: return 5
    case .double: return 6
    case .date: return 7
    case .uuid: return 8
    case .reference: return 9
    case .decimal: return 10
    case .string: return 11
    case .bytes: return 12
    case .references: return 13
    case .nested: return 14
    }
  }

  private static func kind(_ code: UInt64, _ inner: [RecordField]) -> FieldKind? {
    switch code {
    case 1: return .boolean
    case 2: return .int16
    case 3: return .int32
    case 4: return .int64
    case 5: return .float
    case 6: return .double
    case 7: return .date
    case 8: return .uuid
    case 9: return .reference
    case 10: return .decimal
    case 11: return .string
    case 12: return .bytes
    case 13: return .references
    case 14:
      // Too many fields, or one twice.
      guard let layout = try? RecordLayout(nested: inner) else { return nil }
      return .nested(layout)
    default: return nil
    }
  }

  /// Whether two lists of fields are the same, in the same order.
  static func same(_ a: [RecordField], _ b: [RecordField]) -> Bool {
    guard a.count == b.count else { return false }
    for index in a.indices where !same(a[index], b[index]) { return false }
    return true
  }

  /// Whether two fields are of the same property and kind, nested ones in the same order.
  static func same(_ a: RecordField, _ b: RecordField) -> Bool {
    guard a.property == b.property, code(a.kind) == code(b.kind) else { return false }
    if case .nested(let x) = a.kind, case .nested(let y) = b.kind { return same(x.fields, y.fields) }
    return true
  }
}

import CambiumEngine

/// Takes a structure apart into the elements of a composite.
enum CompositeEncoder {
  /// The elements: one for each field, null for a field that is nil.
  static func elements(of value: any Encodable, _ shape: CompositeShape) throws -> CompositeValue {
    let writer = FieldWriter(shape)
    try value.encode(to: writer)
    return writer.takeElements()
  }
}

/// A structure writes its fields into this.
@usableFromInline
final class FieldWriter: Encoder {
  private let shape: CompositeShape
  /// Those of the first fields; the rest are null.
  @exclusivity(unchecked) private var values: [Value] = []

  init(_ shape: CompositeShape) { self.shape = shape }

  /// Takes out the elements: one for each field, null for a field that is nil.
  func takeElements() -> CompositeValue {
    while values.count < shape.fields.count { values.append(.null) }
    defer { values = [] }
    return CompositeValue(names: shape.names, values: values)
  }

  private func set(_ value: Value, at place: Int) {
    if place < values.count { return values[place] = value }
    if values.isEmpty { values.reserveCapacity(shape.fields.count) }
    // Fields are mostly written in their order.
    while values.count < place { values.append(.null) }
    values.append(value)
  }

  private func place(of name: String) throws -> Int {
    if let place = shape.place(of: name) { return place }
    throw SwiftDataError(
      .modelValidationFailure, "\(shape.typeName) codes a key '\(name)' that is none of its stored properties")
  }

  fileprivate func take<A: ModelAttribute>(direct value: A, _ name: String) throws {
    let place = try place(of: name)
    guard shape.isDirect(place, A.self) else { return try take(value, name) }
    set(value.attributeValue, at: place)
  }

  fileprivate func take(_ value: any Encodable, _ name: String) throws {
    let place = try place(of: name)
    var plain: any Encodable = value
    if let optional = value as? any OptionalType {
      guard let wrapped = optional.wrappedValue as? any Encodable else { return }
      plain = wrapped
    }
    let field = shape.fields[place]
    if case .coded = field.kind {} else if type(of: plain) != field.type { throw otherwise }
    set(try ValueCoder.encode(plain, as: field.kind), at: place)
  }

  @usableFromInline var codingPath: [any CodingKey] { [] }
  @usableFromInline var userInfo: [CodingUserInfoKey: Any] { [:] }

  @usableFromInline
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(sink: self))
  }

  @usableFromInline func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
  @usableFromInline func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer() }
}

/// Whatever codes itself otherwise than field by field is stored as one coded value, so that nothing else is asked for.
private let otherwise = SwiftDataError(
  .modelValidationFailure,
  "a structure that is stored field by field codes itself in another way; use @Attribute(.codable)")

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let sink: FieldWriter
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws {}
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try sink.take(value, key.stringValue) }
  // Most fields are of these types, which need no cast.
  func encode(_ value: String, forKey key: Key) throws { try sink.take(direct: value, key.stringValue) }
  func encode(_ value: Double, forKey key: Key) throws { try sink.take(direct: value, key.stringValue) }
  func encode(_ value: Int, forKey key: Key) throws { try sink.take(direct: value, key.stringValue) }

  func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N> {
    KeyedEncodingContainer(RefusingKeyedContainer<N>())
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
  func superEncoder() -> any Encoder { RefusingEncoder() }
  func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder() }
}

private struct RefusingEncoder: Encoder {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusingKeyedContainer<Key>())
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer() }
}

private struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  var codingPath: [any CodingKey] { [] }
  func encodeNil(forKey key: Key) throws { throw otherwise }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw otherwise }
  func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N> {
    KeyedEncodingContainer(RefusingKeyedContainer<N>())
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
  func superEncoder() -> any Encoder { RefusingEncoder() }
  func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder() }
}

private struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }
  func encodeNil() throws { throw otherwise }
  func encode<T: Encodable>(_ value: T) throws { throw otherwise }
  func nestedContainer<N: CodingKey>(keyedBy type: N.Type) -> KeyedEncodingContainer<N> {
    KeyedEncodingContainer(RefusingKeyedContainer<N>())
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
  func superEncoder() -> any Encoder { RefusingEncoder() }
}

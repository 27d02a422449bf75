import CambiumEngine

/// Takes a structure apart into the elements of a composite.
enum CompositeEncoder {
  /// The elements: one for each field, null for a field that is nil.
  static func elements(of value: any Encodable, _ shape: CompositeShape) throws -> CompositeValue {
    let sink = Sink(shape)
    try value.encode(to: Taker(sink: sink))
    return CompositeValue(names: shape.names, values: sink.values)
  }

  fileprivate final class Sink {
    let shape: CompositeShape
    var values: [Value]

    init(_ shape: CompositeShape) {
      self.shape = shape
      values = Array(repeating: .null, count: shape.fields.count)
    }

    private func place(of name: String) throws -> Int {
      if let place = shape.place(of: name) { return place }
      throw SwiftDataError(
        .modelValidationFailure, "\(shape.typeName) codes a key '\(name)' that is none of its stored properties")
    }

    func take<A: ModelAttribute>(direct value: A, _ name: String) throws {
      let place = try place(of: name)
      guard shape.isDirect(place, A.self) else { return try take(value, name) }
      values[place] = value.attributeValue
    }

    func take(_ value: any Encodable, _ name: String) throws {
      let place = try place(of: name)
      var plain: any Encodable = value
      if let optional = value as? any OptionalType {
        guard let wrapped = optional.wrappedValue as? any Encodable else { return }
        plain = wrapped
      }
      let field = shape.fields[place]
      if case .coded = field.kind {} else if type(of: plain) != field.type { throw otherwise }
      values[place] = try ValueCoder.encode(plain, as: field.kind)
    }
  }
}

/// Whatever codes itself otherwise than field by field is stored as one coded value, so that nothing else is asked for.
private let otherwise = SwiftDataError(
  .modelValidationFailure,
  "a structure that is stored field by field codes itself in another way; use @Attribute(.codable)")

private struct Taker: Encoder {
  let sink: CompositeEncoder.Sink
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(sink: sink))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer() }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let sink: CompositeEncoder.Sink
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

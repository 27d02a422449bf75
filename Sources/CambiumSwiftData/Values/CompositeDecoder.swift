import CambiumEngine

/// Puts a structure together from the elements of a composite.
enum CompositeDecoder {
  /// The structure. An element that is missing or null where the field is not optional gives a value without meaning, as a
  /// store of an earlier version may have it.
  static func value(_ type: any Decodable.Type, _ elements: CompositeValue, _ shape: CompositeShape) throws -> Any {
    try type.init(from: Giver(elements: elements, shape: shape))
  }
}

private let otherwise = SwiftDataError(
  .modelValidationFailure,
  "a structure that is stored field by field codes itself in another way; use @Attribute(.codable)")

private struct Giver: Decoder {
  let elements: CompositeValue
  let shape: CompositeShape
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>(elements: elements, shape: shape))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw otherwise }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw otherwise }
}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let elements: CompositeValue
  let shape: CompositeShape
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { shape.fields.compactMap { Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { elements[key.stringValue].map { !$0.isNull } ?? false }

  func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    guard let field = shape[key.stringValue] else { throw otherwise }
    guard let value = elements[field.name], !value.isNull else {
      if let placeholder = PlaceholderValue.find(type) { return placeholder }
      throw CambiumFailure.unreadable(.null, type)
    }
    guard let plain = field.type as? any Decodable.Type,
      let result = try ValueCoder.decode(plain, from: value, as: field.kind) as? T
    else { throw CambiumFailure.unreadable(value, type) }
    return result
  }

  func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
    throw otherwise
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw otherwise }
  func superDecoder() throws -> any Decoder { throw otherwise }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw otherwise }
}

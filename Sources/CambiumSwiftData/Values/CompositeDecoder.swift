import Cambium
import CambiumEngine

/// Puts a structure together from the elements of a composite.
enum CompositeDecoder {
  /// The structure. An element that is missing or null where the field is not optional gives a value without meaning,
  /// as a store of an earlier version may have it.
  static func value<T: Decodable>(_ type: T.Type, _ elements: CompositeElements, _ shape: CompositeShape) throws -> T {
    try type.init(from: FieldReader(elements, shape))
  }
}

private let otherwise = SwiftDataError(
  .modelValidationFailure,
  "a structure that is stored field by field codes itself in another way; use @Attribute(.codable)")

/// A structure reads its fields from this.
@usableFromInline
final class FieldReader: Decoder {
  fileprivate let elements: CompositeElements
  fileprivate let shape: CompositeShape
  fileprivate private(set) lazy var values = elements.engineValue

  /// A text, mostly without a cast.
  fileprivate func string(_ name: String) throws -> String? {
    guard let place = shape.names.firstIndex(of: name) else { throw otherwise }
    if shape.fields[place].type == String.self {
      if let text = elements.string(name) { return text }
      if case .string(let text)? = values[name] { return text }
    }
    return try value(name, as: String.self)
  }

  /// A number, mostly without a cast.
  @inline(__always)
  fileprivate func number<A: ModelAttribute>(_ name: String, _ type: A.Type) throws -> A? {
    guard let place = shape.names.firstIndex(of: name) else { throw otherwise }
    if shape.fields[place].type == type, let number = values[name].flatMap({ A(attributeValue: $0) }) { return number }
    return try value(name, as: type)
  }

  /// A field; nil if it has no value.
  fileprivate func value<T>(_ name: String, as type: T.Type) throws -> T? {
    guard let field = shape[name] else { throw otherwise }
    guard let value = values[field.name], !value.isNull else { return nil }
    guard let plain = field.type as? any Decodable.Type,
      let result = try ValueCoder.decode(plain, from: value, as: field.kind) as? T
    else { throw CambiumFailure.unreadable(value, type) }
    return result
  }

  init(_ elements: consuming CompositeElements, _ shape: CompositeShape) {
    self.elements = elements
    self.shape = shape
  }

  @usableFromInline var codingPath: [any CodingKey] { [] }
  @usableFromInline var userInfo: [CodingUserInfoKey: Any] { [:] }

  @usableFromInline
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>(giver: self))
  }

  @usableFromInline func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw otherwise }
  @usableFromInline func singleValueContainer() throws -> any SingleValueDecodingContainer { throw otherwise }
}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let giver: FieldReader
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { giver.shape.fields.compactMap { Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { giver.values[key.stringValue].map { !$0.isNull } ?? false }

  func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if let value = try giver.value(key.stringValue, as: type) { return value }
    if let placeholder = PlaceholderValue.find(type) { return placeholder }
    throw CambiumFailure.unreadable(.null, type)
  }

  // Most fields are of these types.
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try giver.string(key.stringValue) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try giver.number(key.stringValue, type)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try giver.number(key.stringValue, type) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try giver.string(key.stringValue) ?? String.missingValue
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try giver.number(key.stringValue, type) ?? Double.missingValue
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try giver.number(key.stringValue, type) ?? Int.missingValue
  }

  func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
    throw otherwise
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw otherwise }
  func superDecoder() throws -> any Decoder { throw otherwise }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw otherwise }
}

/// Finds out by which keys a type codes itself, by decoding one from a decoder that gives a value without meaning for
/// each key and notes the key and the type.
enum CodedKeys {
  /// The types by their keys, those of optional ones left out, and the value; nil if no value can be decoded so, or one
  /// that is no keyed structure.
  static func of<T: Decodable>(_ type: T.Type) -> (types: [String: Any.Type?], value: T)? {
    let keys = Keys()
    keys.outer = [ObjectIdentifier(type)]
    guard let value = try? T(from: NotingDecoder(keys: keys)), keys.isKeyed else { return nil }
    return (keys.types, value)
  }

  fileprivate final class Keys {
    var types: [String: Any.Type?] = [:]
    var isKeyed = false
    var outer = Set<ObjectIdentifier>()
  }
}

/// Refuses what is not asked key by key.
private struct Unkeyed: Error {}

private struct NotingDecoder: Decoder {
  let keys: CodedKeys.Keys
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    keys.isKeyed = true
    return KeyedDecodingContainer(NotingContainer<Key>(keys: keys))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Unkeyed() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Unkeyed() }
}

private struct NotingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let keys: CodedKeys.Keys
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool {
    if keys.types[key.stringValue] == nil { keys.types[key.stringValue] = .some(nil) }
    return true
  }

  func decodeNil(forKey key: Key) throws -> Bool { contains(key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    keys.types[key.stringValue] = type
    guard let value = PlaceholderValue.find(type, within: keys.outer) else { throw Unkeyed() }
    return value
  }

  func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
    throw Unkeyed()
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Unkeyed() }
  func superDecoder() throws -> any Decoder { throw Unkeyed() }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw Unkeyed() }
}

/// Gives a placeholder for whatever is asked, the first case of an enumeration whose cases have values with them
/// included.
struct PlaceholderDecoder: Decoder {
  /// There is no value of the type that is asked for.
  struct Refusal: Error {}

  /// The types that are being made.
  let outer: Set<ObjectIdentifier>
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>(outer: outer))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { Unkeyed(outer: outer) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(outer: outer) }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let outer: Set<ObjectIdentifier>
    var codingPath: [any CodingKey] { [] }
    // An enumeration whose cases have values asks for the one key that there is.
    var allKeys: [Key] { PlaceholderValue.firstCase(of: Key.self).map { [$0] } ?? [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { true }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try placeholder(type, outer) }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
      KeyedDecodingContainer(Keyed<N>(outer: outer))
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { Unkeyed(outer: outer) }
    func superDecoder() throws -> any Decoder { PlaceholderDecoder(outer: outer) }
    func superDecoder(forKey key: Key) throws -> any Decoder { PlaceholderDecoder(outer: outer) }
  }

  private struct Single: SingleValueDecodingContainer {
    let outer: Set<ObjectIdentifier>
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try placeholder(type, outer) }
  }

  /// At its end from the beginning, so that nobody waits for it, though it gives whatever is asked.
  private struct Unkeyed: UnkeyedDecodingContainer {
    let outer: Set<ObjectIdentifier>
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }
    mutating func decodeNil() throws -> Bool { true }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try placeholder(type, outer) }
    mutating func nestedContainer<N: CodingKey>(keyedBy type: N.Type) throws -> KeyedDecodingContainer<N> {
      throw Refusal()
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Refusal() }
    mutating func superDecoder() throws -> any Decoder { throw Refusal() }
  }
}

private func placeholder<T>(_ type: T.Type, _ outer: Set<ObjectIdentifier>) throws -> T {
  guard let value = PlaceholderValue.find(type, within: outer) else { throw PlaceholderDecoder.Refusal() }
  return value
}

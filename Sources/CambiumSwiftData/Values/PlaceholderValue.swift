import Foundation

/// Values of types that stand where there is none: for what is read of a row that is gone, and for finding out how types
/// code themselves.
enum PlaceholderValue {
  /// A value of a type: zero, nothing, the first case of an enumeration.
  ///
  /// Ends the process if the type has none that can be found. ``ModelContainer`` refuses models with required properties of
  /// such types unless they have an initial value.
  static func of<T>(_ type: T.Type) -> T {
    if let value = find(type) { return value }
    fatalError("there is no value of type \(type) to stand for one that is gone; give the property an initial value")
  }

  /// A value of a type; nil if none can be found.
  static func find<T>(_ type: T.Type) -> T? {
    if let optional = type as? any OptionalType.Type { return optional.noValue as? T }
    if let attribute = type as? any ModelAttribute.Type { return attribute.missingValue as? T }
    if let empty = (type as? any ExpressibleByArrayLiteral.Type)?.emptyArray { return empty as? T }
    if let empty = (type as? any ExpressibleByDictionaryLiteral.Type)?.emptyDictionary { return empty as? T }
    if let cases = type as? any CaseIterable.Type { return cases.firstCase as? T }
    if let first = firstCase(of: type) { return first }
    guard let decodable = type as? any Decodable.Type else { return nil }
    return (try? decodable.init(from: PlaceholderDecoder())) as? T
  }

  /// The first case of an enumeration whose cases have no values with them: its bits are all zero.
  private static func firstCase<T>(of type: T.Type) -> T? {
    guard MemoryLayout<T>.size <= 1, _isPOD(type), type is any RawRepresentable.Type || type is any Hashable.Type else {
      return nil
    }
    if MemoryLayout<T>.size == 0 { return nil }
    let zero = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { bytes -> T in
      bytes[0] = 0
      return UnsafeRawPointer(bytes.baseAddress!).loadUnaligned(as: type)
    }
    // Structures of one byte have fields.
    return Mirror(reflecting: zero).displayStyle == .enum ? zero : nil
  }
}

extension ExpressibleByArrayLiteral {
  fileprivate static var emptyArray: Self { [] }
}

extension ExpressibleByDictionaryLiteral {
  fileprivate static var emptyDictionary: Self { [:] }
}

extension CaseIterable {
  fileprivate static var firstCase: Self? { allCases.first }
}

/// Gives a placeholder for whatever is asked.
private struct PlaceholderDecoder: Decoder {
  struct Refusal: Error {}
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Container<Key>())
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Refusal() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Refusal() }

  private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
      guard let value = PlaceholderValue.find(type) else { throw Refusal() }
      return value
    }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
      throw Refusal()
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Refusal() }
    func superDecoder() throws -> any Decoder { throw Refusal() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Refusal() }
  }
}

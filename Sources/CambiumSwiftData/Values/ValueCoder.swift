import Cambium
import CambiumEngine
import Foundation

/// Makes values of attributes of Swift values, and back.
enum ValueCoder {
  /// The value to store.
  static func encode<T: Codable>(_ value: T, isCoded: Bool) throws -> Value {
    if let optional = value as? any OptionalType {
      guard let wrapped = optional.wrappedValue else { return .null }
      guard let codable = wrapped as? any Codable else { return .null }
      return try encode(codable, isCoded: isCoded)
    }
    if isCoded { return try coded(value) }
    return try encode(value, as: ValueKinds.kind(of: T.self))
  }

  /// The value to store, by its kind.
  static func encode(_ value: any Encodable, as kind: ValueKind) throws -> Value {
    switch kind {
    case .direct:
      if let attribute = value as? any ModelAttribute { return attribute.attributeValue }
    case .raw:
      if let raw = value as? any RawRepresentable, let attribute = raw.rawValue as? any ModelAttribute {
        return attribute.attributeValue
      }
    case .composite(let shape): return .composite(try CompositeEncoder.elements(of: value, shape))
    case .coded: return try coded(value)
    case .transformed, .none: break
    }
    throw CambiumFailure.unstorable(value)
  }

  private static func coded(_ value: any Encodable) throws -> Value {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // An array, because JSON's outermost value should be one or an object.
    return .binary([UInt8](try encoder.encode([AnyEncodable(value)])))
  }

  /// The Swift value of a stored one that is not null.
  static func decode<T: Codable>(_ type: T.Type, from value: Value, isCoded: Bool) throws -> T {
    let plain = (type as? any OptionalType.Type)?.wrappedType ?? type
    guard let decodable = plain as? any Decodable.Type else { throw CambiumFailure.unreadable(value, type) }
    let result = try decode(decodable, from: value, as: isCoded ? .coded : ValueKinds.kind(of: plain))
    guard let typed = result as? T else { throw CambiumFailure.unreadable(value, type) }
    return typed
  }

  /// The Swift value of a stored one, by its kind.
  static func decode(_ type: any Decodable.Type, from value: Value, as kind: ValueKind) throws -> Any {
    switch (kind, value) {
    case (.direct, _):
      if let attribute = type as? any ModelAttribute.Type, let result = attribute.init(attributeValue: value) {
        return result
      }
    case (.raw, _):
      if let raw = type as? any RawRepresentable.Type, let result = raw.make(of: value) { return result }
    case (.composite(let shape), .composite(let elements)):
      return try CompositeDecoder.value(type, CompositeElements(elements), shape)
    case (.coded, .binary(let bytes)):
      func decode<T: Decodable>(_ type: T.Type) throws -> Any? {
        try JSONDecoder().decode([T].self, from: Data(bytes)).first
      }
      if let result = try decode(type) { return result }
    default: break
    }
    throw CambiumFailure.unreadable(value, type)
  }
}

extension RawRepresentable {
  /// The case whose raw value is stored; nil if there is none.
  fileprivate static func make(of value: Value) -> Self? {
    guard let attribute = RawValue.self as? any ModelAttribute.Type,
      let raw = attribute.init(attributeValue: value) as? RawValue
    else { return nil }
    return Self(rawValue: raw)
  }
}

/// Why a value cannot be stored or read.
enum CambiumFailure {
  static func unstorable(_ value: Any) -> SwiftDataError {
    SwiftDataError(.modelValidationFailure, "a \(type(of: value)) cannot be stored; make the type Codable")
  }

  static func unreadable(_ value: Value, _ type: Any.Type) -> SwiftDataError {
    SwiftDataError(.modelValidationFailure, "the stored value \(value) is no \(type)")
  }
}

/// Encodes a value of a type that is known at run time only.
struct AnyEncodable: Encodable {
  let value: any Encodable

  init(_ value: any Encodable) { self.value = value }

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

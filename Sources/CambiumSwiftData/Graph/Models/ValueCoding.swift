import Cambium
import CambiumEngine
import Foundation

/// Reads and writes values of a type of the application.
final class ValueCoding<T: Codable>: @unchecked Sendable {
  // `@unchecked`: nothing changes. The closures capture types alone.
  private let isCoded: Bool
  /// No value, if the type is optional.
  private let noValue: T?
  /// How a structure is stored field by field; nil for all other types.
  private let composite: CompositeCoding<T>?

  /// - Parameter isCoded: Whether a value is stored as one coded value, whatever its type.
  init(isCoded: Bool) {
    self.isCoded = isCoded
    if let optional = T.self as? any OptionalType.Type { noValue = optional.noValue as? T } else { noValue = nil }
    composite = isCoded ? nil : CompositeCoding(T.self)
  }

  /// Reads an attribute. Where nothing can be read, the property's initial value, or else a value without meaning; the
  /// context notes the error.
  func read(_ row: ModelRow, _ name: String) -> T {
    do {
      if let composite {
        if let elements = try row.elements(forKey: name) { return try composite.decode(elements) }
        if let noValue { return noValue }
      } else if let value = try row.storedOrTransientValue(name) {
        if value.isNull, let noValue { return noValue }
        if !value.isNull { return try ValueCoder.decode(T.self, from: value, isCoded: isCoded) }
      }
    } catch {
      row.managedObjectContext?.note(
        SwiftDataError(
          .modelValidationFailure, "'\(name)' of '\(row.entity.name)' has a value that is no \(T.self)", error),
        losesChange: false)
    }
    if let initial = row.modelClass?.byName[name]?.defaultValue as? T { return initial }
    return PlaceholderValue.required(T.self)
  }

  /// Sets an attribute. The context notes an error, and its next save throws it.
  func write(_ value: T, _ row: ModelRow, _ name: String) {
    do {
      let stored = try composite?.encode(value) ?? ValueCoder.encode(value, isCoded: isCoded)
      try row.setEngineValue(stored, forKey: name)
    } catch {
      row.keep(error)
    }
  }
}

/// Reads values of a type that is known at run time only.
protocol ValueReading {
  /// Returns a value by its stored form; nil if that is no value of the type.
  func anyValue(of stored: Value) -> Any?
}

extension ValueCoding: ValueReading {
  func anyValue(of stored: Value) -> Any? {
    guard !stored.isNull, let value = try? ValueCoder.decode(T.self, from: stored, isCoded: isCoded) else { return nil }
    return (value as? any OptionalType)?.wrappedValue ?? value
  }
}

/// Reads and writes a structure that is stored field by field, or an optional one. The type is looked at once.
private struct CompositeCoding<T: Codable> {
  let decode: (CompositeElements) throws -> T
  let encode: (T) throws -> Value

  init?(_ type: T.Type) {
    let plain = (type as? any OptionalType.Type)?.wrappedType ?? type
    guard case .composite(let shape) = ValueKinds.kind(of: plain), let codable = plain as? any Codable.Type,
      let made = Self.make(codable, shape)
    else { return nil }
    self = made
  }

  private init(decode: @escaping (CompositeElements) throws -> T, encode: @escaping (T) throws -> Value) {
    (self.decode, self.encode) = (decode, encode)
  }

  private static func make<Plain: Codable>(_ type: Plain.Type, _ shape: CompositeShape) -> Self? {
    // The casts are between equal types, which the conditions compare.
    if T.self == Plain.self {
      return Self(
        decode: { unsafeBitCast(try CompositeDecoder.value(type, $0, shape), to: T.self) },
        encode: { .composite(try CompositeEncoder.elements(of: $0, shape)) })
    }
    guard T.self == Plain?.self else { return nil }
    return Self(
      decode: { unsafeBitCast(Optional(try CompositeDecoder.value(type, $0, shape)), to: T.self) },
      encode: { value in
        guard let plain = unsafeBitCast(value, to: Plain?.self) else { return .null }
        return .composite(try CompositeEncoder.elements(of: plain, shape))
      })
  }
}

extension ManagedObject {
  /// The value of an attribute in the engine's form, whether it is stored or in memory only.
  fileprivate func storedOrTransientValue(_ name: String) throws -> Value? {
    if let value = try engineValue(forKey: name) { return value }
    guard let any = try get(name) else { return nil }
    return Value(any: any)
  }
}

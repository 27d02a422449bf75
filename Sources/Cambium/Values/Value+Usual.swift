import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Value {
  /// The value of one of the types that most values have; `nil` for any other type.
  ///
  /// This compares types and casts nothing, because asking the runtime whether a value conforms to a protocol takes
  /// longer than all else that setting a property does.
  init?(usual value: Any) {
    guard let usual = _openExistential(value, do: usualValue) else { return nil }
    self = usual
  }
}

/// The value of a value that is of one of the usual types.
private func usualValue<T>(_ value: T) -> Value? {
  // What is cast is of the very type.
  if T.self == String.self { return .string(unsafeBitCast(value, to: String.self)) }
  if T.self == Int.self { return .integer(Int64(unsafeBitCast(value, to: Int.self))) }
  if T.self == Double.self { return .double(unsafeBitCast(value, to: Double.self)) }
  if T.self == Bool.self { return .boolean(unsafeBitCast(value, to: Bool.self)) }
  if T.self == Date.self { return unsafeBitCast(value, to: Date.self).attributeValue }
  if T.self == Int64.self { return .integer(unsafeBitCast(value, to: Int64.self)) }
  if T.self == Int32.self { return .integer(Int64(unsafeBitCast(value, to: Int32.self))) }
  if T.self == Int16.self { return .integer(Int64(unsafeBitCast(value, to: Int16.self))) }
  if T.self == UUID.self { return unsafeBitCast(value, to: UUID.self).attributeValue }
  return nil
}

extension AttributeSchema {
  /// The value of an object of Foundation's, such as the `NSNumber` in a dictionary of JSON; `nil` if the attribute
  /// can't hold it.
  ///
  /// The attribute's type says what the object is cast to, because a number can be cast to every type of numbers: the
  /// `true` of JSON to `Int` as well. Cambium knows nothing of the classes. The runtime casts them.
  func bridged(_ value: Any) -> Value? {
    let converted: Value?
    switch type {
    case .boolean: converted = (value as? Bool).map { .boolean($0) }
    case .integer16, .integer32, .integer64: converted = (value as? Int64).map { .integer($0) }
    case .double, .float: converted = (value as? Double).map { .double($0) }
    case .decimal: converted = (value as? Decimal)?.attributeValue ?? (value as? Double).map { .double($0) }
    case .string: converted = (value as? String).map { .string($0) }
    case .date: converted = (value as? Date)?.attributeValue
    case .binary, .transformable: converted = (value as? Data)?.attributeValue
    case .uuid: converted = (value as? UUID)?.attributeValue ?? (value as? String).map { .string($0) }
    case .uri: converted = (value as? URL)?.attributeValue ?? (value as? String).map { .string($0) }
    case .undefined, .objectID, .composite: converted = nil
    }
    return converted.flatMap { coerce($0) }
  }
}

/// Whether a value is the object by which Foundation's collections say that there is no value. Its class is found by
/// name, because only all of Foundation has it.
func isFoundationNull(_ value: Any) -> Bool {
  let type = type(of: value)
  guard type is AnyClass else { return false }
  let name = _typeName(type)
  return name == "Foundation.NSNull" || name == "NSNull"
}

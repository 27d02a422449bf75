import Foundation

/// Values of types that stand where there is none: for what is read of a row that is gone, and for finding out how
/// types code themselves.
enum PlaceholderValue {
  /// A value of a type: zero, nothing, the first case of an enumeration. Nil if none can be found, as of a type that
  /// refuses to be decoded of such values. A schema refuses required properties of these types unless they have an
  /// initial value.
  ///
  /// - Parameter outer: The types that are being made, none of which can have itself within.
  static func find<T>(_ type: T.Type, within outer: Set<ObjectIdentifier> = []) -> T? {
    if let optional = type as? any OptionalType.Type { return optional.noValue as? T }
    if let attribute = type as? any ModelAttribute.Type { return attribute.missingValue as? T }
    if let empty = (type as? any RangeReplaceableCollection.Type)?.emptyCollection { return empty as? T }
    if let empty = (type as? any SetAlgebra.Type)?.emptySet { return empty as? T }
    if let empty = (type as? any SomeDictionary.Type)?.emptyDictionary { return empty as? T }
    if let zero = (type as? any SIMD.Type)?.zeroVector { return zero as? T }
    if let known = FoundationPlaceholders.value(of: type) { return known as? T }
    if let cases = type as? any CaseIterable.Type, let first = cases.firstCase as? T { return first }
    if let first = firstCase(of: type) { return first }
    guard let decodable = type as? any Decodable.Type, !outer.contains(ObjectIdentifier(type)) else { return nil }
    return (try? decodable.init(from: PlaceholderDecoder(outer: outer.union([ObjectIdentifier(type)])))) as? T
  }

  /// A value of the type of a property that a schema has accepted, so that there is one.
  static func required<T>(_ type: T.Type) -> T {
    let found = find(type)
    // Not nil: `SchemaCompiler` has asked for it.
    // swift-format-ignore: NeverForceUnwrap
    return found!
  }

  /// The first case of an enumeration whose cases have no values with them: its bits are all zero.
  static func firstCase<T>(of type: T.Type) -> T? {
    guard MemoryLayout<T>.size <= 1, _isPOD(type), type is any RawRepresentable.Type || type is any Hashable.Type else {
      return nil
    }
    let zero = withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { bytes in
      bytes[0] = 0
      return bytes.loadUnaligned(as: type)
    }
    // Structures of one byte have fields.
    return Mirror(reflecting: zero).displayStyle == .enum ? zero : nil
  }
}

extension RangeReplaceableCollection {
  fileprivate static var emptyCollection: Self { Self() }
}

extension SetAlgebra {
  fileprivate static var emptySet: Self { Self() }
}

extension SIMD {
  fileprivate static var zeroVector: Self { Self() }
}

private protocol SomeDictionary {
  static var emptyDictionary: Self { get }
}

extension Dictionary: SomeDictionary {
  fileprivate static var emptyDictionary: Self { [:] }
}

extension CaseIterable {
  fileprivate static var firstCase: Self? { allCases.first }
}

/// Values of types of Foundation that cannot be decoded of nothing, or end the process then.
private enum FoundationPlaceholders {
  static func value(of type: Any.Type) -> Any? {
    let values: [Any] = [
      TimeZone.gmt, Calendar(identifier: .gregorian), Locale(identifier: ""), DateComponents(), URLComponents(),
      DateInterval(), CGPoint.zero, CGSize.zero, CGRect.zero, PersonNameComponents(),
    ]
    return values.first { Swift.type(of: $0) == type }
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type of which a property with ``Managed()`` need not be optional: this is read where there is no value. Reading it
/// changes nothing. Numbers are 0, texts, data, dictionaries and relationships empty, a date is the reference date, and
/// a UUID all zeros, as Core Data's scalars are.
///
///     extension PaintColor: ManagedDefault {
///       static var managedDefault: PaintColor { .white }
///     }
public protocol ManagedDefault {
  /// What is read where there is no value.
  static var managedDefault: Self { get }
}

// MARK: Where there is no value

extension BinaryInteger {
  /// Zero.
  public static var managedDefault: Self { 0 }
}

extension Int: ManagedDefault {}
extension Int8: ManagedDefault {}
extension Int16: ManagedDefault {}
extension Int32: ManagedDefault {}
extension Int64: ManagedDefault {}
extension UInt: ManagedDefault {}
extension UInt8: ManagedDefault {}
extension UInt16: ManagedDefault {}
extension UInt32: ManagedDefault {}
extension UInt64: ManagedDefault {}

extension Double: ManagedDefault {
  /// Zero.
  public static var managedDefault: Double { 0 }
}

extension Float: ManagedDefault {
  /// Zero.
  public static var managedDefault: Float { 0 }
}

extension Decimal: ManagedDefault {
  /// Zero.
  public static var managedDefault: Decimal { 0 }
}

extension Bool: ManagedDefault {
  /// False.
  public static var managedDefault: Bool { false }
}

extension String: ManagedDefault {
  /// The empty text.
  public static var managedDefault: String { "" }
}

extension Substring: ManagedDefault {
  /// The empty text.
  public static var managedDefault: Substring { "" }
}

extension Data: ManagedDefault {
  /// No bytes.
  public static var managedDefault: Data { Data() }
}

extension Date: ManagedDefault {
  /// The reference date, the first instant of 2001.
  public static var managedDefault: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension UUID: ManagedDefault {
  /// All zeros.
  public static var managedDefault: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension Dictionary: ManagedDefault where Key == String, Value == Any {
  /// No elements.
  public static var managedDefault: Dictionary { [:] }
}

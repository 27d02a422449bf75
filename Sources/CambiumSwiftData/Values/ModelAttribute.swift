import Cambium
import CambiumEngine
import CambiumKernel
import Foundation

/// A type of values that stores have. Not to be conformed to: other types are stored by their raw values, their fields,
/// or as one coded value.
public protocol ModelAttribute: AttributeRepresentable, Codable {
  /// The type of the attribute.
  static var attributeType: AttributeType { get }
  /// What is read of a required attribute whose row is gone.
  static var missingValue: Self { get }
}

extension ModelAttribute where Self: ManagedDefault {
  /// Zero, or empty.
  public static var missingValue: Self { managedDefault }
}

extension Int: ModelAttribute {
  /// A whole number of 64 bits.
  public static var attributeType: AttributeType { .integer64 }
}
extension Int8: ModelAttribute {
  /// A whole number of 16 bits.
  public static var attributeType: AttributeType { .integer16 }
}
extension Int16: ModelAttribute {
  /// A whole number of 16 bits.
  public static var attributeType: AttributeType { .integer16 }
}
extension Int32: ModelAttribute {
  /// A whole number of 32 bits.
  public static var attributeType: AttributeType { .integer32 }
}
extension Int64: ModelAttribute {
  /// A whole number of 64 bits.
  public static var attributeType: AttributeType { .integer64 }
}
extension UInt: ModelAttribute {
  /// A whole number of 64 bits.
  public static var attributeType: AttributeType { .integer64 }
}
extension UInt8: ModelAttribute {
  /// A whole number of 16 bits.
  public static var attributeType: AttributeType { .integer16 }
}
extension UInt16: ModelAttribute {
  /// A whole number of 32 bits.
  public static var attributeType: AttributeType { .integer32 }
}
extension UInt32: ModelAttribute {
  /// A whole number of 64 bits.
  public static var attributeType: AttributeType { .integer64 }
}
extension UInt64: ModelAttribute {
  /// A whole number of 64 bits.
  public static var attributeType: AttributeType { .integer64 }
}
extension Double: ModelAttribute {
  /// A floating-point number.
  public static var attributeType: AttributeType { .double }
}
extension Float: ModelAttribute {
  /// A floating-point number of 32 bits.
  public static var attributeType: AttributeType { .float }
}
extension Bool: ModelAttribute {
  /// True or false.
  public static var attributeType: AttributeType { .boolean }
}
extension String: ModelAttribute {
  /// Text.
  public static var attributeType: AttributeType { .string }
}
extension Date: ModelAttribute {
  /// A moment.
  public static var attributeType: AttributeType { .date }
}
extension Data: ModelAttribute {
  /// Bytes.
  public static var attributeType: AttributeType { .binary }
}
extension UUID: ModelAttribute {
  /// A UUID.
  public static var attributeType: AttributeType { .uuid }
}
extension Decimal: ModelAttribute {
  /// A decimal number.
  public static var attributeType: AttributeType { .decimal }
}

extension URL: ModelAttribute {
  /// A URI.
  public static var attributeType: AttributeType { .uri }
  /// The URL of the root folder, because there is no empty URL.
  public static var missingValue: URL { URL(fileURLWithPath: "/") }
}

extension CGFloat: ModelAttribute, FetchComparable {
  /// A floating-point number.
  public static var attributeType: AttributeType { .double }
  /// Zero.
  public static var missingValue: CGFloat { 0 }

  /// Reads a number.
  public init?(attributeValue: Value) {
    guard let value = Double(attributeValue: attributeValue) else { return nil }
    self = CGFloat(value)
  }

  /// A double.
  public var attributeValue: Value { Double(self).attributeValue }
}

extension ModelAttribute {
  /// A value other than ``missingValue``; nil if there is none at hand.
  static var sample: Self? {
    let samples: [Value] = [
      .string("a Probe"), .integer(97), .double(97.5), .boolean(true), .date(97.5), .binary([97]), .uri("probe:97"),
      .uuid(UUIDBytes(high: 97, low: 97)),
    ]
    return samples.lazy.compactMap { Self(attributeValue: $0) }.first
  }
}

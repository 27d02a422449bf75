import Cambium
import CambiumEngine
import Foundation

/// A type of values that stores have. Not to be conformed to: other types are stored by their raw values, their fields, or
/// as one coded value.
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

extension Int: ModelAttribute { public static var attributeType: AttributeType { .integer64 } }
extension Int8: ModelAttribute { public static var attributeType: AttributeType { .integer16 } }
extension Int16: ModelAttribute { public static var attributeType: AttributeType { .integer16 } }
extension Int32: ModelAttribute { public static var attributeType: AttributeType { .integer32 } }
extension Int64: ModelAttribute { public static var attributeType: AttributeType { .integer64 } }
extension UInt: ModelAttribute { public static var attributeType: AttributeType { .integer64 } }
extension UInt8: ModelAttribute { public static var attributeType: AttributeType { .integer16 } }
extension UInt16: ModelAttribute { public static var attributeType: AttributeType { .integer32 } }
extension UInt32: ModelAttribute { public static var attributeType: AttributeType { .integer64 } }
extension UInt64: ModelAttribute { public static var attributeType: AttributeType { .integer64 } }
extension Double: ModelAttribute { public static var attributeType: AttributeType { .double } }
extension Float: ModelAttribute { public static var attributeType: AttributeType { .float } }
extension Bool: ModelAttribute { public static var attributeType: AttributeType { .boolean } }
extension String: ModelAttribute { public static var attributeType: AttributeType { .string } }
extension Date: ModelAttribute { public static var attributeType: AttributeType { .date } }
extension Data: ModelAttribute { public static var attributeType: AttributeType { .binary } }
extension UUID: ModelAttribute { public static var attributeType: AttributeType { .uuid } }
extension Decimal: ModelAttribute { public static var attributeType: AttributeType { .decimal } }

extension URL: ModelAttribute {
  public static var attributeType: AttributeType { .uri }
  /// The URL of the root folder, because there is no empty URL.
  public static var missingValue: URL { URL(fileURLWithPath: "/") }
}

extension CGFloat: ModelAttribute, FetchComparable {
  public static var attributeType: AttributeType { .double }
  public static var missingValue: CGFloat { 0 }

  /// Reads a number.
  public init?(attributeValue: CambiumEngine.Value) {
    guard let value = Double(attributeValue: attributeValue) else { return nil }
    self = CGFloat(value)
  }

  /// A double.
  public var attributeValue: CambiumEngine.Value { Double(self).attributeValue }
}

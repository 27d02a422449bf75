import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A Swift type that attribute values can be given and read as.
///
/// Conformances exist for the integers, `Double`, `Float`, `Bool`, `String`, and Foundation's `Date`, `Data`, `UUID`,
/// `URL` and `Decimal`. An enumeration with such a raw value conforms by saying so:
///
///     enum PaintColor: String, AttributeRepresentable { case white, blue }
public protocol AttributeRepresentable: FetchComparable, ManagedValue {
  /// Reads a value; `nil` if it is null or of another kind.
  init?(attributeValue: Value)
  /// The value to store.
  var attributeValue: Value { get }
}

extension RawRepresentable where RawValue: AttributeRepresentable {
  /// Reads the raw value.
  public init?(attributeValue: Value) {
    guard let raw = RawValue(attributeValue: attributeValue) else { return nil }
    self.init(rawValue: raw)
  }

  /// The raw value.
  public var attributeValue: Value { rawValue.attributeValue }
}

extension FixedWidthInteger {
  /// Reads a boolean or whole number that is in the type's range.
  public init?(attributeValue: Value) {
    guard let integer = attributeValue.exactInteger else { return nil }
    self.init(exactly: integer)
  }

  /// An integer; a decimal, for an unsigned number beyond 64 signed bits.
  public var attributeValue: Value {
    if let integer = Int64(exactly: self) { return .integer(integer) }
    return DecimalValue(description).map { .decimal($0) } ?? .null
  }
}

extension Int: AttributeRepresentable {}
extension Int8: AttributeRepresentable {}
extension Int16: AttributeRepresentable {}
extension Int32: AttributeRepresentable {}
extension Int64: AttributeRepresentable {}
extension UInt: AttributeRepresentable {}
extension UInt8: AttributeRepresentable {}
extension UInt16: AttributeRepresentable {}
extension UInt32: AttributeRepresentable {}
extension UInt64: AttributeRepresentable {}

extension Double: AttributeRepresentable {
  /// Reads a boolean or number, rounded to the nearest.
  public init?(attributeValue: Value) {
    guard let value = attributeValue.nearestDouble else { return nil }
    self = value
  }

  /// A double.
  public var attributeValue: Value { .double(self) }
}

extension Float: AttributeRepresentable {
  /// Reads a boolean or number, rounded to the nearest.
  public init?(attributeValue: Value) {
    guard let value = attributeValue.nearestFloat else { return nil }
    self = value
  }

  /// A float.
  public var attributeValue: Value { .float(self) }
}

extension Bool: AttributeRepresentable {
  /// Reads a boolean, 0 or 1.
  public init?(attributeValue: Value) {
    guard let integer = attributeValue.exactInteger, integer == 0 || integer == 1 else { return nil }
    self = integer == 1
  }

  /// A boolean.
  public var attributeValue: Value { .boolean(self) }
}

extension String: AttributeRepresentable {
  /// Reads a string, or the text of a URI.
  public init?(attributeValue: Value) {
    switch attributeValue {
    case .string(let text), .uri(let text): self = text
    default: return nil
    }
  }

  /// A string.
  public var attributeValue: Value { .string(self) }
}

extension Substring: AttributeRepresentable {
  /// Reads a string, or the text of a URI.
  public init?(attributeValue: Value) {
    guard let text = String(attributeValue: attributeValue) else { return nil }
    self = text[...]
  }

  /// A string.
  public var attributeValue: Value { .string(String(self)) }
}

extension Date: AttributeRepresentable {
  /// Reads a date.
  public init?(attributeValue: Value) {
    guard case .date(let seconds) = attributeValue else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }

  /// A date.
  public var attributeValue: Value { .date(timeIntervalSinceReferenceDate) }
}

extension Data: AttributeRepresentable {
  /// Reads a binary.
  public init?(attributeValue: Value) {
    guard case .binary(let bytes) = attributeValue else { return nil }
    self.init(bytes)
  }

  /// A binary.
  public var attributeValue: Value { .binary([UInt8](self)) }
}

extension UUID: AttributeRepresentable {
  /// Reads a UUID.
  public init?(attributeValue: Value) {
    guard case .uuid(let value) = attributeValue else { return nil }
    self = UUID(value)
  }

  /// A UUID.
  public var attributeValue: Value { storedBytes.map { .uuid($0) } ?? .null }
}

extension URL: AttributeRepresentable {
  /// Reads a URI whose text is a URL.
  public init?(attributeValue: Value) {
    guard case .uri(let text) = attributeValue else { return nil }
    self.init(string: text)
  }

  /// A URI.
  public var attributeValue: Value { .uri(absoluteString) }
}

extension Decimal: AttributeRepresentable {
  /// Reads a boolean or number, doubles by their shortest text.
  public init?(attributeValue: Value) {
    guard let value = attributeValue.shortestDecimal else { return nil }
    if value.isNaN {
      self = .nan
    } else {
      guard let decimal = Decimal(string: value.description) else { return nil }
      self = decimal
    }
  }

  /// A decimal.
  public var attributeValue: Value {
    isNaN ? .decimal(.notANumber) : DecimalValue(description).map { .decimal($0) } ?? .null
  }
}

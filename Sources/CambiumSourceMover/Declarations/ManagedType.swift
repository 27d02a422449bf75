/// The type of an `@NSManaged` property, and what it becomes with `@Managed`.
struct ManagedType {
  /// Without marks of optionals, and without the modules of the standard library, Foundation and Core Data.
  var base: String
  /// `?`, `!`, or nothing.
  var mark: String

  /// Reads a type as it is written.
  init(_ text: String) {
    var (base, mark) = Self.splitOptional(text)
    for module in ["Swift.", "Foundation.", "CoreData."] where base.hasPrefix(module) {
      base = String(base.dropFirst(module.count))
    }
    if base.hasPrefix("Optional<"), base.hasSuffix(">") {
      (base, mark) = (String(base.dropFirst(9).dropLast()), "?")
    }
    (self.base, self.mark) = (base, mark)
  }

  /// Cuts off the mark of an optional.
  static func splitOptional(_ type: String) -> (base: String, mark: String) {
    if let last = type.last, last == "?" || last == "!" { return (String(type.dropLast()), String(last)) }
    return (type, "")
  }

  /// The type itself, or the element of an array or a set, if that is a name; without the types around it.
  var elementName: String? {
    var name = base
    if base.hasPrefix("["), base.hasSuffix("]"), !isDictionary { name = String(base.dropFirst().dropLast()) }
    for collection in ["Set<", "Array<"] where base.hasPrefix(collection) && base.hasSuffix(">") {
      name = String(base.dropFirst(collection.count).dropLast())
    }
    guard !name.isEmpty, name.utf8.allSatisfy({ SourceText.isInType($0) }) else { return nil }
    return name.split(separator: ".").last.map { String($0) }
  }

  var isCollection: Bool { base.hasPrefix("[") || base.hasPrefix("Set<") || base.hasPrefix("Array<") || isDictionary }

  /// `[Key: Value]` or `Dictionary<Key, Value>`.
  var isDictionary: Bool {
    if base.hasPrefix("Dictionary<") { return true }
    guard base.hasPrefix("[") else { return false }
    var depth = 0
    for byte in base.utf8 {
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "("), UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: ")"), UInt8(ascii: ">"): depth -= 1
      case UInt8(ascii: ":") where depth == 1: return true
      default: break
      }
    }
    return false
  }

  /// Types of values that `@Managed` reads as an empty one if the object has none.
  static let values: Set<String> = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Float", "Double",
    "TimeInterval", "String", "Date", "Data", "UUID", "Decimal",
  ]
  /// Types of raw values that attributes have.
  static let rawValues: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "String", "Double",
    "Float",
  ]
  /// Classes of Foundation and of Core Data, of which a property without value has no object.
  static let classes: Set<String> = [
    "NSSet", "NSOrderedSet", "NSMutableSet", "NSMutableOrderedSet", "NSArray", "NSMutableArray", "NSDictionary",
    "NSMutableDictionary", "NSNumber", "NSDecimalNumber", "NSString", "NSMutableString", "NSDate", "NSData",
    "NSMutableData", "NSUUID", "NSURL", "URL", "NSAttributedString", "NSManagedObject", "ManagedObject",
    "NSManagedObjectID", "ManagedObjectID",
  ]
}

extension SourceText {
  /// Whether a byte is part of a name or of a path of names.
  static func isInType(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2E, 0x80...0xFF: true
    default: false
    }
  }
}

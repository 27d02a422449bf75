// Objects of Foundation's where Cambium takes Swift's values: without Objective-C nothing converts them on the way.

/// What a value is in Swift: numbers, text, dates and collections of Foundation's classes become Swift's.
func swiftValue(_ value: Any?) -> Any? {
  switch value {
  case nil, is NSNull: return nil
  case let value as NSDecimalNumber: return value.decimalValue
  case let value as NSNumber: return number(value)
  case let value as NSString: return value.substring(from: 0)
  case let value as NSDate: return Date(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
  case let value as NSData: return Data(referencing: value)
  case let value as NSUUID: return UUID(uuidString: value.uuidString)
  case let value as NSURL: return value.absoluteURL
  case let value as NSOrderedSet: return elements(value.array)
  case let value as NSArray: return elements((0..<value.count).map { value.object(at: $0) })
  case let value as NSSet: return elements(value.allObjects)
  case let value as NSDictionary:
    var result: [String: Any] = [:]
    for key in value.allKeys {
      if let name = swiftValue(key) as? String {
        result.updateValue(swiftValue(value.object(forKey: key)) as Any, forKey: name)
      }
    }
    return result
  default: return value
  }
}

/// The elements of a collection, as objects if they all are.
private func elements(_ values: [Any]) -> Any {
  if let objects = values as? [ManagedObject] { return objects }
  return values.map { swiftValue($0) as Any }
}

private func number(_ value: NSNumber) -> Any {
  switch UInt8(bitPattern: value.objCType.pointee) {
  case UInt8(ascii: "d"): return value.doubleValue
  case UInt8(ascii: "f"): return value.floatValue
  // A boolean is a character to Foundation.
  case UInt8(ascii: "c"), UInt8(ascii: "B"):
    return value.int8Value == 0 || value.int8Value == 1 ? value.boolValue : Int(value.int8Value)
  case UInt8(ascii: "Q"): return Int(exactly: value.uint64Value) ?? Decimal(value.uint64Value)
  default: return value.intValue
  }
}

extension ManagedObject {
  /// Sets a property to an object of Foundation's: numbers and text, sets and arrays of objects, `NSNull` for none. A
  /// transformable attribute gets the object itself.
  public func setValue(_ value: NSObject?, forKey key: String) {
    setValue(settableValue(value, forKey: key), forKey: key)
  }

  /// A value as it is set: an object of Foundation's as Swift's value, unless a transformer takes the object.
  func settableValue(_ value: Any?, forKey key: String) -> Any? {
    isTransformable(key) && !(value is NSNull) ? value : swiftValue(value)
  }
}

#if !canImport(Darwin)
  extension NSURL {
    /// The URL of a file; as on Apple platforms.
    public static func fileURL(withPath path: String) -> URL { URL(fileURLWithPath: path) }
  }
#endif

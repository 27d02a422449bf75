// Values in Foundation's keyed archives. Off Apple platforms, `NSKeyedArchiver` ends the process for an object that it
// cannot archive, and `NSKeyedUnarchiver` for an object of a class that is not allowed. So the classes are looked at
// before either is called.

enum ValueArchive {
  /// The classes that a secure archive may hold unless somebody says otherwise.
  static var usualClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self, NSDate.self,
      NSData.self,
      NSURL.self, NSUUID.self, NSNull.self,
    ]
  }

  /// Archives a value.
  ///
  /// - Parameter classes: Those that are allowed, with their subclasses; `nil` for every class that conforms to
  ///   `NSCoding`.
  /// - Throws: ``CambiumError/Code/invalidArgument`` for an object of another class; what archiving throws.
  static func data(of value: Any, classes: [AnyClass]?) throws -> Data {
    let object = try object(of: value, classes, depth: 0)
    return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: classes != nil)
  }

  /// The object that a value bridges to, if all objects within it can be archived.
  private static func object(of value: Any, _ classes: [AnyClass]?, depth: Int) throws -> NSObject {
    guard depth < 100 else { throw CambiumError(.invalidArgument, "collections are nested deeper than 100") }
    guard let object = value as? NSObject, object is any NSCoding, classes == nil || object is any NSSecureCoding else {
      throw CambiumError(
        .invalidArgument,
        "a \(Swift.type(of: value)) cannot be archived; make it a class that inherits from NSObject and conforms to "
          + "NSSecureCoding, or name a transformer of its own in the model, which ValueTransformer.setValueTransformer "
          + "or AttributeTransformers.register makes known")
    }
    if let classes, !classes.contains(where: { object.isKind(of: $0) }) {
      throw CambiumError(
        .invalidArgument,
        "the transformer does not allow a \(Swift.type(of: value)); add its class to allowedTopLevelClasses of a subclass "
          + "of NSSecureUnarchiveFromDataTransformer, and name that in the model")
    }
    let parts: [Any]
    switch object {
    case let array as NSArray: parts = (0..<array.count).map { array.object(at: $0) }
    case let set as NSSet: parts = set.allObjects
    case let set as NSOrderedSet: parts = set.array
    case let dictionary as NSDictionary: parts = dictionary.allKeys + dictionary.allValues
    default: parts = []
    }
    for part in parts { _ = try self.object(of: part, classes, depth: depth + 1) }
    return object
  }

  /// Reads an archive that this process or an earlier one has made.
  ///
  /// - Parameter classes: Those that the value may have, with their subclasses; `nil` for all. Objects within the value
  ///   may have ``usualClasses`` as well.
  /// - Throws: ``CambiumError/Code/fileReadCorruptFile`` for other data, and if the archive has an object of a class
  ///   that the program does not have, or that is not allowed.
  static func value(of data: Data, classes: [AnyClass]?) throws -> Any {
    func corrupt(_ text: String) -> CambiumError { CambiumError(.fileReadCorruptFile, text) }
    guard
      let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any],
      list["$archiver"] as? String == "NSKeyedArchiver", let entries = list["$objects"] as? [Any]
    else { throw corrupt("the bytes are no keyed archive") }
    var found: [AnyClass] = []
    for case let entry as [String: Any] in entries {
      guard let name = entry["$classname"] as? String else { continue }
      guard let known = NSClassFromString(name) else {
        throw corrupt(
          "the archive has an object of the class '\(name)', which the program does not have; keep the class, or "
            + "make its replacement known by NSKeyedUnarchiver.setClass(_:forClassName:)")
      }
      if let classes, !(classes + usualClasses).contains(where: { isClass(known, $0) }) {
        throw corrupt("the archive has an object of the class '\(name)', which the transformer does not allow")
      }
      found.append(known)
    }
    let reader = try NSKeyedUnarchiver(forReadingFrom: data)
    reader.requiresSecureCoding = classes != nil
    reader.decodingFailurePolicy = .setErrorAndReturn
    defer { reader.finishDecoding() }
    let value =
      classes == nil
      ? reader.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
      : reader.decodeObject(of: found + usualClasses, forKey: NSKeyedArchiveRootObjectKey)
    if let error = reader.error { throw corrupt("the archive cannot be read: \(error)") }
    guard let value else { throw corrupt("the archive has no value") }
    if let classes, let object = value as? NSObject, !classes.contains(where: { object.isKind(of: $0) }) {
      throw corrupt(
        "the archive has an object of the class '\(type(of: object))', which the transformer does not allow")
    }
    return value
  }

  private static func isClass(_ candidate: AnyClass, _ other: AnyClass) -> Bool {
    var current: AnyClass? = candidate
    while let known = current {
      if known == other { return true }
      current = _getSuperclass(known)
    }
    return false
  }
}

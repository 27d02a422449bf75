// What code for Core Data casts to `CVarArg` for a predicate's format. On Apple platforms these types are, or bridge
// to, classes that are `CVarArg`.

#if !canImport(Darwin)
  /// A type whose values may be arguments of a format. `NSPredicate(format:)` takes the value, `String(format:)` its
  /// description for `%@`.
  public protocol FormatArgument: _CVarArgObject {}

  extension FormatArgument {
    /// The description, which stands for the value in a format of Foundation's.
    public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }

    /// Nothing: ``_cVarArgObject`` is encoded in the place of the value.
    public var _cVarArgEncoding: [Int] { [] }
  }

  extension UUID: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension Date: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension URL: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension Data: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension Decimal: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension Set: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension Array: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension Dictionary: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSNumber: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSDate: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSUUID: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSURL: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSData: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSNull: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSArray: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSSet: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSDictionary: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSError: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension NSOrderedSet: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
  extension ManagedObject: FormatArgument {}
  extension ManagedObjectID: FormatArgument {}
#endif

// Foundation's value transformers, which swift-corelibs-foundation does not have.

#if !canImport(Darwin)
  /// The name of a value transformer.
  public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as text.
    public let rawValue: String

    /// A name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A name.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// The transformer that archives values of ``NSSecureUnarchiveFromDataTransformer/allowedTopLevelClasses``.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")

    /// The transformer that archives values of every class that conforms to `NSCoding`.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
  }

  /// What ``ValueTransformer`` is looked up by. An initializer of a class cannot answer with another object, and one of
  /// a protocol's extension can.
  public protocol NamedValueTransformer {}

  extension NamedValueTransformer {
    /// The transformer of a name; `nil` if there is none of this class.
    public init?(forName name: NSValueTransformerName) {
      // Optimized, `as? Self` of an optional that is nil reads through a null pointer (Swift 6.3.1): so `known` is
      // unwrapped first.
      guard let known = ValueTransformer.transformer(named: name.rawValue) else { return nil }
      guard let ofSelf = known as? Self else { return nil }
      self = ofSelf
    }
  }

  /// Makes one value of another. The value of a transformable attribute goes through ``transformedValue(_:)`` when it
  /// is stored, which has to give `Data`, and through ``reverseTransformedValue(_:)`` when it is read.
  /// ``NSSecureUnarchiveFromDataTransformer`` and its subclasses are used the other way round.
  open class ValueTransformer: NSObject, NamedValueTransformer {
    /// The class of transformed values: `NSData`, unless a subclass says otherwise.
    open class func transformedValueClass() -> AnyClass { NSData.self }

    /// Whether ``reverseTransformedValue(_:)`` may be called. An attribute needs that.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The transformed value; the value itself, unless a subclass says otherwise.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value that was transformed. Without an override, what ``transformedValue(_:)`` gives, as in Foundation.
    open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }

    /// Makes a transformer known under a name, in place of one that had it; `nil` removes it. Thread-safe.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
      registry.set(transformer, name.rawValue)
    }

    /// The names of the transformers that there are.
    public class func valueTransformerNames() -> [NSValueTransformerName] {
      registry.names.sorted().map { NSValueTransformerName($0) }
    }

    /// The transformer of a name: one that was made known, or one of Foundation's.
    static func transformer(named name: String) -> ValueTransformer? {
      if let known = registry.transformer(name) { return known }
      switch name {
      case "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer":
        return NSSecureUnarchiveFromDataTransformer()
      case "NSKeyedUnarchiveFromData", "NSUnarchiveFromData": return KeyedUnarchiveTransformer()
      default: return nil
      }
    }

    private static let registry = Registry()

    private final class Registry: @unchecked Sendable {
      // `@unchecked`: touched with `lock` held only. What a transformer does on several threads is the application's
      // concern, as in Foundation.
      private let lock = NSLock()
      private var transformers: [String: ValueTransformer] = [:]

      func set(_ transformer: ValueTransformer?, _ name: String) { lock.withLock { transformers[name] = transformer } }
      func transformer(_ name: String) -> ValueTransformer? { lock.withLock { transformers[name] } }
      var names: [String] { lock.withLock { Array(transformers.keys) } }
    }
  }

  /// Makes values of archives, which hold objects of some classes only, and archives of values.
  open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that an archive may hold, subclasses included: those of property lists, `NSSet`, `NSOrderedSet`,
    /// `NSURL`, `NSUUID` and `NSNull`. A subclass that overrides this has to name the classes of collections as well if
    /// it wants them.
    open class var allowedTopLevelClasses: [AnyClass] { ValueArchive.usualClasses }

    open override class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Reads an archive, as `Data`; `nil` if it cannot be read, or holds an object of another class.
    open override func transformedValue(_ value: Any?) -> Any? {
      (value as? Data).flatMap { try? ValueArchive.value(of: $0, classes: type(of: self).allowedTopLevelClasses) }
    }

    /// Makes an archive, as `Data`; `nil` of a value that is of another class.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
      value.flatMap { try? ValueArchive.data(of: $0, classes: type(of: self).allowedTopLevelClasses) }
    }
  }

  /// Makes values of archives of whatever objects.
  final class KeyedUnarchiveTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSObject.self }
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? Data).flatMap { try? ValueArchive.value(of: $0, classes: nil) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      value.flatMap { try? ValueArchive.data(of: $0, classes: nil) }
    }
  }
#endif

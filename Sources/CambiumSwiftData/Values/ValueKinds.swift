import Cambium
import CambiumEngine
import Synchronization

/// How values of a Swift type are stored in an attribute.
indirect enum ValueKind {
  /// As they are.
  case direct(AttributeType)
  /// By their raw values.
  case raw(AttributeType)
  /// As a composite, a field an element.
  case composite(CompositeShape)
  /// As one coded value, which predicates can't look into.
  case coded
  /// By a transformer of a name.
  case transformed(String)
  /// Not at all, and why.
  case none(String)
}

/// Finds out how values of types are stored.
enum ValueKinds {
  private struct Known {
    var kinds: [ObjectIdentifier: ValueKind] = [:]
    var codings: [ObjectIdentifier: AnyObject] = [:]
  }

  private static let known = Mutex(Known())

  /// How values of an attribute are stored.
  static func kind(of type: Any.Type, options: [Schema.Attribute.Option]) -> ValueKind {
    for option in options {
      if case .transformable(let name) = option.kind { return .transformed(name) }
      if option.kind == .codable, type is any Codable.Type { return .coded }
    }
    return kind(of: type)
  }

  /// How values of a type are stored that no option says more of.
  static func kind(of type: Any.Type) -> ValueKind {
    let id = ObjectIdentifier(type)
    if let kind = known.withLock({ $0.kinds[id] }) { return kind }
    let kind = findKind(of: type)
    known.withLock { $0.kinds[id] = kind }
    return kind
  }

  private static func findKind(of type: Any.Type) -> ValueKind {
    if let attribute = type as? any ModelAttribute.Type { return .direct(attribute.attributeType) }
    guard let codable = type as? any Codable.Type else {
      if type is any PersistentModel.Type || type is any RelationshipCollection.Type {
        return .none("models are related by properties of their own types, and not within values")
      }
      return .none("\(type) is neither Codable nor a model")
    }
    if let raw = type as? any RawRepresentable.Type, let attribute = raw.rawAttributeType { return .raw(attribute) }
    if let shape = CompositeShape(of: codable) { return .composite(shape) }
    return .coded
  }

  /// How values of a type are read and written.
  static func coding<T: Codable>(for type: T.Type) -> ValueCoding<T> {
    let id = ObjectIdentifier(type)
    if let coding = known.withLock({ $0.codings[id] }) { return unsafeDowncast(coding, to: ValueCoding<T>.self) }
    let coding = ValueCoding<T>(isCoded: false)
    known.withLock { $0.codings[id] = coding }
    return coding
  }

  /// The same, for a type that is known at run time only, and the options of an attribute.
  static func coding(forAny type: any Codable.Type, options: [Schema.Attribute.Option]) -> AnyObject {
    func make<T: Codable>(_ type: T.Type) -> AnyObject {
      options.contains(where: { $0.kind == .codable }) ? ValueCoding<T>(isCoded: true) : coding(for: type)
    }
    return make(type)
  }
}

extension RawRepresentable {
  /// The type of the attribute that holds raw values; nil if no attribute does.
  fileprivate static var rawAttributeType: AttributeType? { (RawValue.self as? any ModelAttribute.Type)?.attributeType }
}

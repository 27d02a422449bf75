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
  private static let known = Mutex<[ObjectIdentifier: ValueKind]>([:])

  /// How values of a type are stored that no option says more of.
  static func kind(of type: Any.Type) -> ValueKind {
    let id = ObjectIdentifier(type)
    if let kind = known.withLock({ $0[id] }) { return kind }
    let kind = findKind(of: type)
    known.withLock { $0[id] = kind }
    return kind
  }

  private static func findKind(of type: Any.Type) -> ValueKind {
    if let attribute = type as? any ModelAttribute.Type { return .direct(attribute.attributeType) }
    guard let codable = type as? any Codable.Type else {
      return .none("\(type) is neither Codable nor a model, nor an array of models")
    }
    if let raw = type as? any RawRepresentable.Type, let attribute = raw.rawAttributeType { return .raw(attribute) }
    if let shape = CompositeShape(of: codable) { return .composite(shape) }
    return .coded
  }
}

extension RawRepresentable {
  /// The type of the attribute that holds raw values; nil if no attribute does.
  fileprivate static var rawAttributeType: AttributeType? { (RawValue.self as? any ModelAttribute.Type)?.attributeType }
}

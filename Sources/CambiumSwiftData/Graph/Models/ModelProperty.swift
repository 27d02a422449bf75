import Cambium
import CambiumEngine
import Observation

/// A property of a model's class, as the class declares it.
final class ModelProperty: @unchecked Sendable {
  // `@unchecked`: nothing changes after it was made. Key paths and the closures that `@Model` makes capture nothing.
  let name: String
  let metadata: Schema.PropertyMetadata
  /// The type that the property has in Swift.
  let valueType: Any.Type
  /// The same without being optional.
  let plainType: Any.Type
  let isOptional: Bool
  /// How the property is stored.
  let kind: Kind
  private let valueCoding: AnyObject?
  /// The fields of a structure that is stored field by field.
  let shape: CompositeShape?

  /// How a property is stored.
  enum Kind {
    case attribute(ValueKind)
    case toOne(any PersistentModel.Type)
    case toMany(any PersistentModel.Type)
  }

  init(_ metadata: Schema.PropertyMetadata) {
    name = metadata.name
    self.metadata = metadata
    let type = Swift.type(of: metadata.keypath).valueType
    valueType = type
    let wrapped = (type as? any OptionalType.Type)?.wrappedType
    plainType = wrapped ?? type
    isOptional = wrapped != nil
    if let destination = (type as? any RelationshipCollection.Type)?.destinationType {
      kind = .toMany(destination)
    } else if let destination = plainType as? any PersistentModel.Type {
      kind = .toOne(destination)
    } else {
      kind = .attribute(ValueKinds.kind(of: plainType, options: metadata.attribute?.options ?? []))
    }
    if case .attribute(.composite(let fields)) = kind { shape = fields } else { shape = nil }
    if case .attribute = kind, let codable = type as? any Codable.Type {
      valueCoding = ValueCodings.coding(forAny: codable, options: metadata.attribute?.options ?? [])
    } else {
      valueCoding = nil
    }
  }

  /// How values are stored, if they are of a type.
  func coding<T: Codable>(as type: T.Type) -> ValueCoding<T>? {
    guard type == valueType, let valueCoding else { return nil }
    return unsafeDowncast(valueCoding, to: ValueCoding<T>.self)
  }

  /// Returns a value of the property by its stored form; nil if that is no value of the property's type.
  func value(of stored: Value) -> Any? { (valueCoding as? any ValueReading)?.anyValue(of: stored) }

  /// The initial value that the class gives, made anew.
  var defaultValue: Any? { metadata.makeDefault?() }

  /// Whether a value can be made up where there is none.
  var hasPlaceholder: Bool {
    func find<T>(_ type: T.Type) -> Bool { PlaceholderValue.find(type) != nil }
    return find(plainType)
  }

  /// Tells observers of a model that the property changes.
  func tell(_ registrar: ObservationRegistrar, _ model: AnyObject) { metadata.tell?(registrar, model) }
}

extension RelationshipCollection {
  static var destinationType: any PersistentModel.Type { PersistentElement.self }
}

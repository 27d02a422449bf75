import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Compares the properties that a class declares with those of its entity. Finds a property that the entity lacks, or
/// has with another type. Without this check, the application would meet the error when it uses the property.
struct ClassFindings {
  private let entity: EntityDescription
  private let properties: [String: PropertyDescription]

  init(of entity: EntityDescription) {
    self.entity = entity
    properties = entity.propertiesByName
  }

  var all: [ManagedObjectModel.Finding] {
    guard let declared = (entity.managedObjectClass as? any PredicateKeyPaths.Type)?.predicateKeyPaths else {
      return []
    }
    return declared.ordered { $0.value < $1.value }.compactMap { keyPath, name in
      // A property may read through a relationship.
      guard !name.contains(".") else { return nil }
      return complaint(name, type(of: keyPath).valueType).map {
        ManagedObjectModel.Finding(rule: "class-property", place: "\(entity.name).\(name)", text: $0)
      }
    }
  }

  private func complaint(_ name: String, _ type: Any.Type) -> String? {
    let type = (type as? any AnyOptional.Type)?.wrapped ?? type
    switch properties[name] {
    case nil: return "the class declares it, and the entity has no such property"
    case let attribute as AttributeDescription:
      // Which hold what they are given.
      if attribute.attributeType == .undefined || attribute.attributeType == .transformable { return nil }
      if type is ManagedObject.Type || type is any ObjectCollection.Type {
        return
          "the class declares a relationship to \(type), and it is an attribute of type \(attribute.attributeType.name)"
      }
      guard let kind = Kind(type), let stored = Kind(attribute.attributeType), kind != stored else { return nil }
      return "the class declares it as \(type), and the attribute is of type \(attribute.attributeType.name)"
    case let relationship as RelationshipDescription:
      if Kind(type) != nil { return "the class declares it as \(type), and it is a relationship" }
      let isToMany = type is any ObjectCollection.Type
      guard isToMany || type is ManagedObject.Type, isToMany != relationship.isToMany else { return nil }
      return "the class declares it as \(type), and the relationship is to \(relationship.isToMany ? "many" : "one")"
    default: return nil
    }
  }

  /// Values that are not made of one another.
  private enum Kind {
    case text, number, date, data, uuid, uri

    init?(_ type: Any.Type) {
      switch type {
      case is String.Type: self = .text
      case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type, is Bool.Type, is Decimal.Type: self = .number
      case is Date.Type: self = .date
      case is Data.Type: self = .data
      case is UUID.Type: self = .uuid
      case is URL.Type: self = .uri
      default: return nil
      }
    }

    init?(_ type: AttributeType) {
      switch type {
      case .string: self = .text
      case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: self = .number
      case .date: self = .date
      case .binary: self = .data
      case .uuid: self = .uuid
      case .uri: self = .uri
      default: return nil
      }
    }
  }
}

private protocol AnyOptional {
  static var wrapped: Any.Type { get }
}

extension Optional: AnyOptional {
  fileprivate static var wrapped: Any.Type { Wrapped.self }
}

/// What to-many relationships are declared as.
private protocol ObjectCollection {}
extension Set: ObjectCollection where Element: ManagedObject {}
extension Array: ObjectCollection where Element: ManagedObject {}

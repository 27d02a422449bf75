import Cambium
import CambiumEngine
import Foundation

/// Tells the translator of predicates what key paths and captured values of models stand for.
struct ModelNames: PredicateNaming {
  let stores: ContainerStores

  func name(of keyPath: AnyKeyPath, in type: Any.Type) throws -> PredicateName? {
    if let model = type as? any PersistentModel.Type {
      let modelClass = ModelClass.of(model)
      if let property = modelClass.byKeyPath[keyPath] { return Self.name(of: property, in: modelClass) }
      return PathProbe.isIdentifier(keyPath, of: modelClass) ? .object : try refusal(of: keyPath, in: modelClass)
    }
    if case .composite(let shape) = ValueKinds.kind(of: type) { return shape.name(of: keyPath).map { .property($0) } }
    if let raw = type as? any RawRepresentable.Type { return Self.name(of: keyPath, in: raw) }
    return nil
  }

  func entityName(of type: Any.Type) -> String? {
    guard let model = type as? any PersistentModel.Type else { return nil }
    let modelClass = ModelClass.of(model)
    // Other versions of the schema may have another class of that name.
    return stores.classes[modelClass.entityName] === modelClass ? modelClass.entityName : nil
  }

  func meaning(of captured: Any) throws -> CapturedMeaning? {
    if let identifier = captured as? PersistentIdentifier {
      return .object(identifier.objectID(in: stores.coordinator))
    }
    // Values of the translator's own types are left to it.
    guard !(captured is any ModelAttribute), let codable = captured as? any Codable else { return nil }
    switch ValueKinds.kind(of: type(of: codable)) {
    case .raw, .composite: return .value(try ValueCoder.encode(codable, as: ValueKinds.kind(of: type(of: codable))))
    case .direct, .coded, .transformed, .none: return nil
    }
  }

  private static func name(of property: ModelProperty, in modelClass: ModelClass) -> PredicateName {
    if case .attribute(let kind) = property.kind {
      switch kind {
      case .coded:
        return .refused(
          "'\(modelClass.entityName).\(property.name)' is stored as one coded value of type \(property.plainType), which the "
            + "store cannot look into; make it a relationship, or filter the models after fetching them")
      case .transformed:
        return .refused(
          "'\(modelClass.entityName).\(property.name)' is stored as what a transformer makes of it; filter the models after "
            + "fetching them")
      case .direct, .raw, .composite, .none: break
      }
      if property.metadata.attribute?.isTransient ?? false {
        return .refused(
          "'\(modelClass.entityName).\(property.name)' is in memory only (.ephemeral); filter the models after fetching them"
        )
      }
    }
    return .property(property.name)
  }

  /// The raw value of an enumeration is what is stored of it. Swift does not tell it from other computed properties, so
  /// that it is tried on all cases.
  private static func name<R: RawRepresentable>(of keyPath: AnyKeyPath, in type: R.Type) -> PredicateName {
    func isRawValue<C: CaseIterable>(_ type: C.Type) -> Bool {
      guard let path = keyPath as? KeyPath<C, R.RawValue> else { return false }
      return type.allCases.allSatisfy { each in
        guard let raw = (each as? R)?.rawValue as? AnyHashable else { return false }
        return each[keyPath: path] as? AnyHashable == raw
      }
    }
    if let cases = type as? any CaseIterable.Type, isRawValue(cases) { return .object }
    return .refused(
      "\(keyPath) is no stored property of \(type); compare the \(type) itself with a captured one, or conform it to "
        + "CaseIterable and ask for its rawValue")
  }

  private func refusal(of keyPath: AnyKeyPath, in modelClass: ModelClass) throws -> PredicateName {
    .refused(
      "a property of type \(Swift.type(of: keyPath).valueType) is no stored one of \(modelClass.entityName): computed and "
        + "@Transient properties are not in the store; ask for what is stored, or filter the models after fetching them"
    )
  }
}
